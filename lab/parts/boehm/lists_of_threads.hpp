// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Boehm's allocator (002, Parallel allocation) over explicit free: each thread's free lists over the global ones.
// Invariant: a free object is in one thread's list or in the global lists. A thread without lists, or without a list
//    for the size, works on the global lists, under their lock. A thread that has ended has no lists.
// Must not know: how a thread finds its lists.
#pragma once

#include "parts/boehm/global_free_lists.hpp"
#include "parts/boehm/local_free_lists.hpp"
#include "parts/boehm/thread_table.hpp"
#include "parts/memory/thread_end.hpp"

namespace gr::lab {

// Where free puts a small object: to the list of the thread that frees, which gives groups to the global lists; or to
// the global list, one at a time.
enum class Frees : std::uint8_t { to_local_list, to_global_list };

inline constexpr std::size_t kHeapPageBytes = 4 * kKiB;

template <QuickThreadId Quick, Frees kFrees, std::size_t kThreshold = kHeapPageBytes>
class ListsOfThreads {
    static_assert(Quick::kStaysWithThread, "two threads that live at once must not find the same lists");

    using Global = GlobalFreeLists<kHeapPageBytes>;
    // Of larger requests each takes the lock: the paper's bound is lost; this is its collector's of that time where
    // objects are aligned as here.
    static constexpr std::size_t kMostLocal = 768;

  public:
    using Blocks = typename Global::Blocks;
    static constexpr std::size_t kMostLimit = Blocks::largest() + 1;
    static constexpr unsigned kLocalBins = Blocks::bin_of(kMostLocal) + 1;
    using Local = LocalFreeLists<kLocalBins, kThreshold>;

    static bool start() { return true; }
    static std::size_t limit() { return kMostLimit; }

    void *take(std::size_t size) {
        const unsigned bin = Blocks::bin_of(size);
        Local *const mine = with_list(bin);
        if (mine == nullptr) {
            show::rule("Boehm 002, Parallel allocation",
                       "The thread has no list for the size yet: the global one serves.");
            return global_.take(bin);
        }
        if (void *const object = mine->take(bin)) [[likely]] {
            show::rule("Boehm 002, Parallel allocation", "The thread's own list has an object: no lock is taken.");
            return object;
        }
        return mine->refill_and_take(bin, global_.take_group(bin));
    }
    void put(void *object) {
        const unsigned bin = Blocks::bin_of_block(object);
        if constexpr (kFrees == Frees::to_global_list) return global_.put(bin, object);
        Local *const mine = with_list(bin);
        if (mine == nullptr) {
            show::rule("Boehm 002, Parallel allocation",
                       "The thread has no list for the size yet: the global one gets it.");
            return global_.put(bin, object);
        }
        show::rule("Boehm 002, Parallel allocation", "The object goes to the thread's own list, without a lock.");
        const FreeList surplus = mine->put(bin, object, Global::group_of(bin));
        if (!surplus.is_empty()) global_.put_group(bin, surplus);
    }
    // Its lists go to the global ones; the next thread begins with counts of zero.
    void thread_ends() {
        has_ended = true;
        lists_.remove([this](Local &mine) {
            mine.give_all([this](unsigned bin, FreeList objects) { global_.put_all(bin, objects); });
        });
    }
    void lock() { lock_all(lists_, global_); }
    void unlock() { unlock_all(lists_, global_); }

    void draw(auto &picture) const {
        global_.draw(picture);
        lists_.draw(picture);
    }

    // For tests: the calling thread's, and what all share.
    Local *lists_of_caller() { return lists_.find(); }
    Global &global() { return global_; }

  private:
    static inline thread_local constinit bool has_ended = false;

    // The caller's lists; nullptr: it works on the global list, which is counted where the count leads to a list.
    Local *with_list(unsigned bin) {
        if (bin >= kLocalBins) return nullptr;
        Local *mine = lists_.find();
        if (mine == nullptr) mine = join();
        if (mine == nullptr || mine->has_list(bin)) return mine;
        mine->count(bin, Blocks::size_of(bin));
        return nullptr;
    }
    // nullptr: no memory, or the thread has ended.
    [[gnu::noinline]] Local *join() {
        if (has_ended) return nullptr;
        thread_end.watch();
        return lists_.add();
    }

    ThreadTable<Local, Quick> lists_;
    Global global_;
};

}  // namespace gr::lab
