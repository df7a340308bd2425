// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a call of a trace's stacks, by name.
// Invariant: a plain value. Its name is fit to be shown. All functions of a file of which no name is known have one name,
//    and only their places differ. Where the recorder made the address up, the name is a text that says so.
// Must not know: who found the name.
#pragma once

#include <string>

namespace gr::tool {

struct Call {
    std::string function;
    std::string brief;  // without the arguments of templates
    std::string file;   // of the source; empty: not known
    int line = 0;
    std::string module;        // the file that was loaded, without its folder; empty: not known
    std::string place{};       // of a call that is not known: the file and the offset in it, or the address
    bool is_known = false;     // the function has a name of its own
    bool is_left_out = false;  // these are calls that the recorder left out, and the name says how many

    // The name that no call of another function has.
    [[nodiscard]] const std::string &unique_name() const { return place.empty() ? function : place; }

    bool operator==(const Call &) const = default;
};

// The name that all functions without a name of their own have in common there.
[[nodiscard]] inline std::string unknown_function(const std::string &where) {
    return "unknown function (" + where + ")";
}

}  // namespace gr::tool
