// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one heap of a sum of features: its store, and what stands before it: a buffer, locks, remote lists.
// Invariant: a heap that only its own thread enters has no lock: without ownership, or with remote lists (Wasik 5.7).
// Must not know: which thread's heap it is, and what is done with a block.
#pragma once

#include <array>
#include <atomic>
#include <type_traits>

#include "parts/lists/remote_list.hpp"
#include "parts/stores/features.hpp"
#include "parts/stores/free_list_buffer.hpp"
#include "parts/stores/stores.hpp"

namespace gr::lab {

template <Features kF>
struct alignas(kCacheLineBytes) ComposedHeap {
    static constexpr bool has(Feature feature) { return kF.have(feature); }
    static constexpr bool kIsPrivate =
        has(thread_heaps) && (!has(ownership) || has(remote_lists) || has(remote_lists_on_containers));
    using HeapLock =
        std::conditional_t<kIsPrivate, NoLock,
                           std::conditional_t<has(locks_of_threads), LockOfThreads<Rank::heap>, Lock<Rank::heap>>>;
    using RemoteList = std::conditional_t<has(lock_free), LockFreeRemoteList, LockedRemoteList<Rank::worklist>>;
    using Store = typename Parts<kF>::Store;
    using Buffer = typename Parts<kF>::Buffer;

    HeapNumber number = 0;
    Store store;
    [[no_unique_address]] Buffer buffer;
    [[no_unique_address]] std::conditional_t<has(delayed_ownership), Buffer, NoBuffer> others;
    [[no_unique_address]] std::array<HeapLock, has(locks_per_bin) ? Store::kBins : 1> locks{};
    std::array<RemoteList, has(remote_lists) ? Store::kBins : 0> remote{};
    std::atomic<ComposedHeap *> below{nullptr};  // of the stack of idle heaps

    HeapLock &lock_of(unsigned bin) { return locks[has(locks_per_bin) ? bin : 0]; }
    void draw(auto &picture, bool is_callers) const {
        const auto place = picture.place(picture.top(), show::PlaceKind::heap, picture.words("heap.", number),
                                         picture.words("heap ", number));
        if (is_callers) picture.is_callers(place);
        if constexpr (!kIsPrivate)
            for (const HeapLock &lock : locks) picture.lock(place, &lock);
        store.draw(picture, place);
        if constexpr (has(free_list_buffer))
            buffer.draw(picture, picture.place(place, show::PlaceKind::buffer, picture.words("buffer"),
                                               picture.words("free-list buffer")));
        if constexpr (has(delayed_ownership))
            others.draw(picture, picture.place(place, show::PlaceKind::buffer, picture.words("others"),
                                               picture.words("others' blocks")));
        if constexpr (has(remote_lists)) {
            const auto lists =
                picture.place(place, show::PlaceKind::remote, picture.words("remote"), picture.words("remote lists"));
            for (const RemoteList &list : remote) list.draw(picture, lists);
        }
    }
};

}  // namespace gr::lab
