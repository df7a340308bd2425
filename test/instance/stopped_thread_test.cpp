// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: at every instruction of a request, a thread that a collection stops there has the address of the run that it
//    has made in a register or on its stack.
// Invariant: the processor traps after each instruction, so no instruction is left out.
// Must not know: how a collection finds registers.
#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>

#include "fake/single_steps.hpp"
#include "instance/fresh_instance.hpp"

namespace gr::stopped_thread_test {

#if defined(__x86_64__)

struct Watched {
    const Region *region = nullptr;
    std::size_t bytes = 0;
    const char *caller = nullptr;  // the frame that the stack is searched up to
    std::uintptr_t hidden = 0;     // the block's address, for the caller may not hold it
    unsigned instructions = 0;
    unsigned with_run = 0;  // of them, those at which the run was there
    unsigned without_address = 0;
};
Watched watched;

bool points_to_block(std::uintptr_t word) { return word - ~watched.hidden < watched.bytes; }

// A sanitizer puts guards between the variables of other frames.
[[gnu::no_sanitize_address]] bool any_on_stack(const std::uintptr_t *top, const std::uintptr_t *end) {
    while (top < end && !points_to_block(*top)) ++top;
    return top < end;
}

void after_instruction(int, siginfo_t *, void *context) {
    const auto &registers = static_cast<const ucontext_t *>(context)->uc_mcontext.gregs;
    ++watched.instructions;
    const UnitIndex unit = watched.region->unit_of(reinterpret_cast<const char *>(~watched.hidden));
    if (load_entry(*watched.region, unit) != kRunEntry) return;
    ++watched.with_run;
    const auto *const top = reinterpret_cast<const std::uintptr_t *>(registers[REG_RSP]);
    const auto *const end = reinterpret_cast<const std::uintptr_t *>(watched.caller);
    const auto is_address = [](auto word) { return points_to_block(static_cast<std::uintptr_t>(word)); };
    const bool is_held = std::any_of(registers, registers + REG_RIP, is_address) || any_on_stack(top, end);
    watched.without_address += is_held ? 0 : 1;
}

template <class Request>
[[gnu::noinline]] std::uintptr_t hidden_address_of(Request request) {
    return ~reinterpret_cast<std::uintptr_t>(request());
}

template <class Request>
void expect_held(fake::FreshInstance &instance, std::size_t bytes, Request request) {
    // The memory that was used last is used again.
    const std::uintptr_t hidden = hidden_address_of(request);
    instance->free("test", reinterpret_cast<void *>(~hidden));
    watched = {.region = &instance->region(),
               .bytes = bytes,
               .caller = static_cast<const char *>(__builtin_frame_address(0)),
               .hidden = hidden};
    void *block = nullptr;
    fake::run_by_steps(after_instruction, [&] { block = request(); });
    EXPECT_EQ(~reinterpret_cast<std::uintptr_t>(block), hidden) << "another run was watched";
    EXPECT_GT(watched.instructions, 100U);
    EXPECT_GT(watched.with_run, 5U);
    EXPECT_EQ(watched.without_address, 0U);
    instance->free("test", block);
}

TEST(StoppedThread, HoldsTheRunThatItHasMade) {
    constexpr std::size_t kBytes = kUnitBytes;
    fake::FreshInstance instance;
    expect_held(instance, kBytes, [&] { return instance->allocate(kBytes); });
    expect_held(instance, kBytes, [&] { return instance->allocate_aligned(kBytes, kUnitBytes); });
}

#else

TEST(StoppedThread, HoldsTheRunThatItHasMade) {
    GTEST_SKIP() << "only x86 lets a program ask for a trap after each instruction";
}

#endif

}  // namespace gr::stopped_thread_test
