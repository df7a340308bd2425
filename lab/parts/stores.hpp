// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which store and which buffer a sum of features means.
// Invariant: each legal sum has exactly one.
// Must not know: how any of them works.
#pragma once

#include <type_traits>

#include "parts/coalescing_store.hpp"
#include "parts/container_store.hpp"
#include "parts/exact_buffer.hpp"
#include "parts/features.hpp"
#include "parts/free_list_buffer.hpp"
#include "parts/free_list_store.hpp"
#include "parts/header_table.hpp"
#include "parts/remote_containers.hpp"

namespace gr::lab {

template <Features kF>
struct Parts {
    static constexpr bool has(Feature feature) { return kF.have(feature); }

    // 64 KiB (5.3).
    using OneSize = std::conditional_t<has(header_table), TabledContainers, FixedContainers<kUnitBytes>>;
    using Sizes = std::conditional_t<
        has(varied_containers), VariedContainers,
        std::conditional_t<has(remote_lists_on_containers),
                           RemoteContainers<FixedContainers<kUnitBytes>, LockedRemoteList<Rank::worklist>>, OneSize>>;
    static constexpr ContainerRules kRules{.restricted = has(restricted_movement),
                                           .has_remote_list = has(global_remote_list),
                                           .lock_free = has(lock_free),
                                           .has_global_heap = !has(no_global_heap)};
    // The base case takes new objects from the global heap (5.2); who owns its objects has a buffer (3.2.2.1).
    static constexpr bool kHeapHasBuffer = has(ownership) || has(no_global_heap) || has(single_heap);
    using Layout = std::conditional_t<has(containers), ContainedObjects<FixedContainers<kUnitBytes>>,
                                      TaggedObjects<kHeapHasBuffer, has(locks_per_bin)>>;
    static constexpr bool kHasGlobalHeap = !has(no_global_heap) && !has(single_heap);

    static constexpr CoalescingRules kCoalescing{.fit = has(best_fit) ? Fit::best : Fit::first_of_bin,
                                                 .has_ownership = has(ownership),
                                                 .has_global_heap = kHasGlobalHeap,
                                                 .has_remote_list = has(global_remote_list)};

    using UncoalescedStore = std::conditional_t<has(containers) && has(ownership), ContainerStore<Sizes, kRules>,
                                                FreeListStore<Layout, kHasGlobalHeap, has(global_remote_list)>>;
    using Store = std::conditional_t<has(coalescing), CoalescingStore<kCoalescing>, UncoalescedStore>;
    template <class S>
    using BufferOf = std::conditional_t<has(coalescing), ExactBuffer<S>, FreeListBuffer<S>>;
    using Buffer = std::conditional_t<has(free_list_buffer), BufferOf<Store>, NoBuffer>;
};

}  // namespace gr::lab
