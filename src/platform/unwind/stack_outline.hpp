// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what one thread remembers of its last deep stack: its outermost calls, and some calls between, so that the next
//    walk need not go through all calls again.
// Invariant: an outline answers for a stack only if one of the calls between is where it was, and all outermost calls
//    still are. No memory is read that the kernel does not call readable.
// Must not know: how frames are walked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gr::platform {

class StackOutline {
  public:
    static constexpr std::size_t kOutermost = 16;
    // Of these calls there are at most so many, at distances that grow with the stack.
    static constexpr std::size_t kLandmarks = 64;

    // A call that a walk passed: where it goes on, its caller's stack pointer, and where the first of these is kept.
    struct Passed {
        std::uintptr_t code = 0;
        std::uintptr_t stack = 0;
        std::uintptr_t kept_at = 0;
    };

    constexpr StackOutline() = default;

    // One walk outward. The calls are told from the first that is not among the innermost ones.
    class Walk {
      public:
        explicit Walk(StackOutline *outline) : outline_(*outline) {}
        // true: the outline knows the rest, and the walk may end.
        bool pass(const Passed &call);
        // Called once, after the last pass. Returns how many calls there are beyond the innermost ones.
        std::size_t end();

      private:
        struct Seen {
            std::uintptr_t code = 0;
            std::uintptr_t stack = 0;
            std::size_t step = 0;
        };
        void remember(const Passed &call);

        StackOutline &outline_;
        std::size_t steps_ = 0;
        std::size_t gap_ = 1;  // one call in so many is remembered
        std::size_t seen_count_ = 0;
        std::size_t known_ = 0;  // landmarks that are further out than the call at which the outline answered
        bool is_answered_ = false;
        std::array<Seen, kLandmarks> seen_;
        std::array<Passed, kOutermost> last_;  // a ring
    };

    // Another thread's stacks come now.
    void forget() {
        if (outermost_ != 0 || landmark_count_ != 0) outermost_ = landmark_count_ = 0;
    }
    // The innermost of them first.
    std::span<const std::uintptr_t> outermost() const { return {codes_.data(), outermost_}; }

  private:
    struct Landmark {
        std::uintptr_t code = 0;
        std::uintptr_t stack = 0;
        std::size_t depth = 0;  // calls from the outermost to this one
    };

    bool answers(const Passed &call, std::size_t *known) const;
    bool outermost_are_there() const;
    void keep_apart(std::size_t depth);

    std::array<std::uintptr_t, kOutermost> codes_{};
    std::array<std::uintptr_t, kOutermost> kept_at_{};
    std::size_t outermost_ = 0;
    std::array<Landmark, 2 * kLandmarks> landmarks_{};  // the outermost first; the second half is for a walk that ends
    std::size_t landmark_count_ = 0;
};

}  // namespace gr::platform
