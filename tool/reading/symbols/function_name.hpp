// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the name of a function as its author wrote it, out of the linker's name; and shorter forms of it.
// Invariant: what is no linker's name of C++, Rust or D stays as it is: Go and C write their own, and names of Swift are
//    left to Swift's tools.
// Must not know: where the function was found.
#pragma once

#include <string>
#include <string_view>

namespace gr::tool {

// "_ZN2ns1fEv" is "ns::f()". What compilers and linkers add is left out: Rust's hashes, versions of symbols
// ("memcpy@GLIBC_2.14"), and which part or copy of a function it is ("parse.part.0").
[[nodiscard]] std::string demangled(const std::string &linker_name);

// "std::vector<int, std::allocator<int> >::push_back(int&&)" is "std::vector<…>::push_back(int&&)".
[[nodiscard]] std::string brief(std::string_view function);

// "void ns::Type<A<B> >::f<C>(int, D) const" is "ns::Type<A<B> >::f<C>".
[[nodiscard]] std::string_view qualified_name(std::string_view function);

}  // namespace gr::tool
