// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: objects with a map of their pointers, single objects and arrays; and libgc's functions for them.
// Invariant: the descriptor is the last word of an object's block. In an array's block the size and the number of the
//    elements lie before it. A block that is still zero has no pointers. A map of more than one word is never freed.
// Must not know: how objects are marked.
#include <algorithm>
#include <cstring>

#include "base/bits.hpp"
#include "libgc/allocation.hpp"
#include "libgc/client_kinds.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"
#include "libgc/typed.hpp"

namespace {

using gr::collector;
using gr::Descriptor;
using gr::kWordBits;
using gr::Marker;
using gr::Word;

constexpr std::size_t kBitsInDescriptor = kWordBits - 2;
constexpr std::uintptr_t kBitmapForm = 1;
constexpr std::uintptr_t kPerObjectForm = 3;

// Long maps: for each the number of its words, then the words. A descriptor's environment is the index of the number.
constinit gr::platform::MappedList<Word> maps;  // written under the lock; read while all threads are stopped

struct ArrayTail {
    std::size_t element_bytes;
    std::size_t count;
    Descriptor element;
};

constinit std::atomic<unsigned> object_kind{0};  // 0: not made yet; release, with the acquire of its readers
constinit unsigned array_kind = 0;               // set before object_kind

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
    // The size of the block is added, so the descriptor names the offset of the last word.
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

// One word of a map that has so many bits: those that belong to the map, and those of them that are set.
Word mask_of(std::size_t word, std::size_t bits) {
    const std::size_t left = bits - word * kWordBits;
    return gr::low_bits(left < kWordBits ? static_cast<unsigned>(left) : kWordBits);
}
Word part(const Word *map, std::size_t word, std::size_t bits) { return map[word] & mask_of(word, bits); }

// How many bits the map has without those behind the last that is set.
std::size_t without_zeros_behind(const Word *map, std::size_t bits) {
    for (std::size_t word = gr::divide_up(bits, kWordBits); word-- != 0;) {
        if (const Word found = part(map, word, bits))
            return word * kWordBits + static_cast<unsigned>(std::bit_width(found));
    }
    return 0;
}

bool are_all_set(const Word *map, std::size_t bits) {
    for (std::size_t word = 0; word < gr::divide_up(bits, kWordBits); ++word) {
        if (part(map, word, bits) != mask_of(word, bits)) return false;
    }
    return true;
}

// If there is no memory for the map, every word may be a pointer.
Descriptor of_long_map(const GC_word *map, std::size_t bits) {
    const std::size_t place = maps.size();
    const std::size_t words = gr::divide_up(bits, kWordBits);
    bool kept = maps.add(words);
    for (std::size_t i = 0; i < words && kept; ++i) {
        kept = maps.add(part(map, i, bits));
    }
    if (kept) return gr::procedure_descriptor(gr::kBitmapProcedure, place);
    while (maps.size() > place) maps.take_last();
    return Descriptor::of_length(bits * sizeof(Word));
}

// nullptr: there is no memory.
template <class Tail>
void *make_with_tail(unsigned kind, std::size_t size, const Tail &tail) {
    if (size > PTRDIFF_MAX) return nullptr;
    const std::size_t bytes = size + sizeof tail;
    void *const p = collector.allocate(*collector.kind(kind), bytes);
    if (p == nullptr) return nullptr;
    const std::size_t whole =
        bytes <= gr::kClassLimit ? gr::size_of_class(gr::class_of(bytes)) : collector.block_at(p).bytes;
    std::memcpy(static_cast<char *>(p) + whole - sizeof tail, &tail, sizeof tail);
    return p;
}

void *allocate_typed(std::size_t size, Descriptor descriptor) {
    void *const p = gr::make_typed(descriptor, size);
    return p != nullptr ? p : gr::now(GC_oom_fn)(size);
}

bool is_array(const gr::Kind &kind) { return kind.number == array_kind; }

}  // namespace

namespace gr {

Descriptor describe(const Word *map, std::size_t bits) {
    ensure_kinds();
    bits = without_zeros_behind(map, bits);
    if (bits == 0) return {};
    if (are_all_set(map, bits)) return Descriptor::of_length(bits * sizeof(Word));
    if (bits > kBitsInDescriptor) {
        const Locked locked;
        return of_long_map(map, bits);
    }
    std::uintptr_t word = kBitmapForm;
    for (Word left = part(map, 0, bits); left != 0; left &= left - 1)
        word |= Word{1} << (kWordBits - 1 - static_cast<unsigned>(std::countr_zero(left)));
    return Descriptor(word);
}

void *make_typed(Descriptor descriptor, std::size_t size) {
    unsigned kind = object_kind.load(std::memory_order_acquire);
    if (kind == 0) [[unlikely]] {
        ensure_kinds();
        kind = object_kind.load(std::memory_order_relaxed);
    }
    return make_with_tail(kind, size, descriptor);
}

void *make_typed_array(Descriptor element, std::size_t count, std::size_t element_bytes) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, element_bytes, &bytes)) return nullptr;
    ensure_kinds();
    return make_with_tail(array_kind, bytes, ArrayTail{element_bytes, count, element});
}

std::size_t tail_bytes(const BlockAt &block) {
    const unsigned objects = object_kind.load(std::memory_order_acquire);
    if (objects == 0) return 0;
    if (block.kind->number == objects) return sizeof(Descriptor);
    return is_array(*block.kind) ? sizeof(ArrayTail) : 0;
}

void *resize_typed(const BlockAt &block, std::size_t size) {
    const std::size_t tail = tail_bytes(block);
    const char *const end = static_cast<const char *>(block.begin) + block.bytes - tail;
    void *resized = nullptr;
    if (is_array(*block.kind)) {
        ArrayTail array{};
        std::memcpy(&array, end, sizeof array);
        array.count = array.element_bytes == 0 ? 0 : size / array.element_bytes;
        resized = make_with_tail(array_kind, size, array);
    } else {
        Descriptor descriptor;
        std::memcpy(&descriptor, end, sizeof descriptor);
        resized = make_typed(descriptor, size);
    }
    if (resized == nullptr) return nullptr;
    std::memcpy(resized, block.begin, std::min(size, block.bytes - tail));
    free(block.begin);
    return resized;
}

}  // namespace gr

extern "C" {

GR_EXPORT GC_word GC_make_descriptor(const GC_word *map, std::size_t bits) { return gr::describe(map, bits).word(); }

GR_EXPORT void *GC_malloc_explicitly_typed(std::size_t size, GC_word descriptor) {
    return allocate_typed(size, Descriptor(descriptor));
}
GR_EXPORT void *GC_malloc_explicitly_typed_ignore_off_page(std::size_t size, GC_word descriptor) {
    return allocate_typed(size, Descriptor(descriptor));
}
GR_EXPORT void *GC_calloc_explicitly_typed(std::size_t count, std::size_t size, GC_word descriptor) {
    void *const p = gr::make_typed_array(Descriptor(descriptor), count, size);
    if (p != nullptr) return p;
    std::size_t bytes = 0;
    return gr::now(GC_oom_fn)(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);
}

}  // extern "C"
