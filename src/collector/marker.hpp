// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: marking by one thread: from words to blocks, from blocks to tasks, until nothing is left to scan.
// Invariant: a marked block was scanned, or lies in the ring or on the worklist. A candidate lies in the ring between
//    its prefetch and the look at its mark, so that several cache lines are fetched at once.
// Must not know: roots; threads; what becomes of blocks that are not marked.
#pragma once

#include "collector/field.hpp"
#include "collector/mark_observer.hpp"
#include "collector/worklist.hpp"
#include "heap/collector_view.hpp"
#include "platform/world/range.hpp"

namespace gr {

// Procedures of the program, which find the pointers in blocks.
using MarkProcedures = std::array<MarkProcedure, Descriptor::kMostProcedures>;

// stopped: the threads stand, and the field was prepared. incremental: the program runs, and blocks come and go.
// last_stop: the threads stand after that.
enum class MarkMode : std::uint8_t { stopped, incremental, last_stop };

struct MarkSetup {
    const Field &field;
    const MarkProcedures &procedures;
    Worklist &worklist;
    // Blocks whose contents only a mark procedure or the block itself knows: while the program runs it may be changing
    // them.
    Worklist &later;
    std::uint8_t number = 0;
    MarkMode mode = MarkMode::stopped;
};

class Marker {
  public:
    explicit Marker(const MarkSetup &setup);
    ~Marker() { later_.give_all(); }
    Marker(const Marker &) = delete;
    Marker &operator=(const Marker &) = delete;

    // Every word of the range may be a pointer, at the addresses where the field says that words lie.
    void scan(platform::Range range);
    void scan(Task task);
    // Like scan(), but pointers to anywhere in a block count: compilers keep such pointers on stacks.
    void scan_stack(platform::Range range);
    void consider(std::uintptr_t word) {
        if (field_.may_point(word)) follow(word);
    }
    // A pointer to anywhere in a block counts.
    void consider_inside(std::uintptr_t word);
    // Marks until nothing is left here and on the shared worklist.
    void drain();
    // From now on each block that this marker marks is told of, while no other marker helps.
    void observe(MarkObserver observer) { observer_ = observer; }

    // Whether the unit table already tells that the word points into a block that is not marked. false: the caller asks
    // further.
    bool sees_unmarked(std::uintptr_t word) const {
        if (mode_ != MarkMode::stopped || !field_.may_point(word)) return false;
        const UnitRow &row = field_.unit_table().of(word);
        const std::size_t index = row.index_at(word % kUnitBytes);
        return index < row.blocks && row.marks[index].load(std::memory_order_relaxed) != number_;
    }
    bool is_marked(const Target &t) const { return t.mark->load(std::memory_order_relaxed) == number_; }

    // Whether memory for the worklist ran out: then not everything reachable is marked.
    bool failed() const { return failed_; }

    // Marks all blocks in use of a kind.
    void reach_all(const CollectorView &view, std::uint32_t kind);
    // The parts of marked blocks that lie in the range go to the worklist, because the program may have written to them
    // since. Returns how many bytes these are.
    std::size_t push_marked(std::uint32_t kind, platform::Range written);
    // Scans the blocks that were left for the last stop.
    void scan_left();

    // The marker of this thread, for mark procedures and hooks of the program; or nullptr.
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
    static constexpr unsigned kRing = 16;              // candidates whose cache lines are being fetched
    static constexpr std::size_t kPiece = 512;         // bytes of a block that one marker scans at once
    static constexpr std::uint32_t kTurnsToShare = 8;  // turns of the loop between two looks for markers without work

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

    template <bool kFilters, bool kMoves, bool kTells, Words kWords>
    class Loop;

    template <class Use>
    void with_loop(Use use);
    template <bool kMoves, bool kTells, class Use>
    void with_loop(Use use);
    template <class Use>
    void with_loop_anywhere(Use use);
    void scan_anywhere(platform::Range range);
    void follow(std::uintptr_t word);
    // For the loop, which keeps the top of the stack in a register.
    Task *make_room(Task *top);
    Task *find_more(Task *top);
    Task *share(Task *top);
    bool reach_last_of_ring();
    void push(Task task) {
        if (!work_.push(task)) [[unlikely]]
            failed_ = true;
    }
    std::size_t push_marked(const Field::Kind &k, const Superblock *s, platform::Range part);
    std::size_t push_part(Task task, platform::Range part);
    void scan_bitmap(const char *begin, std::uintptr_t bitmap);
    void scan_by_procedure(Task task);
    void scan_readable(platform::Range range);
    static Descriptor own_descriptor(Task task);

    static thread_local constinit Marker *current_;

    const Field &field_;
    const MarkProcedures &procedures_;
    Field::Accepts accepts_;
    std::size_t most_unasked_;  // a block of at most so many bytes is scanned without asking which pages are readable
    Work work_;
    Work later_;
    Words words_;
    MarkMode mode_;
    std::uint8_t number_;
    bool failed_ = false;
    MarkObserver observer_;
    unsigned next_ = 0;
    std::uint32_t left_ = kTurnsToShare;
    const char *scanned_to_ = nullptr;  // the end of the range that was scanned last, if words lie anywhere
    Mark nothing_;                      // a marked mark, for empty entries of the ring
    Ring ring_;
};

}  // namespace gr
