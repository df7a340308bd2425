// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: groups remote frees by superblock and word, so that each word costs one atomic operation.
// Invariant: every block that was added has its remote bit set when the batch is destroyed. Setting bits always works,
//    because it waits for no lock.
// Must not know: why a block is freed this way.
#pragma once

#include "heap/misuse.hpp"
#include "heap/remote_frees.hpp"

namespace gr {

class RemoteFrees::Batch {
  public:
    explicit Batch(RemoteFrees &frees) : frees_(frees) {}
    Batch(const Batch &) = delete;
    Batch &operator=(const Batch &) = delete;
    ~Batch() {
        for (Entry &entry : entries_) send(entry);
    }

    void add(Superblock *s, BlockIndex i, const void *p) {
        const BitPosition at = BitPosition::of(i);
        Entry &entry = entries_[(s->unit.value * 7 + at.word) % kEntries];
        if (entry.superblock != s || entry.word != at.word) {
            send(entry);
            entry = {s, at.word, 0};
        }
        if ((entry.mask & at.mask) != 0) die_twice(frees_.world_.owners.setup().free, p, s->shape().size);
        entry.mask |= at.mask;
    }

  private:
    static constexpr unsigned kEntries = 16;  // few, because the stack of a signal handler may be small
    struct Entry {
        Superblock *superblock = nullptr;
        std::uint32_t word = 0;
        Word mask = 0;
    };

    void send(const Entry &entry) {
        if (entry.superblock != nullptr) frees_.set(entry.superblock, entry.word, entry.mask, MayWait::yes);
    }

    RemoteFrees &frees_;
    Entry entries_[kEntries];
};

}  // namespace gr
