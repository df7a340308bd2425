// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: world.hpp, by a signal to each thread and a futex on which all stopped threads wait.
// Invariant: a thread is called once in a stop, and again only while it has not arrived; a thread that is called twice
//    arrives once.
// Must not know: why they are stopped; what lies on a stack.
#include "platform/world/world.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "platform/memory.hpp"
#include "platform/thread.hpp"
#include "platform/world/tasks.hpp"

namespace gr::platform {

constinit World world;

namespace {

constexpr std::size_t kFirstSlots = 64;
constexpr unsigned kMillisecondsToLook = 10;  // after so long some threads may have ended
constexpr unsigned kLooksToCallAgain = 10;    // a wait for signals may have taken the first signal
constexpr unsigned kLooksUntilUnstoppable = 100;

bool is_odd(std::uint32_t epoch) { return (epoch & 1) != 0; }

void handle(int) { world.arrive(static_cast<const char *>(__builtin_frame_address(0))); }

}  // namespace

bool World::initialise(int signal) {
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (!make_room() || sigaction(signal, &action, nullptr) != 0) return false;
    // The process that started the program may have blocked the signal. A thread inherits that from its creator.
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, signal);
    pthread_sigmask(SIG_UNBLOCK, &wanted, nullptr);
    signal_ = signal;
    return true;
}

World::Slot *World::slot_of(std::uint32_t id) const {
    Table *const table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return nullptr;
    for (std::size_t at = id;; ++at) {
        Slot &slot = table->slots()[at & (table->count - 1)];
        const std::uint32_t found = slot.id.load(std::memory_order_acquire);
        if (found == id || found == 0) return &slot;
    }
}

bool World::is_half_full() const { return std::size_t{called_} * 2 >= table_.load(std::memory_order_relaxed)->count; }

template <class Visit>
void World::for_each_called(Visit visit) const {
    Table *const table = table_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < table->count; ++i) {
        Slot &slot = table->slots()[i];
        if (slot.id.load(std::memory_order_relaxed) != 0) visit(slot);
    }
}

// Called when all called threads have arrived or ended: no handler of theirs reads the table any more.
bool World::make_room() {
    Table *const old = table_.load(std::memory_order_relaxed);
    const std::size_t count = old == nullptr ? kFirstSlots : old->count * 2;
    auto *const table = static_cast<Table *>(map(sizeof(Table) + count * sizeof(Slot), 1));
    if (table == nullptr) return false;
    table->count = count;
    table_.store(table, std::memory_order_release);
    if (old == nullptr) return true;
    for (std::size_t i = 0; i < old->count; ++i) {
        Slot &from = old->slots()[i];
        const std::uint32_t id = from.id.load(std::memory_order_relaxed);
        if (id == 0) continue;
        Slot &to = *slot_of(id);
        to.thread = from.thread;
        to.state.store(from.state.load(std::memory_order_relaxed), std::memory_order_relaxed);
        to.id.store(id, std::memory_order_release);
    }
    return true;
}

// The kernel refuses a signal of the kind that queues when too many are waiting.
World::Sent World::send(std::uint32_t id, int signal) {
    const long result = system_call(SYS_tgkill, system_call(SYS_getpid), id, signal);
    if (result == 0) return Sent::yes;
    return result == -ESRCH ? Sent::gone : Sent::refused;
}

