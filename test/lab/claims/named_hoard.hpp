// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the allocator hoard, with the name that tests print beside a count.
// Invariant: it is no sum of features.
// Must not know: what is counted.
#pragma once

#include "allocators/hoard.hpp"
#include "lab/parts/compositions.hpp"

namespace gr::lab {

template <>
inline constexpr const char *kNameOf<Chosen> = "hoard";

}  // namespace gr::lab
