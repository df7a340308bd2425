// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: drain.hpp.
// Invariant: as there. A ring is given back when its thread is gone and nothing is left in it.
// Must not know: what records mean.
#include "commands/record/drain.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace gr::tool {

namespace {

constexpr unsigned kPauseMilliseconds = 4;
constexpr std::chrono::milliseconds kGonePause{100};  // between two looks for threads that are gone

template <class T>
T acquire(T &word) {
    return std::atomic_ref(word).load(std::memory_order_acquire);
}

// Another process may write there at any time: what is checked is what is used.
template <class T>
T read_once(T &word) {
    return std::atomic_ref(word).load(std::memory_order_relaxed);
}

bool has_no_such(long result) { return result != 0 && errno == ESRCH; }

}  // namespace

void Drain::run() {
    for (;;) {
        std::uint32_t *const bell = &recording_.control().bell;
        const std::uint32_t before = acquire(*bell);
        const bool is_last = is_stopping_.load(std::memory_order_acquire);
        pass();
        if (is_last) break;
        sleep_while(bell, before, kPauseMilliseconds);
    }
    end_all();
    messages_.end();
}

void Drain::stop() {
    is_stopping_.store(true, std::memory_order_release);
    recording_.ring_bell();
}

void Drain::end_process(const Ended &ended) {
    const std::lock_guard lock(mutex_);
    told_.push_back(ended);
    recording_.ring_bell();
}

void Drain::pass() {
    std::vector<Message> wishes = look_at_entries();
    empty_rings();
    for (Message &wish : wishes) messages_.put(std::move(wish));
    end_told();
    const auto now = std::chrono::steady_clock::now();
    const bool is_due = now - looked_for_gone_ > kGonePause;
    // Where no ring is left, the next thread waits for one.
    if (is_due || ring_count() == recording_.rings()) look_for_gone_threads();
    if (!is_due) return;
    looked_for_gone_ = now;
    look_for_gone_takers();
}

// A process takes the first entry that is free, so none has taken one behind an entry that never had a process.
std::vector<Message> Drain::look_at_entries() {
    std::vector<Message> wishes;
    for (std::uint32_t place = 0; place < SharedRecording::kProcesses; ++place) {
        gr_recorded_process &shared = recording_.process(place);
        if (place >= places_ && read_once(shared.id) == 0) break;
        places_ = std::max(places_, place + 1);
        const std::uint32_t state = acquire(shared.state);
        Entry &entry = entries_[place];
        if (state == GR_PROCESS_ARRIVED && entry.arrival == Arrival::none) take_arrival(place);
        if (entry.arrival == Arrival::none) continue;
        const std::uint32_t wanted = acquire(shared.looks_wanted);
        if (wanted != entry.looks_told && !entry.is_looked_at.load(std::memory_order_acquire)) {
            entry.looks_told = wanted;
            entry.is_looked_at.store(true, std::memory_order_relaxed);
            wishes.push_back(CodeShown{entry.arrival, place, wanted});
        }
        if (state == GR_PROCESS_LEAVING && !entry.is_leaving.load(std::memory_order_acquire)) {
            entry.is_leaving.store(true, std::memory_order_relaxed);
            wishes.push_back(Leaving{entry.arrival, place});
        }
    }
    return wishes;
}

void Drain::take_arrival(std::uint32_t place) {
    gr_recorded_process &shared = recording_.process(place);
    const std::uint32_t process = read_once(shared.id);
    const std::uint64_t time = clock_.within_recording(read_once(shared.time));
    if (recording_.is_mapped_by(process) == false) return free_entry(place);
    // What had this process id is no more: the process became another program, or another process has its id.
    for (std::uint32_t other = 0; other < SharedRecording::kProcesses; ++other) {
        const Entry &entry = entries_[other];
        if (entry.arrival != Arrival::none && entry.process == process)
            end_entry(other, {entry.arrival, time, trace::End::Reason::exec, 0});
    }
    Entry &entry = entries_[place];
    entry.arrival = Arrival{++arrivals_};
    entry.process = process;
    entry.looks_told = read_once(shared.looks_wanted);
    entry.is_looked_at.store(false, std::memory_order_relaxed);
    entry.is_leaving.store(false, std::memory_order_relaxed);
    std::array<char, sizeof shared.allocator> allocator{};
    std::memcpy(allocator.data(), &shared.allocator[0], allocator.size() - 1);
    messages_.put(Arrived{entry.arrival, place, process, time, allocator.data()});
}

void Drain::end_told() {
    std::vector<Ended> told;
    {
        const std::lock_guard lock(mutex_);
        told = std::exchange(told_, {});
    }
    for (const Ended &ended : told) {
        for (std::uint32_t place = 0; place < SharedRecording::kProcesses; ++place) {
            if (entries_[place].arrival == ended.arrival) end_entry(place, ended);
        }
    }
}

// Its process writes no more.
void Drain::end_entry(std::uint32_t place, const Ended &ended) {
    for (std::uint32_t number = 0; number < ring_count(); ++number) {
        empty(number);
        if (rings_[number].arrival == ended.arrival) release(number);
    }
    messages_.put(ended);
    entries_[place].arrival = Arrival::none;
    free_entry(place);
}

void Drain::free_entry(std::uint32_t place) {
    gr_recorded_process &shared = recording_.process(place);
    std::atomic_ref(shared.state).store(GR_PROCESS_FREE, std::memory_order_relaxed);
    // Release: pairs with the acquire of who takes the entry.
    std::atomic_ref(shared.id).store(0, std::memory_order_release);
    wake_sleepers(&shared.state);
}

