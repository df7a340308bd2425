// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: document_json.hpp.
// Invariant: one function for each type of document.hpp; a list's elements are separated here and nowhere else.
// Must not know: where the text goes.
#include "reporting/document/document_json.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reporting/document/base64.hpp"

namespace gr::tool {

namespace {

constexpr const char *name_of(Unit unit) {
    constexpr std::array<const char *, 10> kNames{"time",       "bytes",    "seconds", "count",   "events",
                                                  "per second", "fraction", "growth",  "address", "text"};
    return kNames[static_cast<unsigned>(unit)];
}

class Writer {
  public:
    [[nodiscard]] std::string take() { return std::move(text_); }

    void put(double number) {
        constexpr double kExact = 9007199254740992;  // whole numbers below it are
        if (!std::isfinite(number)) {
            text_ += "null";
        } else if (number == std::floor(number) && std::abs(number) < kExact) {
            fmt::format_to(std::back_inserter(text_), "{}", static_cast<std::int64_t>(number));
        } else {
            constexpr int kDigits = 7;
            fmt::format_to(std::back_inserter(text_), "{:.{}g}", number, kDigits);
        }
    }
    void put(std::uint32_t number) { fmt::format_to(std::back_inserter(text_), "{}", number); }
    void put(std::int32_t number) { fmt::format_to(std::back_inserter(text_), "{}", number); }
    void put(bool is_so) { text_ += is_so ? "true" : "false"; }
    void put(const char *text) { put(std::string(text)); }
    void put(const std::string &text) {
        text_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    void put(const Cells &cells) { text_ += '"' + base64(cells) + '"'; }
    void put(const Value &value) {
        std::visit([&](const auto &one) { put(one); }, value);
    }
    void put(const std::pair<std::string, std::string> &pair) { put(std::vector{pair.first, pair.second}); }
    template <class Element>
    void put(const std::vector<Element> &elements) {
        text_ += '[';
        for (std::size_t i = 0; i < elements.size(); ++i) {
            if (i != 0) text_ += ',';
            put(elements[i]);
        }
        text_ += ']';
    }
    template <class Some>
    void put(const std::optional<Some> &some) {
        if (some) return put(*some);
        text_ += "null";
    }

    void put(const Axis &axis) {
        object("label", axis.label, "unit", name_of(axis.unit), "scale", axis.scale == Scale::log ? "log" : "linear");
    }
    void put(const SeriesChart::Series &series) { object("name", series.name, "values", series.values); }
    void put(const SeriesChart &chart) {
        object("kind", "series", "title", chart.title, "x", chart.x, "y", chart.y, "stacked", chart.is_stacked, "step",
               chart.is_step, "at", On{chart.at, chart.x.unit}, "series", chart.series);
    }
    void put(const BarsChart::Series &series) {
        if (series.slices.empty()) return object("name", series.name, "values", series.values);
        object("name", series.name, "slices", series.slices);
    }
    void put(const BarsChart &chart) {
        begin();
        members("kind", "bars", "title", chart.title, "x", chart.x, "y", chart.y, "cumulative", chart.is_cumulative);
        members("edges", chart.edges, "series", chart.series);
        if (!chart.labels.empty()) members("labels", chart.labels);
        if (chart.is_per_doubling) members("per_doubling", true);
        end();
    }
    void put(const HeatChart::Picture &picture) { object("name", picture.name, "cells", picture.cells); }
    void put(const HeatChart &chart) {
        begin();
        members("kind", "heat", "title", chart.title, "x", chart.x, "y", chart.y, "columns", chart.columns, "rows",
                chart.rows, "x_edges", On{chart.x_edges, chart.x.unit}, "y_edges", chart.y_edges);
        if (!chart.y_gaps.empty()) members("y_gaps", chart.y_gaps);
        members("cells", chart.cells, "low", chart.low, "high", chart.high, "scale", chart.scale);
        if (!chart.beside.empty()) members("beside", chart.beside);
        end();
    }
    void put(const MatrixChart &chart) {
        object("kind", "matrix", "title", chart.title, "rows", chart.rows, "columns", chart.columns, "row_label",
               chart.row_label, "column_label", chart.column_label, "unit", name_of(chart.unit), "values",
               chart.values);
    }
    void put(const FlameChart::Slice &slice) {
        begin();
        members("nodes", slice.nodes, "values", slice.values);
        if (!slice.threads.empty()) members("threads", slice.threads);
        end();
    }
    void put(const FlameChart::Measure &measure) {
        begin();
        members("name", measure.name, "unit", name_of(measure.unit));
        if (measure.is_running) members("running", true);
        if (measure.slices.empty())
            members("values", measure.values);
        else
            members("slices", measure.slices);
        if (!measure.by_thread.nodes.empty()) members("by_thread", measure.by_thread);
        end();
    }
    void put(const FlameChart &chart) {
        object("kind", "flame", "title", chart.title, "parents", chart.parents, "frames", chart.frames, "measures",
               chart.measures);
    }
    void put(const TableChart::Column &column) { object("name", column.name, "unit", name_of(column.unit)); }
    void put(const TableChart &chart) {
        begin();
        members("kind", "table", "title", chart.title, "columns", chart.columns);
        put_rows(chart, chart.columns);
        if (!chart.threads.empty()) {
            std::vector<RowsOf> threads;
            for (const TableChart &one : chart.threads) threads.push_back({one, chart.columns});
            members("threads", threads);
        }
        end();
    }
    void put(const Chart &chart) {
        std::visit([&](const auto &one) { put(one); }, chart);
    }
    void put(const Section &section) {
        object("id", section.id, "question", section.question, "answer", section.answer, "charts", section.charts);
    }
    void put(const Frame::SourceLine &line) {
        begin();
        members("line", line.line, "text", line.text);
        if (line.calls) members("calls", true);
        end();
    }
    void put(const Frame &frame) {
        begin();
        members("name", frame.name, "file", frame.file, "line", frame.line, "module", frame.module);
        if (!frame.whole_name.empty()) members("whole_name", frame.whole_name);
        if (!frame.source.empty()) members("source", frame.source);
        end();
    }
    void put(const Document::Mark &mark) { object("time", Moment{mark.time}, "text", mark.text); }
    void put(const Document &document) {
        is_exact_ = document.window.has_value();
        begin();
        members("version", 1, "title", document.title, "facts", document.facts, "notes", document.notes, "story",
                document.story, "overview", document.overview, "slices", Edges{document.slices}, "marks",
                document.marks, "frames", document.frames, "sections", document.sections);
        if (!document.threads.empty()) members("threads", document.threads);
        if (document.window) members("window", Edges{{document.window->first, document.window->second}});
        if (!document.compared.empty()) members("compared", document.compared);
        end();
    }

  private:
    void begin() {
        text_ += '{';
        is_first_ = true;
    }
    void end() {
        text_ += '}';
        is_first_ = false;
    }
    void members() {}
    template <class Member, class... More>
    void members(const char *name, const Member &member, const More &...more) {
        if (!is_first_) text_ += ',';
        fmt::format_to(std::back_inserter(text_), "\"{}\":", name);
        put(member);
        is_first_ = false;
        members(more...);
    }
    template <class... Members>
    void object(const Members &...all) {
        begin();
        members(all...);
        end();
    }

    // Of the time axis: a window may be short, and begin late.
    struct Moment {
        double seconds;
    };
    // Of slices: what is asked for by them must be what lies between them.
    struct Edges {
        std::vector<double> seconds;
    };
    struct On {
        const std::vector<double> &values;
        Unit unit;
    };
    void put(Moment moment) {
        if (!is_exact_ || !std::isfinite(moment.seconds)) return put(moment.seconds);
        fmt::format_to(std::back_inserter(text_), "{}", moment.seconds);
    }
    void put(const Edges &edges) { text_ += fmt::format("[{}]", fmt::join(edges.seconds, ",")); }
    void put_rows(const TableChart &chart, const std::vector<TableChart::Column> &columns) {
        members("rows", Rows{columns, chart.rows});
        if (!chart.frames.empty()) members("frames", chart.frames);
        if (chart.parts.empty()) return;
        std::vector<Rows> parts;
        for (const std::vector<TableChart::Row> &rows : chart.parts) parts.push_back({columns, rows});
        members("parts", parts);
    }
    struct RowsOf {
        const TableChart &chart;
        const std::vector<TableChart::Column> &columns;
    };
    void put(const RowsOf &of) {
        begin();
        put_rows(of.chart, of.columns);
        end();
    }
    struct Rows {
        const std::vector<TableChart::Column> &columns;
        const std::vector<TableChart::Row> &rows;
    };
    void put(const Rows &table) {
        const auto &columns = table.columns;
        text_ += '[';
        for (const TableChart::Row &row : table.rows) {
            if (text_.back() != '[') text_ += ',';
            text_ += '[';
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (i != 0) text_ += ',';
                const double *const number = std::get_if<double>(&row[i]);
                if (number != nullptr && i < columns.size() && columns[i].unit == Unit::time)
                    put(Moment{*number});
                else
                    put(row[i]);
            }
            text_ += ']';
        }
        text_ += ']';
    }
    void put(const On &on) {
        if (on.unit != Unit::time) return put(on.values);
        std::vector<Moment> moments;
        for (const double value : on.values) moments.push_back({value});
        put(moments);
    }

    std::string text_;
    bool is_first_ = true;
    bool is_exact_ = false;
};

}  // namespace

std::string to_json(const Document &document) {
    Writer writer;
    writer.put(document);
    return writer.take();
}

}  // namespace gr::tool
