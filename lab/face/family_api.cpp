// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libc's allocation family over the allocator that this library was built for. C++'s operators are the C++
//    runtime's, which call it.
// Invariant: as glibc where libcs differ; a failure sets errno, free and success never touch it. A signal handler that
//    interrupted the allocator gets its blocks aside.
// Must not know: which allocator; how blocks are found.
#include <malloc.h>
#include <stdlib.h>

#include <cstring>

#include "chosen_allocator.hpp"
#include "face/entrance.hpp"
#include "face/process.hpp"
#include "granary/granary.h"
#include "parts/contract/allocator.hpp"
#include "parts/memory/aside.hpp"
#include "parts/memory/thread_end.hpp"
#include "platform/libc_rules.hpp"
#include "show/recorded.hpp"

namespace gr::lab {
namespace {

static_assert(Allocator<Chosen>,
              "allocators/NAME.hpp ends with a type Chosen that parts/contract/allocator.hpp describes");

constinit show::Served<Chosen> allocator;
constinit Aside aside;
using AllocatorEntrance = Entrance<allocator>;
using Inside = AllocatorEntrance::Inside;

// Before the loader has relocated this library there is neither a thread's memory nor an allocator. An IFUNC resolver of
// another library may call even then, and is served aside. Volatile, or the compiler would know the answer.
[[gnu::used]] const volatile void *const volatile relocated = &relocated;
bool is_relocated() { return relocated == &relocated; }

// There is no memset either.
void *early_zeroed(void *p, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) static_cast<volatile char *>(p)[i] = 0;
    return p;
}

[[gnu::always_inline]] inline void *allocate(std::size_t size) {
    if (!is_relocated()) [[unlikely]]
        return aside.allocate(size, kAlignment);
    if (size > kMaxRequest) [[unlikely]]
        return nullptr;
    const Inside inside;
    if (!inside.is_first()) [[unlikely]]
        return aside.allocate(size, kAlignment);
    return allocator.allocate(size);
}

void *allocate_aligned(std::size_t alignment, std::size_t size) {
    if (alignment <= kAlignment) return allocate(size);
    if (size > kMaxRequest || alignment > kMaxRequest - size) return nullptr;
    const Inside inside;
    return inside.is_first() ? allocator.allocate_aligned(size, alignment) : aside.allocate(size, alignment);
}

[[gnu::always_inline]] inline void release(void *p) {
    if (p == nullptr) return;
    if (aside.owns(p)) [[unlikely]]
        return aside.free(p);
    const Inside inside;
    if (!inside.is_first()) [[unlikely]]
        return AllocatorEntrance::free_later(p);
    allocator.free(p);
}

std::size_t usable_size(const void *p) {
    if (aside.owns(p)) return aside.usable_size(p);
    const Inside inside;
    return allocator.usable_size(p);
}

// Fewer bytes are not worth a move: a block may be so much longer than another one for the same request.
constexpr std::size_t kSlack = 128;

struct Family {
    [[gnu::always_inline]] static void *allocate(std::size_t size) { return or_enomem(lab::allocate(size)); }
    static void *allocate_zeroed(std::size_t count, std::size_t size) {
        const std::size_t bytes = array_bytes(count, size);
        void *const p = lab::allocate(bytes);
        if (p == nullptr) return or_enomem(nullptr);
        if (!is_relocated()) return early_zeroed(p, bytes);
        if (bytes > allocator.zeroed_above() && !aside.owns(p)) return p;
        return std::memset(p, 0, bytes);
    }
    static void *allocate_aligned(std::size_t alignment, std::size_t size) {
        const std::size_t rounded = rounded_alignment(alignment);
        return rounded == 0 ? nullptr : or_enomem(lab::allocate_aligned(rounded, size));
    }
    static int allocate_aligned_into(void **out, std::size_t alignment, std::size_t size) {
        if (!is_posix_alignment(alignment)) return EINVAL;
        void *const p = lab::allocate_aligned(alignment, size);
        if (p == nullptr) return ENOMEM;
        *out = p;
        return 0;
    }
    static void *allocate_page_aligned(std::size_t size) { return allocate_aligned(platform::page_size(), size); }
    static void *allocate_pages(std::size_t size) { return allocate_page_aligned(whole_pages(size)); }
    static void *resize(void *p, std::size_t size) {
        return reallocate(
            p, size, [=] { return allocate(size); }, [=] { free(p); }, [=] { return moved(p, size); });
    }
    [[gnu::always_inline]] static void free(void *p) { release(p); }

  private:
    // A block stays where it is while more than half of it is asked for, and where there is none that would be smaller.
    static void *moved(void *p, std::size_t size) {
        const std::size_t usable = usable_size(p);
        if (size <= usable && (size > usable / 2 || usable - size < kSlack)) return p;
        void *const to = lab::allocate(size);
        if (to == nullptr) return size <= usable ? p : or_enomem(nullptr);
        std::memcpy(to, p, size < usable ? size : usable);
        release(p);
        return to;
    }
};

void end_thread() {
    const Inside inside;
    if (inside.is_first()) allocator.thread_ends();
}

}  // namespace

void start() { thread_end.start(end_thread); }

void lock() { AllocatorEntrance::lock(); }
void unlock() { AllocatorEntrance::unlock(); }

}  // namespace gr::lab

using namespace gr::lab;

#include "platform/family_names.inc"

extern "C" GR_EXPORT std::size_t malloc_usable_size(void *p) { return p == nullptr ? 0 : usable_size(p); }
