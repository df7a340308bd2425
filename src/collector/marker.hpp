// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: marking by one thread: words to blocks, blocks to what is to be scanned, until nothing is left.
// Invariant: a block that is marked was scanned, or lies in the ring or the worklist; a word between its fetch and its
//    look lies in the ring, so that memory is waited for sixteen times at once.
// Must not know: roots; threads; what becomes of the rest.
#pragma once

#include "collector/field.hpp"
#include "collector/worklist.hpp"
#include "heap/collector_view.hpp"
#include "platform/world/range.hpp"

namespace gr {

// Procedures of the program's, which tell what their blocks point to.
using MarkProcedures = std::array<MarkProcedure, Descriptor::kMostProcedures>;

// The world stands, and the field was prepared; the program runs, and blocks come and go; it stands, after that.
enum class Phase : std::uint8_t { still, beside, last };

struct MarkSetup {
    const Field &field;
    const MarkProcedures &procedures;
    Worklist &worklist;
    // Blocks of which somebody must be asked what they hold, beside the program: it may be changing that.
    Worklist &later;
    std::uint8_t number = 0;
    Phase phase = Phase::still;
};

class Marker {
  public:
    explicit Marker(const MarkSetup &setup);
    ~Marker() { later_.give_all(); }
    Marker(const Marker &) = delete;
    Marker &operator=(const Marker &) = delete;

    // Every word of it at a multiple of a word may be a pointer.
    void scan(platform::Range range);
    void scan(Task task);
    // The same, wherever into a block it points: of a stack, where compilers keep what they like.
    void scan_stack(platform::Range range);
    void consider(std::uintptr_t word) {
        if (field_.may_point(word)) follow(word);
    }
    // Wherever into a block it points.
    void consider_inside(std::uintptr_t word);
    // Until nothing is left here or for all.
    void drain();

    // At a glance, while the field is prepared: the word points to a block that was not reached. false: it may.
    bool sees_unmarked(std::uintptr_t word) const {
        if (phase_ != Phase::still || !field_.may_point(word)) return false;
        const Place &place = field_.places().of(word);
        const std::size_t index = place.index_at(word % kUnitBytes);
        return index < place.blocks && place.marks[index].load(std::memory_order_relaxed) != number_;
    }
    bool is_marked(const Target &t) const { return t.mark->load(std::memory_order_relaxed) == number_; }

    // There was no memory for what is still to be scanned: what was marked is not complete.
    bool failed() const { return failed_; }

    // All that is in use of a kind.
    void reach_all(const CollectorView &view, std::uint32_t kind);
    // What lies there of marked blocks: others may have written to it since.
    void scan_marked(std::uint32_t kind, platform::Range written);
    // What was left for later.
    void scan_left();

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
    static constexpr unsigned kRing = 16;              // lines on their way from memory
    static constexpr std::size_t kPiece = 512;         // of a larger block, so that others may take the rest
    static constexpr std::uint32_t kTurnsToShare = 8;  // of the loop, before others are asked whether they want some

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

    template <bool kFilters, bool kMoves>
    class Loop;

    template <class Use>
    void with_loop(Use use);
    template <bool kMoves, class Use>
    void with_loop(Use use);
    void follow(std::uintptr_t word);
    // For the loop, whose top of the stack is the true one.
    Task *make_room(Task *top);
    Task *find_more(Task *top);
    Task *share(Task *top);
    bool reach_last_of_ring();
    void push(Task task) {
        if (!work_.push(task)) [[unlikely]]
            failed_ = true;
    }
    void scan_part(Task task, platform::Range part);
    void scan_bitmap(const char *begin, std::uintptr_t bitmap);
    void scan_by_procedure(Task task);
    void scan_readable(platform::Range range);
    static Descriptor own_descriptor(Task task);

    static thread_local constinit Marker *current_;

    const Field &field_;
    const MarkProcedures &procedures_;
    Field::Accepts accepts_;
    std::size_t most_unasked_;  // bytes of a block of which no page may be protected
    Work work_;
    Work later_;
    Phase phase_;
    std::uint8_t number_;
    bool failed_ = false;
    unsigned next_ = 0;
    std::uint32_t left_ = kTurnsToShare;
    Mark nothing_;  // marked: where the ring is empty
    Ring ring_;
};

}  // namespace gr
