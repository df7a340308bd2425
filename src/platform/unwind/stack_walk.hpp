// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the calls that led to this place: the address where each caller goes on.
// Invariant: takes no lock, and no memory except for the rules that it remembers; a signal handler may use it while it
//    runs. Where a rule is missing, the frame pointer leads on, if frame_pointer.hpp finds a caller there; otherwise the walk ends.
// Must not know: why the caller asks.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

#include "platform/unwind/frame.hpp"
#include "platform/unwind/frame_rule.hpp"
#include "platform/unwind/last_walk.hpp"
#include "platform/unwind/stack_outline.hpp"

namespace gr::platform {

// What a thread remembers from one walk to the next.
struct StackMemory {
    StackOutline outline;
    LastWalk last;

    // Another thread's stacks come now.
    void forget() {
        outline.forget();
        last.forget();
    }
    std::uint32_t unloads = 0;  // before the last walk
};

class StackWalk {
  public:
    constexpr StackWalk() = default;

    // Whether the C library tells where the tables lie that this class needs.
    static bool is_possible();
    // Called before the first use. false: a walk is not possible, or there is no memory at present.
    bool initialise();
    // Writes the addresses behind the calls that led to a frame, the innermost first, without those in this library.
    // Returns how many.
    std::size_t take(std::span<std::uintptr_t> out, Frame from = here());
    // Writes the innermost calls as take() does, with the help of what this thread remembers. Where there are more, its
    // outline gets the outermost. Returns how many calls were written, and how many are further out.
    struct Ends {
        std::size_t written;
        std::size_t beyond;
    };
    // For at least one call. If `stacks` is not empty, it is as long as `codes` and gets the stack pointer at each address.
    struct Room {
        std::span<std::uintptr_t> codes;
        std::span<std::uintptr_t> stacks;
    };
    Ends take_ends(const Room &room, StackMemory *memory, Frame from = here());
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
    bool step(Frame *frame);
    bool step_anew(Frame *frame, LastWalk::Walk *walk);
    bool is_own(std::uintptr_t code) const { return code - own_begin_ < own_bytes_; }
    [[gnu::noinline]] std::size_t walk_beyond(Frame *frame, StackOutline *outline);

    Known *known_ = nullptr;
    std::uintptr_t own_begin_ = 0;
    std::uintptr_t own_bytes_ = 0;
    std::atomic<std::uint32_t> unloads_{0};  // how often the rules were forgotten
};

}  // namespace gr::platform
