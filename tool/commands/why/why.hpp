// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: why the resident set of a process is as large as it is: its parts, and what could be done about them.
// Invariant: the parts together are the whole; a hint names the number it rests on.
// Must not know: how anything is drawn or printed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reading/heap/explained_heap.hpp"

namespace gr::tool {

// Whose a part is: a heap's; Granary's, but no heap's; or nothing that Granary could influence.
enum class Owner : std::uint8_t { malloc, collector, granary, others };

// One part of the resident set.
struct Share {
    std::string name;        // for programs: "live", "free", ...
    std::string heap;        // the name of the heap that it is in; "collected": of all kinds; empty: in none
    std::uint64_t resident;  // bytes
    std::uint64_t bytes;     // with what is not resident; 0: nothing else is known
    Owner owner;
    std::string text;  // for people, after the number
};

// The empty memory that stays because of the reuse allowance, and for how long the allowance has been above 0.
struct Reuse {
    std::uint64_t bytes = 0;
    std::uint64_t seconds = 0;

    Reuse &operator+=(const Reuse &other) {
        bytes += other.bytes;
        seconds = std::max(seconds, other.seconds);
        return *this;
    }
};

struct Explanation {
    int process;
    std::string executable;
    std::string library;  // the file that holds Granary: with malloc's heap, or else with the collector
    std::vector<ExplainedHeap> heaps;
    std::optional<CollectorSnapshot> collector;
    std::uint64_t collector_age;  // nanoseconds since the last collection began
    std::uint64_t resident;       // the sum of all shares
    std::uint64_t huge;           // of it in huge pages
    std::uint64_t lazy;           // of it what the kernel takes first when memory is short
    Reuse reuse;
    std::vector<Share> shares;
    std::vector<std::string> hints;

    [[nodiscard]] bool has_malloc() const { return !heaps.empty() && heaps.front().is_malloc; }
    // But for malloc's.
    [[nodiscard]] std::span<const ExplainedHeap> kinds() const {
        return std::span(heaps).subspan(has_malloc() ? 1 : 0);
    }
    [[nodiscard]] std::span<const ExplainedHeap> malloc() const { return std::span(heaps).first(has_malloc() ? 1 : 0); }
    // Bytes of units that hold something, of all kinds.
    [[nodiscard]] std::uint64_t held_bytes() const;
    // By how much more the kinds that are swept have in use than the last collection left.
    [[nodiscard]] std::uint64_t grown_bytes() const;
};

// What a kind has in use, direct blocks with it.
[[nodiscard]] Amount live_amount(const HeapSnapshot &heap);

// Throws Failure when there is no such process, it may not be looked at, or it does not run on Granary.
[[nodiscard]] Explanation explain(int process);

}  // namespace gr::tool
