// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a thread has for itself beside its stack: thread-local variables, and the values of pthread keys.
// Invariant: what libc keeps of a thread has no interface; where it lies was found out at start-up, by this thread's
//    own, and is used as far as that showed it (knows_...()).
// Must not know: what lies there.
#pragma once

#include <cstdint>

#include "platform/world/modules.hpp"

namespace gr::platform {

class MappingTable;

class ThreadRecords {
  public:
    constexpr ThreadRecords() = default;

    // Once, before a collection, by any thread. It makes pthread keys and deletes them again.
    void initialise();
    bool knows_thread_locals() const { return knows_thread_locals_; }
    bool knows_keys() const { return keys_offset_ != 0; }

    // Of the thread with this pointer, which stands still or is the caller. The record itself has the values of the first
    // keys in it.
    template <class Visit>
    void for_each_range(std::uintptr_t thread_pointer, const Modules &modules, Visit visit) const {
        visit(record(thread_pointer));
        visit(static_thread_locals(thread_pointer));
        for (std::size_t i = 1; knows_keys() && i < kKeyBlocks; ++i) {
            if (const Range block = key_block(thread_pointer, i); !block.is_empty()) visit(block);
        }
        for (const TlsModule &module : modules.thread_locals()) {
            if (const Range block = thread_local_block(thread_pointer, module); !block.is_empty()) visit(block);
        }
    }

    // The stack that libc made or was given for the thread with this pointer, up to that; empty: the record does not say.
    Range stack(std::uintptr_t thread_pointer, const MappingTable &mappings) const;

  private:
    static constexpr std::size_t kKeysPerBlock = 32;
    static constexpr std::size_t kKeyBlocks = 32;
    struct KeyValue {
        std::uintptr_t sequence;
        void *value;
    };

    Range record(std::uintptr_t thread_pointer) const;
    Range key_block(std::uintptr_t thread_pointer, std::size_t i) const;
    Range static_thread_locals(std::uintptr_t thread_pointer) const;
    Range thread_local_block(std::uintptr_t thread_pointer, const TlsModule &module) const;
    void find_record();
    void find_static_thread_locals();
    void find_keys(MappingTable *mappings);
    void try_thread_locals(const MappingTable &mappings);

    std::size_t record_bytes_ = 0;
    std::size_t static_bytes_ = 0;  // of thread-local variables beside the thread pointer; 0: not told
    std::size_t keys_offset_ = 0;   // of the pointers to blocks of keys, from the thread pointer
    bool knows_thread_locals_ = false;
};

}  // namespace gr::platform
