// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the policies: how much a program may allocate until the next collection, and how far the heap may grow
//    meanwhile.
// Invariant: pure functions of what the last collections found. The growth is never 0. Time changes the growth by the
//    factor kMostByTime at most.
// Must not know: when a policy is asked; how anything is collected or measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/config.hpp"
#include "instance/options.hpp"

namespace gr {

// Bytes, as the last collection left them.
struct Found {
    std::size_t live_with_pointers = 0;  // in blocks that are scanned
    std::size_t live_without = 0;
    std::size_t roots = 0;
    std::size_t threads = 0;        // that were stopped
    std::size_t held = 0;           // units that hold some of it, but for pages that were given back
    std::size_t limit = SIZE_MAX;   // of what may be held
    std::uint64_t nanoseconds = 0;  // CPU time of the thread that collected; 0: not measured

    void add_live(bool has_pointers, std::size_t bytes) { (has_pointers ? live_with_pointers : live_without) += bytes; }
    std::size_t live() const { return live_with_pointers + live_without; }
};

// Bytes for each nanosecond of CPU time. The past counts half as much with each new measurement.
class Rate {
  public:
    void learn(std::size_t bytes, std::uint64_t nanoseconds) {
        if (nanoseconds == 0) return;
        bytes_ = bytes_ / 2 + static_cast<double>(bytes);
        nanoseconds_ = nanoseconds_ / 2 + static_cast<double>(nanoseconds);
    }
    bool is_known() const { return nanoseconds_ > 0; }
    double value() const { return bytes_ / nanoseconds_; }

  private:
    double bytes_ = 0;
    double nanoseconds_ = 0;
};

// What earlier collections and the program said. Bytes.
struct Circumstances {
    std::size_t divisor = kUsualDivisor;  // at least 1
    std::size_t least_growth = 1;         // wanted by the program
    std::size_t size = 0;                 // up to which the program wants no collection for want of memory
    std::size_t allowed = 0;              // the most that the heap might hold before a collection was due
    std::size_t due = 0;                  // where the last collection was due
    Rate allocated;                       // by the program
    Rate marked;                          // by the collector

