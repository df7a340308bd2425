// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      Granary's collector as an allocator of the C++ library's containers.
// Invariant: stateless; any two are equal. What a container allocates is traced unless its elements hold no pointer, so
//            what lies in it keeps what it refers to as long as something refers to the container's memory.
// Must not know: anything but granary/gc.h.
#ifndef GRANARY_GC_ALLOCATOR_HPP
#define GRANARY_GC_ALLOCATOR_HPP

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>

#include "granary/gc.h"

namespace gr {

// Whether objects of the type hold no address. To be specialised for classes that hold none, and for integers that do.
template <class T>
struct is_pointer_free : std::bool_constant<std::is_arithmetic_v<T> || std::is_enum_v<T>> {};
template <class T, std::size_t N>
struct is_pointer_free<T[N]> : is_pointer_free<T> {};
template <class T>
struct is_pointer_free<const T> : is_pointer_free<T> {};
template <>
struct is_pointer_free<std::size_t> : std::false_type {};  // as wide as an address: std::uintptr_t may be one
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

    // Throws std::bad_array_new_length or std::bad_alloc. Collected, but a container that ends frees it at once.
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
