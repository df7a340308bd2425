// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a thread has for itself beside its stack: thread-local variables, and the values of pthread keys.
// Invariant: libc has no interface to its record of a thread. initialise() finds the places in the record of the
//    calling thread, and only places that were confirmed there are used (knows_...()).
// Must not know: what lies there.
#pragma once

#include <cstdint>

#include "platform/world/modules.hpp"

namespace gr::platform {

class MappingTable;

class ThreadRecords {
  public:
    constexpr ThreadRecords() = default;

    // Called once, before a collection, by any thread. Makes pthread keys and deletes them again.
    void initialise();
    bool knows_thread_locals() const { return knows_thread_locals_; }
    bool knows_keys() const { return keys_offset_ != 0; }

    // The ranges of the thread with this thread pointer, which stands still or is the caller. The record itself
    // contains the values of the first keys.
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

    // The stack, up to the thread pointer, that libc made or was given for the thread; empty: the record does not say.
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
    std::size_t static_bytes_ = 0;  // of thread-local variables beside the thread pointer; 0: not known
    std::size_t keys_offset_ = 0;   // of the pointers to blocks of keys, from the thread pointer
    bool knows_thread_locals_ = false;
};

}  // namespace gr::platform
