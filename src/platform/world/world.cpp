// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: world.hpp, by a signal to each thread and a futex on which all stopped threads wait, or by tracing.
// Invariant: a thread is called once in a stop, and again only while it has not arrived; a thread that is called twice
//    arrives once.
// Must not know: why they are stopped; what lies on a stack.
#include "platform/world/world.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "platform/memory.hpp"
#include "platform/process.hpp"
#include "platform/thread.hpp"
#include "platform/world/tasks.hpp"
#include "platform/world/waiting_call.hpp"

namespace gr::platform {

constinit World world;

namespace {

constexpr std::size_t kFirstSlots = 64;
constexpr unsigned kMillisecondsToLookForThreads = 10;  // after so long some threads may have ended
constexpr unsigned kLooksToCallAgain = 10;              // a wait for signals may have taken the first signal
constexpr unsigned kLooksUntilUnstoppable = 100;
constexpr unsigned kMostRefusals = 3;  // after which only threads that block the signal are traced

bool is_odd(std::uint32_t epoch) { return (epoch & 1) != 0; }

void handle(int) { world.arrive(static_cast<const char *>(__builtin_frame_address(0))); }

}  // namespace

bool World::initialise(int signal) {
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    const bool has_table = table_.load(std::memory_order_relaxed) != nullptr;
    if ((!has_table && !make_room()) || sigaction(signal, &action, nullptr) != 0) return false;
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
        to.blocks_signal = from.blocks_signal;
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

void World::add(KnownThread &thread) {
    thread.next_ = known_;
    thread.previous_ = nullptr;
    if (known_ != nullptr) known_->previous_ = &thread;
    known_ = &thread;
}

void World::remove(KnownThread &thread) {
    (thread.previous_ != nullptr ? thread.previous_->next_ : known_) = thread.next_;
    if (thread.next_ != nullptr) thread.next_->previous_ = thread.previous_;
}

void World::forget_known_but(KnownThread *of_caller) {
    known_ = nullptr;
    if (of_caller == nullptr) return;
    of_caller->learn_new_id();
    add(*of_caller);
}

StoppedThread World::caller() const {
    StoppedThread caller{.id = task_of_caller(),
                         .thread_pointer = thread_pointer(),
                         .is_on_stack_for_signals = is_on_stack_for_signals()};
    const KnownThread *known = known_;
    while (known != nullptr && known->id() != caller.id) known = known->next_;
    if (known == nullptr) return caller;
    caller.stack_end = known->stack_end();
    caller.handle = known->handle();
    return caller;
}

bool World::stop(std::span<const std::uint32_t> exempt) {
    remember_blocking();
    begin_stop();
    if (hold_resting() && stop_those_that_run(exempt)) {
        describe_stopped();
        return true;
    }
    resume();
    return false;
}

// A thread that runs while others are called may have begun new threads. If no thread ran in a round, there are none.
bool World::stop_those_that_run(std::span<const std::uint32_t> exempt) {
    for (;;) {
        const Round round = call_those_that_run(exempt);
        if (!trace_asked(0) || !wait_for_called() || round == Round::failed) return false;
        if (round == Round::found_none) return true;
        if (is_half_full() && !make_room()) return false;
    }
}

// What is known of them saves the next stop the wait in which it would find out again.
void World::remember_blocking() {
    blocking_.clear();
    bool is_known = true;
    for_each_called([&](const Slot &slot) {
        const std::uint32_t state = slot.state.load(std::memory_order_relaxed);
        const bool blocks = slot.blocks_signal && (state == kTraced || state == kUnstoppable);
        is_known = is_known && (!blocks || blocking_.add(slot.id.load(std::memory_order_relaxed)));
    });
}

void World::begin_stop() {
    for_each_called([](Slot &slot) {
        slot.state.store(kGone, std::memory_order_relaxed);
        slot.id.store(0, std::memory_order_relaxed);
    });
    called_ = not_awaited_ = traced_ = resting_ = unstoppable_ = unseen_ = 0;
    is_refused_ = !may_trace_;
    arrived_.store(0, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
}

// false: no memory.
bool World::hold_resting() {
    const std::uint32_t me = task_of_caller();
    for (KnownThread *known = known_; known != nullptr; known = known->next_) {
        if (known->id() == me || !known->hold()) continue;
        if (is_half_full() && !make_room()) return false;
        Slot &slot = *slot_of(known->id());
        slot.thread = {.id = known->id(), .stack_pointer = known->stack_pointer(), .thread_pointer = known->pointer()};
        slot.blocks_signal = false;
        slot.state.store(kRests, std::memory_order_relaxed);
        slot.id.store(known->id(), std::memory_order_release);
        ++called_;
        ++not_awaited_;
        ++resting_;
    }
    return true;
}

void World::describe_stopped() {
    for (const TracedThread &traced : tracer_.all()) {
        StoppedThread &thread = slot_of(traced.id)->thread;
        if (traced.answer == TracedThread::Answer::stopped) thread.registers = traced.registers();
    }
    for (const KnownThread *known = known_; known != nullptr; known = known->next_) {
        Slot &slot = *slot_of(known->id());
        if (slot.id.load(std::memory_order_relaxed) != known->id()) continue;
        slot.thread.stack_end = known->stack_end();
        slot.thread.handle = known->handle();
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
        is_known ? --not_awaited_ : ++called_;
        if (!call(slot, id)) return Round::failed;
    }
    const std::uint32_t count = task_count();
    if (count == 0) return Round::failed;
    // The kernel's list ends early if a thread ends while it is listed. The threads behind it may be new, and the caller
    // may be one of them.
    if (told < count) return Round::found_some;
    // A /proc of another process namespace shows other numbers.
    return is_told ? round : Round::failed;
}

// false: the kernel refuses the signal.
bool World::call(Slot &slot, std::uint32_t id) {
    slot.thread = {.id = id};
    slot.blocks_signal = false;
    const bool is_gone = id == process_id() && has_ended(id);  // a first thread is listed until the last one ends
    const bool is_traced = !is_gone && is_better_traced(slot, id) && tracer_.ask(id);
    slot.state.store(is_gone ? kGone : is_traced ? kAsked : kCalled, std::memory_order_relaxed);
    slot.id.store(id, std::memory_order_release);
    if (!is_gone && !is_traced) return send_signal(slot, id);
    ++not_awaited_;
    return true;
}

bool World::is_better_traced(Slot &slot, std::uint32_t id) const {
    const auto known = blocking_.all();
    slot.blocks_signal = std::ranges::find(known, id) != known.end() && blocks_signal(id, signal_);
    if (slot.blocks_signal || is_refused_) return !is_refused_;
    return refusals_ < kMostRefusals && WaitingCall::of_thread(id).is_ended_by_handlers();
}

bool World::send_signal(Slot &slot, std::uint32_t id) {
    const Sent sent = send(id, signal_);
    if (sent == Sent::yes) return true;
    slot.state.store(kGone, std::memory_order_relaxed);
    ++not_awaited_;
    return sent != Sent::refused;
}

// false: the kernel refuses the signal, or nobody traces any more what had been stopped.
bool World::trace_asked(unsigned looks) {
    if (!tracer_.stop_asked()) return false;
    bool is_any_stopped = false;
    bool is_any_refused = false;
    for (const TracedThread &traced : tracer_.answers()) {
        is_any_stopped |= traced.answer == TracedThread::Answer::stopped;
        is_any_refused |= traced.answer == TracedThread::Answer::refused;
        if (!take_answer(*slot_of(traced.id), traced, looks)) return false;
    }
    is_refused_ = is_refused_ || is_any_refused;
    if (is_any_stopped) refusals_ = 0;
    if (is_any_refused && !is_any_stopped) ++refusals_;
    return true;
}

bool World::take_answer(Slot &slot, const TracedThread &traced, unsigned looks) {
    switch (traced.answer) {
        case TracedThread::Answer::stopped:
            slot.thread.stack_pointer = traced.stack_pointer();
            slot.thread.thread_pointer = traced.thread_pointer;
            slot.thread.is_on_stack_for_signals = traced.may_be_on_stack_for_signals;
            slot.state.store(kTraced, std::memory_order_relaxed);
            ++traced_;
            return true;
        case TracedThread::Answer::gone:
            slot.state.store(kGone, std::memory_order_relaxed);
            return true;
        default:
            take_refusal(slot, traced.id, looks);
            const bool is_called = slot.state.load(std::memory_order_relaxed) == kCalled;
            return looks != 0 || !is_called || send_signal(slot, traced.id);  // later it was sent already
    }
}

// Of a thread that cannot be traced. It runs on, or is waited for.
void World::take_refusal(Slot &slot, std::uint32_t id, unsigned looks) {
    if (is_unstoppable(slot, id, looks)) {
        slot.state.store(kUnstoppable, std::memory_order_relaxed);
        ++unstoppable_;
        if (sleeping_stack_pointer(id) == nullptr) unseen_ = id;
    } else {
        slot.state.store(kCalled, std::memory_order_relaxed);
        --not_awaited_;
    }
}

bool World::wait_for_called() {
    for (unsigned looks = 0;;) {
        const std::uint32_t arrived = arrived_.load(std::memory_order_acquire);
        if (arrived + not_awaited_ == called_) return true;
        sleep_on_for(arrived_, arrived, kMillisecondsToLookForThreads);
        if (arrived_.load(std::memory_order_relaxed) != arrived) continue;
        look_for_gone(++looks);
        if (!look_for_blocking(looks)) return false;
    }
}

// A new thread may already have the id of a called thread that has ended. While the slot is not marked as gone it
// serves the new thread, which arrives when the signal is sent again.
void World::look_for_gone(unsigned looks) {
    for_each_called([&](Slot &slot) {
        if (slot.state.load(std::memory_order_acquire) != kCalled) return;
        const std::uint32_t id = slot.id.load(std::memory_order_relaxed);
        if (!has_ended(id) && send(id, looks % kLooksToCallAgain == 0 ? signal_ : 0) != Sent::gone) return;
        std::uint32_t expected = kCalled;
        if (slot.state.compare_exchange_strong(expected, kGone, std::memory_order_relaxed)) ++not_awaited_;
    });
}

// A thread that waits for signals (sigwait), this one among them, takes the signal, which counts as unblocked meanwhile,
// and waits for the next. A thread that makes another one blocks all signals, but not for long.
bool World::look_for_blocking(unsigned looks) {
    for_each_called([&](Slot &slot) {
        if (slot.state.load(std::memory_order_acquire) != kCalled) return;
        const std::uint32_t id = slot.id.load(std::memory_order_relaxed);
        slot.blocks_signal = blocks_signal(id, signal_) || (looks > kLooksToCallAgain && takes_signals(id));
        std::uint32_t expected = kCalled;
        if (!slot.blocks_signal || makes_task(id)) return;
        if (!slot.state.compare_exchange_strong(expected, kAsked, std::memory_order_relaxed)) return;
        ++not_awaited_;
        if (is_refused_ || !tracer_.ask(id)) take_refusal(slot, id, looks);
    });
    return trace_asked(looks);
}

// Every thread blocks all signals for a moment when it begins and when it ends. A
// thread that blocks this signal and sleeps may be waiting for a stopped thread. A thread that has blocked the signal
// for long, or did so in the last stop, will go on doing so.
bool World::is_unstoppable(const Slot &slot, std::uint32_t id, unsigned looks) const {
    if (!slot.blocks_signal) return false;
    const auto known = blocking_.all();
    return looks >= kLooksUntilUnstoppable || sleeping_stack_pointer(id) != nullptr ||
           std::ranges::find(known, id) != known.end();
}

void World::arrive(const char *stack_pointer) {
    const std::uint32_t epoch = epoch_.load(std::memory_order_acquire);
    const std::uint32_t me = task_of_caller();
    Slot *const slot = slot_of(me);
    // This thread was not called: the signal came from other code, or late from an earlier stop. Nothing is written to
    // the slot where it would stand: that may be given to another thread at this moment.
    if (!is_odd(epoch) || slot == nullptr || slot->id.load(std::memory_order_relaxed) != me) return;
    std::uint32_t state = kCalled;
    if (slot->state.compare_exchange_strong(state, kArrives, std::memory_order_relaxed)) {
        slot->thread.stack_pointer = stack_pointer;
        slot->thread.thread_pointer = thread_pointer();
        slot->thread.is_on_stack_for_signals = is_on_stack_for_signals();
        slot->state.store(kArrived, std::memory_order_release);
        arrived_.fetch_add(1, std::memory_order_release);
        wake_one(arrived_);
    } else if (state != kUnstoppable) {
        return;  // it arrived already, or is traced, or rests
    }
    while (epoch_.load(std::memory_order_acquire) == epoch) sleep_on(epoch_, epoch);
}

void World::resume() {
    for (KnownThread *known = known_; known != nullptr; known = known->next_) known->let_go();
    tracer_.let_go();
    epoch_.fetch_add(1, std::memory_order_release);
    wake_all(epoch_);
    tracer_.end();
}

}  // namespace gr::platform
