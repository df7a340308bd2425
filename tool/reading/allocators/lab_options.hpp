// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the options behind the name of an allocator of the lab: lab:hoard:f=1/8:K=0.
// Invariant: which options there are, only its library says; bench/suite/peers.py reads the names, and asks, alike.
// Must not know: which allocators there are; which program is started.
#pragma once

#include <string>
#include <string_view>

namespace gr::tool {

inline constexpr std::string_view kLab = "lab:";
inline constexpr const char *kLabVariable = "GRANARY_LAB";

struct NameAndOptions {
    std::string name;
    std::string options;  // as the library reads them: "f=1/8,K=0"
};

// Only what begins with kLab has options.
[[nodiscard]] NameAndOptions split_options(const std::string &words);

// What the library says to the first option that it does not take; empty: it takes them all. Throws Failure.
[[nodiscard]] std::string refusal_of(const std::string &library, const std::string &options);

}  // namespace gr::tool
