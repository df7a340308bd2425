// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a page asks of its server: where, by which token, as whom, and which window of time.
// Invariant: a text that is no question is none; a window is never empty.
// Must not know: how a question comes in, or is answered.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reporting/steps/scope.hpp"

namespace gr::tool {

using Parameters = std::map<std::string, std::string>;

// Takes the same time whatever is wrong.
[[nodiscard]] bool is_same_secret(std::string_view told, std::string_view secret);

// What a page may name itself.
[[nodiscard]] bool is_reader(std::string_view name);

struct Asked {
    bool is_valid = false;
    std::optional<Window> window;  // nullopt: the whole
};

// Of the parameters "from" and "to", in seconds: what lies from one, and before the other, of a trace that ends then. Neither: the
// whole.
[[nodiscard]] Asked asked_for(const Parameters &parameters, trace::Time last);

}  // namespace gr::tool
