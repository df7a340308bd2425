// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which options Hoard's heaps have: f, K, S, b and e, in a table of this order.
// Invariant: a table that misses one, or has another one in its place, is refused by the compiler.
// Must not know: what an option changes.
#pragma once

#include <cstdint>
#include <string_view>

#include "parts/hoard/fullness_groups.hpp"
#include "parts/memory/options.hpp"

namespace gr::lab {

constexpr bool is_option(const Option &option, std::string_view name, std::uint64_t parts) {
    return option.name == name && option.parts == parts && option.is_valid();
}
// A table of f (in groups), K, S, b (in hundredths) and e (0 or 1), in this order.
template <class O>
concept EmptinessOptions = requires {
    requires O::kTable.size() == 5;
    requires is_option(O::kTable[0], "f", EmptinessThreshold::kGroups);
    requires is_option(O::kTable[1], "K", 1);
    requires is_option(O::kTable[2], "S", 1);
    requires is_option(O::kTable[3], "b", 100);
    requires is_option(O::kTable[4], "e", 1);
    requires O::kTable[2].is_power_of_two;
};

}  // namespace gr::lab
