// SPDX-License-Identifier: Apache-2.0 OR MIT
// A slow path that notes something and a thread that goes to sleep change the same word, so one of them sees the other.

#include "instance/background.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/text.hpp"
#include "instance/instance.hpp"
#include "platform/clock.hpp"
#include "platform/helper_thread.hpp"
#include "platform/process.hpp"
#include "platform/reentry.hpp"

namespace gr {

constinit Background background;

namespace {

constexpr std::uint64_t kTickNanoseconds = kTickMilliseconds * kNanosecondsPerMillisecond;
using Reason = TextBuffer<96>;  // why there is no thread
constexpr std::uint64_t kRestMostMilliseconds = 3'600'000;

// Without notice of the first thread's end no thread is started.
const char *why_no_end_is_noticed() {
    return platform::is_first_thread() ? "pthread_key_create or pthread_setspecific failed"
                                       : "the library was loaded by another thread than the first of the process";
}

void say_missing(const Text &reason, bool ticks, bool has_file) {
    const bool is_told = has_file || (ticks && load_option(instance.options().verbose) != 0);
    if (!is_told) return;
    TextBuffer<320> line;
    line << "granary: no background thread (" << std::string_view(reason.data(), reason.size()) << "); ";
    if (ticks) line << "the memory of idle magazines stays until malloc_trim returns it";
    if (ticks && has_file) line << ", and ";
    if (has_file) line << "no statistics are written to GRANARY_STATS_FILE";
    line << '\n';
    platform::write_all(2, line.data(), line.size());
}

}  // namespace

void Background::begin() {
    const Options &options = instance.options();
    file_.begin(reinterpret_cast<const char *>(options.stats_file), options.stats_interval);
    ticks_.store(options.background != 0, std::memory_order_relaxed);
    if (!has_task()) return;
    if (tie()) return expect();
    Reason reason;
    reason << why_no_end_is_noticed();
    say_missing(reason, may_tick(), file_.is_wanted());
    ticks_.store(false, std::memory_order_relaxed);
}

void Background::begin_in_child() {
    file_.forget_other_threads();
    call_.forget();
    word_.store(static_cast<std::uint32_t>(State::active), std::memory_order_relaxed);
    is_tied_.store(false, std::memory_order_relaxed);
    is_present_.store(false, std::memory_order_relaxed);
    first_thread_ended_.store(false, std::memory_order_relaxed);
    callers_.store(0, std::memory_order_relaxed);
    ticks_.store(load_option(instance.options().background) != 0, std::memory_order_relaxed);
    if (has_task() && tie()) expect();
}

bool Background::has_task() const {
    return may_tick() || file_.is_wanted() || callers_.load(std::memory_order_seq_cst) != 0 || call_.is_set();
}

// When the first thread of the process ends alone, the library's thread ends, too. Else it could be the last thread,
// and the process would never end.
bool Background::tie() {
    if (!is_tied_.load(std::memory_order_relaxed) && platform::is_first_thread()) {
        const bool is_tied = platform::on_end_of_this_thread([] { background.end_with_first_thread(); });
        is_tied_.store(is_tied, std::memory_order_relaxed);
    }
    return is_tied_.load(std::memory_order_relaxed);
}

void Background::expect() {
    slow_paths_.store(0, std::memory_order_relaxed);
    change(State::active, State::expected);
}

void Background::expect_no_more() {
    if (!change(State::expected, State::active)) change(State::due, State::active);
}

bool Background::switch_on() {
    if (!tie() || first_thread_ended_.load(std::memory_order_seq_cst)) return false;
    ticks_.store(true, std::memory_order_seq_cst);
    if (!is_present_.load(std::memory_order_seq_cst)) expect();
    // The thread is here, or here again: it was leaving and has seen ticks_.
    if (is_present_.load(std::memory_order_seq_cst)) {
        expect_no_more();
        wake();
    }
    return true;
}

void Background::switch_off() {
    ticks_.store(false, std::memory_order_seq_cst);
    if (!has_task()) expect_no_more();
    wake();
}

void Background::end_with_first_thread() {
    first_thread_ended_.store(true, std::memory_order_seq_cst);
    expect_no_more();
    wake();
}

// seq_cst, pairs with the change by the other side: either the thread sees what a slow path did before the change, or
// the slow path sees that the thread sleeps.
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

// Starts no thread in a handler that interrupted the heaps. A free must not call this: libc frees while it holds a lock
// that a thread's start takes.
void Background::start_slowly() {
    note_slowly();
    if (platform::Reentry::is_inside() || !change(State::due, State::active) || !is_wanted()) return;
    const int error = start();
    if (error == 0) return;
    Reason reason;
    reason << "pthread_create: error " << static_cast<unsigned>(error);
    say_missing(reason, may_tick(), file_.is_wanted());
}

// Returns libc's error, or 0: the thread runs.
int Background::start() {
    if (is_present_.exchange(true, std::memory_order_seq_cst)) return 0;
    static constexpr platform::Helper kHelper{[] { background.run(); }, "granary"};
    const int error = platform::start_helper(kHelper);
    if (error != 0) is_present_.store(false, std::memory_order_seq_cst);
    return error;
}

int Background::call_every(unsigned milliseconds, StatisticsCall::Call call, void *context) {
    int error = 0;
    if (call == nullptr) {
        call_.set(0, nullptr, nullptr);
    } else if (milliseconds == 0) {
        return EINVAL;
    } else {
        if (!tie()) return EPERM;
        error = start_for(milliseconds, call, context);
    }
    wake();
    return error;
}

// The thread is wanted (callers_) before the call is set, because without the thread no call may be set.
int Background::start_for(unsigned milliseconds, StatisticsCall::Call call, void *context) {
    callers_.fetch_add(1, std::memory_order_seq_cst);
    const bool is_there = !first_thread_ended_.load(std::memory_order_seq_cst) && start() == 0;
    if (is_there) call_.set(milliseconds, call, context);
    callers_.fetch_sub(1, std::memory_order_seq_cst);
    return is_there ? 0 : EAGAIN;
}

void Background::run() {
    do {
        serve();
    } while (!leave());
}

void Background::serve() {
    std::uint64_t tick_at = kNever;
    quiet_ticks_ = 0;
    expect_no_more();
    file_.begin_interval();
    // Read news_ before what is wanted and due: a thread that changes these changes news_ afterwards.
    std::uint32_t news = news_.load(std::memory_order_seq_cst);
    for (; is_wanted(); news = news_.load(std::memory_order_seq_cst)) {
        tick_at = next_tick(tick_at);
        rest_until(tick_at, news);
        if (!is_wanted()) break;
        file_.write_if_due();
        call_.call_if_due();
        if (tick_at <= platform::nanoseconds()) tick_at = tick();
    }
    word_.store(static_cast<std::uint32_t>(State::active), std::memory_order_seq_cst);
}

// false: the thread is wanted again, and nobody has started another one.
bool Background::leave() {
    is_present_.store(false, std::memory_order_seq_cst);
    return !is_wanted() || is_present_.exchange(true, std::memory_order_seq_cst);
}

// Returns when the next tick is due. `tick_at` is when it was due until now.
std::uint64_t Background::next_tick(std::uint64_t tick_at) {
    if (!may_tick()) {
        word_.store(static_cast<std::uint32_t>(State::active), std::memory_order_seq_cst);
        return kNever;
    }
    // A slow path has woken the thread, or the thread has only begun.
    if (tick_at == kNever && state() != State::asleep) return platform::nanoseconds() + kTickNanoseconds;
    return tick_at;
}

// Returns when the next tick is due.
std::uint64_t Background::tick() {
    quiet_ticks_ = change(State::active, State::quiet) ? 0 : quiet_ticks_ + 1;
    instance.reclaim_idle();
    if (quiet_ticks_ >= kTicksToSleep) {
        quiet_ticks_ = 0;
        instance.trim(0);
        if (change(State::quiet, State::asleep)) return kNever;
    }
    return platform::nanoseconds() + kTickNanoseconds;
}

// Sleeps until `time`, until statistics are due, or until another thread has changed the word (`news`: news_ as read).
void Background::rest_until(std::uint64_t time, std::uint32_t news) {
    const std::uint64_t due = std::min({time, file_.due_at(), call_.due_at()});
    const std::uint64_t now = platform::nanoseconds();
    if (due <= now) return;
    const bool is_asleep = state() == State::asleep;
    platform::FutexWord &word = is_asleep ? word_ : news_;
    const std::uint32_t value = is_asleep ? static_cast<std::uint32_t>(State::asleep) : news;
    if (due == kNever) return platform::sleep_on(word, value);
    const std::uint64_t left = (due - now + kNanosecondsPerMillisecond - 1) / kNanosecondsPerMillisecond;
    platform::sleep_on_for(word, value, static_cast<unsigned>(std::min(left, kRestMostMilliseconds)));
}

// Wakes the thread from whichever of the two words it sleeps on.
void Background::wake() {
    // seq_cst, pairs with the load in serve(): the thread reads the new value, or does not sleep on the old one. If it
    // made word_ asleep before that load, the change below finds that.
    news_.fetch_add(1, std::memory_order_seq_cst);
    platform::wake_one(news_);
    if (change(State::asleep, State::active)) platform::wake_one(word_);
}

}  // namespace gr
