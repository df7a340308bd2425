// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the words before and behind an object of the debug functions: where it was allocated, how large it is, and guards
//    that show when the program has written beyond the object.
// Invariant: 32 bytes lie before the object and one word behind it. A guard depends on its address, so a copy of an
//    object has no valid guard.
// Must not know: what is done with a damaged guard.
#pragma once

#include <atomic>
#include <cstring>

#include "collector/collector.hpp"

namespace gr {

struct DebugHeader {
    const char *file;
    std::uintptr_t line;
    std::size_t size;  // as the client requested
    std::uintptr_t guard;

    static constexpr std::size_t kBytes = 32;
    static constexpr std::size_t kGuardBytes = sizeof(std::uintptr_t);
    // The bytes of the object with its header and its guard.
    static constexpr std::size_t whole(std::size_t size) { return kBytes + align_up(size, kGuardBytes) + kGuardBytes; }
    static void *user_data(void *begin) { return static_cast<char *>(begin) + kBytes; }

    // nullptr: the block has no valid header.
    static DebugHeader *of(const BlockAt &block) {
        auto *const header = static_cast<DebugHeader *>(block.begin);
        const bool may_have = header != nullptr && block.bytes >= kBytes + kGuardBytes && header->size < block.bytes;
        if (!may_have || whole(header->size) > block.bytes) return nullptr;
        return header->guard == mixed(kLive, header) || header->is_freed(header) ? header : nullptr;
    }
    static void *make(void *begin, std::size_t size, const char *file, int line) {
        auto *const header = static_cast<DebugHeader *>(begin);
        *header = {file, static_cast<std::uintptr_t>(line), size, 0};
        const std::uintptr_t guard = mixed(kEnd, begin);
        std::memcpy(header->end_guard(), &guard, sizeof guard);
        // A collection may stop the thread here. It looks only at objects whose first guard is valid.
        std::atomic_signal_fence(std::memory_order_release);
        header->guard = mixed(kLive, begin);
        return user_data(begin);
    }

    bool is_freed(const void *begin) const { return guard == mixed(kFreed, begin); }
    void mark_freed() { guard = mixed(kFreed, this); }
    bool end_is_whole() const {
        std::uintptr_t found = 0;
        std::memcpy(&found, const_cast<DebugHeader *>(this)->end_guard(), sizeof found);
        return found == mixed(kEnd, this);
    }

  private:
    static constexpr std::uintptr_t kLive = 0x6c6976656c697665;
    static constexpr std::uintptr_t kFreed = 0x6672656566726565;
    static constexpr std::uintptr_t kEnd = 0x656e64656e64656e;

    static std::uintptr_t mixed(std::uintptr_t pattern, const void *begin) {
        return pattern ^ reinterpret_cast<std::uintptr_t>(begin);
    }
    char *end_guard() { return reinterpret_cast<char *>(this) + kBytes + align_up(size, kGuardBytes); }
};
static_assert(sizeof(DebugHeader) == DebugHeader::kBytes, "objects begin at this distance behind the header");

// Allocates from the kind. Without memory returns what the out-of-memory function returns.
void *allocate_with_header(unsigned kind, std::size_t size, const char *file, int line);

}  // namespace gr
