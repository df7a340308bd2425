// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which store and which buffer a sum of features means.
// Invariant: each legal sum has exactly one.
// Must not know: how any of them works.
#pragma once

#include <type_traits>

#include "parts/layout/header_table.hpp"
#include "parts/stores/coalescing_store.hpp"
#include "parts/stores/container_store.hpp"
#include "parts/stores/features.hpp"
#include "parts/stores/free_list_buffer.hpp"
#include "parts/stores/free_list_store.hpp"

namespace gr::lab {

template <Features kF>
struct Parts {
    static constexpr bool has(Feature feature) { return kF.have(feature); }

    using Fixed = FixedContainers<kUnitBytes>;  // 64 KiB (5.3)
    using OneSize = std::conditional_t<has(header_table), TabledContainers, Fixed>;
    using Sizes = std::conditional_t<
        has(varied_containers), VariedContainers,
        std::conditional_t<has(remote_lists_on_containers), RemoteContainers<Fixed, LockFreeRemoteList>, OneSize>>;
    // In the base case new objects come from the global heap (5.2). A heap that owns its objects has a buffer
    // (3.2.2.1).
    static constexpr bool kHeapHasBuffer = has(ownership) || !kF.have_global_heap();
    using TaggedBins = GeometricBins<kLargestTagged, has(power_of_two_bins) ? 20 : 12>;
    using Layout = std::conditional_t<has(containers), ContainedObjects<Fixed>,
                                      TaggedObjects<kHeapHasBuffer, has(locks_per_bin), TaggedBins>>;
    using UncoalescedStore =
        std::conditional_t<has(containers) && has(ownership), ContainerStore<Sizes, kF>, FreeListStore<Layout, kF>>;
    using Store = std::conditional_t<has(coalescing), CoalescingStore<kF>, UncoalescedStore>;
    template <class S>
    using BufferOf = std::conditional_t<has(coalescing), ExactBuffer<S>, FreeListBuffer<S>>;
    using Buffer = std::conditional_t<has(free_list_buffer), BufferOf<Store>, NoBuffer>;
    static_assert(!has(free_list_buffer) || FreeListBufferLike<Buffer>, "the buffer lacks what stores.hpp calls");
};

}  // namespace gr::lab
