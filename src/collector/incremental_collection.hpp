// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a collection that marks and sweeps while the program runs, by a thread of the collector's own. A short stop for
//    the roots; then marking, while the kernel reports which pages the program writes to, and what is marked there is
//    scanned again; a second short stop for the last of these pages; then the sweep.
// Invariant: at the second stop each marked block was scanned after it was last written to, or lies in a page that is
//    reported as written. at_work_ is set and cleared by the thread that collects, and set under the collector's lock.
//    While it is set, the marks are that thread's: the holder of the lock abandons the collection before it touches
//    marks or forks.
// Must not know: which names programs call.
#pragma once

#include "collector/collection_parts.hpp"
#include "collector/incremental_sweep.hpp"
#include "collector/rendezvous.hpp"
#include "platform/helper_thread.hpp"

namespace gr {

class IncrementalCollection {
  public:
    // `thread` calls run_for_ever().
    constexpr IncrementalCollection(const CollectionParts &parts, const platform::Helper &thread)
        : parts_(parts),
          thread_(thread),
          sweep_(parts.kinds, parts.numbers, parts.dirty_pages, parts.sweep_phase, parts.generations) {}
    IncrementalCollection(const IncrementalCollection &) = delete;
    IncrementalCollection &operator=(const IncrementalCollection &) = delete;

    // Under the lock. From now on a collection that is due is incremental. nullptr: done. Else the text says what is
    // lacking.
    const char *enable();
    bool is_enabled() const { return is_enabled_.load(std::memory_order_relaxed); }
    const std::atomic<bool> &enabled_cell() const { return is_enabled_; }

    // Called by any thread. One collection begins, if none is under way. Does nothing before enable().
    void call();
    bool is_under_way() const { return is_under_way_.load(std::memory_order_relaxed); }
    // Until the collection that is under way ends, for at most so many milliseconds.
    void wait(unsigned milliseconds);
    // Under the lock. Afterwards none is under way, the marks are the caller's, and the thread that collects is not
    // between two steps. What was marked is lost.
    void abandon();
    // In fork's child.
    void forget_other_threads();

    // A thread of the program wants memory or a collection: it attends a stop if it is asked to, and calls the hook
    // that is due.
    void take_part();
    // A thread of the program found so many bytes in use: an incremental collection begins if it is due, and the thread
    // waits if the collection is late. true: a stopped collection must help out.
    [[nodiscard]] bool keep_pace(std::size_t used);

    // What the thread that collects does.
    [[noreturn]] void run_for_ever();

    template <class Visit>
    void for_each_memory(Visit visit) const {
        sweep_.for_each_memory(visit);
    }

  private:
    void ensure_thread();
    void run();
    bool begin();
    void leave();
    void let_program_run();
    bool come_back();
    bool meet_program();
    template <class Call>
    void while_attended(Call call);
    template <class Walk>
    bool while_stopped(CollectionReport *report, Walk walk);
    bool mark();
    bool mark_from_roots(std::uint64_t *stopped);
    bool mark_again_until_few();
    bool mark_again(std::size_t *pages);
    bool look_again();
    void stop_for_the_last_time(CollectionReport *report);
    void empty_caches();
    bool mark_last(CollectionReport *report);
    void sweep_last(CollectionReport *report);
    void sweep();
    void end_swept();

    const CollectionParts &parts_;
    const platform::Helper &thread_;
    IncrementalSweep sweep_;
    Rendezvous rendezvous_;  // of the thread that collects with a thread of the program, for a stop

    std::atomic<bool> is_enabled_{false};    // ordered by nothing
    std::atomic<bool> is_under_way_{false};  // changed under the collector's lock; ordered by nothing
    std::atomic<bool> abandoned_{false};     // changed under the collector's lock; seq_cst, pairs with the rendezvous
    std::atomic<bool> after_is_due_{false};  // Hooks::after, which a thread of the program calls; ordered by nothing
    std::atomic<bool> has_failed_{false};    // the next collection stops the program; ordered by nothing
    std::atomic<bool> has_thread_{false};    // changed under the collector's lock; ordered by nothing
    platform::FutexWord calls_{0};           // counts calls for a collection; ordered by nothing
    platform::FutexWord ends_{0};            // counts ends of collections; ordered by nothing
    platform::FutexWord at_work_{0};         // released by come_back(), acquired by abandon()
    platform::FutexWord task_{0};            // released by the thread that collects, acquired by ensure_thread()

    // Under the collector's lock.
    bool is_begun_ = false;  // and the hooks know
    bool is_swept_ = false;  // but the report is not finished
    CollectionReport report_;
    std::size_t present_before_ = 0;  // bytes, when the collection began
};

}  // namespace gr
