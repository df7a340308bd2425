// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/standard_kinds.hpp"

#include <signal.h>

#include "instance/instances.hpp"
#include "libgc/locked.hpp"

namespace gr {
int default_suspend_signal() { return SIGPWR; }

bool start_kinds(int suspend_signal) {
    const Locked locked;
    if (collector.kind_count() >= kStandardKinds) return true;
    if (!collector.is_started() && !collector.start(suspend_signal)) return false;
    while (collector.kind_count() < kStandardKinds) {
        if (collector.make_kind(kStandardSetups[collector.kind_count()]) == nullptr) return false;
    }
    return true;
}

void lock_for_fork() {
    collector.lock();
    collector.abandon_incremental();
    instances.lock_all();
}

void unlock_after_fork() {
    instances.unlock_all();
    collector.unlock();
}

void unlock_in_child() {
    instances.unlock_all();
    instances.forget_other_threads();
    collector.forget_other_threads();
    collector.unlock();
}

}  // namespace gr
