// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the system call in which a thread waits, and what becomes of it if the thread is interrupted there.
// Invariant: what is told was true at one moment while it was read.
// Must not know: who interrupts the thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gr::platform {

struct WaitingCall {
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    std::uint64_t number = kNone;  // none: the thread runs, waits for something else than a call, or has ended
    std::array<std::uint64_t, 6> arguments{};
    const char *stack_pointer = nullptr;

    static WaitingCall of_thread(std::uint32_t id);

    // Whether the call returns EINTR after a signal was handled, although the handler has SA_RESTART.
    bool is_ended_by_handlers() const;
    // Whether it has no limit of time and may be made once more as it was, though the kernel itself never does that.
    bool may_be_repeated() const;
};

}  // namespace gr::platform
