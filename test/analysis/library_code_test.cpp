// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which calls are the library's own code.
// Invariant: names are as demanglers print them.
// Must not know: traces.
#include "reading/symbols/library_code.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "reading/symbols/function_name.hpp"

namespace gr::tool::library_code_test {

Call named(std::string function, std::string module = "program", std::string file = "") {
    return {function, function, std::move(file), 0, std::move(module), "", true};
}

TEST(QualifiedName, HasNeitherTypeNorArguments) {
    const std::pair<const char *, const char *> names[] = {
        {"main", "main"},
        {"f(int, char const*)", "f"},
        {"void app::fill<std::string>(std::vector<std::string>&, int)", "app::fill<std::string>"},
        {"std::map<int, Row> (anonymous namespace)::load()", "(anonymous namespace)::load"},
        {"std::string std::operator+<char, std::traits<char> >(char const*, std::string&&)",
         "std::operator+<char, std::traits<char> >"},
        {"std::ostream& std::operator<< <char>(std::ostream&, char const*)", "std::operator<< <char>"},
        {"app::Point::operator()(int) const", "app::Point::operator()"},
        {"app::Point::operator bool() const", "app::Point::operator bool"},
        {"app::Point::operator->() const", "app::Point::operator->"},
        {"operator new[](unsigned long)", "operator new[]"},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
        {"decltype (f(1)) app::g<int>(int)", "app::g<int>"},
        {"parse [clone .part.0]", "parse"},
        {"<app::Tree as core::fmt::Debug>::fmt", "<app::Tree as core::fmt::Debug>::fmt"},
        {"operators::run(int)", "operators::run"},
    };
    for (const auto &[function, name] : names) EXPECT_EQ(qualified_name(function), name) << function;
}

TEST(LibraryCode, IsTheStandardLibrarysAndTheAllocators) {
    const LibraryCode library;
    for (const char *name :
         {"malloc", "operator new(unsigned long)", "operator new[](unsigned long, std::align_val_t)",
          "std::__new_allocator<int>::allocate(unsigned long, void const*)",
          "void std::vector<app::Row>::_M_realloc_insert<app::Row>(app::Row*, app::Row&&)",
          "std::string std::operator+<char>(char const*, std::string&&)", "std::__1::__libcpp_allocate(unsigned long)",
          "__gnu_cxx::new_allocator<app::Row>::allocate(unsigned long)", "alloc::raw_vec::RawVec<T,A>::grow_one",
          "<alloc::vec::Vec<T> as core::clone::Clone>::clone", "hashbrown::raw::RawTable<T,A>::reserve_rehash",
          "core.memory.GC.malloc", "_d_newclass"}) {
        EXPECT_TRUE(LibraryCode().has(named(name))) << name;
    }
    EXPECT_TRUE(library.has(named("strdup", "libc.so.6")));
    EXPECT_TRUE(
        LibraryCode().has(named("operator()<app::Row*>", "program", "/usr/include/c++/12/bits/predefined_ops.h")));
}

TEST(LibraryCode, IsNotWhatOnlySpeaksOfIt) {
    for (const char *name :
         {"main", "app::fill(std::vector<int>&)", "std_copy(char*)", "mallocate(int)", "std::vector<int> app::made()",
          "<app::Tree as core::fmt::Debug>::fmt", "stdx::f()", "allocate::f", "new_thing"}) {
        EXPECT_FALSE(LibraryCode().has(named(name))) << name;
    }
}

TEST(LibraryCode, KnowsWrappersOfMuchUsedPrograms) {
    for (const char *name : {"xmalloc", "g_malloc0", "Perl_safesysmalloc", "_PyObject_Malloc", "zmalloc_usable",
                             "sqlite3MemMalloc", "CRYPTO_zalloc", "palloc0"}) {
        EXPECT_TRUE(LibraryCode().has(named(name))) << name;
    }
    EXPECT_FALSE(LibraryCode().has(named("g_main_loop_run")));
    EXPECT_FALSE(LibraryCode().has(named("Perl_sv_setpvn")));
}

TEST(LibraryCode, KnowsWrappersOfTheJavaVirtualMachine) {
    for (const char *name :
         {"os::malloc(unsigned long, MEMFLAGS, NativeCallStack const&)",
          "os::pd_commit_memory(char*, unsigned long, bool)",
          "os::pd_attempt_reserve_memory_at(char*, unsigned long, bool)",
          "os::reserve_memory(unsigned long, bool, MEMFLAGS)",
          "os::commit_memory_or_exit(char*, unsigned long, bool, char const*)",
          "AllocateHeap(unsigned long, MEMFLAGS, AllocFailStrategy::AllocFailEnum)",
          "ReservedHeapSpace::initialize_compressed_heap(unsigned long, unsigned long, unsigned long)",
          "GrowableArrayWithAllocator<long, GrowableArray<long> >::grow(int)",
          "metaspace::VirtualSpaceNode::commit_range(MetaWordImpl**, unsigned long)"}) {
        EXPECT_TRUE(LibraryCode().has(named(name, "libjvm.so"))) << name;
        EXPECT_FALSE(LibraryCode().has(named(name))) << name << " of another program";
    }
    for (const char *name : {"G1CollectedHeap::expand(unsigned long, WorkGang*)", "CodeCache::initialize_heaps()",
                             "os::create_thread(Thread*, os::ThreadType, unsigned long)"})
        EXPECT_FALSE(LibraryCode().has(named(name, "libjvm.so"))) << name;
}

TEST(LibraryCode, TakesMorePatterns) {
    const std::vector<std::string> more = {"xmalloc", "g_*", "libgfx.so*", "app::pool::*"};
    EXPECT_TRUE(LibraryCode(more).has(named("xmalloc")));
    EXPECT_TRUE(LibraryCode(more).has(named("g_strdup")));
    EXPECT_TRUE(LibraryCode(more).has(named("draw", "libgfx.so.2")));
    EXPECT_TRUE(LibraryCode(more).has(named("void* app::pool::take<int>(int)")));
    EXPECT_FALSE(LibraryCode(more).has(named("app::draw()")));
}

TEST(LibraryCode, TheCallerIsTheInnermostOutside) {
    const LibraryCode library;
    const Call main = named("main");
    const Call load = named("load(int)");
    const Call push = named("std::vector<int>::push_back(int const&)");
    const Call sort = named("void std::sort<int*>(int*, int*)");
    const Call compare = named("compare(int, int)");
    const Call allocate = named("operator new(unsigned long)");
    EXPECT_EQ(library.caller({&main, &load, &push, &allocate}), 1U);
    EXPECT_EQ(library.caller({&main, &sort, &compare, &push, &allocate}), 2U);
    EXPECT_EQ(library.caller({&push, &allocate}), 0U);
    EXPECT_EQ(library.caller({&allocate}), 0U);
}

}  // namespace gr::tool::library_code_test
