// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "profile/profile.hpp"

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"
#include "platform/clock.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"
#include "platform/public_names.hpp"
#include "platform/reentry.hpp"
#include "profile/gzip_file.hpp"
#include "profile/pprof.hpp"

namespace gr {
namespace {

using Line = TextBuffer<512>;

void put_path(Line *line, const char *path) {
    for (const char *c = path; *c != '\0' && line->size() < 300; ++c) *line << (*c < ' ' ? '?' : *c);
}

void say_written(const char *path) {
    Line line;
    line << "granary: profile written to ";
    put_path(&line, path);
    line << '\n';
    platform::write_all(2, line.data(), line.size());
}

void say_not_written(const char *path, long error) {
    Line line;
    line << "granary: no profile written to ";
    put_path(&line, path);
    line << " (error " << static_cast<unsigned long>(-error) << "); set GRANARY_PROFILE_FOLDER to a "
         << "folder that can be written to\n";
    platform::write_all(2, line.data(), line.size());
}

}  // namespace

bool Profile::begin(std::uint64_t seed, const char *folder, std::uint64_t every) {
    dice_.store(seed, std::memory_order_relaxed);
    folder_ = folder;
    every_ = every;
    begin_now();
    return walk_.initialise() && stacks_.initialise() && sites_.initialise() && samples_.initialise();
}

void Profile::begin_now() {
    due_ = every_;
    began_ = platform::wall_clock_nanoseconds();
    began_monotonic_ = platform::nanoseconds();
    began_roughly_ = platform::rough_nanoseconds();
}

std::uint32_t Profile::start(std::uint64_t mean) {
    mutex_.lock_always(kRank);
    const std::uint64_t before = mean_.load(std::memory_order_relaxed);
    const std::uint64_t wanted = mean == 0 ? before : mean;
    if (before != 0 && before != wanted) forget_all();
    mean_.store(wanted, std::memory_order_relaxed);
    const std::uint32_t sampling = sampling_ = generation_;
    let_go();
    return sampling;
}

void Profile::stop() {
    mutex_.lock_always(kRank);
    sampling_ = kStopped;
    let_go();
}

std::uint32_t Profile::reset() {
    mutex_.lock_always(kRank);
    forget_all();
    const std::uint32_t sampling = sampling_;
    let_go();
    return sampling;
}

// The lock is held, so that nothing is noted meanwhile. Samples that a thread has taken out of the table then belong to
// an old generation.
void Profile::forget_all() {
    ++generation_;
    if (sampling_ != kStopped) sampling_ = generation_;
    sites_.reset();
    samples_.clear();
    missed_.store(0, std::memory_order_relaxed);
    begin_now();
}

// splitmix64. Any thread may call it at any time.
std::uint64_t Profile::roll() {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    std::uint64_t mixed = dice_.fetch_add(kGoldenRatio, std::memory_order_relaxed) + kGoldenRatio;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

// If the library is linked into the program, its own frames come before the caller's frame. They are left out.
void Profile::note(const void *p, std::uint64_t size, const void *caller, std::uint32_t generation) {
    constexpr std::size_t kOwnMost = 12;
    std::uintptr_t calls[kProfileCalls];
    std::span<std::uintptr_t> taken(&calls[0], walk_.take(calls));
    const auto own = taken.first(std::min(kOwnMost, taken.size()));
    const auto first = std::ranges::find(own, reinterpret_cast<std::uintptr_t>(caller));
    if (first != own.end()) taken = taken.subspan(static_cast<std::size_t>(first - own.begin()));
    // The walk may find nothing: static programs may have no index of their unwind tables.
    if (taken.empty() && caller != nullptr) {
        calls[0] = reinterpret_cast<std::uintptr_t>(caller);
        taken = {&calls[0], 1};
    }
    if (!mutex_.lock(kRank)) return miss();
    if (generation == sampling_) add(p, size, stacks_.number_of(taken));
    let_go();
}

void Profile::add(const void *p, std::uint64_t size, StackNumber stack) {
    const std::uint32_t site = sites_.at(stacks_.ordinal(stack), stack);
    if (!samples_.insert(p, {size, site, generation_})) return miss();
    sites_.allocated(site, estimate_of(size, mean()), platform::rough_nanoseconds());
    const std::uint64_t allocated = sites_.totals().allocated.bytes;
    if (every_ == 0 || allocated < due_) return;
    due_ = allocated - allocated % every_ + every_;
    is_wanted_.store(true, std::memory_order_seq_cst);
}

void Profile::end(const Sample &sample) {
    if (sample.generation == generation_) sites_.freed(sample.site, estimate_of(sample.size, mean()));
}

// A handler that interrupted the heaps must not wait, either: a thread that forks holds this lock and waits for the
// heaps' locks, one of which the handler's thread may hold.
bool Profile::may_wait() const { return !mutex_.held_by_me() && !platform::Reentry::is_interrupted(); }

bool Profile::forget(const void *p) {
    if (!may_wait()) return samples_.put_aside(p);
    Sample sample;
    return samples_.take(p, &sample) && count_out(sample);
}

// lock_always cannot fail: a handler that takes the lock after may_wait has unlocked it when it returns.
bool Profile::count_out(const Sample &sample) {
    if (!may_wait()) return false;
    mutex_.lock_always(kRank);
    end(sample);
    let_go();
    return true;
}

// A caller that cannot wait for the lock first leaves its request: a sample put aside, or is_wanted_. Either this loop
// sees the request, or the caller gets the lock.
void Profile::let_go() {
    for (;;) {
        samples_.take_aside([&](const Sample &s) { end(s); });
        mutex_.unlock(kRank);
        if (is_wanted_.load(std::memory_order_seq_cst)) write_wanted();
        if (!samples_.any_aside() || !mutex_.try_lock(kRank)) return;
    }
}

void Profile::dump_soon() {
    is_wanted_.store(true, std::memory_order_seq_cst);
    if (mutex_.try_lock(kRank)) let_go();
}

// The caller may be a handler, so it does not wait. A thread that holds the lock now will see is_wanted_.
void Profile::write_wanted() {
    while (is_wanted_.load(std::memory_order_seq_cst) && mutex_.try_lock(kRank)) {
        if (!is_wanted_.exchange(false, std::memory_order_seq_cst)) return let_go();
        write(nullptr, Says::failures);
    }
}

void Profile::dump_at_end() {
    if (may_wait() && mutex_.lock(kRank)) write(nullptr, Says::everything);
}

long Profile::dump(const char *path) {
    if (!may_wait() || !mutex_.lock(kRank)) return -EBUSY;
    return write(path, path == nullptr ? Says::failures : Says::nothing);
}

// The lock is held at the call. It is unlocked when all sums are copied.
long Profile::write(const char *path, Says says) {
    const std::size_t count = sites_.totals().count;
    const std::size_t bytes = GzipFile::kPathBytes + count * sizeof(Site);
    auto *const room = static_cast<char *>(platform::map(bytes, 1));
    long error = -ENOMEM;
    ProfileMoment moment{.stacks = &stacks_, .mean = mean(), .began = began_};
    if (room != nullptr) {
        auto *const sites = reinterpret_cast<Site *>(room + GzipFile::kPathBytes);
        moment.sites = {sites, copy_sites(sites)};
        moment.nanoseconds = platform::nanoseconds() - began_monotonic_;
        moment.missed = missed_.load(std::memory_order_relaxed);
    }
    let_go();
    Text name(room, GzipFile::kPathBytes);
    if (room != nullptr && path == nullptr) {
        if (folder_ != nullptr) name << folder_ << '/';
        name << (platform::is_prefixed() ? "granary-prefixed." : "granary.") << platform::process_id() << '.'
             << written_.fetch_add(1, std::memory_order_relaxed) << ".pb.gz" << '\0';
        path = room;
    }
    if (room != nullptr) error = name.truncated() ? -ENAMETOOLONG : write_pprof(path, moment);
    if (error != 0 && says != Says::nothing) say_not_written(path == nullptr ? "memory" : path, error);
    if (error == 0 && says == Says::everything) say_written(path);
    if (room != nullptr) platform::unmap(room, bytes);
    return error;
}

std::size_t Profile::copy_sites(Site *to) const {
    const std::size_t count = sites_.totals().count;
    for (std::size_t i = 0; i < count; ++i) {
        to[i] = sites_.site(i);
        to[i].peak = sites_.at_peak(to[i]);
    }
    return count;
}

void Profile::lock() {
    if (mutex_.held_by_me()) {
        ++forks_within_;
        return;
    }
    if (!may_wait()) return;
    mutex_.lock_always(kRank);
    stacks_.lock();
}

void Profile::unlock() {
    if (!mutex_.held_by_me()) return;
    if (forks_within_ != 0) {
        --forks_within_;
        return;
    }
    stacks_.unlock();
    let_go();
}

}  // namespace gr
