// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: marking by one thread: words to blocks, blocks to what is to be scanned, until nothing is left.
// Invariant: a block that is marked was scanned, or lies in the ring or the worklist; a word between its fetch and its
//            look lies in the ring, so that memory is waited for sixteen times at once.
// Must not know: roots; threads; what becomes of the rest.
#pragma once

#include "collector/field.hpp"
#include "collector/worklist.hpp"
#include "heap/keeper.hpp"
#include "platform/world/range.hpp"

namespace gr {

// Procedures of the program's, which tell what their blocks point to.
using MarkProcedures = std::array<MarkProcedure, Descriptor::kMostProcedures>;

class Marker {
  public:
    Marker(const Field &field, const MarkProcedures &procedures, Worklist &worklist, std::uint8_t number)
        : field_(field), procedures_(procedures), accepts_(field.accepts()), work_(worklist), number_(number) {}

    // Every word of it at a multiple of a word may be a pointer.
    void scan(platform::Range range);
    void scan(Task task);
    // The same, wherever into a block it points: of a stack, where compilers keep what they like.
    void scan_stack(platform::Range range);
    void consider(std::uintptr_t word) {
        if (field_.may_point(word)) follow(word);
    }
    // Until nothing is left here or for all.
    void drain();

    bool is_marked(const Target &t) const { return t.mark->load(std::memory_order_relaxed) == number_; }

    std::uint64_t marked_blocks() const { return marked_blocks_; }
    // There was no memory for what is still to be scanned: what was marked is not complete.
    bool failed() const { return failed_; }

    // All that is in use of a kind.
    void reach_all(const Keeper &keeper, std::uint32_t kind);

    // The one that marks in this thread, for what procedures and hooks of the program's find; or nullptr.
    static Marker *current() { return current_; }
    class [[nodiscard]] Current {
      public:
        explicit Current(Marker &marker) : outer_(current_) { current_ = &marker; }
        ~Current() { current_ = outer_; }
        Current(const Current &) = delete;
        Current &operator=(const Current &) = delete;

      private:
        Marker *outer_;
    };

  private:
    static constexpr unsigned kRing = 16;            // lines on their way from memory
    static constexpr std::size_t kPiece = 4 * kKiB;  // of a larger block, so that others may take the rest

    // Field by field: a candidate that is stored in pieces and loaded whole would wait for the stores to leave the CPU.
    struct Ring {
        Mark *marks[kRing]{};
        const char *begins[kRing]{};
        Descriptor descriptors[kRing]{};

        Candidate at(unsigned i) const { return {marks[i], {begins[i], descriptors[i]}}; }
        void put(unsigned i, const Candidate &candidate) {
            marks[i] = candidate.mark;
            begins[i] = candidate.task.begin;
            descriptors[i] = candidate.task.descriptor;
        }
    };

    // Apart from the test of may_point, which nearly all words fail.
    [[gnu::noinline]] void follow(std::uintptr_t word) {
        const Candidate candidate = field_.candidate(word);
        if (candidate.mark == nullptr) return;
        if (accepts_ != nullptr && !accepts_(word - reinterpret_cast<std::uintptr_t>(candidate.task.begin))) return;
        __builtin_prefetch(static_cast<const void *>(candidate.mark), 1);
        __builtin_prefetch(candidate.task.begin);
        const unsigned at = next_++ % kRing;
        const Candidate out = ring_.at(at);
        ring_.put(at, candidate);
        if (out.mark != nullptr) reach(out);
    }
    void reach(const Candidate &candidate) {
        if (candidate.mark->load(std::memory_order_relaxed) == number_) return;
        candidate.mark->store(number_, std::memory_order_relaxed);
        ++marked_blocks_;
        if (!candidate.task.descriptor.is_nothing()) push(candidate.task);
    }
    bool empty_ring();
    void push(Task task) {
        if (!work_.push(task)) [[unlikely]]
            failed_ = true;
    }
    void scan_bitmap(const char *begin, std::uintptr_t bitmap);
    void scan_by_procedure(Task task);
    static Descriptor own_descriptor(Task task);

    static thread_local constinit Marker *current_;

    const Field &field_;
    const MarkProcedures &procedures_;
    Field::Accepts accepts_;
    Work work_;
    std::uint8_t number_;
    bool failed_ = false;
    unsigned next_ = 0;
    std::uint64_t marked_blocks_ = 0;
    Ring ring_;
};

}  // namespace gr
