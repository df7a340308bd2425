// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of granary/gc.h for objects with a map of their pointers.
// Invariant: a type is never freed; the collector reads only what each object's own block says.
// Must not know: how maps are encoded; how objects are marked.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>

#include "base/bits.hpp"
#include "granary/gc.h"
#include "libgc/own_objects.hpp"
#include "libgc/typed.hpp"

// In memory that is not traced and never freed.
struct gr_gc_type {
    gr::Descriptor descriptor;
};

namespace {

using gr::Word;

static_assert(std::is_same_v<uintptr_t, Word>, "a bitmap of the program is read as words of the library");

void *or_no_memory(void *object) {
    if (object == nullptr) errno = ENOMEM;
    return object;
}

const gr_gc_type *make_type(const Word *map, std::size_t bits) {
    void *const memory = or_no_memory(gr::allocate_own(gr::kAtomicUncollectable, sizeof(gr_gc_type)));
    return memory == nullptr ? nullptr : ::new (memory) gr_gc_type{gr::describe(map, bits)};
}

bool is_word(std::size_t offset) { return offset % sizeof(void *) == 0 && offset <= PTRDIFF_MAX; }

}  // namespace

extern "C" {

const gr_gc_type *gr_gc_type_of(const uintptr_t *bitmap, std::size_t bits) {
    if (bitmap != nullptr || bits == 0) return make_type(bitmap, bits);
    errno = EINVAL;
    return nullptr;
}

const gr_gc_type *gr_gc_type_of_offsets(const std::size_t *offsets, std::size_t count) {
    const std::span<const std::size_t> all(offsets, offsets == nullptr ? 0 : count);
    if (all.size() != count || !std::all_of(all.begin(), all.end(), is_word)) {
        errno = EINVAL;
        return nullptr;
    }
    const std::size_t last = all.empty() ? 0 : *std::max_element(all.begin(), all.end());
    const std::size_t bits = last / sizeof(void *) + 1;
    const std::size_t bytes = gr::divide_up(bits, gr::kWordBits) * sizeof(Word);
    auto *const map = static_cast<Word *>(gr::take(gr::kAtomic, bytes));
    if (map == nullptr) return nullptr;
    std::memset(map, 0, bytes);
    for (const std::size_t offset : all) {
        const std::size_t word = offset / sizeof(void *);
        map[word / gr::kWordBits] |= Word{1} << word % gr::kWordBits;
    }
    const gr_gc_type *const type = make_type(map, bits);
    gr::free(map);
    return type;
}

void *gr_gc_malloc_typed(const gr_gc_type *type, std::size_t size) {
    return or_no_memory(gr::make_typed(type->descriptor, size));
}

void *gr_gc_calloc_typed(const gr_gc_type *type, std::size_t count, std::size_t size) {
    return or_no_memory(gr::make_typed_array(type->descriptor, count, size));
}

}  // extern "C"
