// SPDX-License-Identifier: Apache-2.0 OR MIT
// All chunks get the same advice, so that the policy adds no mappings as the heap grows.
#include "region/huge_pages.hpp"

#include <bit>

#include "platform/memory.hpp"

namespace gr {
namespace {

// A page table is one page of words, and a huge page is the memory that one page table of the last level maps.
bool chunk_is_huge_page() { return platform::page_size() / sizeof(void *) * platform::page_size() == kChunkBytes; }

}  // namespace

HugePageMaker huge_page_maker(HugePolicy policy, platform::HugePagesFor whom) {
    if (policy == HugePolicy::never) return HugePageMaker::forbidden;
    if (policy == HugePolicy::always) return HugePageMaker::kernel;
    switch (whom) {
        case platform::HugePagesFor::nobody:
            return HugePageMaker::nobody;
        case platform::HugePagesFor::who_asks:
            return HugePageMaker::us;
        case platform::HugePagesFor::everybody:
            return HugePageMaker::kernel_later;
    }
    return HugePageMaker::nobody;
}

void HugePages::initialise(char *memory, Region &region, HugePageMaker maker) {
    region_ = &region;
    states_ = reinterpret_cast<State *>(memory);
    if (maker == Maker::us && !chunk_is_huge_page()) maker = Maker::nobody;
    // Maker::us gives no advice: advice against huge pages would also forbid those that the allocator makes.
    if (maker == Maker::forbidden || maker == Maker::kernel_later) region.allow_huge_pages(false);
    if (maker == Maker::kernel) region.allow_huge_pages(true);
    maker_.store(maker, std::memory_order_relaxed);
}

void HugePages::leave_to_kernel() {
    region_->allow_huge_pages(true);
    maker_.store(Maker::kernel, std::memory_order_relaxed);
}

bool HugePages::settles(ChunkIndex c, bool dense) {
    const State before = state(c).load(std::memory_order_relaxed);
    if (dense && before == State::settling) return true;
    if (dense) state(c).store(State::settling, std::memory_order_relaxed);
    if (!dense) replace(c, State::settling, State::unknown);
    return false;
}

void HugePages::note_duration(std::uint64_t nanoseconds) {
    const auto doublings = static_cast<unsigned>(std::bit_width(nanoseconds / kHugePatienceNanoseconds));
    halvings_ = doublings == 0 ? 0 : halvings_ + doublings;
    if (halvings_ > kHugeMostHalvings) halvings_ = kHugeMostHalvings;
}

void HugePages::collapse(ChunkIndex c) {
    const std::uint64_t began = platform::nanoseconds();
    const platform::Collapse done = platform::collapse(region_->address(region_->unit_at(c)), kChunkBytes);
    note_duration(platform::nanoseconds() - began);
    switch (done) {
        case platform::Collapse::done:
            state(c).store(State::huge, std::memory_order_relaxed);
            break;
        case platform::Collapse::not_now:
            state(c).store(State::unknown, std::memory_order_relaxed);
            break;
        case platform::Collapse::impossible:
            maker_.store(Maker::nobody, std::memory_order_relaxed);
            break;
    }
}

std::uint64_t HugePages::next_visit(std::uint64_t began, bool round_is_over) {
    const std::uint64_t now = platform::nanoseconds();
    const std::uint64_t next = now + (now - began) * (kHugeTimeParts << halvings_);
    if (!round_is_over) return next;
    cursor_ = 0;
    const std::uint64_t next_round = round_began_ + kHugeRoundNanoseconds;
    round_began_ = next > next_round ? next : next_round;
    return round_began_;
}

}  // namespace gr
