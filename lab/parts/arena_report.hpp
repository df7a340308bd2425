// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the table that option P of MALLOC_OPTIONS asks for (jemalloc, analysis of cca).
// Invariant: allocates nothing; a line at a time. What nobody used has no line.
// Must not know: who asks.
#pragma once

#include <algorithm>

#include "parts/exit_report.hpp"
#include "parts/run_layout.hpp"

namespace gr::lab {

class ArenaReport {
  public:
    static void write(auto &arenas, auto &huge) {
        ArenaReport report;
        report.write_head(arenas.layout(), arenas.count());
        report.write_arenas(arenas);
        report.write_bins(arenas);
        const auto counts = huge.counts();
        report.line_ << "huge: " << counts.requests << " requests, " << counts.bytes << " bytes now, "
                     << counts.most_bytes << " at most\n";
        report.put();
        report.line_ << "--- End malloc statistics ---\n";
        report.put();
    }

  private:
    static constexpr std::size_t kColumn = 10;

    void put() {
        exit_report.say(line_);
        line_.clear();
    }
    // Flush with the column's right edge.
    void put_column(auto value) {
        TextBuffer<kColumn * 2> text;
        text << value;
        const std::size_t from = line_.size();
        line_.pad(from, text.size() < kColumn ? kColumn - text.size() : 1);
        for (std::size_t i = 0; i < text.size(); ++i) line_ << text.data()[i];
    }
    void put_columns(auto... values) {
        (put_column(values), ...);
        line_ << '\n';
        put();
    }

    void write_head(const RunLayout &layout, unsigned arenas) {
        line_ << "___ Begin malloc statistics ___\n"
              << arenas << " arenas, chunks of " << layout.chunk().bytes() << " bytes\n";
        put();
    }
    void write_arenas(auto &arenas) {
        put_columns("arena", "large", "chunks", "most");
        unsigned index = 0;
        arenas.for_each([&](auto &arena) {
            const auto counts = arena.counts();
            if (counts.most_chunks != 0) put_columns(index, counts.large_requests, counts.chunks, counts.most_chunks);
            ++index;
        });
    }
    void write_bins(auto &arenas) {
        const RunLayout &layout = arenas.layout();
        put_columns("size", "regions", "pages", "requests", "runs made", "runs", "most");
        for (unsigned bin = 0; bin < layout.bins().count(); ++bin) {
            std::size_t requests = 0;
            std::size_t made = 0;
            std::size_t runs = 0;
            std::size_t most = 0;
            arenas.for_each([&](auto &arena) {
                const auto counts = arena.counts_of(bin);
                requests += counts.requests;
                made += counts.runs_made;
                runs += counts.runs;
                most += counts.most_runs;
            });
            const RunShape &shape = layout.shape(bin);
            if (requests == 0) continue;
            put_columns(shape.size(), shape.regions(), shape.bytes() / kRunPageBytes, requests, made, runs, most);
        }
    }

    TextBuffer<256> line_;
};

}  // namespace gr::lab
