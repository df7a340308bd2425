// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: every instance of the process: the global one, and the first-class heaps that programs make and destroy.
// Invariant: the list changes, and a heap is made and unmade, under one lock, lower in rank than theirs; so fork finds
//    each heap whole or not at all. Nobody waits for it with another lock held.
// Must not know: what an instance consists of; the C library's and C++'s names.
#pragma once

#include "granary/granary.h"
#include "instance/instance.hpp"

// A first-class heap: an instance in pages of its own, out of reach of the blocks like all that the allocator keeps.
struct gr_heap {
    gr::Instance instance;
};

namespace gr {

class Instances {
  public:
    constexpr Instances() = default;

    // A new heap that reserves at most `region_bytes`, or as many as usual for 0. `free_function` is who frees its blocks,
    // in a message about misuse. nullptr: no memory, or the calling thread was interrupted inside the allocator.
    gr_heap *make(std::size_t region_bytes, const char *free_function);
    // With all its blocks. Dies, named after `function`, of a heap that is none and where make would not do.
    void destroy(const char *function, gr_heap *heap);

    // One more, for ever: of who makes instances for another purpose.
    void add(Instance &other);

    // Calls act() while no heap is made or destroyed, and nobody else is in here. false: the calling thread is already.
    template <class Act>
    bool hold(Act act) {
        const platform::Guard guard(mutex_, kRank);
        if (guard.locked()) act();
        return guard.locked();
    }
    // Meanwhile.
    template <class Visit>
    void for_each(Visit visit) {
        visit(instance);
        for (Instance *other = first_; other != nullptr; other = other->next()) visit(*other);
    }

    // For fork, and for who stops the world. A handler that interrupted the allocator and forks locks nothing: its child
    // may do no more than POSIX allows it.
    void lock_all();
    void unlock_all();
    // In fork's child: what threads that it does not have were doing without a lock.
    void forget_other_threads();

    // Dies of a pointer that is no block of the instance asked and lies outside its region: says whose it is.
    [[noreturn]] void die_outside(const Instance &asked, const char *function, const void *p);

    // What first_fault finds in any of them, or nullptr.
    const char *first_fault();

  private:
    static constexpr platform::Rank kRank = platform::Rank::instances;

    platform::Mutex mutex_;
    Instance *first_ = nullptr;  // but for the global one
    unsigned forks_within_ = 0;  // by handlers that interrupted the holder of the lock
};

extern Instances instances;

}  // namespace gr
