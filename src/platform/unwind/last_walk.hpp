// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the frames of a thread's last walk, and which words each step outward read, so that the next walk repeats the steps
//    that both have in common without looking for their rules.
// Invariant: a step is repeated only from the frame from which it was made, and only if the words that it read are what
//    they were. So it reads nothing that its rule would not read, and leads to the frame to which its rule would lead.
// Must not know: what a rule is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "platform/unwind/frame.hpp"

namespace gr::platform {

class LastWalk {
  public:
    // The innermost ones. Frames further out are not remembered.
    static constexpr std::uint32_t kFrames = 512;

    // Which words a step read: the code, and the frame pointer if that is not 0. Both are 0 if it must not be repeated.
    struct Read {
        std::uintptr_t code_at = 0;
        std::uintptr_t pointer_at = 0;
    };

    constexpr LastWalk() = default;

    // Another thread's stacks come now, or other code is at the places of the frames' code.
    void forget() {
        if (begin_ != end_) begin_ = end_ = 0;
    }

  private:
    struct Step {
        Frame from;
        Read read;

        [[gnu::always_inline]] bool leads_to(const Frame &next) const {
            if (read.code_at == 0 || word_at(read.code_at) != next.code) return false;
            return read.pointer_at == 0 || word_at(read.pointer_at) == next.frame_pointer;
        }
    };
    static std::uintptr_t word_at(std::uintptr_t address) { return *reinterpret_cast<const std::uintptr_t *>(address); }

  public:
    // One walk outward.
    class Walk {
      public:
        explicit Walk(LastWalk *last) : last_(*last), at_(last->begin_) {}

        // Goes to callers' frames as the last walk did, as long as `pass`, which is told each, wants more. false: it wants
        // no more; otherwise the next step has to be made.
        template <class Pass>
        [[gnu::always_inline]] bool repeat(Frame *frame, Pass pass) {
            if (!is_joined_ && !joins(*frame)) return true;
            bool goes_on = true;
            std::uint32_t at = at_;
            const Step *step = &last_.at(at);
            while (goes_on && at + 1 != last_.end_) {
                const Step *const next = &last_.at(at + 1);
                if (!step->leads_to(next->from)) break;
                step = next;
                ++at;
                goes_on = pass(step->from);
            }
            at_ = at;
            *frame = step->from;
            return goes_on;
        }
        // Called for each step after repeat().
        void made(const Frame &from, Read read) {
            if (is_joined_) part();
            add({from, read});
        }
        // Called once, with the frame to which the walk came.
        void end(const Frame &frame);

      private:
        [[gnu::always_inline]] bool joins(const Frame &frame) {
            while (at_ != last_.end_ && last_.at(at_).from.stack < frame.stack) ++at_;
            if (at_ == last_.end_ || last_.at(at_).from != frame) return false;
            is_joined_ = true;
            joined_ = at_;
            return true;
        }
        void add(const Step &step) {
            if (made_ < kFrames) last_.made_[made_++] = step;
        }
        void part();

        LastWalk &last_;
        std::uint32_t at_;          // the first frame of the last walk that is not further in than this walk is
        std::uint32_t joined_ = 0;  // the frame of the last walk from which on both are the same
        std::uint32_t made_ = 0;    // steps before that
        bool is_joined_ = false;
    };

  private:
    Step &at(std::uint32_t place) { return steps_[place % kFrames]; }

    // The innermost at begin_, so that it takes the place of the outermost ones if there are too many.
    std::array<Step, kFrames> steps_{};
    std::uint32_t begin_ = 0;  // these two wrap around
    std::uint32_t end_ = 0;
    std::array<Step, kFrames> made_{};  // by the walk that is under way
};

}  // namespace gr::platform
