// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gcmalloc/face.hpp"

#include <pthread.h>
#include <signal.h>

#include <cstring>

#include "base/text.hpp"
#include "collector/collector.hpp"
#include "gcmalloc/leak_report.hpp"
#include "gcmalloc/origins.hpp"
#include "gcmalloc/quarantine.hpp"
#include "gcmalloc/stop_signal.hpp"
#include "granary/wire/leaks.h"
#include "heap/misuse.hpp"
#include "malloc/sampled.hpp"
#include "platform/process.hpp"
#include "platform/reentry.hpp"

namespace gr {
namespace {

static_assert(kScarceLimit == GR_LEAKS_SCARCE_GIB * kGiB, "granary leaks refuses the limits that Face refuses");

constexpr std::size_t kLater = kMiB;  // bytes allocated between a collection that failed and the next attempt

constexpr const char *kRefusedAddresses = "the kernel refused address space (see ulimit -v)";

// The process that started. A child of vfork has another id and uses its parent's memory.
std::uint32_t process = 0;

constinit Origins origins;
constinit LeakSearch leak_search;
// A copy, because the program may overwrite its environment.
char folder[4096];

bool is_own_process() { return platform::process_id() == process; }

void say_refused(const char *why) {
    TextBuffer<256> line;
    line << "granary: nothing is collected and leaks are not detected: " << why << '\n';
    platform::write_all(2, line.data(), line.size());
}

void say_unseen(std::uint32_t thread) {
    TextBuffer<256> line;
    line << "granary: thread " << thread << " blocks signal " << unsigned{kStopSignal}
         << ", and ptrace is refused: blocks to which only its registers point are freed; unblock the signal in it or "
            "permit ptrace\n";
    platform::write_all(2, line.data(), line.size());
}

void watch_for_reports() {
    struct sigaction action {};
    action.sa_handler = [](int) { face.report_on_signal(); };
    action.sa_flags = SA_RESTART;
    sigaction(GR_LEAKS_SIGNAL, &action, nullptr);
}

}  // namespace

constinit Face face;

// Finds out the mode as far as it matters for the first block. false: it is too early.
bool Face::look() {
    if (!platform::is_relocated() || !instance.ensure_started()) return false;
    mode_ = Mode::plain;
    const auto *const wanted = reinterpret_cast<const char *>(instance.options().leaks);
    const std::size_t size = wanted == nullptr ? 0 : std::strlen(wanted) + 1;
    if (size == 0 || size > sizeof folder) {
        padding_ = instance.options().quarantine == 0 ? 1 : 0;
        return true;
    }
    std::memcpy(&folder[0], wanted, size);
    if (origins.initialise())
        mode_ = Mode::leaks;
    else
        failure_ = kRefusedAddresses;
    return true;
}

void Face::begin() {
    sampled.forbid("a collector serves malloc and cannot scan the region of sampled blocks");
    if (mode_ == Mode::unknown) look();
    process = platform::process_id();
    if (failure_ != nullptr || !begin_collecting()) {
        mode_ = Mode::plain;
        return;
    }
    const auto lock = [] {
        collector.lock();
        origins.lock();
        process_quarantine.lock();
    };
    const auto unlock = [] {
        process_quarantine.unlock();
        origins.unlock();
        collector.unlock();
    };
    const auto unlock_in_child = [] {
        process = platform::process_id();
        collector.forget_other_threads();
        process_quarantine.unlock();
        origins.unlock();
        collector.unlock();
    };
    pthread_atfork(lock, unlock, unlock_in_child);
    if (mode_ == Mode::leaks) return watch_for_reports();
    if (mode_ != Mode::quarantine) mode_ = Mode::collect;
    frees_ = mode_ == Mode::collect && static_cast<FreeMode>(instance.options().free) == FreeMode::now;
}

bool Face::begin_collecting() {
    const auto refused = [this](const char *why) {
        if (mode_ == Mode::leaks)
            failure_ = why;
        else
            say_refused(why);
        return false;
    };
    if (mode_ == Mode::unknown || instance.region().is_scarce()) return refused(kTooScarce);
    const bool is_quarantined = mode_ != Mode::leaks && instance.options().quarantine != 0;
    const Lifetime frees = is_quarantined ? Lifetime::held_back : Lifetime::collected;
    const KindSetup setup{.descriptor = {},
                          .adds_size = !is_quarantined,
                          .zeroed = false,
                          .lifetime = mode_ == Mode::leaks ? Lifetime::watched : frees,
                          .words = is_quarantined ? Words::aligned : Words::anywhere};
    if (is_quarantined && !process_quarantine.initialise()) return refused("the kernel refused address space");
    if (!collector.start_over(instance, setup, kStopSignal))
        return refused("the kernel refused address space or a signal handler");
    if (mode_ != Mode::leaks) collector.hooks().refused = say_refused;  // in that mode the report says why
    collector.hooks().unseen = say_unseen;
    if (mode_ == Mode::leaks) {
        collector.markers().set_most(1);
        collector.hooks().reached = [] {
            leak_search.find(collector, *collector.kind(0),
                             [](const Superblock *s, BlockIndex i) { return origins.of(s, i); });
        };
    }
    if (is_quarantined) {
        // If this is refused, the flags are scanned as well.
        for (const platform::Range flags : process_quarantine.addresses())
            static_cast<void>(collector.roots().exclude(flags));
        collector.markers().set_most(1);
        collector.hooks().in_use = [](const Superblock *s, std::uint32_t word) {
            return process_quarantine.in_use(s, word);
        };
        collector.hooks().reached = [] { process_quarantine.sweep(collector, *collector.kind(0)); };
        mode_ = Mode::quarantine;
    }
    return true;
}

void Face::end() {
    if (failure_ != nullptr && is_own_process()) write_report(&folder[0], leak_search, origins, failure_);
    if (mode_ == Mode::leaks) report(origins.program_stack());
}

void Face::collect_if_due() {
    if (!collector.is_due()) [[likely]]
        return;
    if (!is_own_process() || !collector.collect_if_due()) collector.pace().put_off(kLater);
}

void Face::empty_quarantine() {
    if (!is_own_process() || platform::Reentry::is_interrupted()) return;
    if (!collector.lock_to_collect()) return;
    if (process_quarantine.is_due() && process_quarantine.is_worth_search())
        process_quarantine.settle(collector.collect(Reason::due), *collector.kind(0));
    collector.unlock();
}

bool Face::give_way() {
    if (mode_ != Mode::collect && mode_ != Mode::quarantine) return false;
    if (!is_own_process() || platform::Reentry::is_interrupted()) return false;
    collector.lock();
    const CollectionReport report = collector.collect(Reason::refused);
    if (mode_ == Mode::quarantine) process_quarantine.settle(report, *collector.kind(0));
    collector.unlock();
    return report.done;
}

void Face::require_in_use(const char *function, const void *p) const {
    if (mode_ == Mode::quarantine && process_quarantine.holds(p)) die_twice(function, p, instance.size_of(p));
}

void Face::note(const void *p) {
    origins.note(p);
    if (report_is_due_.load(std::memory_order_relaxed)) [[unlikely]]
        report_on_signal();
}

void Face::list_code(LoadedModules *before) const {
    if (mode_ == Mode::leaks) before->list();
}

void Face::forget_code(const LoadedModules &before) {
    if (mode_ == Mode::leaks) origins.forget_code(before);
}

void Face::report_on_signal() {
    const int before = errno;
    report_is_due_.store(false, std::memory_order_relaxed);
    if (!report()) report_is_due_.store(true, std::memory_order_relaxed);
    errno = before;
}

// false: not now, because this handler has interrupted the heap or a report.
bool Face::report(const char *stack_pointer) {
    if (!is_own_process()) return true;
    if (platform::Reentry::is_interrupted() || collector.is_locked_by_me()) return false;
    collector.lock();
    const bool done = collector.collect_above(stack_pointer).done && leak_search.is_complete();
    constexpr const char *kWhy = "the threads could not be stopped, /proc is missing, or memory ran out";
    write_report(&folder[0], leak_search, origins, done ? nullptr : kWhy);
    leak_search.release();
    collector.unlock();
    return true;
}

}  // namespace gr
