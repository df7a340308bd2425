// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: marks what is reached from what it is given: one of perhaps several that share a worklist.
// Invariant: a block that is marked was pushed, or has no pointers; when the worklist and every marker's ring are empty,
//            whatever marked blocks point to is marked.
// Must not know: roots; threads; what becomes of the rest.
#pragma once

#include "collector/field.hpp"
#include "collector/worklist.hpp"

namespace gr {

class Marker {
  public:
    Marker(const Field &field, Worklist &worklist, std::uint8_t number)
        : field_(field), work_(worklist), number_(number) {}

    // Every word of it at a multiple of a word may be a pointer.
    void scan(platform::Range range);
    void consider(std::uintptr_t word) {
        if (!field_.may_point(word)) return;
        const Target t = field_.target(word);
        if (t.begin == nullptr) return;
        __builtin_prefetch(static_cast<const void *>(t.mark), 1);
        __builtin_prefetch(t.begin);
        Target &slot = ring_[next_++ % kRing];
        const Target out = slot;
        slot = t;
        if (out.begin != nullptr) reach(out);
    }
    // Until nothing is left here or for all.
    void drain();

    std::uint64_t marked_blocks() const { return marked_blocks_; }
    std::uint64_t marked_bytes() const { return marked_bytes_; }
    // There was no memory for what is still to be scanned: what was marked is not complete.
    bool failed() const { return failed_; }

  private:
    static constexpr unsigned kRing = 16;           // lines on their way from memory
    static constexpr std::size_t kPiece = 4 * kKiB;  // of a larger block, so that others may take the rest

    void reach(const Target &t);
    bool empty_ring();
    void push(const char *begin, std::size_t bytes) { failed_ = !work_.push({begin, bytes}) || failed_; }

    const Field &field_;
    Work work_;
    std::uint8_t number_;
    bool failed_ = false;
    unsigned next_ = 0;
    std::uint64_t marked_blocks_ = 0;
    std::uint64_t marked_bytes_ = 0;
    Target ring_[kRing];
};

}  // namespace gr
