// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the table that option P of MALLOC_OPTIONS asks for, at the program's end (jemalloc, analysis of cca).
// Invariant: allocates nothing; writes a line at a time to standard error as it was when the table was asked for. An
//    arena or a bin that was not used has no line.
// Must not know: the code that asks.
#pragma once

#include "parts/jemalloc/arena.hpp"
#include "parts/jemalloc/exit_report.hpp"

namespace gr::lab {

class ArenaReport {
  public:
    void write(auto &arenas, auto &huge) {
        line_ << "___ Begin malloc statistics ___\n"
              << arenas.all().size() << " arenas, chunks of " << arenas.layout().chunk().bytes() << " bytes\n";
        put_row("arena", "large", "chunks", "most");
        for (unsigned index = 0; index < arenas.all().size(); ++index) {
            const auto counts = arenas.all()[index].counts();
            if (counts.most_chunks != 0) put_row(index, counts.large_requests, counts.chunks, counts.most_chunks);
        }
        put_row("size", "regions", "pages", "requests", "runs made", "runs", "most");
        for (unsigned bin = 0; bin < arenas.layout().bins().count(); ++bin) {
            BinCounts sum;
            for (auto &arena : arenas.all()) sum += arena.counts_of(bin);
            const RunShape &shape = arenas.layout().shape(bin);
            if (sum.requests != 0)
                put_row(shape.size(), shape.regions(), shape.bytes() / kRunPageBytes, sum.requests, sum.runs_made,
                        sum.runs, sum.most_runs);
        }
        const auto counts = huge.counts();
        line_ << "huge: " << counts.requests << " requests, " << counts.bytes << " bytes now, " << counts.most_bytes
              << " at most\n--- End malloc statistics ---\n";
        exit_report.say(line_);
    }

  private:
    static constexpr std::size_t kColumn = 10;

    // Each flush with its column's right edge.
    void put_row(auto... values) {
        (put_column(values), ...);
        exit_report.say(line_ << '\n');
        line_.clear();
    }
    void put_column(auto value) {
        TextBuffer<kColumn * 2> text;
        text << value;
        line_.pad(line_.size(), text.size() < kColumn ? kColumn - text.size() : 1);
        line_ << std::string_view(text.data(), text.size());
    }

    TextBuffer<256> line_;
};

}  // namespace gr::lab
