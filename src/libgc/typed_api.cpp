// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's objects with a map of where their pointers are, one by one and in arrays.
// Invariant: the descriptor is the last word of an object's block, and before it lie count and size of an array's
//    elements; a block that is still zero has no pointers. Maps of more than a word stay for ever.
// Must not know: how objects are marked.
#include <cstring>

#include "base/bits.hpp"
#include "libgc/allocation.hpp"
#include "libgc/client_kinds.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"

namespace {

using gr::collector;
using gr::Descriptor;
using gr::kWordBits;
using gr::Marker;
using gr::Word;

constexpr std::size_t kBitsInDescriptor = kWordBits - 2;
constexpr std::uintptr_t kBitmapForm = 1;
constexpr std::uintptr_t kPerObjectForm = 3;

// Long maps, one behind the other: how many words, then they. An environment is the place of the first.
constinit gr::platform::MappedList<Word> maps;  // under the lock; read while the world stands

struct ArrayTail {
    std::size_t element_bytes;
    std::size_t count;
    Descriptor element;
};

constinit std::atomic<unsigned> object_kind{0};  // 0: none yet; release, after the procedures
constinit unsigned array_kind = 0;               // before it

gr::Task *mark_by_map(std::uintptr_t *object, gr::Task *top, gr::Task *, std::uintptr_t place) {
    const Word words = maps[place];
    for (Word i = 0; i < words; ++i) {
        for (Word bits = maps[place + 1 + i]; bits != 0; bits &= bits - 1)
            Marker::current()->consider(object[i * kWordBits + static_cast<unsigned>(std::countr_zero(bits))]);
    }
    return top;
}

gr::Task *mark_array(std::uintptr_t *object, gr::Task *top, gr::Task *, std::uintptr_t) {
    const auto *const begin = reinterpret_cast<const char *>(object);
    ArrayTail tail{};
    std::memcpy(&tail, begin + collector.block_at(object).bytes - sizeof tail, sizeof tail);
    for (std::size_t i = 0; i < tail.count; ++i)
        Marker::current()->scan({begin + i * tail.element_bytes, tail.element});
    return top;
}

void make_kinds() {
    if (object_kind.load(std::memory_order_relaxed) != 0) return;
    collector.procedures()[gr::kBitmapProcedure] = mark_by_map;
    collector.procedures()[gr::kArrayProcedure] = mark_array;
    // It grows with the block to the offset of the last word.
    const auto last_word = static_cast<std::uintptr_t>(-static_cast<std::intptr_t>(sizeof(Word)));
    const unsigned objects =
        gr::make_client_kind({.descriptor = Descriptor(last_word | kPerObjectForm), .adds_size = true});
    array_kind = gr::make_client_kind({.descriptor = gr::procedure_descriptor(gr::kArrayProcedure, 0)});
    object_kind.store(objects, std::memory_order_release);
}

void ensure_kinds() {
    gr::ensure_initialised();
    if (object_kind.load(std::memory_order_acquire) != 0) return;
    const gr::Locked locked;
    make_kinds();
}

bool bit(const GC_word *map, std::size_t i) { return (map[i / kWordBits] >> i % kWordBits & 1) != 0; }

// Where there is no memory every word may be a pointer.
Descriptor of_long_map(const GC_word *map, std::size_t bits) {
    const std::size_t place = maps.size();
    const std::size_t words = gr::divide_up(bits, kWordBits);
    bool kept = maps.add(words);
    for (std::size_t i = 0; i < words && kept; ++i) {
        const std::size_t left = bits - i * kWordBits;
        const Word mask = gr::low_bits(left < kWordBits ? static_cast<unsigned>(left) : kWordBits);
        kept = maps.add(map[i] & mask);
    }
    if (kept) return gr::procedure_descriptor(gr::kBitmapProcedure, place);
    while (maps.size() > place) maps.take_last();
    return Descriptor::of_length(bits * sizeof(Word));
}

// A pointer one past the object's end leads to the block already, for there lies the tail.
template <class Tail>
void *allocate_typed(unsigned kind, std::size_t size, const Tail &tail) {
    if (size > PTRDIFF_MAX) return gr::now(GC_oom_fn)(size);
    const std::size_t bytes = size + sizeof tail;
    void *const p = collector.allocate(*collector.kind(kind), bytes);
    if (p == nullptr) return gr::now(GC_oom_fn)(size);
    const std::size_t whole =
        bytes <= gr::kClassLimit ? gr::size_of_class(gr::class_of(bytes)) : collector.block_at(p).bytes;
    std::memcpy(static_cast<char *>(p) + whole - sizeof tail, &tail, sizeof tail);
    return p;
}

void *allocate_object(std::size_t size, GC_word descriptor) {
    unsigned kind = object_kind.load(std::memory_order_acquire);
    if (kind == 0) [[unlikely]] {
        ensure_kinds();
        kind = object_kind.load(std::memory_order_relaxed);
    }
    return allocate_typed(kind, size, descriptor);
}

}  // namespace

extern "C" {

GR_EXPORT GC_word GC_make_descriptor(const GC_word *map, std::size_t bits) {
    ensure_kinds();
    while (bits != 0 && !bit(map, bits - 1)) --bits;
    if (bits == 0) return 0;
    std::size_t leading = 0;
    while (leading < bits && bit(map, leading)) ++leading;
    if (leading == bits) return Descriptor::of_length(bits * sizeof(Word)).word();
    if (bits > kBitsInDescriptor) {
        const gr::Locked locked;
        return of_long_map(map, bits).word();
    }
    std::uintptr_t word = kBitmapForm;
    for (std::size_t i = 0; i < bits; ++i) word |= bit(map, i) ? Word{1} << (kWordBits - 1 - i) : 0;
    return word;
}

GR_EXPORT void *GC_malloc_explicitly_typed(std::size_t size, GC_word descriptor) {
    return allocate_object(size, descriptor);
}
GR_EXPORT void *GC_malloc_explicitly_typed_ignore_off_page(std::size_t size, GC_word descriptor) {
    return allocate_object(size, descriptor);
}
GR_EXPORT void *GC_calloc_explicitly_typed(std::size_t count, std::size_t size, GC_word descriptor) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) return gr::now(GC_oom_fn)(SIZE_MAX);
    ensure_kinds();
    const ArrayTail tail{size, count, Descriptor(descriptor)};
    return allocate_typed(array_kind, bytes, tail);
}

}  // extern "C"
