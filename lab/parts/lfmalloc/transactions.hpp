// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: LFMalloc's transactional layer (3.1.4) over Linux's rseq: begin, conditional load, conditional store, called
//    from C++. And stores of several words at once by commit records, which the paper plans (5.1).
// Invariant: a CPU's words are changed only by transactions on that CPU. A step happens only while its thread is there
//    and no other transaction has begun there since its own did. What is announced is done before any later step there.
//    The paper's flag is set for a thread that was preempted; here the next transaction on the CPU counts up the CPU's
//    turn, so an interrupted thread goes on if no transaction began on the CPU meanwhile.
// Must not know: what the words are for.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"
#include "parts/lfmalloc/transaction_counts.hpp"
#include "platform/memory.hpp"
#include "platform/rseq/sequences.hpp"

namespace gr::lab {

// The assembly knows the offsets of both.
struct Store {
    void *word;
    std::uint64_t value;
};
// One CPU's. Written by the sequences alone, once it has its CPU's number.
struct alignas(kCacheLineBytes) TransactionSlot {
    static constexpr unsigned kMostStores = 3;

    std::uint64_t turn;  // of the transaction that began last
    std::uint32_t cpu;
    std::uint32_t pending;  // so many of `stores` are announced, and perhaps not done; not 0: nothing has begun since
    Store stores[kMostStores];

    bool is_valid() const { return pending <= kMostStores; }
};
static_assert(sizeof(TransactionSlot) == 64, "the sequences find a slot by a shift");
static_assert(offsetof(TransactionSlot, turn) == 0 && offsetof(TransactionSlot, cpu) == 8 &&
                  offsetof(TransactionSlot, pending) == 12 && offsetof(TransactionSlot, stores) == 16,
              "the sequences load these fields at these offsets");
static_assert(sizeof(Store) == 16 && offsetof(Store, word) == 0 && offsetof(Store, value) == 8,
              "the sequences load these fields at these offsets");

// Of a step. interrupted: the kernel aborted the sequence; whether the transaction still holds is not known yet.
enum class Outcome : std::uint64_t { annulled, done, interrupted };

extern "C" {
struct GrLabBegun {
    TransactionSlot *slot;  // nullptr: interrupted, or the thread's rseq is not registered
    std::uint64_t turn;
};
struct GrLabStep {
    std::uint64_t value;
    Outcome outcome;
};
// transactions_*.S. `slots`: where it stands where they lie. What is announced in this CPU's slot is done first.
GrLabBegun gr_lab_transaction_begin(TransactionSlot *const *slots);
GrLabStep gr_lab_transaction_load(TransactionSlot *slot, std::uint64_t turn, const void *word);
GrLabStep gr_lab_transaction_store(TransactionSlot *slot, std::uint64_t turn, void *word, std::uint64_t value);
GrLabStep gr_lab_transaction_announce(TransactionSlot *slot, std::uint64_t turn, const Store *stores,
                                      std::uint32_t count);
}

class TransactionSlots {
  public:
    // `cpus`: above each number of a CPU.
    bool start(unsigned cpus) {
        slots_ =
            static_cast<TransactionSlot *>(platform::map(cpus * sizeof(TransactionSlot), alignof(TransactionSlot)));
        if (slots_ == nullptr) return false;
        for (unsigned cpu = 0; cpu < cpus; ++cpu) slots_[cpu].cpu = cpu;
        return true;
    }
    TransactionSlot *const *place() const { return &slots_; }
    const TransactionSlot &of(int cpu) const { return slots_[cpu]; }

  private:
    TransactionSlot *slots_ = nullptr;
};

// On the CPU on which it began, while that is the thread's. A thread has one at a time, and none in a signal handler
// that interrupted another.
class Transaction {
  public:
    explicit Transaction(const TransactionSlots &slots) : slots_(slots) {
        for (unsigned i = 0; i < kTries && begun_.slot == nullptr; ++i)
            begun_ = gr_lab_transaction_begin(slots.place());
    }
    // -1: it could not begin, and all its steps are annulled.
    int cpu() const { return begun_.slot == nullptr ? -1 : static_cast<int>(begun_.slot->cpu); }

    // 0 if the transaction is annulled; a store of what is computed from it then does nothing.
    std::uint64_t load(const void *word) {
        return step([&] { return gr_lab_transaction_load(begun_.slot, begun_.turn, word); }).value;
    }
    // false: annulled. What an earlier store of this transaction did stays, as in the paper.
    bool store(void *word, std::uint64_t value) {
        return step([&] { return gr_lab_transaction_store(begun_.slot, begun_.turn, word, value); }).outcome ==
               Outcome::done;
    }
    // All of them or none, and the transaction is over. The next transaction on the CPU does them, before its own
    // steps: mostly that of this caller, else that of another thread.
    template <std::size_t count>
    bool store_all(const Store (&stores)[count]) {
        static_assert(count <= TransactionSlot::kMostStores, "a commit record has no room for so many stores");
        const GrLabStep announced =
            step([&] { return gr_lab_transaction_announce(begun_.slot, begun_.turn, stores, count); });
        if (announced.outcome != Outcome::done) return false;
        const Transaction next(slots_);
        return true;
    }

    template <class T>
    T load(const std::atomic<T> &word) {
        static_assert(sizeof(std::atomic<T>) == sizeof(std::uint64_t), "a step moves a word");
        return std::bit_cast<T>(load(static_cast<const void *>(&word)));
    }
    template <class T>
    bool store(std::atomic<T> &word, T value) {
        static_assert(sizeof(std::atomic<T>) == sizeof(std::uint64_t), "a step moves a word");
        return store(static_cast<void *>(&word), std::bit_cast<std::uint64_t>(value));
    }

  private:
    // A debugger's single steps interrupt each try.
    static constexpr unsigned kTries = 8;

    template <class Sequence>
    GrLabStep step(Sequence sequence) {
        if (begun_.slot == nullptr) return {};
        bool was_interrupted = kCounted && is_interrupted();
        GrLabStep step{0, Outcome::interrupted};
        for (unsigned i = 0; i < kTries && step.outcome == Outcome::interrupted; ++i) {
            step = sequence();
            was_interrupted = was_interrupted || step.outcome == Outcome::interrupted;
        }
        // Whether the step is done shows whether the interruption was interference.
        if (was_interrupted) transaction_counts.count_interruption(step.outcome == Outcome::done);
        if (step.outcome != Outcome::done) begun_.slot = nullptr;
        return step;
    }
    // What the kernel tells: each sequence leaves its descriptor in the thread's rseq area, and the kernel clears that
    // when it preempts, moves or signals the thread outside of a sequence.
    static bool is_interrupted() {
        constexpr std::int64_t kRseqCsOffset = 8;
        const auto *const area =
            reinterpret_cast<const char *>(platform::thread_pointer()) + platform::gr_sequence_state.rseq_offset;
        return *reinterpret_cast<const volatile std::uint64_t *>(area + kRseqCsOffset) == 0;
    }

    const TransactionSlots &slots_;
    GrLabBegun begun_{};
};

}  // namespace gr::lab
