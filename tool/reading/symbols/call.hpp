// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a call of a trace's stacks, by name.
// Invariant: a plain value. It has a name that is fit to be shown: what is not known is its file and the offset in it, or
//    its address; where the recorder made the address up, a text that says so.
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
    bool is_known = false;     // the name does not consist of an address
    bool is_left_out = false;  // these are calls that the recorder left out, and the name says how many

    bool operator==(const Call &) const = default;
};

}  // namespace gr::tool
