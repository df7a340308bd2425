// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the features of Wasik's chapter 3 and of the allocators that the papers compare, as words that are added up,
//    what each word means, and the rules that say which sums make no sense.
// Invariant: an illegal sum does not compile, and the error names the first rule that it breaks; what the thesis calls
//    without benefit is legal.
// Must not know: how any feature is built.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace gr::lab {

enum class Feature : std::uint8_t {
    single_heap,
    thread_heaps,
    trylock_heaps,
    turn_heaps,
    no_global_heap,
    destroyed_heaps,
    locks_per_bin,
    locks_of_threads,
    coalescing,
    best_fit,
    search_tree,
    power_of_two_bins,
    containers,
    varied_containers,
    header_table,
    ownership,
    restricted_movement,
    free_list_buffer,
    delayed_ownership,
    reallocation,
    remote_lists,
    remote_lists_on_containers,
    global_remote_list,
    lock_free,
    cleared_into_buffer,
};

using enum Feature;

struct FeatureWord {
    Feature feature;
    const char *name;
    const char *group;
    const char *meaning;  // a section alone is the thesis'
};

inline constexpr std::array kFeatureWords{
    FeatureWord{single_heap, "single_heap", "Heaps", "all threads share one heap (3.1.1)"},
    FeatureWord{thread_heaps, "thread_heaps", "Heaps",
                "each thread has a heap; a new thread takes over the heap of a thread that ended (3.1.1)"},
    FeatureWord{trylock_heaps, "trylock_heaps", "Heaps", "a thread takes a heap that no thread is in (4.3, Ptmalloc)"},
    FeatureWord{turn_heaps, "turn_heaps", "Heaps", "each malloc takes the next of all heaps (Hoard 6, MTmalloc)"},
    FeatureWord{no_global_heap, "no_global_heap", "Heaps", "a heap keeps the memory that it got"},
    FeatureWord{destroyed_heaps, "destroyed_heaps", "Heaps",
                "when a thread ends, the free memory of its heap goes to the global heap (3.1.1)"},
    FeatureWord{locks_per_bin, "locks_per_bin", "Locks", "each bin of a single heap has a lock of its own (Hoard 6.1)"},
    FeatureWord{locks_of_threads, "locks_of_threads", "Locks",
                "no heap's lock is taken before there is a second thread (4.4, 7.1.2)"},
    FeatureWord{coalescing, "coalescing", "Free blocks",
                "blocks have exact sizes, and free neighbours are joined (3.2.1.3)"},
    FeatureWord{best_fit, "best_fit", "Free blocks", "malloc takes the tightest of all free blocks that fit (2.2.1)"},
    FeatureWord{search_tree, "search_tree", "Free blocks",
                "a tree of the free blocks by size finds that block (4.1, Solaris)"},
    FeatureWord{power_of_two_bins, "power_of_two_bins", "Free blocks",
                "the blocks of a bin are twice as large as those of the bin before (here: MTmalloc)"},
    FeatureWord{containers, "containers", "Containers", "blocks of one size lie behind one header (3.1.2)"},
    FeatureWord{varied_containers, "varied_containers", "Containers", "containers have four sizes (3.1.2.2)"},
    FeatureWord{header_table, "header_table", "Containers", "the headers of containers lie in a table by page (4.5)"},
    FeatureWord{ownership, "ownership", "Ownership",
                "a block returns to the heap that it was allocated from (3.1.1.1)"},
    FeatureWord{restricted_movement, "restricted_movement", "Ownership",
                "a container moves between heaps only when all its blocks are free (3.1.2.1)"},
    FeatureWord{free_list_buffer, "free_list_buffer", "Free-list buffer",
                "a thread may take the blocks that it freed again without a lock (3.1.3)"},
    FeatureWord{delayed_ownership, "delayed_ownership", "Free-list buffer",
                "blocks of other heaps wait in the buffer, too (3.1.1.1)"},
    FeatureWord{reallocation, "reallocation", "Free-list buffer", "the thread may take those blocks again (3.1.1.1)"},
    FeatureWord{remote_lists, "remote_lists", "Remote lists",
                "blocks that other threads free wait in a list of the owner (3.1.4)"},
    FeatureWord{remote_lists_on_containers, "remote_lists_on_containers", "Remote lists",
                "blocks that other threads free wait in a list of their container (3.2.4.3)"},
    FeatureWord{global_remote_list, "global_remote_list", "Remote lists",
                "blocks for the global heap wait apart from those that it gives (3.2.1.5)"},
    FeatureWord{lock_free, "lock_free", "Remote lists", "remote lists by compare-and-swap, without locks (3.1.6)"},
    FeatureWord{cleared_into_buffer, "cleared_into_buffer", "Remote lists",
                "a remote list is cleared into the buffer (7.4)"},
};

