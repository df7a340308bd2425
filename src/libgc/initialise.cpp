// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/initialise.hpp"

#include <pthread.h>
#include <stdlib.h>

#include "collector/collector_tables.hpp"
#include "libgc/allocation.hpp"
#include "libgc/callbacks.hpp"
#include "libgc/entries.hpp"
#include "libgc/environment.hpp"
#include "libgc/find_leak.hpp"
#include "libgc/functions.hpp"
#include "libgc/incremental.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/settings.hpp"
#include "libgc/statistics.hpp"
#include "libgc/threads.hpp"
#include "libgc/variables.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constinit std::atomic<bool> done{false};  // release, with the acquire of is_initialised
constinit bool has_begun = false;         // under the lock

bool wants_variables(const char *file, platform::Range variables) {
    if (*file == '\0') return true;
    if (now(GC_no_dls) != 0) return false;
    if (callbacks.has_static_roots == nullptr) return true;
    return callbacks.has_static_roots(file, const_cast<char *>(variables.begin), variables.bytes()) != 0;
}

// Clients compare addresses with these variables before they call the library.
void bound_heap() {
    store(GC_least_plausible_heap_addr, static_cast<void *>(const_cast<char *>(collector.field().base())));
    store(GC_greatest_plausible_heap_addr, static_cast<void *>(const_cast<char *>(collector.field().end() - 1)));
}

void begin() {
    if (!start_kinds(settings.suspend_signal < 0 ? default_suspend_signal() : settings.suspend_signal)) {
        write_last_words(
            "granary: libgc: cannot start: no address space for the heap (raise ulimit -v), or no signal to stop "
            "threads");
        die_without_memory();
    }
    publish_dont_collect(GC_dont_gc);
    start_counting(collector.kind(kNormal)->instance);
    publish_entries();
    bound_heap();
    collector.markers().set_most(settings.markers);
    install_hooks();
    collector.roots().set_wants(wants_variables);
    // The array is large and holds no references.
    if (!collector.roots().exclude({&GC_arrays[0], &GC_arrays[0] + sizeof GC_arrays})) die_without_memory();
    if (now(GC_stackbottom) == nullptr) store(GC_stackbottom, static_cast<char *>(stack_bottom_of_caller()));
    threads.add_caller(nullptr);
    if (settings.handles_fork != 0) pthread_atfork(lock_for_fork, unlock_after_fork, unlock_in_child_and_forget);
    if (now(GC_find_leak) != 0) {
        begin_to_look_for_leaks();
        atexit(GC_gcollect);
    }
    if (settings.begins_incremental) begin_incremental();
    if (settings.begins_generational) begin_generational();
}

}  // namespace

bool is_initialised() { return done.load(std::memory_order_acquire); }

void ensure_initialised() {
    if (!is_initialised()) initialise();
}

void initialise() {
    if (is_initialised()) return;
    const Locked locked;
    if (is_initialised()) return;
    if (!platform::is_secure()) read_environment();
    if (!has_begun) begin();
    has_begun = true;
    done.store(true, std::memory_order_release);
    if (now(GC_dont_precollect) == 0) collector.collect();
}

void forget_initialised() { done.store(false, std::memory_order_release); }

}  // namespace gr
