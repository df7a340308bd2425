// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the events of one block, out of its columns: the part of reader.hpp that works again and again.
// Invariant: every number that comes from the file is compared with what it may be before it is used.
// Must not know: what the events are wanted for.
#include <bit>

#include "reading/trace/check.hpp"
#include "reading/trace/reader.hpp"
#include "reading/trace/tables.hpp"

namespace gr::trace {

void BlockReader::Sparse::begin(const Bytes &bytes) {
    numbers = NumberReader(bytes);
    is_there = !numbers.is_at_end();
    passed_over = is_there ? numbers.take() : 0;
}

std::uint64_t BlockReader::Sparse::take() {
    if (!is_there) return 0;
    if (passed_over != 0) {
        --passed_over;
        return 0;
    }
    const std::uint64_t number = numbers.take();
    is_there = !numbers.is_at_end();
    passed_over = is_there ? numbers.take() : 0;
    return number;
}

void BlockReader::begin(const EventBlock &block) {
    left_ = 0;
    if (check_of(0, block.body) != block.body_check) throw Damage("the checksum of a block of events is wrong");
    columns_ =
        unpacker_.unpack(block.body, number_of(EventColumn::timings), block.summary.events * 2 * kMostNumberBytes);
    const auto column = [&](EventColumn which) -> const Bytes & { return columns_[number_of(which)]; };
    ops_ = NumberReader(column(EventColumn::ops));
    times_ = NumberReader(column(EventColumn::times));
    addresses_ = NumberReader(column(EventColumn::addresses));
    sizes_ = NumberReader(column(EventColumn::sizes));
    alignments_ = NumberReader(column(EventColumn::alignments));
    stacks_.begin(column(EventColumn::stacks));
    timings_.begin(column(EventColumn::timings));
    left_ = block.summary.events;
    thread_ = ThreadNumber{block.summary.thread};
    stacks_before_ = block.stacks;
    time_ = block.summary.first_time;
    last_time_ = block.summary.last_time;
    address_ = 0;
}

bool BlockReader::next(Event *event) {
    if (left_ == 0) return false;
    --left_;
    const std::uint8_t op = ops_.take_byte();
    const std::uint8_t number = op & static_cast<std::uint8_t>(~kHasAlignment);
    if (!is_known(number)) throw Damage("an event has an unknown kind");
    const std::uint64_t passed = times_.take();
    if (passed > last_time_ - time_) throw Damage("an event is later than the last of its block");
    time_ += passed;
    address_ += addresses_.take_difference();
    event->op = Op{number};
    event->time = Time{time_};
    event->thread = thread_;
    event->address = std::rotl(address_, kAddressTurn);
    event->size = frees(event->op) ? 0 : sizes_.take();
    event->log2_alignment = (op & kHasAlignment) != 0 ? alignments_.take_byte() : 0;
    const std::uint64_t stack = stacks_.take();
    if (stack >= stacks_before_) throw Damage("an event refers to a stack that did not come before it");
    event->stack = StackNumber{static_cast<std::uint32_t>(stack)};
    const std::uint64_t nanoseconds = timings_.take();
    if (nanoseconds > UINT32_MAX) throw Damage("a call took impossibly long");
    event->nanoseconds = static_cast<std::uint32_t>(nanoseconds);
    check(*event);
    return true;
}

// Of what was obtained the end is a number. The bytes of a call that failed, and of sbrk, may be any.
void BlockReader::check(const Event &event) const {
    if (frees(event.op) || event.op == Op::brk || event.address == 0) return;
    if (event.size > kMostBlock || event.size > UINT64_MAX - event.address)
        throw Damage("a block lies beyond the last address");
    if (obtains(event.op) && event.log2_alignment > kMostAlignment) throw Damage("an alignment is not possible");
}

}  // namespace gr::trace