struct Features {
    std::uint32_t bits = 0;

    constexpr Features() = default;
    constexpr Features(Feature feature) : bits(1U << static_cast<unsigned>(feature)) {}  // one is a sum, too
    constexpr bool have(Feature feature) const { return (bits & Features(feature).bits) != 0; }
    constexpr bool have_all(Features others) const { return common(others) == count(others.bits); }
    constexpr unsigned common(Features others) const { return count(bits & others.bits); }
    // Behind the heaps, which are more than one.
    constexpr bool have_global_heap() const { return !have(single_heap) && !have(no_global_heap); }

  private:
    static constexpr unsigned count(std::uint32_t bits) { return static_cast<unsigned>(std::popcount(bits)); }
};

constexpr Features operator+(Features a, Features b) {
    a.bits |= b.bits;
    return a;
}
constexpr Features operator+(Feature a, Feature b) { return Features(a) + Features(b); }

// A table of conditions and not of functions, so that a page can judge sums by the same rules.
struct SumRule {
    Features where{};      // concerns sums that have all of these
    Features where_any{};  // and at least one of these, if there are any
    Features needs{};
    Features excludes{};
    Features needs_one{};  // exactly one of these, if there are any
    const char *why = "";

    constexpr bool concerns(Features sum) const {
        return sum.have_all(where) && (where_any.bits == 0 || sum.common(where_any) > 0);
    }
    constexpr bool allows(Features sum) const {
        const bool is_kept =
            sum.have_all(needs) && sum.common(excludes) == 0 && (needs_one.bits == 0 || sum.common(needs_one) == 1);
        return is_kept || !concerns(sum);
    }
};

