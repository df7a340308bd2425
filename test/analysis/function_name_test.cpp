// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the names of functions, from linkers' names of several languages, and their short form.
// Invariant: the linkers' names were made by compilers of these languages.
// Must not know: files.
#include "reading/symbols/function_name.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace gr::tool::function_name_test {

TEST(Demangled, ReadsEachLanguage) {
    const std::pair<const char *, const char *> names[] = {
        {"_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size() const"},
        {"_ZN7mycrate3Foo3bar17h0123456789abcdefE", "mycrate::Foo::bar"},
        {"_ZN4core3ptr27drop_in_place$LT$mytype$GT$17h0123456789abcdefE", "core::ptr::drop_in_place<mytype>"},
        {"_ZN4main4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "main::main::{{closure}}"},
        {"_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
         "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop"},
        {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
        {"_RNvMNtCs1234_7mycrate3modNtB2_4Type3new", "<mycrate::mod::Type>::new"},
        {"_RINvCs1234_7mycrate3foolE", "mycrate::foo::<i32>"},
        {"_RNCNvCs1234_7mycrate4main0B3_", "mycrate::main::{closure#0}"},
        {"_D3app4fillFiZv", "app.fill(int)"},
        {"_Dmain", "D main"},
    };
    for (const auto &[linker_name, name] : names) EXPECT_EQ(demangled(linker_name), name);
}

TEST(Demangled, LeavesOutWhichPartOrCopyOfAFunctionItIs) {
    const std::pair<const char *, const char *> names[] = {
        {"_ZN2ns1fEi.isra.0", "ns::f(int)"},
        {"_ZN2ns1fEi.cold", "ns::f(int)"},
        {"_ZN2ns1fEi.part.0.constprop.1", "ns::f(int)"},
        {"parse.part.0", "parse"},
        {"parse.constprop.0.isra.12", "parse"},
        {"parse.llvm.1234567890", "parse"},
        {"parse.lto_priv.3", "parse"},
        {"parse.cold.1", "parse"},
        {"main.cold", "main.cold"},
        {"parse.part", "parse.part"},
        {"parse.7", "parse.7"},
        {"main.run.func1", "main.run.func1"},
        {".part.0", ".part.0"},
        {"part.0", "part.0"},
    };
    for (const auto &[linker_name, name] : names) EXPECT_EQ(demangled(linker_name), name);
}

TEST(Demangled, LeavesWhatIsNoLinkersName) {
    for (const char *name :
         {"main", "_Dark", "_Random", "main.(*Table).Insert", "main.Map[go.shape.int,go.shape.string]",
          "type..eq.[2]string", "$s4main3fooyyF", "_Z", "", "<module>"})
        EXPECT_EQ(demangled(name), name);
    EXPECT_EQ(demangled("memcpy@@GLIBC_2.14"), "memcpy");
}

TEST(Brief, LeavesOutTemplatesArguments) {
    const std::pair<const char *, const char *> names[] = {
        {"std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector<…>::push_back(int&&)"},
        {"void app::fill<std::vector<int> >(std::vector<int>&, int)", "void app::fill<…>(std::vector<…>&, int)"},
        {"app::f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)",
         "app::f(std::string const&)"},
        {"std::ostream& std::operator<< <char>(std::ostream&, char)",
         "std::ostream& std::operator<<<…>(std::ostream&, char)"},
        {"bool app::operator<(app::P const&, app::P const&)", "bool app::operator<(app::P const&, app::P const&)"},
        {"app::P::operator->() const", "app::P::operator->() const"},
        {"app::P::operator bool() const", "app::P::operator bool() const"},
        {"app::T<((4)>(3)), (1)<<(2)>::f()", "app::T<…>::f()"},
        {"void app::call<void ()>(void (*)())", "void app::call<…>(void (*)())"},
        {"app::T<&app::P::operator<>::f()", "app::T<…>::f()"},
        {"main::{lambda(std::vector<int>)#1}::operator()(std::vector<int>) const",
         "main::{lambda(std::vector<…>)#1}::operator()(std::vector<…>) const"},
        {"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", "<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop"},
        {"mycrate::foo::<i32>", "mycrate::foo::<…>"},
        {"<fn(A) -> B as mycrate::Call<A>>::call", "<fn(A) -> B as mycrate::Call<…>>::call"},
        {"std.algorithm.sorting.sort!(\"a(b\", 1, int[]).sort(int[])", "std.algorithm.sorting.sort!(…).sort(int[])"},
    };
    for (const auto &[function, name] : names) EXPECT_EQ(brief(function), name);
}

TEST(Brief, LeavesOtherNames) {
    for (const char *name : {"main", "<module>", "outer.<locals>.<lambda>", "Foo.<anonymous>", "a < b", "f<",
                             "main.Map[go.shape.int,go.shape.string]", "(anonymous namespace)::f(int)", "T::operator"})
        EXPECT_EQ(brief(name), name);
}

}  // namespace gr::tool::function_name_test
