// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers that an assembly file defines by name, for tests that hold them against the structures of C++.
// Invariant: reads the sources beside the tests; what cannot be read fails the test.
// Must not know: what the numbers are for.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace gr::test {

using Definitions = std::map<std::string, std::string>;

// Of a file under src/.
inline Definitions definitions_in(const std::string &source) {
    const std::string here = __FILE__;
    const std::string file = here.substr(0, here.rfind('/')) + "/../../src/" + source;
    std::ifstream in(file);
    EXPECT_TRUE(in) << "cannot read " << file;
    Definitions found;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string define;
        std::string name;
        std::string value;
        if (words >> define >> name && define == "#define" && std::getline(words, value)) found[name] = value;
    }
    return found;
}

// A number, a product in parentheses, or a displacement from a state ("8+gr_sequence_state(%rip)").
inline long value_of(const Definitions &from, const std::string &name) {
    const auto at = from.find(name);
    if (at == from.end()) {
        ADD_FAILURE() << name << " is not defined";
        return -1;
    }
    long a = 0;
    long b = 0;
    if (std::sscanf(at->second.c_str(), " ( %ld * %ld )", &a, &b) == 2) return a * b;
    if (at->second.compare(0, 4, " gr_") == 0) return 0;
    if (std::sscanf(at->second.c_str(), " %li", &a) == 1) return a;
    ADD_FAILURE() << name << " is no number: " << at->second;
    return -1;
}

#define EXPECT_OFFSET(definitions, name, expected) \
    EXPECT_EQ(gr::test::value_of(definitions, name), static_cast<long>(expected)) << (name)

}  // namespace gr::test
