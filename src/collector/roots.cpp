// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: roots.hpp.
// Invariant: as there.
// Must not know: how marking goes on.
#include "collector/roots.hpp"

#include "base/bits.hpp"
#include "platform/thread.hpp"
#include "platform/world/mappings.hpp"

namespace gr {

void Roots::remove(platform::Range range) {
    for (std::size_t i = added_.size(); i-- != 0;) {
        if (range.begin <= added_[i].begin && added_[i].end <= range.end) added_.remove(i);
    }
}

bool Roots::stop(std::span<const std::uint32_t> exempt) {
    struct Stop {
        std::span<const std::uint32_t> exempt;
        bool done = false;
    } stop{exempt};
    const auto at_rest = [](void *context) {
        auto &s = *static_cast<Stop *>(context);
        s.done = platform::world.stop(s.exempt);
    };
    const bool known = modules_.learn(at_rest, &stop);
    if (stop.done && !known) platform::world.resume();
    return stop.done && known;
}

platform::Range Roots::stack_from(const char *pointer, std::uintptr_t thread_pointer) const {
    const auto first = align_down(reinterpret_cast<std::uintptr_t>(pointer), sizeof(void *));
    const platform::Mapping mapping = platform::mapping_of(pointer);
    const auto *const record = reinterpret_cast<const char *>(thread_pointer);
    const char *const end = mapping.contains(record) && pointer < record ? record : mapping.end;
    return {reinterpret_cast<const char *>(first), end};
}

platform::Range Roots::other_stack(const platform::StoppedThread &thread) {
    const platform::Mapping here = platform::mapping_of(thread.stack_pointer);
    if (here.contains(thread.interrupted_pointer)) return {};
    const platform::Mapping there = platform::mapping_of(thread.interrupted_pointer);
    return {there.begin, there.end};
}

std::size_t Roots::static_bytes() const {
    std::size_t bytes = 0;
    for (const platform::Range range : modules_.variables()) bytes += range.bytes();
    for (const platform::Range range : added_.all()) bytes += range.bytes();
    return bytes;
}

}  // namespace gr
