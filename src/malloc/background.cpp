// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: background.hpp.
// Invariant: who notes something and who goes to sleep change the same word, so that one of them sees the other.
// Must not know: what a heap consists of.
#include "malloc/background.hpp"

#include "base/text.hpp"
#include "heap/inside.hpp"
#include "malloc/instance.hpp"
#include "platform/helper_thread.hpp"
#include "platform/process.hpp"

namespace gr {

constinit Background background;

namespace {

void say_missing(std::size_t error) {
    TextBuffer<160> line;
    line << "granary: no background thread (pthread_create: error " << error << "); the memory of idle magazines stays "
         << "until malloc_trim returns it\n";
    platform::write_all(2, line.data(), line.size());
}

}  // namespace

void Background::expect() {
    slow_paths_.store(0, std::memory_order_relaxed);
    ending_.store(0, std::memory_order_relaxed);
    word_.store(static_cast<std::uint32_t>(State::expected), std::memory_order_relaxed);
    platform::on_end_of_this_thread([] { background.end(); });
}

// seq_cst: what was done before is seen by whoever finds it said, or else the thread is seen to sleep.
bool Background::change(State from, State to) {
    auto expected = static_cast<std::uint32_t>(from);
    return word_.compare_exchange_strong(expected, static_cast<std::uint32_t>(to), std::memory_order_seq_cst);
}

void Background::note_slowly() {
    if (state() == State::due) return;
    if (state() == State::expected) {
        if (slow_paths_.fetch_add(1, std::memory_order_relaxed) + 1 >= kSlowPathsToStart)
            change(State::expected, State::due);
    } else if (!change(State::quiet, State::active) && change(State::asleep, State::active)) {
        platform::wake_one(word_);
    }
}

// Not in a handler that interrupted the heaps, nor in a free: libc frees with a lock held that a thread's start takes.
void Background::start_slowly() {
    note_slowly();
    if (Inside::is_inside() || !change(State::due, State::active)) return;
    static constexpr platform::Helper kHelper{[] { background.run(); }, "granary"};
    const int error = platform::start_helper(kHelper);
    if (error != 0 && instance.options().verbose != 0) say_missing(static_cast<std::size_t>(error));
}

void Background::run() {
    unsigned quiet_ticks = 0;
    while (!is_ending()) {
        platform::sleep_on_for(ending_, 0, kTickMilliseconds);
        if (is_ending()) break;
        quiet_ticks = change(State::active, State::quiet) ? 0 : quiet_ticks + 1;
        instance.reclaim_idle();
        if (quiet_ticks < kTicksToSleep) continue;
        quiet_ticks = 0;
        instance.trim(0);
        sleep();
    }
    word_.store(static_cast<std::uint32_t>(State::active), std::memory_order_relaxed);
}

void Background::sleep() {
    if (!change(State::quiet, State::asleep)) return;
    while (state() == State::asleep && !is_ending())
        platform::sleep_on(word_, static_cast<std::uint32_t>(State::asleep));
}

void Background::end() {
    // seq_cst: the thread finds it set, or has not yet gone to sleep when the other word is changed.
    ending_.store(1, std::memory_order_seq_cst);
    platform::wake_one(ending_);
    word_.store(static_cast<std::uint32_t>(State::active), std::memory_order_seq_cst);
    platform::wake_one(word_);
}

}  // namespace gr
