// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of the allocator under test, found when the program runs.
// Invariant: the compiler cannot see through them, so no call is folded away; null means "not this allocator's".
// Must not know: what the functions promise, beyond which of them exist.
#pragma once

#include <dlfcn.h>
#include <malloc.h>
#include <sys/types.h>

#include <cstddef>
#include <cstring>
#include <new>

namespace gr::fuzz {

struct EntryPoints {
    void *(*malloc)(std::size_t) = nullptr;
    void *(*calloc)(std::size_t, std::size_t) = nullptr;
    void *(*realloc)(void *, std::size_t) = nullptr;
    void *(*reallocarray)(void *, std::size_t, std::size_t) = nullptr;
    void *(*aligned_alloc)(std::size_t, std::size_t) = nullptr;
    int (*posix_memalign)(void **, std::size_t, std::size_t) = nullptr;
    void *(*memalign)(std::size_t, std::size_t) = nullptr;
    void *(*valloc)(std::size_t) = nullptr;
    void *(*pvalloc)(std::size_t) = nullptr;
    void (*free)(void *) = nullptr;
    void (*free_sized)(void *, std::size_t) = nullptr;
    void (*free_aligned_sized)(void *, std::size_t, std::size_t) = nullptr;
    std::size_t (*usable_size)(void *) = nullptr;
    int (*trim)(std::size_t) = nullptr;
    std::size_t (*gr_trim)(std::size_t) = nullptr;

    void *(*new_plain)(std::size_t) = nullptr;
    void *(*new_nothrow)(std::size_t, const std::nothrow_t &) = nullptr;
    void *(*new_array)(std::size_t) = nullptr;
    void *(*new_aligned)(std::size_t, std::align_val_t) = nullptr;
    void (*delete_plain)(void *) = nullptr;
    void (*delete_sized)(void *, std::size_t) = nullptr;
    void (*delete_array)(void *) = nullptr;
    void (*delete_array_sized)(void *, std::size_t) = nullptr;
    void (*delete_aligned)(void *, std::align_val_t) = nullptr;
    void (*delete_aligned_sized)(void *, std::size_t, std::align_val_t) = nullptr;

    // Granary and glibc promise more than C does: 16-byte alignment always, realloc(p, 0) frees.
    bool strict = false;
    // Granary promises that success leaves errno alone.
    bool keeps_errno = false;
    // operator new throws when there is no memory (some allocators written in C abort).
    bool throws = false;
    // Aligned operator new does so too (libstdc++ 12 rounds an impossible size up past zero and returns a small block).
    bool aligned_throws = false;

    static EntryPoints find();
    // The path of the object that provides malloc.
    const char *provider() const;

  private:
    // Null for a function of another object than malloc's: its blocks would belong to another heap.
    template <typename Function>
    void own(Function *&function, const char *name) const;
    template <typename Function>
    static void any(Function *&function, const char *name) {
        function = reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
    }
    void find_operators();
};

inline void *base_of(const void *function) {
    Dl_info info{};
    return dladdr(function, &info) == 0 ? nullptr : info.dli_fbase;
}

template <typename Function>
void EntryPoints::own(Function *&function, const char *name) const {
    any(function, name);
    const void *mine = reinterpret_cast<const void *>(malloc);
    if (base_of(reinterpret_cast<const void *>(function)) != base_of(mine)) function = nullptr;
}

inline const char *EntryPoints::provider() const {
    Dl_info info{};
    return dladdr(reinterpret_cast<const void *>(malloc), &info) == 0 ? "" : info.dli_fname;
}

// The C++ runtime's own operators call malloc and free, so any of them will do.
inline void EntryPoints::find_operators() {
    any(new_plain, "_Znwm");
    any(new_nothrow, "_ZnwmRKSt9nothrow_t");
    any(new_array, "_Znam");
    any(new_aligned, "_ZnwmSt11align_val_t");
    any(delete_plain, "_ZdlPv");
    any(delete_sized, "_ZdlPvm");
    any(delete_array, "_ZdaPv");
    any(delete_array_sized, "_ZdaPvm");
    any(delete_aligned, "_ZdlPvSt11align_val_t");
    any(delete_aligned_sized, "_ZdlPvmSt11align_val_t");
}

inline EntryPoints EntryPoints::find() {
    EntryPoints e;
    any(e.malloc, "malloc");
    any(e.calloc, "calloc");
    any(e.realloc, "realloc");
    any(e.reallocarray, "reallocarray");  // libc's calls the realloc in use
    any(e.aligned_alloc, "aligned_alloc");
    any(e.posix_memalign, "posix_memalign");
    any(e.free, "free");
    any(e.usable_size, "malloc_usable_size");
    e.own(e.memalign, "memalign");
    e.own(e.valloc, "valloc");
    e.own(e.pvalloc, "pvalloc");
    e.own(e.free_sized, "free_sized");
    e.own(e.free_aligned_sized, "free_aligned_sized");
    e.own(e.trim, "malloc_trim");
    any(e.gr_trim, "gr_trim");
    e.find_operators();
    const void *here = base_of(reinterpret_cast<const void *>(e.malloc));
    const bool granary = dlsym(RTLD_DEFAULT, "gr_version") != nullptr;
    const bool system = std::strstr(e.provider(), "/libc.so.6") != nullptr;
    e.strict = granary || system;
    e.keeps_errno = granary;
    const bool own_operators = base_of(reinterpret_cast<const void *>(e.new_plain)) == here;
    e.throws = granary || !own_operators;
    e.aligned_throws = granary && own_operators;
    return e;
}

}  // namespace gr::fuzz
