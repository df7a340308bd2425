// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: LFMalloc by its transactional layer: it takes no lock where lfmalloc takes none; and what selective
//    notification (004, 3.1.2) is worth: how many interrupted transactions nobody interfered with.
// Invariant: locks and interruptions are counted, in the counted build; nothing is timed.
// Must not know: how a transaction is made.
#include "allocators/lfmalloc_transactional.hpp"

#include "lab/claims/counting.hpp"
#include "lab/interruptions.hpp"

namespace gr::lab::transactional_locks_test {

struct Interrupted {
    std::uint64_t all;
    std::uint64_t continued;
};

template <class Work>
Interrupted interrupted_while(Work work) {
    const std::uint64_t all = transaction_counts.interrupted;
    const std::uint64_t continued = transaction_counts.continued;
    work();
    return {transaction_counts.interrupted - all, transaction_counts.continued - continued};
}

constexpr int kMostRepetitions = 200;

TEST(TransactionalLocks, TransactionsRecycleWithoutLocks) {
    const Counts recycled = recycle<Chosen>();
    if (!ByCpu::is_kept) GTEST_SKIP() << "libc registers no rseq here";
    EXPECT_LT(recycled.locks, kSeldom * 5);
    EXPECT_LT(recycled.waits, kSeldom);
}

// Signals interrupt the only thread: rseq tells of each, and each transaction goes on.
TEST(TransactionalLocks, WithoutInterferenceEachInterruptedTransactionContinues) {
    const OnOneCpu on_one_cpu;
    const Interruptions interruptions;
    const Interrupted seen = interrupted_while([] {
        const std::uint64_t before = transaction_counts.interrupted;
        for (int i = 0; i < kMostRepetitions && transaction_counts.interrupted - before < 10; ++i)
            for (std::size_t pair = 0; pair < kRounds * kBatch; ++pair)
                the_allocator<Chosen>.free(the_allocator<Chosen>.allocate(kSize));
    });
    if (!ByCpu::is_kept) GTEST_SKIP() << "libc registers no rseq here";
    EXPECT_GT(seen.all, 0U);
    EXPECT_EQ(seen.continued, seen.all);
}

// Threads that share a CPU and do nothing else: the next one on the CPU has a transaction, too.
TEST(TransactionalLocks, InterferenceAnnuls) {
    const OnOneCpu on_one_cpu;
    std::uint64_t annulled = 0;
    for (int i = 0; i < kMostRepetitions && annulled == 0; ++i) {
        const Interrupted seen = interrupted_while([] { recycle<Chosen>(); });
        annulled = seen.all - seen.continued;
        if (!ByCpu::is_kept) GTEST_SKIP() << "libc registers no rseq here";
    }
    EXPECT_GT(annulled, 0U);
}

}  // namespace gr::lab::transactional_locks_test
