// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the allocator beneath, as the loader finds it behind this library or a lookup of the caller's, and what serves
//    before it is found.
// Invariant: found once, by each thread that asks before another has; no lock is held. What has no function of its own
//    in the allocator is done by one that it has.
// Must not know: what is recorded.
#pragma once

#include <atomic>
#include <cstddef>

#include "platform/ipc/loaded_object.hpp"
#include "platform/loader.hpp"

namespace gr {

// While the loader still relocates this library, or is asked for the allocator. What is freed of it is not used again.
class EarlyMemory {
  public:
    constexpr EarlyMemory() = default;

    // Zeroed; nullptr: there is no more. An alignment of 0 is malloc's.
    void *take(std::size_t size, std::size_t alignment);
    bool contains(const void *p) const {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(&bytes_[0]) < kBytes;
    }
    // How much may be read from there.
    std::size_t bytes_from(const void *p) const {
        return static_cast<std::size_t>(&bytes_[kBytes] - static_cast<const char *>(p));
    }

  private:
    static constexpr std::size_t kBytes = std::size_t{64} * 1024;

    std::size_t used_ = 0;
    alignas(64) char bytes_[kBytes] = {};
};
inline constinit EarlyMemory early_memory;

struct Next {
    void *(*malloc)(std::size_t) noexcept = nullptr;
    void *(*calloc)(std::size_t, std::size_t) noexcept = nullptr;
    void *(*realloc)(void *, std::size_t) noexcept = nullptr;
    void *(*memalign)(std::size_t, std::size_t) noexcept = nullptr;
    void *(*aligned_alloc)(std::size_t, std::size_t) noexcept = nullptr;
    int (*posix_memalign)(void **, std::size_t, std::size_t) noexcept = nullptr;
    void *(*valloc)(std::size_t) noexcept = nullptr;
    void *(*pvalloc)(std::size_t) noexcept = nullptr;
    void (*free)(void *) noexcept = nullptr;
    void (*free_sized)(void *, std::size_t) noexcept = nullptr;
    void (*free_aligned_sized)(void *, std::size_t, std::size_t) noexcept = nullptr;

    void *(*libc_malloc)(std::size_t) noexcept = nullptr;
    void *(*libc_calloc)(std::size_t, std::size_t) noexcept = nullptr;
    void *(*libc_realloc)(void *, std::size_t) noexcept = nullptr;
    void *(*libc_memalign)(std::size_t, std::size_t) noexcept = nullptr;
    void *(*libc_valloc)(std::size_t) noexcept = nullptr;
    void *(*libc_pvalloc)(std::size_t) noexcept = nullptr;
    int (*libc_posix_memalign)(void **, std::size_t, std::size_t) noexcept = nullptr;
    void (*libc_free)(void *) noexcept = nullptr;

    void *(*sbrk)(std::intptr_t) noexcept = nullptr;
    int (*brk)(void *) noexcept = nullptr;

    platform::LoadedObject object;  // where malloc lies

    // false: only early memory serves, to this thread now.
    bool is_found() { return is_found_.load(std::memory_order_acquire) || find(&platform::next_symbol); }
    // As is_found(), but looks for nothing: the loader may call malloc, and that of a program that defines it itself may be
    // the caller, with its locks held.
    bool is_known() const { return is_found_.load(std::memory_order_acquire); }
    // In a process that ran before this library was loaded, the allocator is not behind it. Called before anybody else asks.
    using Lookup = void *(*)(const char *name);
    bool find(Lookup lookup);
    // Whether a call comes out of the allocator itself, or through it from this library. Of libc's that is not told: it
    // calls itself directly.
    bool calls_from(const void *code) const { return callers_.contains(code) || own_.contains(code); }
    // Whether the allocator is not libc's.
    bool is_apart() const { return callers_.contains(reinterpret_cast<const void *>(malloc)); }
    const platform::LoadedObject &own() const { return own_; }

  private:
    void look_up(Lookup lookup);

    std::atomic<bool> is_found_{false};  // release: pairs with is_found's acquire
    platform::LoadedObject callers_;
    platform::LoadedObject own_;
};
inline constinit Next next;

}  // namespace gr