std::uint32_t Drain::ring_count() const {
    return std::min(acquire(recording_.control().ring_count), recording_.rings());
}

void Drain::empty_rings() {
    for (std::uint32_t number = 0; number < ring_count(); ++number) empty(number);
}

bool Drain::empty(std::uint32_t number) {
    gr_recording_ring &shared = recording_.ring(number);
    const std::uint64_t head = acquire(shared.head);
    const Ring &ring = rings_[number];
    const std::uint64_t tail = ring.tail;
    if (head == tail) return false;
    take_tenant(number);
    if (head - tail > SharedRecording::kRingRecords) {
        // No thread writes so many: the word was overwritten, and what lies in the ring is not known.
        constexpr std::uint64_t kLost = std::uint64_t{GR_RECORD_LOST} << GR_RECORD_KIND_SHIFT;
        if (ring.arrival != Arrival::none)
            messages_.put(Records{ring.arrival, ring.tenant, ring.thread, {{clock_.now(), kLost, 1}}});
        move_tail(number, head);
        return true;
    }
    if (ring.arrival != Arrival::none) {
        const gr_record *const records = recording_.records(number);
        constexpr std::uint64_t kMask = SharedRecording::kRingRecords - 1;
        const std::uint64_t begin = tail & kMask;
        const std::uint64_t count = head - tail;
        const std::uint64_t first = std::min(count, SharedRecording::kRingRecords - begin);
        Records message{ring.arrival, ring.tenant, ring.thread, {}};
        message.records.reserve(count);
        message.records.assign(records + begin, records + begin + first);
        message.records.insert(message.records.end(), records, records + (count - first));
        messages_.put(std::move(message));
    }
    move_tail(number, head);
    return true;
}

void Drain::move_tail(std::uint32_t number, std::uint64_t to) {
    gr_recording_ring &shared = recording_.ring(number);
    rings_[number].tail = to;
    // Release: pairs with the thread's acquire, after which it writes there.
    std::atomic_ref(shared.tail).store(to, std::memory_order_release);
    // Pairs with the thread's, between its word that it waits and its look at tail.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // The lower half comes first.
    if (std::atomic_ref(shared.waits).load(std::memory_order_relaxed) != 0)
        wake_sleepers(reinterpret_cast<std::uint32_t *>(&shared.tail));
}

void Drain::take_tenant(std::uint32_t number) {
    Ring &ring = rings_[number];
    if (ring.tenant != Tenant::none) return;
    gr_recording_ring &shared = recording_.ring(number);
    ring.tenant = Tenant{++tenants_};
    ring.thread = read_once(shared.thread);
    const std::uint32_t place = read_once(shared.process);
    ring.place = std::min(place, SharedRecording::kProcesses - 1);
    ring.arrival = entries_[ring.place].arrival;
}

void Drain::release(std::uint32_t number) {
    gr_recording_ring &shared = recording_.ring(number);
    Ring &ring = rings_[number];
    if (ring.arrival != Arrival::none) messages_.put(ThreadGone{ring.arrival, ring.tenant, read_once(shared.lost)});
    const std::uint64_t tail = ring.tail;
    ring = {};
    ring.tail = tail;
    shared.lost = 0;
    // They are equal, unless somebody overwrote them: the next thread begins with an empty ring.
    std::atomic_ref(shared.head).store(tail, std::memory_order_relaxed);
    std::atomic_ref(shared.tail).store(tail, std::memory_order_relaxed);
    // Release: pairs with the acquire of who takes the ring.
    std::atomic_ref(shared.thread).store(0, std::memory_order_release);
}

void Drain::look_for_gone_threads() {
    for (std::uint32_t number = 0; number < ring_count(); ++number) {
        gr_recording_ring &shared = recording_.ring(number);
        if (read_once(shared.thread) == 0) continue;
        const std::uint64_t head = acquire(shared.head);
        if (std::exchange(rings_[number].head_before, head) != head) continue;
        if (!is_gone(number)) continue;
        empty(number);
        release(number);
    }
}

bool Drain::is_gone(std::uint32_t number) const {
    const Ring &ring = rings_[number];
    if (ring.tenant == Tenant::none) {  // of which process it is, is not known yet
        const std::uint32_t thread = read_once(recording_.ring(number).thread);
        return ::access(fmt::format("/proc/{}", thread).c_str(), F_OK) != 0;
    }
    return has_no_such(::syscall(SYS_tgkill, entries_[ring.place].process, ring.thread, 0));
}

// Frees the entries of processes that ended before they said that they had arrived, and of processes that are not recorded:
// any recorded process can write an id there.
void Drain::look_for_gone_takers() {
    for (std::uint32_t place = 0; place < SharedRecording::kProcesses; ++place) {
        std::atomic_ref id(recording_.process(place).id);
        std::uint32_t process = id.load(std::memory_order_relaxed);
        if (process == 0) continue;
        places_ = std::max(places_, place + 1);
        if (entries_[place].arrival != Arrival::none) continue;
        if (std::exchange(entries_[place].taker, process) != process) continue;
        if (recording_.is_mapped_by(process) != true) id.compare_exchange_strong(process, 0, std::memory_order_release);
    }
}

void Drain::end_all() {
    for (std::uint32_t place = 0; place < SharedRecording::kProcesses; ++place) {
        const Arrival arrival = entries_[place].arrival;
        if (arrival != Arrival::none) end_entry(place, {arrival, clock_.now(), trace::End::Reason::unknown, 0});
    }
}

}  // namespace gr::tool
