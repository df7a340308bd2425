// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/heap/explained_heap.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gr::tool {

Amount sum_of(std::span<const ExplainedHeap> heaps, Part part) {
    Amount sum;
    for (const ExplainedHeap &heap : heaps) sum += amount(heap.snapshot.amounts, part);
    return sum;
}

std::string ClassOfHeap::text() const {
    const std::string blocks = fmt::format("blocks of {} bytes", size_class->block_bytes);
    return heap->is_malloc ? blocks : fmt::format("{} ({})", blocks, heap->name);
}

std::vector<ClassOfHeap> largest(std::span<const ExplainedHeap> heaps, Part part, std::size_t most) {
    const auto resident = [part](const ClassOfHeap &c) { return amount(c.size_class->amounts, part).resident; };
    std::vector<ClassOfHeap> classes;
    for (const ExplainedHeap &heap : heaps) {
        for (const ClassSummary &c : heap.snapshot.classes) {
            if (amount(c.amounts, part).resident > 0) classes.push_back({&heap, &c});
        }
    }
    std::ranges::stable_sort(classes, std::greater{}, resident);
    if (classes.size() > most) classes.resize(most);
    return classes;
}

}  // namespace gr::tool
