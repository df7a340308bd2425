// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the restartable sequences (LFMalloc's MP-RCS over Linux rseq) and the state they read.
// Invariant: a sequence writes only rseq_cs of libc's area, runs no call and no system call, and ends in one committing
//    store; preemption, migration, a signal or fork anywhere inside leave the slab as it was.
// Must not know: size classes and heaps; a magazine is a header's byte offset in a slab.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/rseq/magazine_header.hpp"
#include "platform/thread.hpp"

namespace gr::platform {

// What the assembly reads, at offsets it knows. All zero means that every call takes the slow path: before start-up,
// without rseq, and after any doubt.
struct alignas(kCacheLineBytes) SequenceState {
    std::uint64_t size_limit;  // sizes below it are allocated by sequence
    std::uint64_t fine_limit;  // offsets from the base below it, in fine steps, have an entry in the unit map
    char *base;                // of the region, where the unit map lies too
    char *slabs;
    std::int64_t rseq_offset;  // of libc's rseq area from the thread pointer
    std::int64_t cid_offset;   // of the field that names the slab: mm_cid, or cpu_id before Linux 6.3
};

// Where the sequences find the slabs and the base of an instance other than the global one. All zero: nothing.
struct alignas(32) SlabsPlace {
    std::uint64_t fine_limit = 0;  // as above, from this `base`; 0: the unit map does not serve to free its blocks
    char *slabs = nullptr;
    char *base = nullptr;
};

enum class SequenceResult : std::int64_t { wrong_cid = -1, aborted = -2, differs = -3 };

// These stay plain C names, because debugging aids rely on them: they are the symbols of the assembly files.
extern "C" {
extern SequenceState gr_sequence_state;

// `slabs` points to the variable that holds the address of the slabs; each attempt reads it again.
// Returns a block, or nullptr: the magazine is empty, the sequence was aborted, or the thread's rseq is not registered.
void *gr_sequence_pop(std::uint32_t header, char *const *slabs);
// Pushes the block as the unit map's entry says, on the caller's magazine of its class or on the remote magazine. Then
// adds `bytes` to a counter (per_cpu_counter.hpp). false: neither was done. The magazine is full, the block may not go
// there or already lies on top, the sequence was aborted, or the thread's rseq is not registered.
bool gr_sequence_push(void *block, std::uint64_t entry, char *const *slabs, std::uint64_t bytes,
                      std::uint64_t *counter);
// Both return how many blocks moved, 0 when full or empty, or a negative SequenceResult. `blocks` has the order of the
// slots: the last block lies on top. If there is no room for all, the first blocks stay.
std::int64_t gr_sequence_push_n(std::uint32_t cid, std::uint32_t header, void *const *blocks, std::uint32_t count,
                                char *const *slabs);
std::int64_t gr_sequence_pop_n(std::uint32_t cid, std::uint32_t header, void **blocks, std::uint32_t count,
                               char *const *slabs);
// Pushes each block on the magazine of its header, in turn. A block stays if it finds no room or its sequence is
// aborted. All that follow stay once the thread is elsewhere. The blocks that stay move to the front of `blocks`, in
// their order. Returns how many stay.
std::uint32_t gr_sequence_push_each(std::uint32_t cid, void **blocks, const std::uint32_t *headers, std::uint32_t count,
                                    char *const *slabs);
// Replaces a whole header if it still is `expected`: 0, or a negative SequenceResult.
std::int64_t gr_sequence_replace(std::uint32_t cid, std::uint32_t header, std::uint64_t expected, std::uint64_t desired,
                                 char *const *slabs);
}

// Whether malloc's entry point serves any size at this moment.
inline bool entry_allocates() {
    return std::atomic_ref(gr_sequence_state.size_limit).load(std::memory_order_relaxed) != 0;
}

// Whether libc registered rseq here and the kernel keeps a concurrency id or CPU number in it. On success the offsets
// stand in *state.
bool find_rseq(SequenceState *state);

// The slab of the calling thread, or -1 when its rseq is not registered. A hint: valid until the next preemption.
inline std::int32_t current_cid(const SequenceState &state) {
    constexpr std::int64_t kCpuIdOffset = 4;
    const char *const thread = reinterpret_cast<const char *>(thread_pointer());
    const auto field = [thread](std::int64_t offset) {
        return *reinterpret_cast<const volatile std::int32_t *>(thread + offset);
    };
    if (field(state.rseq_offset + kCpuIdOffset) < 0) return -1;
    return field(state.cid_offset);
}

}  // namespace gr::platform
