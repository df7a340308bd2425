// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a program did with its memory: one call, and when, where and by whom.
// Invariant: the numbers of an Op are those of granary/wire/recording.h and of docs/design/trace-format.md, and keep their
//    meaning.
// Must not know: how events lie in a file.
#pragma once

#include <granary/wire/recording.h>

#include <compare>
#include <cstdint>
#include <type_traits>

namespace gr::trace {

template <class Enum>
constexpr auto number_of(Enum value) {
    return static_cast<std::underlying_type_t<Enum>>(value);
}

enum class Op : std::uint8_t {
    malloc = GR_RECORD_MALLOC,
    calloc = GR_RECORD_CALLOC,
    realloc = GR_RECORD_REALLOC,
    aligned_alloc = GR_RECORD_ALIGNED_ALLOC,
    operator_new = GR_RECORD_NEW,
    operator_new_array = GR_RECORD_NEW_ARRAY,
    free = GR_RECORD_FREE,
    realloc_free = GR_RECORD_REALLOC_FREE,
    operator_delete = GR_RECORD_DELETE,
    operator_delete_array = GR_RECORD_DELETE_ARRAY,
    map = GR_RECORD_MAP,
    unmap = GR_RECORD_UNMAP,
    advise = GR_RECORD_ADVISE,
    brk = GR_RECORD_BREAK,
};

// Obtains a block; address 0 if it got none.
constexpr bool obtains(Op op) { return op < Op::free; }
constexpr bool frees(Op op) { return op >= Op::free && op < Op::map; }
// Asks the kernel, not the allocator.
constexpr bool is_of_pages(Op op) { return op >= Op::map; }
constexpr bool is_known(std::uint8_t number) {
    return (number >= GR_RECORD_MALLOC && number <= GR_RECORD_NEW_ARRAY) ||
           (number >= GR_RECORD_FREE && number <= GR_RECORD_DELETE_ARRAY) ||
           (number >= GR_RECORD_MAP && number <= GR_RECORD_BREAK);
}

// A moment, in units of kTimeUnitNanoseconds since the recording of this process began.
struct Time {
    std::uint64_t units = 0;
    auto operator<=>(const Time &) const = default;
};
inline constexpr std::uint64_t kTimeUnitNanoseconds = 100;
constexpr double seconds(Time time) { return static_cast<double>(time.units) * kTimeUnitNanoseconds * 1e-9; }

// Threads are numbered from 0 in the order of their first event, though the kernel may use an id again.
enum class ThreadNumber : std::uint32_t {};
// A stack is the node of its innermost call in the tree of all stacks; 0: none was taken.
enum class StackNumber : std::uint32_t { none = 0 };

struct Event {
    Time time;
    std::uint64_t address = 0;
    std::uint64_t size = 0;  // bytes asked for; of frees 0
    ThreadNumber thread{};
    StackNumber stack = StackNumber::none;
    std::uint32_t nanoseconds = 0;  // that the call took; 0: it was not timed
    Op op{};
    std::uint8_t log2_alignment = 0;  // 0: none was asked for

    bool operator==(const Event &) const = default;
};

}  // namespace gr::trace
