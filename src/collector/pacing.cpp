// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: collector.hpp: what the pace is told: what a collection found and cost, and what was allocated since.
// Invariant: nothing is counted where blocks are allocated. The CPU's time is asked for only if the policy needs it, and
//    it does not pass while other processes have the CPU.
// Must not know: how the next collection is planned.
#include "collector/collector.hpp"

#include <algorithm>

#include "instance/statistics.hpp"
#include "platform/cgroup.hpp"
#include "platform/clock.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constexpr std::size_t kReserveParts = 8;  // of the control group's limit, for what the heap needs besides

}  // namespace

void Collector::start_pace(const Options &options) {
    pace_.set_policy(static_cast<GcPolicy>(options.gc_policy));
    group_limit_ = platform::cgroup_memory_limit();
}

void Collector::begin_to_count_cost() {
    cost_from_ = pace_.needs_time() ? platform::cpu_nanoseconds_of_thread() : 0;
}

// By the thread that collects.
std::uint64_t Collector::cost() const {
    return cost_from_ == 0 ? 0 : platform::cpu_nanoseconds_of_thread() - cost_from_;
}

// At once, for what others allocate as soon as they run is no part of it.
void Collector::learn(Found found, CollectionReport *report) {
    found.roots = looks_everywhere_ ? roots_.written_bytes() : roots_.static_bytes();
    found.threads = report->threads;
    found.limit = std::min(group_share(), pace_.most.load(std::memory_order_relaxed));
    report->held = found.held;
    pace_.learn(found);
    learned_at_ = pace_.needs_time() ? platform::cpu_nanoseconds_of_process() : 0;
}

// What blocks and units of the kinds may take, beside what else the process has.
std::size_t Collector::group_share() const {
    if (group_limit_ == platform::kNoMemoryLimit) return SIZE_MAX;
    std::size_t heap = present_bytes();
    kinds_.for_each([&](const Kind &kind) { heap += kind.instance.pages().retained_bytes(); });
    const std::size_t resident = platform::resident_bytes();
    const std::size_t beside = resident > heap ? resident - heap : 0;
    const std::size_t most = group_limit_ - group_limit_ / kReserveParts;
    return most > beside ? most - beside : 0;
}

// Under the lock, where a collection is due.
void Collector::reconsider(std::size_t held) {
    if (pace_.is_reconsidered() || is_collecting()) return;
    const std::uint64_t nanoseconds = learned_at_ == 0 ? 0 : platform::cpu_nanoseconds_of_process() - learned_at_;
    pace_.reconsider(held, allocated_since_last(), nanoseconds);
}

// Blocks in magazines count: the last collection left none there. What the program freed itself does not.
std::size_t Collector::allocated_since_last() const {
    std::size_t used = 0;
    kinds_.for_each([&](const Kind &kind) {
        const gr_statistics now = count_statistics(kind.instance);
        used += now.live_bytes - now.direct_bytes + now.magazine_bytes;
    });
    return used > last_.live_bytes ? used - last_.live_bytes : 0;
}

}  // namespace gr
