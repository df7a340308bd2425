// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Granary's malloc as a std::pmr memory resource.
// Invariant: the resource has no state. All objects are equal, and each may deallocate what another allocated.
// Must not know: anything but the libc family, so that the header works with a linked and with a preloaded library.
#ifndef GRANARY_MEMORY_RESOURCE_HPP
#define GRANARY_MEMORY_RESOURCE_HPP

#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <new>

namespace granary {

// Calls malloc, aligned_alloc and free, also in a program that replaces operator new. Throws std::bad_alloc.
class memory_resource final : public std::pmr::memory_resource {
  private:
    void *do_allocate(std::size_t bytes, std::size_t alignment) override {
        void *block =
            alignment <= alignof(std::max_align_t) ? std::malloc(bytes) : std::aligned_alloc(alignment, bytes);
        if (block == nullptr) {
            throw std::bad_alloc();
        }
        return block;
    }

    void do_deallocate(void *block, std::size_t, std::size_t) override { std::free(block); }

    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override {
        return dynamic_cast<const memory_resource *>(&other) != nullptr;
    }
};

// The instance that most programs need. It is never destroyed, so containers with static storage may use it to the end.
inline memory_resource *resource() noexcept {
    alignas(memory_resource) static std::byte storage[sizeof(memory_resource)];
    static memory_resource *const immortal = ::new (static_cast<void *>(storage)) memory_resource;
    return immortal;
}

}  // namespace granary

#endif
