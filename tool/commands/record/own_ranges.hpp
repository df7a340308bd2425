// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which addresses of a process were asked for by whom: by the program and its libraries, by the allocator, by the
//    recorder's library, or by somebody before the recording began.
// Invariant: ranges are apart from each other. A later request replaces what it covers of earlier ones. There are at
//    most kMostRanges: a request that would need another is left out.
// Must not know: whether the addresses are in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "reading/trace/contents.hpp"

namespace gr::tool {

class OwnRanges {
  public:
    static constexpr std::size_t kMostRanges = std::size_t{1} << 16;

    enum class Mapper : std::uint8_t { program, allocator, recorder, earlier };
    struct Owner {
        Mapper mapper = Mapper::program;
        trace::StackNumber stack = trace::StackNumber::none;  // of the program's request

        bool operator==(const Owner &) const = default;
    };
    struct Range {
        std::uint64_t end = 0;
        Owner owner;
    };

    void take(const trace::Request &request);
    void take_recorders(std::uint64_t address, std::uint64_t bytes) { map(address, bytes, {Mapper::recorder, {}}); }
    void take_earlier(std::uint64_t address, std::uint64_t bytes) { map(address, bytes, {Mapper::earlier, {}}); }
    void take_allocators(std::uint64_t address, std::uint64_t bytes) { map(address, bytes, {Mapper::allocator, {}}); }
    // An event of the allocator that is a request to the kernel.
    void take(const trace::Event &event);
    // Ranges that are there at the begin, under all others; their stacks are another process's.
    void inherit(const OwnRanges &other);

    // use(begin, end, owner) for the parts of the ranges that lie there, by address.
    template <class Use>
    void for_each_within(std::uint64_t begin, std::uint64_t end, Use use) const {
        auto at = ranges_.upper_bound(begin);
        if (at != ranges_.begin()) --at;
        for (; at != ranges_.end() && at->first < end; ++at) {
            const std::uint64_t from = at->first > begin ? at->first : begin;
            const std::uint64_t to = at->second.end < end ? at->second.end : end;
            if (from < to) use(from, to, at->second.owner);
        }
    }

  private:
    void map(std::uint64_t address, std::uint64_t bytes, Owner owner);
    void unmap(std::uint64_t address, std::uint64_t bytes);
    void move_break(std::uint64_t old, std::uint64_t grown, Owner owner);

    std::map<std::uint64_t, Range> ranges_;  // by begin
};

}  // namespace gr::tool