bool World::stop(std::span<const std::uint32_t> exempt) {
    for_each_called([](Slot &slot) {
        slot.state.store(kGone, std::memory_order_relaxed);
        slot.id.store(0, std::memory_order_relaxed);
    });
    called_ = gone_ = unstoppable_ = 0;
    arrived_.store(0, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    // A thread that runs while others are called may have begun new threads. If no thread ran in a round, there are
    // none.
    for (;;) {
        const Round round = call_those_that_run(exempt);
        wait_for_called();
        if (round == Round::found_none) return true;
        if (round == Round::failed || (is_half_full() && !make_room())) {
            resume();
            return false;
        }
    }
}

// A new thread may have the id of a thread that was called and has ended since.
bool World::is_new_thread(const Slot &slot) {
    return slot.state.load(std::memory_order_relaxed) == kGone && !has_ended(slot.id.load(std::memory_order_relaxed));
}

World::Round World::call_those_that_run(std::span<const std::uint32_t> exempt) {
    const std::uint32_t me = task_of_caller();
    Tasks tasks;
    if (!tasks.opened()) return Round::failed;
    Round round = Round::found_none;
    bool is_told = false;
    std::uint32_t told = 0;
    while (const std::uint32_t id = tasks.next()) {
        ++told;
        is_told = is_told || id == me;
        if (id == me || std::ranges::find(exempt, id) != exempt.end()) continue;
        Slot &slot = *slot_of(id);
        const bool is_known = slot.id.load(std::memory_order_relaxed) == id;
        if (is_known && !is_new_thread(slot)) continue;
        round = Round::found_some;
        if (!is_known && is_half_full()) return round;
        slot.thread = {.id = id};
        slot.state.store(kCalled, std::memory_order_relaxed);
        slot.id.store(id, std::memory_order_release);
        is_known ? --gone_ : ++called_;
        if (const Sent sent = send(id, signal_); sent != Sent::yes) {
            slot.state.store(kGone, std::memory_order_relaxed);
            ++gone_;
            if (sent == Sent::refused) return Round::failed;
        }
    }
    // A /proc of another process namespace shows other numbers.
    const std::uint32_t count = task_count();
    if (!is_told || count == 0) return Round::failed;
    // The kernel's list ends early if a thread ends while it is listed. The threads behind it may be new.
    return told < count ? Round::found_some : round;
}

void World::wait_for_called() {
    for (unsigned looks = 0;;) {
        const std::uint32_t arrived = arrived_.load(std::memory_order_acquire);
        if (arrived + gone_ == called_) return;
        sleep_on_for(arrived_, arrived, kMillisecondsToLook);
        if (arrived_.load(std::memory_order_relaxed) == arrived) look_for_gone(++looks);
    }
}

// Every thread blocks all signals for a moment when it begins and when it ends. A thread that blocks this signal and
// sleeps may be waiting for a stopped thread, unless it is making a thread, after which it would run. A thread that has
// blocked the signal for long will go on doing so. A thread that waits for signals (sigwait), this one among them,
// takes the signal, which counts as unblocked meanwhile, and waits for the next.
bool World::is_unstoppable(std::uint32_t id, unsigned looks) const {
    if (!blocks_signal(id, signal_)) return looks > kLooksToCallAgain && takes_signals(id);
    return looks >= kLooksUntilUnstoppable || (sleeping_stack_pointer(id) != nullptr && !makes_task(id));
}

// A new thread may already have the id of a called thread that has ended. While the slot is not marked as gone it
// serves the new thread, which arrives when the signal is sent again.
void World::look_for_gone(unsigned looks) {
    for_each_called([&](Slot &slot) {
        if (slot.state.load(std::memory_order_acquire) != kCalled) return;
        const std::uint32_t id = slot.id.load(std::memory_order_relaxed);
        const bool unstoppable = is_unstoppable(id, looks);
        if (!unstoppable && !has_ended(id) && send(id, looks % kLooksToCallAgain == 0 ? signal_ : 0) != Sent::gone)
            return;
        std::uint32_t expected = kCalled;
        if (!slot.state.compare_exchange_strong(expected, unstoppable ? kUnstoppable : kGone,
                                                std::memory_order_relaxed))
            return;
        ++gone_;
        unstoppable_ += unstoppable ? 1 : 0;
    });
}

void World::arrive(const char *stack_pointer) {
    const std::uint32_t epoch = epoch_.load(std::memory_order_acquire);
    const std::uint32_t me = task_of_caller();
    Slot *const slot = slot_of(me);
    // This thread was not called: the signal came from other code, or late from an earlier stop. Nothing is written to
    // the slot where it would stand: that may be given to another thread at this moment.
    if (!is_odd(epoch) || slot == nullptr || slot->id.load(std::memory_order_relaxed) != me) return;
    slot->thread.stack_pointer = stack_pointer;
    slot->thread.thread_pointer = thread_pointer();
    slot->thread.is_on_stack_for_signals = is_on_stack_for_signals();
    std::uint32_t expected = kCalled;
    const bool is_waited_for = slot->state.compare_exchange_strong(expected, kArrived, std::memory_order_release);
    if (!is_waited_for && expected != kUnstoppable) return;
    if (is_waited_for) {
        arrived_.fetch_add(1, std::memory_order_release);
        wake_one(arrived_);
    }
    while (epoch_.load(std::memory_order_acquire) == epoch) sleep_on(epoch_, epoch);
}

void World::resume() {
    epoch_.fetch_add(1, std::memory_order_release);
    wake_all(epoch_);
}

const StoppedThread *World::next(std::size_t *at, std::uint32_t state) const {
    Table *const table = table_.load(std::memory_order_relaxed);
    while (*at < table->count) {
        const Slot &slot = table->slots()[(*at)++];
        if (slot.id.load(std::memory_order_relaxed) != 0 && slot.state.load(std::memory_order_acquire) == state)
            return &slot.thread;
    }
    return nullptr;
}

}  // namespace gr::platform
