// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the calls that led to this place: the address where each caller goes on.
// Invariant: takes no lock, and no memory except for the rules that it remembers; a signal handler may use it while it
//    runs. A walk ends where a rule is missing.
// Must not know: why the caller asks.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

#include "platform/unwind/frame_rule.hpp"

namespace gr::platform {

class StackWalk {
  public:
    constexpr StackWalk() = default;

    // Whether the C library tells where the tables lie that this class needs.
    static bool is_possible();
    // Called before the first use. false: a walk is not possible, or there is no memory at present.
    bool initialise();
    // Writes the addresses behind the calls, the innermost first, without those in this library. Returns how many.
    std::size_t take(std::span<std::uintptr_t> out);
    // The stack pointer of the innermost caller that is neither in this library, in libc nor in the loader; nullptr:
    // there was none.
    const char *program_stack();
    // Called when a library was unloaded, because another may be loaded at its place.
    void forget();

    // The memory for the rules that it remembers; empty before the first use.
    std::span<const std::byte> memory() const {
        return {reinterpret_cast<const std::byte *>(known_),
                known_ == nullptr ? 0 : (std::size_t{1} << kKnownBits) * sizeof(Known)};
    }

  private:
    // Two words that belong together. A thread that reads them between two writes finds that they match no code.
    struct Known {
        std::atomic<std::uint64_t> mixed;  // code xor rule
        std::atomic<std::uint64_t> rule;
    };
    static constexpr unsigned kKnownBits = 15;

    FrameRule rule_for(std::uintptr_t code);

    Known *known_ = nullptr;
    std::uintptr_t own_begin_ = 0;
    std::uintptr_t own_bytes_ = 0;
};

}  // namespace gr::platform
