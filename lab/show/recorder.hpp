// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: records calls: what each tells while it runs, and how the picture differs afterwards. A stage says where a step
//    begins and ends; without one the first calls of a program are steps, as the environment asks for.
// Invariant: one thread at a time is in a step, so that the allocator stands still while it is drawn: in a program the
//    recorder's lock is held from the call's begin to the step's last byte. Nothing is recorded outside of a step.
// Must not know: any allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "show/picture.hpp"
#include "show/stage_functions.hpp"

namespace gr::lab::show {

// The library's, in show/chosen.cpp.
extern const ChosenAllocator chosen_allocator;

struct DrawnAllocator {
    const void *allocator = nullptr;
    void (*draw)(const void *allocator, Picture &picture) = nullptr;
};

// With a block, a size, or neither.
inline constexpr std::size_t kNoSize = SIZE_MAX;
struct ProgramCall {
    const char *name;
    const void *block = nullptr;
    std::size_t size = kNoSize;
};

// Of the thread's call; true: the caller calls leave_call afterwards.
bool enter_call(const DrawnAllocator &allocator, const ProgramCall &call);
void leave_call();
// In a call: the program has the block; the program gave it back.
void gave(const void *block);
void took_back(const void *block);

}  // namespace gr::lab::show
