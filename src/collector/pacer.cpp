// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/pacer.hpp"

#include <algorithm>

#include "instance/statistics.hpp"
#include "platform/cgroup.hpp"
#include "platform/clock.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constexpr std::size_t kReserveParts = 8;  // of the control group's limit, for what the heap needs besides

}  // namespace

void Pacer::initialise(const Options &options) {
    pace_.set_policy(static_cast<GcPolicy>(options.gc_policy));
    group_limit_ = platform::cgroup_memory_limit();
}

void Pacer::begin_marking() { marking_from_ = pace_.needs_time() ? platform::cpu_nanoseconds_of_thread() : 0; }

void Pacer::end_marking() { marking_ = marking_from_ == 0 ? 0 : platform::cpu_nanoseconds_of_thread() - marking_from_; }

void Pacer::learn(Found found, CollectionReport *report) {
    found.roots = roots_.paced_bytes();
    found.threads = report->threads;
    found.limit = limit();
    found.nanoseconds = marking_;
    report->held = found.held;
    pace_.learn(found);
    learned_at_ = pace_.needs_time() ? platform::cpu_nanoseconds_of_process() : 0;
}

void Pacer::reconsider(std::size_t held) {
    if (pace_.is_reconsidered()) return;
    const std::uint64_t nanoseconds = learned_at_ == 0 ? 0 : platform::cpu_nanoseconds_of_process() - learned_at_;
    pace_.reconsider(held, allocated_since_last(), nanoseconds);
}

// What units may hold: what the program allows, or what the control group leaves beside the rest of the process.
std::size_t Pacer::limit() const {
    const std::size_t most = pace_.most.load(std::memory_order_relaxed);
    if (group_limit_ == platform::kNoMemoryLimit) return most;
    std::size_t heap = kinds_.present_bytes();
    kinds_.for_each([&](const Kind &kind) { heap += kind.instance.pages().retained_bytes(); });
    const std::size_t resident = platform::resident_bytes();
    const std::size_t beside = resident > heap ? resident - heap : 0;
    const std::size_t share = group_limit_ - group_limit_ / kReserveParts;
    return std::min(most, share > beside ? share - beside : 0);
}

// Blocks in magazines count: the last collection left none there. Blocks that the program freed do not count.
std::size_t Pacer::allocated_since_last() const {
    std::size_t used = 0;
    kinds_.for_each([&](const Kind &kind) {
        const gr_statistics now = count_statistics(kind.instance);
        used += now.live_bytes - now.direct_bytes + now.magazine_bytes;
    });
    const std::size_t last = history_.last().live_bytes;
    return used > last ? used - last : 0;
}

}  // namespace gr
