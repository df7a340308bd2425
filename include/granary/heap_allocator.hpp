// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator for C++17 containers that takes memory from a first-class heap.
// Invariant: it holds the heap's address and nothing else. Two allocators are equal if they have the same heap. The heap
//    must outlive every container that uses it, unless the program destroys the heap and leaves its containers alone. Any
//    thread may use any copy at any time.
// Must not know: anything but the C interface.
#ifndef GRANARY_HEAP_ALLOCATOR_HPP
#define GRANARY_HEAP_ALLOCATOR_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

#include <granary/granary.h>

namespace granary {

namespace detail {

// Throws Error. In a program that is compiled without exceptions, ends the program by std::abort.
template <class Error>
[[noreturn]] void fail() {
#if defined(__cpp_exceptions)
    throw Error();
#else
    std::abort();
#endif
}

inline void *allocate(gr_heap *heap, std::size_t bytes, std::size_t alignment) {
    void *const block = alignment <= alignof(std::max_align_t) ? gr_heap_malloc(heap, bytes)
                                                               : gr_heap_aligned_alloc(heap, alignment, bytes);
    if (block == nullptr) fail<std::bad_alloc>();
    return block;
}

}  // namespace detail

template <class T>
class heap_allocator {
  public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using is_always_equal = std::false_type;
    // A container that another is moved to or swapped with takes the other's heap with the elements, so that no element is
    // moved. A container that another is copied to keeps its heap.
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;
    using propagate_on_container_copy_assignment = std::false_type;

    // The heap must be one that gr_heap_new returned, or that of a granary::heap: heap.get().
    heap_allocator(gr_heap *heap) noexcept : heap_(heap) {}  // NOLINT(google-explicit-constructor): as std::pmr's
    template <class U>
    heap_allocator(const heap_allocator<U> &other) noexcept  // NOLINT(google-explicit-constructor): as std's
        : heap_(other.get()) {}

    // Memory for `count` elements, at a multiple of alignof(T). Throws std::bad_array_new_length if count is above
    // max_size(), and std::bad_alloc if there is no memory. In a program that is compiled without exceptions, either ends
    // the program by std::abort.
    [[nodiscard]] T *allocate(size_type count) {
        if (count > max_size()) detail::fail<std::bad_array_new_length>();
        return static_cast<T *>(detail::allocate(heap_, count * sizeof(T), alignof(T)));
    }
    void deallocate(T *block, size_type) noexcept { gr_heap_free(heap_, block); }

    size_type max_size() const noexcept { return PTRDIFF_MAX / sizeof(T); }

    gr_heap *get() const noexcept { return heap_; }

  private:
    gr_heap *heap_;
};

template <class T, class U>
bool operator==(const heap_allocator<T> &a, const heap_allocator<U> &b) noexcept {
    return a.get() == b.get();
}
template <class T, class U>
bool operator!=(const heap_allocator<T> &a, const heap_allocator<U> &b) noexcept {
    return !(a == b);
}

}  // namespace granary

#endif
