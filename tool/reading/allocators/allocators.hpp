// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is known of mallocs by name: libc's family, the common replacements, the sanitizers.
// Invariant: plain tables and look-ups; no file is read here.
// Must not know: which program is asked about.
#pragma once

#include <span>
#include <string_view>

namespace gr::tool {

// malloc and what shares its heap. A program that takes one of them from elsewhere mixes two heaps.
[[nodiscard]] bool is_malloc_family(std::string_view symbol);

struct Allocator {
    std::string_view name;                       // "jemalloc"
    std::span<const std::string_view> prefixes;  // its own functions begin so ("mi_")
    std::span<const std::string_view> others;    // its own functions without such a prefix ("mallocx")
    std::span<const std::string_view> harmless;  // those of its own functions that neither take nor give blocks

    [[nodiscard]] bool owns(std::string_view symbol) const;         // one of its own, not libc's, functions
    [[nodiscard]] bool mixes_heaps(std::string_view symbol) const;  // one of its own, and about blocks
};

// The allocator that a library of this soname or file name is, or null.
[[nodiscard]] const Allocator *allocator_of_library(std::string_view soname);

// A name that some known allocator may have for a function of its own; by itself it proves nothing.
[[nodiscard]] bool may_be_allocators(std::string_view symbol);

// "jemalloc" for je_malloc: symbols that only a compiled-in copy of that allocator defines; else empty.
[[nodiscard]] std::string_view bundled_allocator(std::string_view symbol);

// "AddressSanitizer" for libasan.so.8 or __asan_init: run-times that must own malloc; else empty.
[[nodiscard]] std::string_view sanitizer_of_library(std::string_view soname);
[[nodiscard]] std::string_view sanitizer_of_symbol(std::string_view symbol);

// libgranary.so or libgranary-gcmalloc.so, whatever their version suffix.
[[nodiscard]] bool is_granary_library(std::string_view soname);

// A library that collects memory of its own and leaves malloc alone: libgranary-gc.so, and bdwgc's libgc.so.
[[nodiscard]] bool is_granary_collector(std::string_view soname);
[[nodiscard]] bool is_other_collector(std::string_view soname);

// libc itself and the loader, whose malloc is the one that Granary replaces.
[[nodiscard]] bool is_system_library(std::string_view soname);

}  // namespace gr::tool
