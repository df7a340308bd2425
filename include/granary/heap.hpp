// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a first-class heap that lives as long as an object, as a std::pmr memory resource.
// Invariant: any thread may use the resource at any time. It is equal only to itself. Its destructor returns the memory
//    of all its blocks to the kernel.
// Must not know: anything but the C interface and the allocator for containers.
#ifndef GRANARY_HEAP_HPP
#define GRANARY_HEAP_HPP

#include <cstddef>
#include <memory_resource>
#include <new>

#include <granary/heap_allocator.hpp>

namespace granary {

class heap final : public std::pmr::memory_resource {
  public:
    // Makes a heap with gr_heap_new(reserve_bytes). Throws std::bad_alloc if that fails. In a program that is compiled
    // without exceptions, a failure here or in allocate ends the program by std::abort.
    explicit heap(std::size_t reserve_bytes = 0) : heap_(gr_heap_new(reserve_bytes)) {
        if (heap_ == nullptr) detail::fail<std::bad_alloc>();
    }
    ~heap() override { gr_heap_destroy(heap_); }
    heap(const heap &) = delete;
    heap &operator=(const heap &) = delete;

    // The heap, for the functions gr_heap_*. Do not destroy it.
    gr_heap *get() const noexcept { return heap_; }
    // For a container: std::vector<int, granary::heap_allocator<int>> numbers(heap.allocator<int>());
    template <class T = std::byte>
    heap_allocator<T> allocator() const noexcept {
        return heap_allocator<T>(heap_);
    }

  private:
    void *do_allocate(std::size_t bytes, std::size_t alignment) override {
        return detail::allocate(heap_, bytes, alignment);
    }

    void do_deallocate(void *block, std::size_t, std::size_t) override { gr_heap_free(heap_, block); }

    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override { return this == &other; }

    gr_heap *heap_;
};

}  // namespace granary

#endif
