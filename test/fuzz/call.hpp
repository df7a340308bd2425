// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one allocating or releasing call, and what its answer must be.
// Invariant: nothing here keeps state; what is expected follows from the request alone.
// Must not know: which blocks are live.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>

#include "entry_points.hpp"
#include "operation.hpp"
#include "shadow_map.hpp"

namespace gr::fuzz {

inline constexpr int kErrnoMark = 4242;  // no function sets this, so any other value was set

struct Answer {
    void *pointer = nullptr;
    int error = kErrnoMark;  // errno afterwards; for posix_memalign what it returned, if not 0
    bool threw = false;
    bool touched = false;  // posix_memalign failed and wrote its result all the same
};

enum class Expected { kBlock, kNoMemory, kInvalid, kBlockOrInvalid };

// What the product of members and size is, or SIZE_MAX where it overflows.
constexpr std::size_t total_bytes(const Operation &operation) {
    std::size_t total = 0;
    return __builtin_mul_overflow(operation.size, operation.members, &total) ? SIZE_MAX : total;
}

// More than any address space holds.
constexpr bool impossible(const Operation &operation) {
    constexpr std::size_t kAddressSpace = std::size_t{1} << 57;
    return total_bytes(operation) > kAddressSpace || operation.alignment > kAddressSpace;
}

inline Expected expected(const EntryPoints &entry, const Operation &operation) {
    const std::size_t alignment = operation.alignment;
    const bool power = std::has_single_bit(alignment);
    if (operation.kind == Kind::kPosixMemalign && (!power || alignment % sizeof(void *) != 0))
        return Expected::kInvalid;
    if (operation.kind == Kind::kAlignedAlloc || operation.kind == Kind::kMemalign) {
        if (alignment > SIZE_MAX / 2 + 1) return Expected::kInvalid;
        if (!power && !entry.strict && !impossible(operation)) return Expected::kBlockOrInvalid;
    }
    return impossible(operation) ? Expected::kNoMemory : Expected::kBlock;
}

// The alignment the block must have. C lets blocks too small to hold an aligned object be less aligned.
inline std::size_t required_alignment(const EntryPoints &entry, const Operation &operation) {
    if (!entry.strict && total_bytes(operation) == 0) return 1;
    if (operation.kind == Kind::kValloc || operation.kind == Kind::kPvalloc) {
        return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    }
    const std::size_t natural = entry.strict || total_bytes(operation) >= 16 ? 16 : 8;
    const bool asked = takes_alignment(operation.kind) && operation.alignment > 1;
    if (!asked) return natural;
    if (!entry.strict) return std::has_single_bit(operation.alignment) ? operation.alignment : 1;
    return std::max(natural, std::bit_ceil(operation.alignment));
}

inline Answer call_throwing(const EntryPoints &entry, const Operation &operation) {
    Answer answer;
    try {
        void *block = nullptr;
        if (operation.kind == Kind::kNew) block = entry.new_plain(operation.size);
        if (operation.kind == Kind::kNewArray) block = entry.new_array(operation.size);
        if (operation.kind == Kind::kNewAligned) {
            block = entry.new_aligned(operation.size, std::align_val_t{operation.alignment});
        }
        answer.pointer = block;
    } catch (const std::bad_alloc &) {
        answer.threw = true;
    }
    return answer;
}

inline Answer call_posix_memalign(const EntryPoints &entry, const Operation &operation) {
    Answer answer;
    void *const untouched = &answer;
    void *block = untouched;
    const int result = entry.posix_memalign(&block, operation.alignment, operation.size);
    answer.error = result == 0 ? errno : result;
    answer.touched = result != 0 && block != untouched;
    answer.pointer = result == 0 ? block : nullptr;
    return answer;
}

inline void *call_plain(const EntryPoints &entry, const Operation &operation) {
    switch (operation.kind) {
        case Kind::kCalloc:
            return entry.calloc(operation.members, operation.size);
        case Kind::kAlignedAlloc:
            return entry.aligned_alloc(operation.alignment, operation.size);
        case Kind::kMemalign:
            return entry.memalign(operation.alignment, operation.size);
        case Kind::kValloc:
            return entry.valloc(operation.size);
        case Kind::kPvalloc:
            return entry.pvalloc(operation.size);
        case Kind::kNewNothrow:
            return entry.new_nothrow(operation.size, std::nothrow);
        default:
            return entry.malloc(operation.size);
    }
}

// False for functions that this allocator does not have, or with which it aborts the program by design.
inline bool can_call(const EntryPoints &entry, const Operation &operation) {
    switch (operation.kind) {
        case Kind::kMemalign:
            return entry.memalign != nullptr;
        case Kind::kValloc:
            return entry.valloc != nullptr;
        // Others than Granary and glibc round an impossible size up past zero.
        case Kind::kPvalloc:
            return entry.pvalloc != nullptr && (entry.strict || !impossible(operation));
        case Kind::kNew:
        case Kind::kNewNothrow:
        case Kind::kNewArray:
            return entry.throws || !impossible(operation);
        case Kind::kNewAligned:
            return entry.aligned_throws || !impossible(operation);
        default:
            return true;
    }
}

inline Answer call_allocate(const EntryPoints &entry, const Operation &operation) {
    errno = kErrnoMark;
    if (operation.kind == Kind::kPosixMemalign) return call_posix_memalign(entry, operation);
    if (operation.kind == Kind::kNew || operation.kind == Kind::kNewArray || operation.kind == Kind::kNewAligned) {
        Answer answer = call_throwing(entry, operation);
        answer.error = errno;
        return answer;
    }
    Answer answer;
    answer.pointer = call_plain(entry, operation);
    answer.error = errno;
    return answer;
}

inline Answer call_reallocate(const EntryPoints &entry, const Operation &operation, void *block) {
    errno = kErrnoMark;
    Answer answer;
    void *const moved = operation.kind == Kind::kReallocarray
                            ? entry.reallocarray(block, operation.members, operation.size)
                            : entry.realloc(block, operation.size);
    answer.pointer = moved;
    answer.error = errno;
    return answer;
}

inline void call_delete(const EntryPoints &entry, const Block &block, bool size_known) {
    // Debian's jemalloc 5.3 damages its heap when told the size of an empty aligned block.
    const bool sized = size_known && (entry.strict || block.requested != 0);
    const std::align_val_t alignment{block.alignment};
    switch (block.origin) {
        case Kind::kNewArray:
            sized ? entry.delete_array_sized(block.address, block.requested) : entry.delete_array(block.address);
            return;
        case Kind::kNewAligned:
            sized ? entry.delete_aligned_sized(block.address, block.requested, alignment)
                  : entry.delete_aligned(block.address, alignment);
            return;
        default:
            sized ? entry.delete_sized(block.address, block.requested) : entry.delete_plain(block.address);
    }
}

constexpr bool made_by_new(Kind origin) { return origin >= Kind::kNew && origin <= Kind::kNewAligned; }

// Frees by the function that fits the block's origin; returns errno afterwards.
inline int call_release(const EntryPoints &entry, const Block &block, bool sized) {
    const bool plain = block.origin == Kind::kMalloc || block.origin == Kind::kCalloc;
    errno = kErrnoMark;
    if (made_by_new(block.origin)) {
        call_delete(entry, block, sized);
    } else if (sized && plain && entry.free_sized != nullptr) {
        entry.free_sized(block.address, block.requested);
    } else if (sized && block.origin == Kind::kAlignedAlloc && entry.free_aligned_sized != nullptr) {
        entry.free_aligned_sized(block.address, block.alignment, block.requested);
    } else {
        entry.free(block.address);
    }
    return errno;
}

}  // namespace gr::fuzz
