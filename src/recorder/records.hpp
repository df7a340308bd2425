// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: records, as the protocol has them, and what is written of one call.
// Invariant: a group is never longer than the smallest ring.
// Must not know: where they are written.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/bits.hpp"
#include "granary/wire/recording.h"

namespace gr {

enum class Kind : std::uint8_t {
    malloc = GR_RECORD_MALLOC,
    calloc = GR_RECORD_CALLOC,
    realloc = GR_RECORD_REALLOC,
    aligned_alloc = GR_RECORD_ALIGNED_ALLOC,
    new_one = GR_RECORD_NEW,
    new_array = GR_RECORD_NEW_ARRAY,
    free = GR_RECORD_FREE,
    realloc_free = GR_RECORD_REALLOC_FREE,
    delete_one = GR_RECORD_DELETE,
    delete_array = GR_RECORD_DELETE_ARRAY,
    map = GR_RECORD_MAP,
    unmap = GR_RECORD_UNMAP,
    advise = GR_RECORD_ADVISE,
    program_break = GR_RECORD_BREAK,
    own_map = GR_RECORD_OWN_MAP,
    own_unmap = GR_RECORD_OWN_UNMAP,
    own_advise = GR_RECORD_OWN_ADVISE,
    own_break = GR_RECORD_OWN_BREAK,
    mark = GR_RECORD_MARK,
    name = GR_RECORD_NAME,
    stack = GR_RECORD_STACK,
    timed = GR_RECORD_TIMED,
    lost = GR_RECORD_LOST,
    thread_stack = GR_RECORD_THREAD_STACK,
    own_memory = GR_RECORD_OWN_MEMORY,
    place = GR_RECORD_PLACE,
};

inline gr_record record_of(Kind kind, const void *address, std::uint64_t size, std::uint64_t time) {
    const std::uint64_t shifted = static_cast<std::uint64_t>(kind) << GR_RECORD_KIND_SHIFT;
    return {time, shifted | reinterpret_cast<std::uintptr_t>(address), size};
}

// No block is so large; who asks for more gets none.
inline constexpr std::uint64_t kMostSize = (std::uint64_t{1} << GR_RECORD_ALIGNMENT_SHIFT) - 1;
constexpr std::uint64_t size_and(std::uint64_t above, std::uint64_t size) {
    return (size < kMostSize ? size : kMostSize) | above << GR_RECORD_ALIGNMENT_SHIFT;
}
// Of a stack, in the place of an address.
inline constexpr std::uint64_t kMostTicks = (std::uint64_t{1} << GR_RECORD_KIND_SHIFT) - 1;
// The alignment's logarithm; 0: none is asked for.
constexpr std::uint64_t logarithm_of(std::uint64_t alignment) {
    return alignment == 0 ? 0 : static_cast<std::uint64_t>(std::bit_width(alignment)) - 1;
}

// What stands together in a ring.
class Group {
  public:
    Group() = default;
    Group(const Group &) = delete;
    Group &operator=(const Group &) = delete;

    void add(const gr_record &record) { records_[count_++] = record; }
    // A record that says how much follows, and that.
    void add_text(Kind kind, std::string_view text, std::uint64_t time, std::uint64_t address = 0) {
        const std::string_view most = text.substr(0, GR_RECORDING_MOST_TEXT);
        gr_record record = record_of(kind, nullptr, most.size(), time);
        record.kind_and_address |= address;
        add(record);
        add_bytes(most.data(), most.size());
    }
    // `further` is GR_RECORD_STACK_APART, or how many further words the thread's last stack has.
    void add_stack(std::span<const std::uintptr_t> words, std::uint64_t further, std::uint64_t time,
                   std::uint64_t took) {
        gr_record record = record_of(Kind::stack, nullptr, size_and(further, words.size()), time);
        record.kind_and_address |= took < kMostTicks ? took : kMostTicks;
        add(record);
        add_bytes(words.data(), words.size_bytes());
    }
    std::span<const gr_record> records() const { return {&records_[0], count_}; }

  private:
    void add_bytes(const void *bytes, std::size_t size) {
        const std::size_t whole = divide_up(size, sizeof(gr_record));
        if (whole == 0) return;
        records_[count_ + whole - 1] = {};
        std::memcpy(&records_[count_], bytes, size);
        count_ += whole;
    }

    std::size_t count_ = 0;
    gr_record records_[GR_RECORDING_LEAST_RECORDS];
};

static_assert(1 + divide_up(GR_RECORDING_MOST_CALLS * sizeof(void *), sizeof(gr_record)) + 3 <=
                  GR_RECORDING_LEAST_RECORDS - 1,
              "the longest stack fits into a buffer");
static_assert(GR_RECORDING_MOST_CALLS < GR_RECORD_STACK_APART, "no stack has so many further words");
static_assert(1 + divide_up(GR_RECORDING_MOST_TEXT, sizeof(gr_record)) <= GR_RECORDING_LEAST_RECORDS - 1,
              "the longest text fits into a buffer");

}  // namespace gr
