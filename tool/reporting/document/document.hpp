// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a report consists of: sections, each with its question, its answer and its charts.
// Invariant: the same as view/src/document.ts says, field by field; numbers are plain (bytes, seconds, counts).
// Must not know: traces; how a chart looks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gr::tool {

// kTime: since the recording began; kSeconds: a duration.
enum class Unit : std::uint8_t { time, bytes, seconds, count, events, per_second, fraction, growth, address, text };

enum class Scale : std::uint8_t { linear, log };

struct Axis {
    std::string label;
    Unit unit = Unit::count;
    Scale scale = Scale::linear;
};

// A value that is not known is not a number.
struct SeriesChart {
    struct Series {
        std::string name;
        std::vector<double> values;
    };
    std::string title;
    Axis x;
    Axis y;
    bool is_stacked = false;
    bool is_step = false;
    std::vector<double> at;
    std::vector<Series> series;
};

struct BarsChart {
    // Either values, or by slice of time.
    struct Series {
        std::string name;
        std::vector<double> values;
        std::vector<std::vector<double>> slices;
    };
    std::string title;
    Axis x;
    Axis y;
    bool is_cumulative = false;
    // Bars are as high as there would be for a doubling of x; values stay those of the bucket.
    bool is_per_doubling = false;
    std::vector<double> edges;
    std::vector<std::string> labels;
    std::vector<Series> series;
};

using Cells = std::vector<std::uint8_t>;

struct HeatChart {
    struct Picture {
        std::string name;
        Cells cells;
    };
    std::string title;
    Axis x;
    Axis y;
    std::uint32_t columns = 0;
    std::uint32_t rows = 0;
    std::vector<double> x_edges;
    std::vector<double> y_edges;
    std::vector<double> y_gaps;  // the rows that stand for what lies between pieces of the axis
    Cells cells;
    double low = 0;
    double high = 0;
    Axis scale;
    std::vector<Picture> beside;
};

struct MatrixChart {
    std::string title;
    std::vector<std::string> rows;
    std::vector<std::string> columns;
    std::string row_label;
    std::string column_label;
    Unit unit = Unit::count;
    std::vector<std::vector<double>> values;
};

struct FlameChart {
    struct Slice {
        std::vector<std::uint32_t> nodes;
        std::vector<double> values;
        // Of each value the number in Document::threads; a node may come once for each thread. Empty: threads are not told
        // apart.
        std::vector<std::uint32_t> threads{};
    };
    // Either values, or by slice of time.
    struct Measure {
        std::string name;
        Unit unit = Unit::bytes;
        std::vector<double> values;
        std::vector<Slice> slices;
        bool is_running = false;  // slices are changes: what was so at the end of one is the sum of it and all before
        Slice by_thread{};        // the values again, where threads are told apart
    };
    std::string title;
    std::vector<std::uint32_t> parents;
    std::vector<std::int32_t> frames;
    std::vector<Measure> measures;
};

using Value = std::variant<double, std::string>;

struct TableChart {
    struct Column {
        std::string name;
        Unit unit = Unit::count;
    };
    using Row = std::vector<Value>;
    std::string title;
    std::vector<Column> columns;
    std::vector<Row> rows;
    // Of each row the function in Document::frames that it is about, -1: none; empty: rows are not about functions.
    std::vector<std::int32_t> frames;
    // Of each row those that it is the sum of, in the same columns; empty: rows are not sums.
    std::vector<std::vector<Row>> parts;
    // For each of Document::threads a table of that thread alone, with fewer rows; empty: threads are not told apart.
    std::vector<TableChart> threads{};
};

using Chart = std::variant<SeriesChart, BarsChart, HeatChart, MatrixChart, FlameChart, TableChart>;

struct Section {
    std::string id;
    std::string question;
    std::string answer;
    std::vector<Chart> charts;
};

struct Frame {
    struct SourceLine {
        int line = 0;
        std::string text;
        bool calls = false;  // the function calls from here
    };
    std::string name;
    std::string file;
    int line = 0;
    std::string module;
    std::string whole_name{};          // empty: the name is whole
    std::vector<SourceLine> source{};  // empty: not at hand, or not asked for
};

struct Document {
    struct Mark {
        double time = 0;
        std::string text;
    };
    // Of this time alone, in seconds; none: of the whole trace.
    std::optional<std::pair<double, double>> window;
    std::string title;
    std::vector<std::pair<std::string, std::string>> facts;
    std::vector<std::string> notes;
    std::vector<std::string> story;
    std::optional<SeriesChart> overview;
    std::vector<double> slices;
    std::vector<Mark> marks;
    std::vector<Frame> frames;
    std::vector<std::string> threads;  // that charts tell apart, the last may stand for all others; empty: none does
    std::vector<Section> sections;
    std::vector<std::string> compared;  // names of what is laid over each other; empty: nothing is
};

}  // namespace gr::tool
