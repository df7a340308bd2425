// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/export/arrow.hpp"

#include <string>
#include <vector>

#include "commands/export/arrow_file.hpp"
#include "commands/export/folded.hpp"
#include "reading/symbols/calls.hpp"
#include "reading/trace/event.hpp"
#include "reading/trace/stream.hpp"

namespace gr::tool {

namespace {

enum Column : std::size_t { kTime, kThread, kOp, kAddress, kSize, kAlignment, kTook, kStack };

std::vector<ArrowColumn> columns() {
    return {{"time_ns", 8, false}, {"thread", 4, false},    {"op", 1, true},       {"address", 8, false},
            {"size", 8, false},    {"alignment", 8, false}, {"took_ns", 4, false}, {"stack", 4, true}};
}

// By an op's number.
std::vector<std::string> op_names() {
    using trace::Op;
    std::vector<std::string> names(trace::number_of(Op::brk) + std::size_t{1});
    const auto name = [&](Op op, const char *text) { names[trace::number_of(op)] = text; };
    name(Op::malloc, "malloc");
    name(Op::calloc, "calloc");
    name(Op::realloc, "realloc");
    name(Op::aligned_alloc, "aligned_alloc");
    name(Op::operator_new, "new");
    name(Op::operator_new_array, "new[]");
    name(Op::free, "free");
    name(Op::realloc_free, "realloc's free");
    name(Op::operator_delete, "delete");
    name(Op::operator_delete_array, "delete[]");
    name(Op::map, "mmap");
    name(Op::unmap, "munmap");
    name(Op::advise, "madvise");
    name(Op::brk, "brk");
    return names;
}

// The stacks that events have, as text, each a place; the first, of those without, is empty.
class UsedStacks {
  public:
    explicit UsedStacks(const trace::Trace &trace) : places_(trace.stacks().size()), texts_(1) {
        Calls calls(trace);
        trace::Stream stream(trace);
        for (trace::Event event; stream.next(&event);) {
            if (event.stack == trace::StackNumber::none || places_[trace::number_of(event.stack)] != 0) continue;
            places_[trace::number_of(event.stack)] = static_cast<std::uint32_t>(texts_.size());
            texts_.push_back(folded_stack(calls.of(event.stack)));
        }
    }
    [[nodiscard]] std::uint32_t place(trace::StackNumber stack) const { return places_[trace::number_of(stack)]; }
    [[nodiscard]] const std::vector<std::string> &texts() const { return texts_; }

  private:
    std::vector<std::uint32_t> places_;
    std::vector<std::string> texts_;
};

}  // namespace

void write_arrow(const trace::Trace &trace, Sink &sink) {
    constexpr std::size_t kRows = std::size_t{1} << 16;
    const UsedStacks stacks(trace);
    ArrowFile file(columns(), sink);
    file.dictionary(kOp, op_names());
    file.dictionary(kStack, stacks.texts());
    std::vector<ArrowNumbers> rows;
    for (const ArrowColumn &column : columns()) rows.emplace_back(column.bytes);
    const auto flush = [&] {
        file.rows(rows);
        for (ArrowNumbers &column : rows) column.clear();
    };
    trace::Stream stream(trace);
    for (trace::Event event; stream.next(&event);) {
        rows[kTime].add(event.time.units * trace::kTimeUnitNanoseconds);
        rows[kThread].add(trace::number_of(event.thread));
        rows[kOp].add(trace::number_of(event.op));
        rows[kAddress].add(event.address);
        rows[kSize].add(event.size);
        const bool is_aligned = trace::obtains(event.op) && event.log2_alignment != 0;  // else it is madvise's advice
        rows[kAlignment].add(is_aligned ? std::uint64_t{1} << event.log2_alignment : 0);
        rows[kTook].add(event.nanoseconds);
        rows[kStack].add(stacks.place(event.stack));
        if (rows[kTime].count() == kRows) flush();
    }
    if (rows[kTime].count() != 0) flush();
    file.finish();
}

}  // namespace gr::tool
