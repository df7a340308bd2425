// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "reading/symbols/library_code.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "reading/symbols/function_name.hpp"

namespace gr::tool {

namespace {

constexpr std::array kAllocatingFunctions = {
    "malloc",  "calloc",  "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign",
    "valloc",  "pvalloc", "cfree",   "operator new", "operator new[]", "__rust_alloc*", "__rustc::__rust_*",
    "__rdl_*", "__rg_*",  "_mi_*",   "mi_malloc*",   "je_malloc*",     "gr_*",          "tc_*",
};

// Functions of much-used programs and libraries that only allocate for their callers: GNU programs, GLib, Perl, Python, Ruby,
// PHP, Redis, SQLite, OpenSSL, PostgreSQL, GCC.
constexpr std::array kWrappers = {
    "xmalloc*",
    "xcalloc*",
    "xrealloc*",
    "xzalloc",
    "xstrdup",
    "xstrndup",
    "xmemdup*",
    "g_malloc*",
    "g_try_malloc*",
    "g_realloc*",
    "g_slice_alloc*",
    "g_strdup*",
    "g_memdup*",
    "Perl_safesys*",
    "PyMem_*",
    "_PyMem_*",
    "PyObject_Malloc",
    "PyObject_Calloc",
    "PyObject_Realloc",
    "_PyObject_Malloc",
    "_PyObject_Calloc",
    "_PyObject_Realloc",
    "pymalloc_alloc",
    "ruby_x*alloc*",
    "objspace_x*alloc*",
    "_emalloc*",
    "_ecalloc*",
    "_erealloc*",
    "_safe_emalloc*",
    "zmalloc*",
    "zcalloc*",
    "zrealloc*",
    "ztry*alloc*",
    "sqlite3Mem*",
    "sqlite3Malloc*",
    "sqlite3Realloc*",
    "sqlite3_malloc*",
    "sqlite3_realloc*",
    "sqlite3DbMalloc*",
    "sqlite3DbRealloc*",
    "mallocWithAlarm",
    "dbMallocRawFinish",
    "CRYPTO_malloc*",
    "CRYPTO_zalloc*",
    "CRYPTO_realloc*",
    "palloc*",
    "MemoryContextAlloc*",
    "AllocSetAlloc*",
    "ggc_*alloc*",
};

// Wrappers of the Java virtual machine. Other programs have functions of these names that are no wrappers.
constexpr const char *kJvmFile = "libjvm.so*";
constexpr std::array kJvmWrappers = {
    "os::malloc",
    "os::realloc",
    "os::strdup*",
    "os::pd_*",
    "os::reserve_memory*",
    "os::attempt_reserve_memory*",
    "os::commit_memory*",
    "os::map_memory*",
    "os::remap_memory*",
    "osSupport::map_memory",
    "NMTPreInit*",
    "AllocateHeap",
    "ReallocateHeap",
    "CHeapObj*",
    "Arena::*",
    "ChunkPool::*",
    "resource_allocate_bytes",
    "GrowableArrayWithAllocator*::*",
    "Reserved*Space::*",
    "VirtualSpace::*",
    "G1PageBasedVirtualSpace::*",
    "G1Regions*CommitSizeMapper::*",
    "HeapRegionManager::commit_regions",
    "HeapRegionManager::expand*",
    "metaspace::*",
    "Metaspace::allocate",
};

// The standard libraries of C++, Rust and D, the interpreter of Python, and what lies under them.
constexpr std::array kFunctions = {
    "std::*",   "__gnu_cxx::*", "__cxxabiv1::*", "core::*",           "alloc::*",  "hashbrown::*", "<std::*",
    "<core::*", "<alloc::*",    "<hashbrown::*", "rust_begin_unwind", "core.*",    "rt.*",         "object.*",
    "_d_new*",  "_d_array*",    "_d_alloc*",     "gc_malloc",         "gc_qalloc", "gc_calloc",    "__gthread_*",
    "_Znw*",    "_Zna*",
};

constexpr std::array kFiles = {
    "libc.so*",         "libc-2*.so",       "ld-linux*.so*",   "ld-musl*.so*",   "libpthread*.so*", "libstdc++.so*",
    "libc++.so*",       "libc++abi.so*",    "libstd-*.so",     "libphobos2.so*", "libgphobos.so*",  "libdruntime*.so*",
    "libgdruntime.so*", "libgranary*.so*",  "libjemalloc.so*", "python3.*",      "libpython3.*",    "libmimalloc*.so*",
    "libtcmalloc*.so*", "libsnmalloc*.so*", "linux-vdso.so*",
};

// Where the sources of these libraries lie, whose functions are put into the program's code.
constexpr std::array kSources = {"*/include/c++/*", "/rustc/*/library/*", "*/rustlib/src/rust/library/*",
                                 "*/include/d/*"};

const char *text_of(const char *pattern) { return pattern; }
const char *text_of(const std::string &pattern) { return pattern.c_str(); }

template <class Patterns>
bool matches_any(const Patterns &patterns, const std::string &name) {
    return std::ranges::any_of(
        patterns, [&](const auto &pattern) { return fnmatch(text_of(pattern), name.c_str(), FNM_NOESCAPE) == 0; });
}

}  // namespace

bool LibraryCode::is_allocation(const Call &call) {
    return matches_any(kAllocatingFunctions, std::string(qualified_name(call.function)));
}

bool LibraryCode::has(const Call &call) const {
    const auto [at, is_new] = known_.try_emplace(&call, false);
    if (is_new) at->second = finds(call);
    return at->second;
}

std::size_t LibraryCode::caller(const std::vector<const Call *> &calls) const {
    const auto innermost = [&](auto is_wanted) {
        const auto at = std::find_if(calls.rbegin(), calls.rend(), is_wanted);
        return static_cast<std::size_t>(calls.rend() - at);  // behind it; 0: none
    };
    std::size_t behind = innermost([&](const Call *call) { return !has(*call); });
    if (behind == 0) behind = innermost([](const Call *call) { return !is_allocation(*call); });
    return behind == 0 ? 0 : behind - 1;
}

bool LibraryCode::finds(const Call &call) const {
    if (call.is_left_out) return true;
    if (matches_any(kFiles, call.module) || matches_any(more_, call.module)) return true;
    if (!call.is_known) return false;
    if (matches_any(kSources, call.file)) return true;
    const std::string name(qualified_name(call.function));
    if (fnmatch(kJvmFile, call.module.c_str(), FNM_NOESCAPE) == 0 && matches_any(kJvmWrappers, name)) return true;
    return matches_any(kAllocatingFunctions, name) || matches_any(kWrappers, name) || matches_any(kFunctions, name) ||
           matches_any(more_, name);
}

}  // namespace gr::tool
