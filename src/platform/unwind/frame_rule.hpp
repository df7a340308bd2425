// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how to get from one frame of a stack to its caller's frame: a rule in one word, for one place in the program's
//    code.
// Invariant: an empty rule ends the walk. A place has an empty rule if a word cannot hold its rule, or if its tables
//    differ from what compilers write for plain code.
// Must not know: where the rules come from.
#pragma once

#include <cstdint>

#include "platform/unwind/frame.hpp"

namespace gr::platform {

class FrameRule {
  public:
    constexpr FrameRule() = default;  // none
    constexpr explicit FrameRule(std::uint64_t bits) : bits_(bits) {}

    // In bytes, multiples of a word: from the register to the end of the frame, and from that end to what was saved,
    // which is negative.
    struct Offsets {
        bool from_frame_pointer = false;
        bool saves_frame_pointer = false;
        std::int64_t frame_end = 0;
        std::int64_t frame_pointer = 0;
        std::int64_t return_address = 0;
    };
    static constexpr FrameRule of(const Offsets &offsets) {
        const std::uint64_t end = words(offsets.frame_end);
        const std::uint64_t pointer = words(-offsets.frame_pointer);
        const std::uint64_t address = words(-offsets.return_address);
        if (end >> kEndBits != 0 || pointer >> kSavedBits != 0 || address == 0 || address >> kSavedBits != 0) return {};
        return FrameRule(end | pointer << kEndBits | address << (kEndBits + kSavedBits) |
                         (offsets.from_frame_pointer ? kFromFramePointer : 0) |
                         (offsets.saves_frame_pointer ? kSavesFramePointer : 0));
    }

    constexpr bool is_none() const { return bits_ == 0; }
    constexpr std::uint64_t bits() const { return bits_; }

    // Where the frame keeps the address at which its caller goes on.
    constexpr std::uintptr_t return_address_at(const Frame &frame) const {
        return frame_end(frame) - bytes(kEndBits + kSavedBits, kSavedBits);
    }
    // Where it keeps its caller's frame pointer; 0: the register still holds that.
    constexpr std::uintptr_t frame_pointer_at(const Frame &frame) const {
        return (bits_ & kSavesFramePointer) != 0 ? frame_end(frame) - bytes(kEndBits, kSavedBits) : 0;
    }
    // Goes to the caller's frame. false: the result cannot be the caller's frame.
    bool step(Frame *frame) const {
        constexpr std::uintptr_t kMostFrameBytes = std::uintptr_t{1} << 24;
        const std::uintptr_t end = frame_end(*frame);
        if (end - frame->stack - 1 >= kMostFrameBytes || end % sizeof(void *) != 0) return false;
        if ((bits_ & kSavesFramePointer) != 0) frame->frame_pointer = word_at(end - bytes(kEndBits, kSavedBits));
        frame->code = word_at(end - bytes(kEndBits + kSavedBits, kSavedBits));
        frame->stack = end;
        return frame->code != 0;
    }

  private:
    static constexpr unsigned kEndBits = 24;
    static constexpr unsigned kSavedBits = 16;
    static constexpr std::uint64_t kFromFramePointer = std::uint64_t{1} << 62;
    static constexpr std::uint64_t kSavesFramePointer = std::uint64_t{1} << 63;

    // Bytes that are negative or no multiple of a word give a number that does not fit.
    static constexpr std::uint64_t words(std::int64_t bytes) {
        constexpr auto kWord = static_cast<std::int64_t>(sizeof(void *));
        return bytes % kWord != 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(bytes / kWord);
    }
    constexpr std::uintptr_t frame_end(const Frame &frame) const {
        const std::uintptr_t base = (bits_ & kFromFramePointer) != 0 ? frame.frame_pointer : frame.stack;
        return base + bytes(0, kEndBits);
    }
    constexpr std::uintptr_t bytes(unsigned from, unsigned count) const {
        return ((bits_ >> from) & ((std::uint64_t{1} << count) - 1)) * sizeof(void *);
    }
    static std::uintptr_t word_at(std::uintptr_t address) { return *reinterpret_cast<const std::uintptr_t *>(address); }

    std::uint64_t bits_ = 0;
};

}  // namespace gr::platform
