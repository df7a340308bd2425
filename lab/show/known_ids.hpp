// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: ids that stay over the whole file: the n-th address or name that was seen has the number n; and what was last
//    written of it.
// Invariant: a number is never given to another key. Keys are not 0. Memory is the caller's, zeroed.
// Must not know: what an id is the id of.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/text.hpp"
#include "platform/process.hpp"

namespace gr::lab::show {

// FNV-1a; never 0.
constexpr std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash | 1;
}

[[noreturn, gnu::cold]] inline void die_of(const char *what) {
    TextBuffer<160> line;
    line << "granary: lab show: " << what << "; aborting\n";
    platform::fatal(line.data(), line.size());
}

struct Known {
    std::uint64_t key = 0;
    std::uint64_t written = 0;  // the hash of what was last written; 0: nothing, or that it is gone
    std::uint32_t picture = 0;  // the number of the last picture that has it
    std::uint32_t at = 0;       // its place in that picture
    std::uint32_t is_in = 0;    // of a container, the number of the place it stood in, and one
    std::uint32_t thread = 0;   // that a place belongs to, or that has a block; 0: none
};

template <std::uint32_t kMost>
class KnownIds {
  public:
    std::uint32_t count() const { return count_; }
    Known &operator[](std::uint32_t number) { return known_[number]; }

    // The number; a key that is new gets the next one.
    std::uint32_t number_of(std::uint64_t key) {
        std::uint32_t slot = static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15) >> 32) % kSlots;
        for (; slots_[slot] != 0; slot = (slot + 1) % kSlots)
            if (known_[slots_[slot] - 1].key == key) return slots_[slot] - 1;
        if (count_ == kMost) die_of("the picture has become too large: show fewer calls");
        known_[count_].key = key;
        slots_[slot] = count_ + 1;
        return count_++;
    }

  private:
    static constexpr std::uint32_t kSlots = 2 * kMost;

    std::uint32_t count_;
    Known known_[kMost];
    std::uint32_t slots_[kSlots];  // a number, and one
};

}  // namespace gr::lab::show
