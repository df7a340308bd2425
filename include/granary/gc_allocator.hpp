// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator for C++ containers, and single objects, in memory of Granary's collector. Call gr_gc_init() first.
// Invariant: the allocator has no state, so any two compare equal and any thread may use it. Of each element the words
//    are traced that granary/gc_pointers.hpp knows for its type, every word if nothing is known, none if the type is
//    pointer-free. Elements keep objects alive as long as something refers to the memory that they lie in.
// Must not know: anything but granary/gc.h and granary/gc_pointers.hpp.
#ifndef GRANARY_GC_ALLOCATOR_HPP
#define GRANARY_GC_ALLOCATOR_HPP

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "granary/gc.h"
#include "granary/gc_pointers.hpp"

namespace gr {

template <class T>
class gc_allocator {
  public:
    using value_type = T;
    using is_always_equal = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;

    constexpr gc_allocator() noexcept = default;
    template <class U>
    constexpr gc_allocator(const gc_allocator<U> &) noexcept {}  // NOLINT(google-explicit-constructor): as std's

    // Returns collected memory for `count` elements, which a container still frees when it ends.
    // Throws std::bad_array_new_length if the size overflows, and std::bad_alloc if there is no memory.
    [[nodiscard]] T *allocate(std::size_t count) {
        static_assert(alignof(T) <= kAlignment, "the collector's objects lie at multiples of 16");
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        void *const block = take(count);
        if (block == nullptr) throw std::bad_alloc();
        return static_cast<T *>(block);
    }
    void deallocate(T *block, std::size_t) noexcept { gr_gc_free(block); }

  private:
    static constexpr std::size_t kAlignment = 16;

    static void *take(std::size_t count) {
        if constexpr (is_pointer_free<T>::value) {
            return gr_gc_malloc_atomic(count * sizeof(T));
        } else if constexpr (has_gc_pointers<T>::value) {
            const gr_gc_type *const type = gc_type_of<T>();
            return count == 1 ? gr_gc_malloc_typed(type, sizeof(T)) : gr_gc_calloc_typed(type, count, sizeof(T));
        } else {
            return gr_gc_malloc(count * sizeof(T));
        }
    }
};

template <class T, class U>
constexpr bool operator==(const gc_allocator<T> &, const gc_allocator<U> &) noexcept {
    return true;
}
template <class T, class U>
constexpr bool operator!=(const gc_allocator<T> &, const gc_allocator<U> &) noexcept {
    return false;
}

// A collected object of type T, made of the arguments. The collector does not call its destructor; gr_gc_on_collect
// registers what is to be called. Throws std::bad_alloc if there is no memory, and what the constructor throws.
template <class T, class... Arguments>
T *gc_new(Arguments &&...arguments) {
    gc_allocator<T> allocator;
    T *const block = allocator.allocate(1);
    try {
        return ::new (static_cast<void *>(block)) T(std::forward<Arguments>(arguments)...);
    } catch (...) {
        allocator.deallocate(block, 1);
        throw;
    }
}

}  // namespace gr

#endif
