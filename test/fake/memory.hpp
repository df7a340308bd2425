// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: staging for the fake of platform/memory.hpp: which call fails, how often each was made, what was purged.
// Invariant: a staged failure changes nothing but what the interface leaves open: after a failed purge the bytes are
//    garbage, so that code that believes them to be zero is found out.
// Must not know: who calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "platform/memory.hpp"

namespace gr::fake {

enum class Call : std::uint8_t {
    reserve,
    commit,
    make_readable,
    map_at,
    unmap_at,
    purge,
    free_lazily,
    collapse,
    set_in_core_files,
    map,
    remap,
    unmap,
    count
};

struct Range {
    char *begin;
    std::size_t bytes;
};

inline constexpr unsigned kForever = UINT32_MAX;

// Forgets all counts and staged failures.
void reset();
// Lets `passes` calls pass and fails the `failures` that follow.
void fail(Call call, unsigned passes, unsigned failures = kForever);
// How long each collapse takes; no time after reset.
void delay_collapse(std::chrono::nanoseconds delay);
// What a failing collapse says; not_now after reset.
void fail_collapse_with(platform::Collapse failure);
unsigned calls(Call call);
// Called at the start of every purge, where a signal handler could come in; none after reset.
void on_purge(std::function<void()> handler);
// Successful purges since reset.
const std::vector<Range> &purged();
// Successful calls of collapse since reset, and of allow_huge_pages.
const std::vector<Range> &collapsed();
struct Allowed : Range {
    bool allowed;
};
const std::vector<Allowed> &allowed();
// Of committed memory, what core files do not contain, in bytes since reset.
std::size_t left_out_of_core_files(const char *begin, std::size_t bytes);
// Reserved or mapped and not unmapped since the program started.
std::size_t mapped_bytes();

}  // namespace gr::fake
