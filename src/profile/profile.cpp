// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "profile/profile.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "heap/inside.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"
#include "profile/gzip_file.hpp"
#include "profile/pprof.hpp"

namespace gr {
namespace {

void say_not_written(const char *path, long error) {
    TextBuffer<512> line;
    line << "granary: no profile written to ";
    for (const char *c = path; *c != '\0' && line.size() < 300; ++c) line << (*c < ' ' ? '?' : *c);
    line << " (error " << static_cast<unsigned long>(-error) << "); set GRANARY_PROFILE_FOLDER to a "
         << "folder that can be written to\n";
    platform::write_all(2, line.data(), line.size());
}

}  // namespace

bool Profile::begin(std::uint64_t mean, std::uint64_t seed, const char *folder) {
    mean_ = mean;
    dice_.store(seed, std::memory_order_relaxed);
    // The program may write over its environment.
    if (folder != nullptr) std::strncpy(&folder_[0], folder, kFolderBytes - 1);
    began_ = platform::wall_clock_nanoseconds();
    began_monotonic_ = platform::nanoseconds();
    return walk_.initialise() && stacks_.initialise() && sites_.initialise() && samples_.initialise();
}

// splitmix64: any thread may draw at any time.
std::uint64_t Profile::roll() {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    std::uint64_t mixed = dice_.fetch_add(kGoldenRatio, std::memory_order_relaxed) + kGoldenRatio;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

// Frames of this library's own come before the caller's, where it is linked into the program.
void Profile::note(const void *p, std::uint64_t size, const void *caller) {
    constexpr std::size_t kOwnMost = 12;
    std::uintptr_t calls[kProfileCalls];
    std::span<std::uintptr_t> taken(&calls[0], walk_.take(calls));
    const auto own = taken.first(std::min(kOwnMost, taken.size()));
    const auto first = std::ranges::find(own, reinterpret_cast<std::uintptr_t>(caller));
    if (first != own.end()) taken = taken.subspan(static_cast<std::size_t>(first - own.begin()));
    // Static programs may come without an index of their tables.
    if (taken.empty() && caller != nullptr) {
        calls[0] = reinterpret_cast<std::uintptr_t>(caller);
        taken = {&calls[0], 1};
    }
    if (!mutex_.lock(kRank)) return miss();
    const StackNumber stack = stacks_.number_of(taken);
    const std::uint32_t site = sites_.at(stacks_.ordinal(stack), stack);
    if (samples_.insert(p, {size, site})) {
        sites_.allocated(site, estimate_of(size, mean_), platform::rough_nanoseconds());
    } else {
        miss();
    }
    let_go();
}

// Who forks holds the lock and waits for the heaps', one of which a handler may have interrupted.
bool Profile::may_wait() const { return !mutex_.held_by_me() && !Inside::is_interrupted(); }

bool Profile::forget(const void *p) {
    if (!may_wait()) return samples_.put_aside(p);
    Sample sample;
    return samples_.take(p, &sample) && count_out(sample);
}

// A handler that comes in between has let go again.
bool Profile::count_out(const Sample &sample) {
    if (!may_wait()) return false;
    mutex_.lock_always(kRank);
    sites_.freed(sample.site, estimate_of(sample.size, mean_));
    let_go();
    return true;
}

// Whoever came meanwhile and did not get the lock has said what it wants: it is seen here, or gets the lock.
void Profile::let_go() {
    for (;;) {
        samples_.take_aside([&](const Sample &s) { sites_.freed(s.site, estimate_of(s.size, mean_)); });
        mutex_.unlock(kRank);
        if (is_wanted_.load(std::memory_order_seq_cst)) write_wanted();
        if (!samples_.any_aside() || !mutex_.try_lock(kRank)) return;
    }
}

void Profile::dump_soon() {
    is_wanted_.store(true, std::memory_order_seq_cst);
    if (mutex_.try_lock(kRank)) let_go();
}

// Nobody waits here, since it may be a handler: who holds the lock now will see that it is wanted.
void Profile::write_wanted() {
    while (is_wanted_.load(std::memory_order_seq_cst) && mutex_.try_lock(kRank)) {
        if (!is_wanted_.exchange(false, std::memory_order_seq_cst)) return let_go();
        write(nullptr);
    }
}

long Profile::dump(const char *path) {
    if (!may_wait() || !mutex_.lock(kRank)) return -EBUSY;
    return write(path);
}

// The lock is held, and let go when all is copied.
long Profile::write(const char *path) {
    const std::size_t count = sites_.totals().count;
    const std::size_t bytes = GzipFile::kPathBytes + count * sizeof(Site);
    auto *const room = static_cast<char *>(platform::map(bytes, 1));
    const bool says = path == nullptr;
    long error = -ENOMEM;
    ProfileMoment moment{.stacks = &stacks_, .mean = mean_, .began = began_};
    if (room != nullptr) {
        auto *const sites = reinterpret_cast<Site *>(room + GzipFile::kPathBytes);
        moment.sites = {sites, copy_sites(sites)};
        moment.nanoseconds = platform::nanoseconds() - began_monotonic_;
        moment.missed = missed_.load(std::memory_order_relaxed);
    }
    let_go();
    Text name(room, GzipFile::kPathBytes);
    if (room != nullptr && path == nullptr) {
        if (folder_[0] != '\0') name << &folder_[0] << '/';
        name << "granary." << platform::process_id() << '.' << written_.fetch_add(1, std::memory_order_relaxed)
             << ".pb.gz" << '\0';
        path = room;
    }
    if (room != nullptr) error = name.truncated() ? -ENAMETOOLONG : write_pprof(path, moment);
    if (error != 0 && says) say_not_written(path == nullptr ? "memory" : path, error);
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
