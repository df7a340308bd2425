// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the collector of a test's process with a kind for each descriptor and lifetime, and how a test hides pointers.
// Invariant: it starts once; kinds stay.
// Must not know: what is allocated.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <array>

#include "collector/collector.hpp"

namespace gr::fake {

inline constexpr std::uintptr_t kEnvironment = 2;  // the only word that the procedure finds
inline constexpr std::size_t kProcedure = 7;
inline constexpr std::size_t kOwnDescriptor = 1;  // the word of a block that has its own

inline std::uintptr_t hidden(const void *p) { return ~reinterpret_cast<std::uintptr_t>(p); }
inline char *shown(std::uintptr_t word) { return reinterpret_cast<char *>(~word); }

inline std::uintptr_t word_by_procedure(const std::uintptr_t *block, std::uintptr_t environment) {
    return block[environment];
}

inline Task *push_word(std::uintptr_t *block, Task *top, Task *, std::uintptr_t environment) {
    Marker::current()->consider(word_by_procedure(block, environment));
    return top;
}

struct KindHere {
    Kind *kind;
    std::size_t least_words;
    bool (*is_scanned)(std::size_t word);  // whether a pointer there counts
};

constexpr bool scans_all(std::size_t) { return true; }
constexpr bool scans_none(std::size_t) { return false; }

enum KindName : std::uint8_t { kAtomic, kNormal, kUncollectable, kBitmap, kByProcedure, kPerObject, kKindNames };

// The collector of the process starts once.
inline const std::array<KindHere, kKindNames> &kinds() {
    static const auto made = [] {
        constexpr std::uintptr_t kWords1And4 = std::uintptr_t{1} << 62 | std::uintptr_t{1} << 59 | 1;
        constexpr std::uintptr_t kByProcedureWord =
            kEnvironment << (Descriptor::kProcedureBits + 2) | kProcedure << 2 | 2;
        constexpr std::uintptr_t kPerObjectWord = kOwnDescriptor * sizeof(void *) | 3;
        EXPECT_TRUE(collector.start(SIGPWR));
        collector.lock();
        collector.procedures()[kProcedure] = push_word;
        const std::array<KindHere, kKindNames> all = {{
            {collector.make_kind({.zeroed = false}), 2, scans_none},
            {collector.make_kind({.adds_size = true}), 2, scans_all},
            {collector.make_kind({.adds_size = true, .lifetime = Lifetime::until_freed}), 2, scans_all},
            {collector.make_kind({.descriptor = Descriptor(kWords1And4)}), 6,
             [](std::size_t word) { return word == 1 || word == 4; }},
            {collector.make_kind({.descriptor = Descriptor(kByProcedureWord)}), 6,
             [](std::size_t word) { return word == kEnvironment; }},
            // Its own descriptor says: its first four words.
            {collector.make_kind({.descriptor = Descriptor(kPerObjectWord)}), 6,
             [](std::size_t word) { return word < 4 && word != kOwnDescriptor; }},
        }};
        collector.unlock();
        return all;
    }();
    return made;
}

}  // namespace gr::fake
