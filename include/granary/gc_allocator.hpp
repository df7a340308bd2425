// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator for C++ containers that takes memory from Granary's collector. Call gr_gc_init() first.
// Invariant: it has no state, so any two compare equal and any thread may use it. The memory is traced unless the
//    elements hold no pointers. Elements in traced memory keep objects alive as long as something refers to that
//    memory.
// Must not know: anything but granary/gc.h.
#ifndef GRANARY_GC_ALLOCATOR_HPP
#define GRANARY_GC_ALLOCATOR_HPP

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>

#include "granary/gc.h"

namespace gr {

// True if objects of type T hold no addresses. Specialise it to true for your classes that hold none, and to false for
// integer types in which you store addresses.
template <class T>
struct is_pointer_free : std::bool_constant<std::is_arithmetic_v<T> || std::is_enum_v<T>> {};
template <class T, std::size_t N>
struct is_pointer_free<T[N]> : is_pointer_free<T> {};
template <class T>
struct is_pointer_free<const T> : is_pointer_free<T> {};
template <>
struct is_pointer_free<std::size_t> : std::false_type {};  // std::uintptr_t may be this type
template <>
struct is_pointer_free<std::ptrdiff_t> : std::false_type {};

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
        const std::size_t bytes = count * sizeof(T);
        void *const block = is_pointer_free<T>::value ? gr_gc_malloc_atomic(bytes) : gr_gc_malloc(bytes);
        if (block == nullptr) throw std::bad_alloc();
        return static_cast<T *>(block);
    }
    void deallocate(T *block, std::size_t) noexcept { gr_gc_free(block); }

  private:
    static constexpr std::size_t kAlignment = 16;
};

template <class T, class U>
constexpr bool operator==(const gc_allocator<T> &, const gc_allocator<U> &) noexcept {
    return true;
}
template <class T, class U>
constexpr bool operator!=(const gc_allocator<T> &, const gc_allocator<U> &) noexcept {
    return false;
}

}  // namespace gr

#endif
