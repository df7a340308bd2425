// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: turns: the director gives a turn to a thread and waits until the thread gives it back, or has ended.
// Invariant: as actors.hpp.
// Must not know: how a script is written.
#include "stage/actors.hpp"

#include <pthread.h>
#include <sched.h>

#include <utility>

namespace gr::lab::stage {
namespace {

thread_local Actors *actors_of_thread = nullptr;

// The calling thread; where the kernel refuses it stays where it is.
void bind_to_cpu(unsigned number) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const auto count = static_cast<unsigned>(CPU_COUNT(&allowed));
    unsigned wanted = (number - 1) % count;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed) || wanted-- != 0) continue;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(cpu, &own);
        static_cast<void>(sched_setaffinity(0, sizeof own, &own));
        return;
    }
}

}  // namespace

Actors::Actors(const ShownLibrary &library, unsigned threads) : library_(library) {
    for (unsigned number = 1; number <= threads; ++number)
        threads_.emplace_back([this, number] { wait_for_turns(number); });
}

Actors::~Actors() {
    for (unsigned number = 1; number <= threads_.size(); ++number) {
        std::thread &thread = threads_[number - 1];
        if (!thread.joinable()) continue;
        {
            const std::lock_guard held(mutex_);
            step_ = nullptr;
            turn_ = number;
        }
        changed_.notify_all();
        thread.join();
    }
}

std::string Actors::run(const Step &step) {
    if (step.actions.front().call != Call::go && stopped_.contains(step.thread))
        return "thread " + std::to_string(step.thread) + " is in the middle of a call: write `" +
               std::to_string(step.thread) + ": go`";
    const bool ends = step.actions.front().call == Call::end;
    {
        std::unique_lock held(mutex_);
        step_ = &step;
        turn_ = step.thread;
        changed_.notify_all();
        if (!ends) changed_.wait(held, [this] { return turn_ == 0; });
    }
    if (ends) {
        // What the library does at the end of the thread belongs to the step.
        threads_[step.thread - 1].join();
        library_.show->thread_ended(step.thread);
        library_.show->end_step();
    }
    return has_memory_ ? "" : "the allocator had no memory";
}

void Actors::begin(const Step &step) const {
    library_.show->begin_step(step.line, step.thread, step.text.c_str(),
                              step.note.empty() ? nullptr : step.note.c_str(), step.stops_at_lock);
}

void Actors::stop() { actors_of_thread->stop_here(); }

void Actors::stop_here() {
    library_.show->end_step();
    const unsigned number = std::exchange(turn_, 0);
    stopped_.insert(number);
    changed_.notify_all();
    // The thread holds the mutex since its turn began.
    std::unique_lock held(mutex_, std::adopt_lock);
    changed_.wait(held, [&] { return turn_ == number; });
    held.release();
    stopped_.erase(number);
    begin(*step_);
}

void Actors::wait_for_turns(unsigned number) {
    bind_to_cpu(number);
    std::unique_lock held(mutex_);
    actors_of_thread = this;
    for (;;) {
        changed_.wait(held, [&] { return turn_ == number; });
        if (step_ == nullptr) return;
        begin(*step_);
        if (step_->actions.front().call == Call::end) return;
        has_memory_ = act(*step_);
        library_.show->end_step();
        turn_ = 0;
        changed_.notify_all();
    }
}

bool Actors::act(const Step &step) {
    for (const Action &action : step.actions)
        if (!act(action)) return false;
    return true;
}

bool Actors::act(const Action &action) {
    if (action.call == Call::go) return true;
    void *&block = blocks_[action.name];
    if (action.call == Call::release) {
        library_.release(block);
        return true;
    }
    void *const given = action.call == Call::allocate          ? library_.allocate(action.bytes)
                        : action.call == Call::allocate_zeroed ? library_.allocate_zeroed(1, action.bytes)
                                                               : library_.reallocate(block, action.bytes);
    if (given == nullptr) return false;
    block = given;
    library_.show->name(block, action.name.c_str());
    return true;
}

}  // namespace gr::lab::stage
