// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/unloading.hpp"

#include <link.h>

#include "recorder/attachment.hpp"
#include "recorder/sampling.hpp"

namespace gr {
namespace {

struct LoaderCounts {
    std::uint64_t loaded = 0;
    std::uint64_t unloaded = 0;
};

LoaderCounts loader_counts() {
    LoaderCounts counts;
    const auto take = [](dl_phdr_info *info, std::size_t, void *to) {
        *static_cast<LoaderCounts *>(to) = {info->dlpi_adds, info->dlpi_subs};
        return 1;  // the counts are the same for each library
    };
    dl_iterate_phdr(take, &counts);
    return counts;
}

}  // namespace

void Unloading::begin() {
    const LoaderCounts counts = loader_counts();
    if (seen_loaded_.exchange(counts.loaded, std::memory_order_relaxed) != counts.loaded) attachment.show_code();
}

void Unloading::end() {
    const LoaderCounts counts = loader_counts();
    if (seen_unloaded_.exchange(counts.unloaded, std::memory_order_relaxed) == counts.unloaded) return;
    stack_walk.forget();
    attachment.show_code();
}

}  // namespace gr
