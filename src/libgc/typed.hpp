// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: objects with a map of their pointers, as both interfaces of the library allocate them.
// Invariant: what says where the pointers of an object lie stands at the end of its block, behind what was requested.
// Must not know: the names that programs call.
#pragma once

#include <cstddef>

#include "libgc/standard_kinds.hpp"

namespace gr {

// The words of an object that may be pointers, by the bits of the map from the lowest on.
Descriptor describe(const Word *map, std::size_t bits);

// A pointer one past the object's end leads to the block without a further byte, because the map lies there. nullptr:
// there is no memory.
void *make_typed(Descriptor descriptor, std::size_t size);
void *make_typed_array(Descriptor element, std::size_t count, std::size_t element_bytes);

// How many bytes at the end of the block say where its pointers lie; 0: the block is not of such a kind.
std::size_t tail_bytes(const BlockAt &block);
// A new object with the contents and the map of the old one, which is freed. nullptr: there is no memory, and the old
// object stays.
void *resize_typed(const BlockAt &block, std::size_t size);

}  // namespace gr
