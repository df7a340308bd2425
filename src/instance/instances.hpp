// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: every instance of the process: malloc's, and the first-class heaps that programs make and destroy.
// Invariant: the list changes, and a heap is made and destroyed, under one lock, lower in rank than the instances'
//    locks. So fork finds each heap whole or not at all. A thread that waits for this lock holds only locks of lower
//    rank.
// Must not know: what an instance consists of; the C library's and C++'s names.
#pragma once

#include "granary/granary.h"
#include "instance/instance.hpp"

// A first-class heap: an instance in pages of its own, apart from the blocks, like all metadata.
struct gr_heap {
    gr::Instance instance;
};

namespace gr {

class Instances {
  public:
    constexpr Instances() = default;

    // Makes a heap that reserves at most `region_bytes`; 0: the usual number. `free_function` names the function that
    // frees its blocks, in a message about misuse. nullptr: no memory, or the calling thread was interrupted inside the
    // allocator.
    gr_heap *make(std::size_t region_bytes, const char *free_function);
    // Destroys the heap with all its blocks. Ends the program with a message that names `function` if `heap` is no
    // heap, or if the calling thread was interrupted inside the allocator.
    void destroy(const char *function, gr_heap *heap);

    // Adds an instance that is made for another purpose (a collector's kind). The instance stays for ever.
    void add(Instance &other);

    // Calls act() while no heap is made or destroyed, and no other thread is in here. false: the calling thread has the
    // lock already.
    template <class Act>
    bool hold(Act act) {
        const platform::Guard guard(mutex_, kRank);
        if (guard.locked()) act();
        return guard.locked();
    }
    // Only under the lock, or in fork's child.
    template <class Visit>
    void for_each(Visit visit) {
        visit(instance);
        for (Instance *other = first_; other != nullptr; other = other->next()) visit(*other);
    }

    // For fork, and for stopping the world. If a handler that interrupted the allocator forks, nothing is locked: its
    // child may do no more than POSIX allows.
    void lock_all();
    void unlock_all();
    // In fork's child: forgets what the parent's other threads were doing without a lock.
    void forget_other_threads();

    // Ends the program with a message: p is no block of `asked`. The message says whose block it is.
    [[noreturn]] void die_outside(const Instance &asked, const char *function, const void *p);

    // What Instance::first_fault finds in any instance, or nullptr.
    const char *first_fault();

  private:
    static constexpr platform::Rank kRank = platform::Rank::instances;

    platform::Mutex mutex_;
    Instance *first_ = nullptr;  // without malloc's instance
    unsigned forks_within_ = 0;  // forks by handlers that interrupted the lock's holder
};

extern Instances instances;

}  // namespace gr
