// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the allocators of the lab that are sums of features, for tests of many in one program.
// Invariant: a sum is what the allocator's own file says (compositions.cmake); here stands what is no allocator. One
//    object each, of the whole program, as a face has.
// Must not know: what is tested.
#pragma once

#include <utility>

#include "composed_allocators.hpp"

namespace gr::lab {

// F2 whose containers move in use: figure 3.7 beside remote lists, where a block can wait in the list of a heap that
// its container has left. No paper builds it.
using OwnedRemote = Composed<thread_heaps + containers + ownership + remote_lists + global_remote_list>;

using Compositions = ComposedAllocatorsAnd<OwnedRemote>;

template <class A>
inline constinit A the_allocator{};

// What a test prints beside a count: the words of the sum. Who tests an allocator that is none says its name.
template <class A>
inline constexpr const char *kNameOf = sum_of<A>();
template <>
inline constexpr const char *kNameOf<OwnedRemote> =
    "thread_heaps + containers + ownership + remote_lists + global_remote_list";

// What its heaps keep blocks in.
template <class A>
using BlocksOf = typename std::remove_reference_t<decltype(std::declval<A &>().heaps())>::Blocks;

}  // namespace gr::lab
