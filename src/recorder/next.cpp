// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: next.hpp.
// Invariant: as there; errno stays.
// Must not know: what is recorded.
#include "recorder/next.hpp"

#include <atomic>
#include <cerrno>

#include "base/bits.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

thread_local constinit bool is_finding = false;

struct Look {
    Next::Lookup lookup;

    template <class Function>
    void operator()(Function *&out, const char *name, Function *otherwise = nullptr) const {
        void *const found = lookup(name);
        out = found == nullptr ? otherwise : reinterpret_cast<Function *>(found);
    }
};

// What an old libc, or an allocator, may not have.
void *aligned_by_posix(std::size_t alignment, std::size_t size) noexcept {
    void *p = nullptr;
    const int error = next.posix_memalign(&p, alignment < sizeof(void *) ? sizeof(void *) : alignment, size);
    if (error != 0) errno = error;
    return p;
}
void *valloc_by_memalign(std::size_t size) noexcept { return next.memalign(platform::page_size(), size); }
void *pvalloc_by_memalign(std::size_t size) noexcept {
    const std::size_t page = platform::page_size();
    const std::size_t whole = align_up(size, page);
    return next.memalign(page, whole < size ? size : whole);
}
void free_sized_by_free(void *p, std::size_t) noexcept { next.free(p); }
void free_aligned_sized_by_free(void *p, std::size_t, std::size_t) noexcept { next.free(p); }

}  // namespace

void *EarlyMemory::take(std::size_t size, std::size_t alignment) {
    if (alignment == 0) alignment = alignof(std::max_align_t);
    if (size > kBytes || alignment > kBytes || !is_power_of_two(alignment)) return nullptr;
    const std::atomic_ref used(used_);
    std::size_t before = used.load(std::memory_order_relaxed);
    std::size_t begin = 0;
    do {
        const auto base = reinterpret_cast<std::uintptr_t>(&bytes_[0]);
        begin = align_up(base + before, alignment) - base;
        if (begin > kBytes || size > kBytes - begin) return nullptr;
    } while (!used.compare_exchange_weak(before, begin + (size == 0 ? 1 : size), std::memory_order_relaxed));
    return &bytes_[begin];
}

bool Next::find(Lookup lookup) {
    if (!platform::is_relocated() || is_finding) return false;
    const int error = errno;
    is_finding = true;
    look_up(lookup);
    platform::forget_loader_error();
    is_finding = false;
    errno = error;
    is_found_.store(true, std::memory_order_release);
    return true;
}

void Next::look_up(Lookup lookup) {
    const Look look{lookup};
    look(malloc, "malloc");
    look(calloc, "calloc");
    look(realloc, "realloc");
    look(free, "free");
    look(posix_memalign, "posix_memalign");
    look(memalign, "memalign", &aligned_by_posix);
    look(aligned_alloc, "aligned_alloc", &aligned_by_posix);
    look(valloc, "valloc", &valloc_by_memalign);
    look(pvalloc, "pvalloc", &pvalloc_by_memalign);
    look(free_sized, "free_sized", &free_sized_by_free);
    look(free_aligned_sized, "free_aligned_sized", &free_aligned_sized_by_free);
    look(libc_malloc, "__libc_malloc", malloc);
    look(libc_calloc, "__libc_calloc", calloc);
    look(libc_realloc, "__libc_realloc", realloc);
    look(libc_memalign, "__libc_memalign", memalign);
    look(libc_valloc, "__libc_valloc", valloc);
    look(libc_pvalloc, "__libc_pvalloc", pvalloc);
    look(libc_posix_memalign, "__posix_memalign", posix_memalign);
    look(libc_free, "__libc_free", free);
    look(sbrk, "sbrk");
    look(brk, "brk");
    own_ = platform::LoadedObject(reinterpret_cast<const void *>(&free_sized_by_free));
    object = platform::LoadedObject(reinterpret_cast<const void *>(malloc));
    const platform::LoadedObject libc = platform::libc_object();
    if (!libc.contains(reinterpret_cast<const void *>(malloc))) callers_ = object;
}

}  // namespace gr