    static constexpr std::size_t kUsualDivisor = 3;
};

struct Plan {
    std::size_t growth = 0;  // bytes to be allocated until the next collection
    std::size_t enough = 0;  // bytes held that are enough for that, if the free blocks have the sizes that are wanted
    std::size_t due = 0;     // bytes held
};

namespace policies {

constexpr std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }
constexpr std::size_t lesser(std::size_t a, std::size_t b) { return a < b ? a : b; }

inline constexpr std::size_t kLeast = 10 * kMiB;  // growth of a heap with the usual divisor
// Of what lives, while that is little: a heap whose blocks are of many sizes needs more.
inline constexpr std::size_t kSmallParts = 4;
inline constexpr std::size_t kSmall = 14 * kMiB;
inline constexpr std::size_t kSmallest = 512 * kKiB;  // growth with any divisor
inline constexpr std::size_t kForEachThread = 256 * kKiB;
inline constexpr std::size_t kMostStep = 16 * kMiB;
inline constexpr std::size_t kLeastParts = 16;
inline constexpr std::size_t kMostParts = 2;
inline constexpr std::size_t kTightParts = 8;
// Where the program allocates as fast as the collector marks, so many live bytes may grow by as many again.
inline constexpr std::size_t kBalance = 64 * kMiB;
inline constexpr std::size_t kMostByTime = 4;

// By Newton's method, which comes down to the root from above.
constexpr double square_root(double x) {
    double root = x > 1 ? x : 1;
    while (true) {
        const double next = (root + x / root) / 2;
        if (next >= root) return root;
        root = next;
    }
}

inline std::size_t least_growth(const Found &found, const Circumstances &now) {
    const std::size_t small = lesser(found.live() * kSmallParts, kSmall);
    const std::size_t least = larger(small, kLeast + found.threads * kForEachThread);
    return larger(least * Circumstances::kUsualDivisor / now.divisor, larger(now.least_growth, kSmallest));
}

// An eighth of what is not scanned counts as work. A heap that holds much more than what lives grows by a part of what it
// holds, as bdwgc's does.
inline std::size_t proportional_growth(const Found &found, const Circumstances &now) {
    const std::size_t worth = 2 * found.live_with_pointers + found.live_without / 4 + found.roots;
    const std::size_t step = lesser(found.held / now.divisor, kMostStep);
    return larger(worth / now.divisor, larger(step, least_growth(found, now)));
}

// Free blocks in units that are held serve first; if they are not of the sizes that are wanted, the heap grows by a part
// all the same. Up to what it was allowed before it may always grow, for no peak becomes higher by that; but what shrank
// does not get its old peak back at once.
inline Plan plan_for(std::size_t growth, const Found &found, const Circumstances &now) {
    Plan plan{.growth = growth};
    plan.enough = larger(found.live() + growth, found.held + growth / kLeastParts);
    plan.due = lesser(larger(now.allowed, plan.enough), larger(plan.enough, found.held + kMostParts * growth));
    return plan;
}

// The growth is a fixed part of what marking costs, so that a byte that is allocated costs a constant in marking (Boehm,
// section 2).
inline Plan plan_proportional(const Found &found, const Circumstances &now) {
    return plan_for(proportional_growth(found, now), found, now);
}

// As plan_proportional, but the heap keeps the size that it once had.
inline Plan plan_growable(const Found &found, const Circumstances &now) {
    Plan plan = plan_proportional(found, now);
    plan.due = larger(plan.due, now.due);
    return plan;
}

// The heap has the size that the program set, and grows beyond it as little as it can.
inline Plan plan_fixed(const Found &found, const Circumstances &now) {
    return plan_for(least_growth(found, now), found, now);
}

// The growth is proportional to the square root of what lives and of the rate of allocation over that of marking: among
// all heaps of a machine, no other division of its memory saves more time (MemBalancer: Kirisame, Shenoy and Panchekha,
// OOPSLA 2022).
inline Plan plan_square_root(const Found &found, const Circumstances &now) {
    const std::size_t usual = proportional_growth(found, now);
    if (!now.allocated.is_known() || !now.marked.is_known() || now.marked.value() <= 0)
        return plan_for(usual, found, now);
    const double rates = now.allocated.value() / now.marked.value();
    const double root = square_root(static_cast<double>(found.live()) * static_cast<double>(kBalance) * rates) *
                        static_cast<double>(Circumstances::kUsualDivisor) / static_cast<double>(now.divisor);
    const std::size_t most = usual * kMostByTime;
    const std::size_t growth = root < static_cast<double>(most) ? static_cast<std::size_t>(root) : most;
    return plan_for(larger(growth, usual / kMostByTime), found, now);
}

}  // namespace policies

// By the number of the policy (kGcPolicyWords has the names).
inline constexpr Plan (*kPlans[])(const Found &, const Circumstances &) = {
    policies::plan_proportional,
    policies::plan_growable,
    policies::plan_fixed,
    policies::plan_square_root,
};
static_assert(std::size(kPlans) == kGcPolicies, "each policy that has a name has a plan");

// What the policy plans, within the size that the program set and the limit: near the limit collections
// become more frequent, but never so frequent that the program cannot go on.
inline Plan plan_by(GcPolicy policy, const Found &found, const Circumstances &now) {
    Plan plan = kPlans[static_cast<std::size_t>(policy)](found, now);
    plan.due = policies::larger(plan.due, now.size);
    const std::size_t left = found.limit > found.held ? found.limit - found.held : 0;
    if (plan.due - found.held <= left) return plan;
    const std::size_t room = policies::larger(left, plan.growth / policies::kTightParts + 1);
    plan.growth = policies::lesser(plan.growth, room);
    plan.due = policies::lesser(plan.due, found.held + room);
    return plan;
}

}  // namespace gr
