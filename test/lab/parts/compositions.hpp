// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the sums of features that allocators of the lab are, for tests over all of them in one program.
// Invariant: one object each, of the whole program, as a face has.
// Must not know: what is tested.
#pragma once

#include <gtest/gtest.h>

#include "parts/composed.hpp"

namespace gr::lab {

inline constexpr Features kOwnedContainers = thread_heaps + containers + ownership;
inline constexpr Features kRestricted = kOwnedContainers + restricted_movement;
inline constexpr Features kRemote = kRestricted + remote_lists + global_remote_list;

using Single = Composed<single_heap>;
using ConcurrentSingle = Composed<single_heap + locks_per_bin>;
using Threads = Composed<thread_heaps>;
using ThreadsRemote = Composed<thread_heaps + global_remote_list>;
using ThreadsBuffered = Composed<thread_heaps + free_list_buffer>;
using LooseBuffered = Composed<thread_heaps + containers + free_list_buffer>;
using LooseRemote = Composed<thread_heaps + containers + global_remote_list>;
using OwnedObjectsBuffered = Composed<thread_heaps + ownership + free_list_buffer>;
using DelayedReused = Composed<kRestricted + free_list_buffer + delayed_ownership + reallocation>;
using Private = Composed<thread_heaps + no_global_heap>;
using LooseContainers = Composed<thread_heaps + containers>;
using Owned = Composed<kOwnedContainers>;
using Restricted = Composed<kRestricted>;
using Buffered = Composed<kRestricted + free_list_buffer>;
using Remote = Composed<kRemote>;
using Recommended = Composed<kRemote + free_list_buffer>;
using Varied = Composed<kRemote + varied_containers>;
using LockFree = Composed<kRemote + lock_free>;
using Streamflow = Composed<kRemote + lock_free + header_table>;
using OwnedObjects = Composed<thread_heaps + ownership>;
using OwnedObjectsRemote = Composed<thread_heaps + ownership + remote_lists + global_remote_list>;
using OwnedRemote = Composed<kOwnedContainers + remote_lists + global_remote_list>;
using ContainerRemote = Composed<kOwnedContainers + remote_lists_on_containers>;
using Delayed = Composed<kRestricted + free_list_buffer + delayed_ownership>;
using Hoard36 = Composed<kOwnedContainers + free_list_buffer + delayed_ownership + reallocation + locks_of_threads>;

inline constexpr Features kCoalescing = thread_heaps + coalescing;
inline constexpr Features kCoalescingOwned = kCoalescing + ownership;

using InC = Composed<kCoalescing>;
using InCl = Composed<kCoalescing + free_list_buffer>;
using InCr = Composed<kCoalescing + global_remote_list>;
using IoC = Composed<kCoalescingOwned>;
using IoCl = Composed<kCoalescingOwned + free_list_buffer>;
using IoCr = Composed<kCoalescingOwned + remote_lists + global_remote_list>;
using IoClr = Composed<kCoalescingOwned + free_list_buffer + remote_lists>;
using IoClrCleared = Composed<kCoalescingOwned + free_list_buffer + remote_lists + cleared_into_buffer>;
using DlmallocLike = Composed<single_heap + coalescing + best_fit>;
using PtmallocLike = Composed<trylock_heaps + coalescing + best_fit + ownership + no_global_heap>;

using Compositions =
    testing::Types<Single, ConcurrentSingle, Threads, ThreadsRemote, Private, LooseContainers, Owned, Restricted,
                   Buffered, Remote, Recommended, Varied, LockFree, Streamflow, OwnedObjects, OwnedObjectsRemote,
                   OwnedRemote, ContainerRemote, Delayed, DelayedReused, Hoard36, ThreadsBuffered, LooseBuffered,
                   LooseRemote, OwnedObjectsBuffered, InC, InCl, InCr, IoC, IoCl, IoCr, IoClr, IoClrCleared,
                   DlmallocLike, PtmallocLike>;

template <class A>
inline constinit A the_allocator{};

}  // namespace gr::lab
