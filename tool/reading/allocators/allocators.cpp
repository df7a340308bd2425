// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is known of mallocs by name.
// Invariant: plain tables and look-ups.
// Must not know: which program is asked about.
#include "reading/allocators/allocators.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace gr::tool {

namespace {

using namespace std::string_view_literals;
using Names = std::span<const std::string_view>;

constexpr auto kFamily = std::to_array({"malloc"sv, "calloc"sv, "realloc"sv, "reallocarray"sv, "free"sv, "cfree"sv,
                                        "aligned_alloc"sv, "memalign"sv, "posix_memalign"sv, "valloc"sv, "pvalloc"sv,
                                        "malloc_usable_size"sv, "free_sized"sv, "free_aligned_sized"sv});

constexpr auto kJemallocPrefixes = std::to_array({"je_"sv, "_rjem_"sv});
constexpr auto kJemallocOthers =
    std::to_array({"mallocx"sv, "rallocx"sv, "xallocx"sv, "sallocx"sv, "dallocx"sv, "sdallocx"sv, "nallocx"sv,
                   "mallctl"sv, "mallctlnametomib"sv, "mallctlbymib"sv, "malloc_stats_print"sv});
constexpr auto kJemallocHarmless = std::to_array(
    {"nallocx"sv, "mallctl"sv, "mallctlnametomib"sv, "mallctlbymib"sv, "malloc_stats_print"sv, "je_nallocx"sv,
     "je_mallctl"sv, "je_mallctlnametomib"sv, "je_mallctlbymib"sv, "je_malloc_stats_print"sv, "je_malloc_conf"sv});

constexpr auto kMimallocPrefixes = std::to_array({"mi_"sv});
constexpr auto kMimallocHarmless = std::to_array(
    {"mi_version"sv, "mi_collect"sv, "mi_good_size"sv, "mi_stats_print"sv, "mi_stats_reset"sv, "mi_stats_merge"sv,
     "mi_process_info"sv, "mi_option_get"sv, "mi_option_set"sv, "mi_option_enable"sv, "mi_option_disable"sv});

constexpr auto kTcmallocPrefixes = std::to_array({"tc_"sv, "MallocExtension_"sv, "_ZN15MallocExtension"sv});
constexpr auto kTcmallocHarmless = std::to_array(
    {"tc_version"sv, "tc_set_new_mode"sv, "tc_query_new_mode"sv, "tc_mallopt"sv, "tc_malloc_stats"sv, "tc_mallinfo"sv,
     "MallocExtension_ReleaseFreeMemory"sv, "MallocExtension_GetStats"sv, "MallocExtension_GetNumericProperty"sv,
     "MallocExtension_SetNumericProperty"sv, "_ZN15MallocExtension8instanceEv"sv});

constexpr auto kSnmallocPrefixes = std::to_array({"sn_"sv});
constexpr auto kRpmallocPrefixes = std::to_array({"rpmalloc"sv, "rpfree"sv, "rprealloc"sv, "rpcalloc"sv});
constexpr auto kHoardPrefixes = std::to_array({"xxmalloc"sv, "xxfree"sv});

constexpr Allocator kJemalloc{"jemalloc", kJemallocPrefixes, kJemallocOthers, kJemallocHarmless};
constexpr Allocator kMimalloc{"mimalloc", kMimallocPrefixes, Names{}, kMimallocHarmless};
constexpr Allocator kTcmalloc{"tcmalloc", kTcmallocPrefixes, Names{}, kTcmallocHarmless};
constexpr Allocator kSnmalloc{"snmalloc", kSnmallocPrefixes, Names{}, Names{}};
constexpr Allocator kRpmalloc{"rpmalloc", kRpmallocPrefixes, Names{}, Names{}};
constexpr Allocator kHoard{"Hoard", kHoardPrefixes, Names{}, Names{}};
constexpr Allocator kScudo{"Scudo", Names{}, Names{}, Names{}};
constexpr Allocator kHardened{"hardened_malloc", Names{}, Names{}, Names{}};

constexpr std::array<std::pair<std::string_view, const Allocator *>, 9> kLibraries{
    {{"libjemalloc", &kJemalloc},
     {"libmimalloc", &kMimalloc},
     {"libtcmalloc", &kTcmalloc},
     {"libsnmalloc", &kSnmalloc},
     {"librpmalloc", &kRpmalloc},
     {"libhoard", &kHoard},
     {"libscudo", &kScudo},
     {"libclang_rt.scudo", &kScudo},
     {"libhardened_malloc", &kHardened}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kBundled{{{"je_malloc", "jemalloc"},
                                                                                 {"_rjem_malloc", "jemalloc"},
                                                                                 {"mallocx", "jemalloc"},
                                                                                 {"mi_malloc", "mimalloc"},
                                                                                 {"tc_malloc", "tcmalloc"},
                                                                                 {"rpmalloc", "rpmalloc"}}};

struct Sanitizer {
    std::string_view name;
    std::string_view gcc_library;
    std::string_view clang_library;
    std::string_view symbol;
};

constexpr std::array<Sanitizer, 5> kSanitizers{{
    {"AddressSanitizer", "libasan.so", "libclang_rt.asan", "__asan_init"},
    {"HWAddressSanitizer", "libhwasan.so", "libclang_rt.hwasan", "__hwasan_init"},
    {"ThreadSanitizer", "libtsan.so", "libclang_rt.tsan", "__tsan_init"},
    {"LeakSanitizer", "liblsan.so", "libclang_rt.lsan", "__lsan_init"},
    {"MemorySanitizer", "libmsan.so", "libclang_rt.msan", "__msan_init"},
}};

bool contains(Names names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

bool is_malloc_family(std::string_view symbol) { return contains(kFamily, symbol); }

bool Allocator::owns(std::string_view symbol) const {
    return contains(others, symbol) ||
           std::ranges::any_of(prefixes, [symbol](std::string_view prefix) { return symbol.starts_with(prefix); });
}

bool Allocator::mixes_heaps(std::string_view symbol) const { return owns(symbol) && !contains(harmless, symbol); }

const Allocator *allocator_of_library(std::string_view soname) {
    const std::string_view name = file_name(soname);
    for (const auto &[prefix, allocator] : kLibraries) {
        if (name.starts_with(prefix)) return allocator;
    }
    return nullptr;
}

bool may_be_allocators(std::string_view symbol) {
    return std::ranges::any_of(kLibraries, [symbol](const auto &pair) { return pair.second->owns(symbol); });
}

std::string_view bundled_allocator(std::string_view symbol) {
    const auto *found = std::ranges::find(kBundled, symbol, [](const auto &pair) { return pair.first; });
    return found == kBundled.end() ? std::string_view{} : found->second;
}

std::string_view sanitizer_of_library(std::string_view soname) {
    const std::string_view name = file_name(soname);
    for (const Sanitizer &sanitizer : kSanitizers) {
        if (name.starts_with(sanitizer.gcc_library) || name.starts_with(sanitizer.clang_library)) return sanitizer.name;
    }
    return {};
}

std::string_view sanitizer_of_symbol(std::string_view symbol) {
    const auto *found = std::ranges::find(kSanitizers, symbol, &Sanitizer::symbol);
    return found == kSanitizers.end() ? std::string_view{} : found->name;
}

bool is_granary_library(std::string_view soname) {
    const std::string_view name = file_name(soname);
    return name.starts_with("libgranary.so") || name.starts_with("libgranary-gcmalloc.so");
}

bool is_granary_collector(std::string_view soname) { return file_name(soname).starts_with("libgranary-gc.so"); }

bool is_other_collector(std::string_view soname) { return file_name(soname).starts_with("libgc.so"); }

bool is_system_library(std::string_view soname) {
    const std::string_view name = file_name(soname);
    return name.starts_with("libc.so") || name.starts_with("libc-2.") || name.starts_with("ld-") ||
           name.starts_with("linux-vdso") || name.starts_with("linux-gate");
}

}  // namespace gr::tool
