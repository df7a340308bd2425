// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heap with its name, malloc's or a kind's; and where in several of them most of something lies.
// Invariant: a heap that is malloc's comes first; each kind has one, and with malloc by the collector that is malloc's.
// Must not know: what is said of it.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reading/heap/collector_snapshot.hpp"
#include "reading/heap/heap_snapshot.hpp"

namespace gr::tool {

struct ExplainedHeap {
    std::string name;  // for people and programs; no two have the same
    bool is_malloc;
    std::optional<Kind> kind;  // if it is collected
    HeapSnapshot snapshot;
};

[[nodiscard]] inline std::uint64_t whole(double bytes) {
    return static_cast<std::uint64_t>(std::llround(std::max(0.0, bytes)));
}
[[nodiscard]] inline std::uint64_t percent(std::uint64_t part, std::uint64_t of) {
    return of == 0 ? 0 : part * 100 / of;
}

[[nodiscard]] Amount sum_of(std::span<const ExplainedHeap> heaps, Part part);

// Blocks of a class, in words: "blocks of 32 bytes", "blocks of 32 bytes (scanned)".
struct ClassOfHeap {
    const ExplainedHeap *heap;
    const ClassSummary *size_class;

    [[nodiscard]] std::string text() const;
};

// Those that hold most of a part, the first of them first; not more than so many.
[[nodiscard]] std::vector<ClassOfHeap> largest(std::span<const ExplainedHeap> heaps, Part part, std::size_t most);

}  // namespace gr::tool