inline constexpr std::array kSumRules{
    SumRule{.needs_one = single_heap + thread_heaps + trylock_heaps + turn_heaps,
            .why = "choose exactly one of single_heap, thread_heaps, trylock_heaps and turn_heaps (3.1.1)"},
    SumRule{.where = coalescing,
            .excludes = containers,
            .why = "coalescing changes block sizes; all blocks of a container have one size (3.2)"},
    SumRule{.where_any = remote_lists + remote_lists_on_containers,
            .needs = ownership,
            .why = "without ownership no free is remote, so heaps need no remote list (3.2.1.5)"},
    SumRule{.where = remote_lists_on_containers,
            .needs = containers,
            .excludes = remote_lists,
            .why = "remote lists belong to containers or to heaps; the former need containers (3.2.4.3)"},
    SumRule{.where = restricted_movement, .needs = containers, .why = "restricted_movement needs containers (3.1.2.1)"},
    SumRule{.where = restricted_movement,
            .needs = ownership,
            .why = "restricted_movement needs ownership: without it blocks move, not containers (3.1.2.1)"},
    SumRule{.where_any = varied_containers + header_table,
            .needs = containers,
            .why = "varied_containers and header_table need containers"},
    SumRule{.where = varied_containers,
            .excludes = header_table,
            .why = "choose one of varied_containers and header_table"},
    SumRule{.where_any = varied_containers + header_table,
            .needs = ownership,
            .excludes = remote_lists_on_containers,
            .why = "varied_containers and header_table need ownership and exclude remote_lists_on_containers"},
    SumRule{.where = delayed_ownership,
            .needs = ownership + free_list_buffer,
            .why = "delayed_ownership needs ownership and free_list_buffer (3.1.1.1)"},
    SumRule{.where = reallocation, .needs = delayed_ownership, .why = "reallocation needs delayed_ownership (3.1.1.1)"},
    SumRule{.where = lock_free,
            .needs = remote_lists + restricted_movement,
            .excludes = varied_containers,
            .why = "lock_free needs remote_lists, restricted_movement and containers of one size (5.9)"},
    SumRule{.where = cleared_into_buffer,
            .needs = free_list_buffer + remote_lists,
            .why = "cleared_into_buffer needs free_list_buffer and remote_lists (7.4)"},
    SumRule{.where = ownership,
            .excludes = single_heap,
            .why = "a single heap owns everything, so ownership has no meaning (3.1.1)"},
    SumRule{.where = no_global_heap, .excludes = global_remote_list, .why = "global_remote_list needs a global heap"},
    SumRule{.where = destroyed_heaps,
            .needs = thread_heaps,
            .excludes = no_global_heap,
            .why = "destroyed_heaps needs thread_heaps and a global heap (3.1.1)"},
    SumRule{
        .where = destroyed_heaps + ownership,
        .needs = containers,
        .excludes = restricted_movement,
        .why = "destroyed_heaps needs owners that can change while blocks are in use: no ownership, or containers that "
               "move freely (5.5)"},
    SumRule{.where = destroyed_heaps,
            .excludes = coalescing + free_list_buffer + remote_lists + remote_lists_on_containers,
            .why = "destroyed_heaps excludes coalescing, free_list_buffer and remote lists: it empties stores only"},
    SumRule{.where = best_fit,
            .needs = coalescing,
            .why = "best_fit needs coalescing: otherwise all blocks of a bin have one size"},
    SumRule{.where = search_tree,
            .needs = best_fit + single_heap,
            .why = "search_tree needs best_fit and single_heap: buffers and the global heap take blocks by bin"},
    SumRule{.where = power_of_two_bins,
            .excludes = containers + coalescing,
            .why = "power_of_two_bins needs headers of objects, without containers and coalescing"},
    SumRule{.where = turn_heaps,
            .needs = ownership,
            .why = "turn_heaps needs ownership: malloc takes a turn, free goes to the owner (Hoard 6)"},
    SumRule{.where = locks_per_bin,
            .needs = single_heap,
            .excludes = coalescing,
            .why = "locks_per_bin needs single_heap without coalescing"},
    SumRule{.where = free_list_buffer, .needs = thread_heaps, .why = "free_list_buffer needs thread_heaps (3.1.3)"},
};

// The reason of the first rule that a sum breaks; nothing for a legal sum.
constexpr const char *objection_to(Features sum) {
    for (const SumRule &rule : kSumRules) {
        if (!rule.allows(sum)) return rule.why;
    }
    return "";
}

// A reason as an argument of a template, which gcc prints in its errors.
struct Reason {
    static constexpr std::size_t kMostBytes = 160;
    char text[kMostBytes]{};

    constexpr Reason(const char *why) {
        for (char *at = text; *why != '\0';) *at++ = *why++;
    }
};

// Not defined: the compiler stops where a constant calls this function, and prints the call that led to it.
void this_sum_makes_no_sense();

template <Reason kWhy>
struct Verdict {
    // clang prints the argument of the call.
    static constexpr bool is_legal(const char *why) {
        if (*why != '\0') this_sum_makes_no_sense();
        return true;
    }
};

template <Features kSum>
struct LegalSum {
    static_assert(Verdict<objection_to(kSum)>::is_legal(objection_to(kSum)), "the sum makes no sense");
    static constexpr bool kIs = true;
};

}  // namespace gr::lab
