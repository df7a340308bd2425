// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the calls that led here: where each goes on.
// Invariant: takes no lock and, but for the memory of the rules that it remembers, none; may interrupt itself. Ends
//    where a rule is missing.
// Must not know: why it is asked for.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

#include "platform/unwind/frame_rule.hpp"

namespace gr::platform {

class StackWalk {
  public:
    constexpr StackWalk() = default;

    // Whether the C library tells where the tables lie that this needs.
    static bool is_possible();
    // Before it is used. false: it is not possible, or there is no memory as of now.
    bool initialise();
    // The addresses behind the calls, the innermost first, but for those out of this library. How many.
    std::size_t take(std::span<std::uintptr_t> out);
    // Where the stack of the first caller begins that is neither in this library, in libc nor in the loader; nullptr: it
    // was not found.
    const char *program_stack();
    // A library is gone, and another may lie where it lay.
    void forget();

  private:
    // Two words that belong together, or match no code: whoever reads between two writes.
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
