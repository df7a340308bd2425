// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/export/arrow.hpp"

#include <string>
#include <vector>

#include "commands/export/arrow_file.hpp"
#include "commands/export/folded.hpp"
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
    std::vector<std::string> names(static_cast<std::size_t>(trace::RequestKind::brk) + 1);
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
    using trace::RequestKind;
    const auto name_own = [&](RequestKind kind, const char *text) { names[static_cast<std::size_t>(kind)] = text; };
    name_own(RequestKind::map, "own mmap");
    name_own(RequestKind::unmap, "own munmap");
    name_own(RequestKind::advise, "own madvise");
    name_own(RequestKind::brk, "own brk");
    return names;
}

// The stacks that events have, as text, each a place; the first, of those without, is empty.
class UsedStacks {
  public:
    UsedStacks(const trace::Trace &trace, Calls &calls, const std::vector<trace::Request> &requests)
        : places_(trace.stacks().size()), texts_(1) {
        trace::Stream stream(trace);
        for (trace::Event event; stream.next(&event);) take(event.stack, calls);
        for (const trace::Request &request : requests) take(request.stack, calls);
    }
    [[nodiscard]] std::uint32_t place(trace::StackNumber stack) const { return places_[trace::number_of(stack)]; }
    [[nodiscard]] const std::vector<std::string> &texts() const { return texts_; }

  private:
    void take(trace::StackNumber stack, Calls &calls) {
        if (stack == trace::StackNumber::none || places_[trace::number_of(stack)] != 0) return;
        places_[trace::number_of(stack)] = static_cast<std::uint32_t>(texts_.size());
        texts_.push_back(folded_stack(calls.of(stack)));
    }

    std::vector<std::uint32_t> places_;
    std::vector<std::string> texts_;
};

class Rows {
  public:
    Rows(const UsedStacks &stacks, Sink &sink) : stacks_(stacks), file_(columns(), sink) {
        file_.dictionary(kOp, op_names());
        file_.dictionary(kStack, stacks.texts());
        for (const ArrowColumn &column : columns()) rows_.emplace_back(column.bytes);
    }

    void add(const trace::Event &event) {
        const bool is_aligned = trace::obtains(event.op) && event.log2_alignment != 0;  // else it is madvise's advice
        rows_[kAlignment].add(is_aligned ? std::uint64_t{1} << event.log2_alignment : 0);
        rows_[kTook].add(event.nanoseconds);
        add_common(event, trace::number_of(event.op));
    }
    void add(const trace::Request &request) {
        rows_[kAlignment].add(0);
        rows_[kTook].add(0);
        add_common(request, static_cast<std::uint8_t>(request.kind));
    }
    void finish() {
        if (rows_[kTime].count() != 0) flush();
        file_.finish();
    }

  private:
    template <class Call>
    void add_common(const Call &call, std::uint8_t op) {
        constexpr std::size_t kRows = std::size_t{1} << 16;
        rows_[kTime].add(call.time.units * trace::kTimeUnitNanoseconds);
        rows_[kThread].add(trace::number_of(call.thread));
        rows_[kOp].add(op);
        rows_[kAddress].add(call.address);
        rows_[kSize].add(call.size);
        rows_[kStack].add(stacks_.place(call.stack));
        if (rows_[kTime].count() == kRows) flush();
    }
    void flush() {
        file_.rows(rows_);
        for (ArrowNumbers &column : rows_) column.clear();
    }

    const UsedStacks &stacks_;
    ArrowFile file_;
    std::vector<ArrowNumbers> rows_;
};

}  // namespace

void write_arrow(const trace::Trace &trace, Calls &calls, bool mapped, Sink &sink) {
    const std::vector<trace::Request> &requests = mapped ? trace.requests() : std::vector<trace::Request>();
    const UsedStacks stacks(trace, calls, requests);
    Rows rows(stacks, sink);
    auto request = requests.begin();
    trace::Stream stream(trace);
    for (trace::Event event; stream.next(&event);) {
        for (; request != requests.end() && request->time < event.time; ++request) rows.add(*request);
        rows.add(event);
    }
    for (; request != requests.end(); ++request) rows.add(*request);
    rows.finish();
}

}  // namespace gr::tool
