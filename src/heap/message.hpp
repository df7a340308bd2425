// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: messages: freed blocks on their way to the heap that owns them. That heap can put the blocks into its magazines
//    without touching their superblocks' bits (batches as in snmalloc and tcmalloc; kept outside the blocks, like all
//    data of this allocator).
// Invariant: a message belongs to its sender's outbox for ever. It is blank (count = 0), being written under the
//    sender's lock, or on the way to one reader, which makes it blank again.
// Must not know: who owns which superblock; what becomes of the blocks.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.hpp"
#include "base/units.hpp"

namespace gr {

struct alignas(kMessageBytes) Message {
    static constexpr unsigned kBlocks = kMessageBytes / sizeof(void *) - 2;

    std::atomic<Message *> link;       // next message of the chain; ordered by the stack's own operations
    OwnerIndex to;                     // used by the sender only
    std::atomic<std::uint32_t> count;  // the reader's release store of 0 pairs with is_blank's acquire
    // Relaxed: statistics read the blocks at any time.
    std::atomic<void *> blocks[kBlocks];

    // Prefetches the lines of the message, which the other side wrote last.
    void prefetch_to_write() {
        for (std::size_t line = 0; line < kMessageBytes; line += kCacheLineBytes)
            __builtin_prefetch(reinterpret_cast<char *>(this) + line, 1);
    }
    // A reader reads the messages of one sender from the latest to the earliest, and these lie side by side. The
    // addresses before the outbox's first message are no message's, which a prefetch does not mind.
    void prefetch_earlier() const {
        const auto end = reinterpret_cast<std::uintptr_t>(this);
        for (std::size_t back = kCacheLineBytes; back <= kMessagesAhead * kMessageBytes; back += kCacheLineBytes)
            __builtin_prefetch(reinterpret_cast<const void *>(end - back));
    }
    bool is_blank() const { return count.load(std::memory_order_acquire) == 0; }
    // The message is not blank from its first block on. Later blocks count only after close().
    void begin(OwnerIndex reader, void *block) {
        to = reader;
        write(0, block);
        close(1);
    }
    void write(std::uint32_t at, void *block) { blocks[at].store(block, std::memory_order_relaxed); }
    void close(std::uint32_t written) { count.store(written, std::memory_order_relaxed); }
    // Makes the message blank and drops its blocks.
    void forget() { count.store(0, std::memory_order_release); }
    // `out` has room for kBlocks. Returns the number of blocks; the message is its sender's again. The order is
    // reversed, so the block that was freed last is handed out last: its neighbours in a cache line may still be in use
    // where it was freed.
    std::uint32_t read(void **out) {
        const std::uint32_t written = count.load(std::memory_order_relaxed);
        for (std::uint32_t i = 0; i < written; ++i) out[written - 1 - i] = blocks[i].load(std::memory_order_relaxed);
        count.store(0, std::memory_order_release);
        return written;
    }
};
static_assert(sizeof(Message) == kMessageBytes, "a message fills its cache lines");

// The messages of a heap, under its lock. Zeroed memory is an outbox of blank messages.
class Outbox {
  public:
    // A blank message; nullptr: all messages are on the way.
    Message *blank() {
        for (unsigned i = 0; i < kMessages; ++i) {
            Message &message = messages_[next_];
            next_ = (next_ + 1) % kMessages;
            messages_[(next_ + kMessagesAhead - 1) % kMessages].prefetch_to_write();
            if (message.is_blank()) return &message;
        }
        return nullptr;
    }
    // Visits the blocks on the way. Other threads may work on the messages meanwhile.
    template <class Visit>
    void for_each_block(Visit visit) const {
        for (const Message &message : messages_) {
            const std::uint32_t count = message.count.load(std::memory_order_relaxed);
            for (std::uint32_t i = 0; i < count; ++i) visit(message.blocks[i].load(std::memory_order_relaxed));
        }
    }

    // The reader of the message that was written longest ago, if no message is blank.
    OwnerIndex slowest_reader() const { return messages_[next_].to; }

    // The sender had to read this heap's mailbox itself; the heap's use count was `uses` then. The heap counts as
    // asleep until it is used again. The outbox remembers one such heap.
    void found_asleep(OwnerIndex o, std::uint32_t uses) {
        sleeper_ = o;
        sleepers_uses_ = uses;
        has_sleeper_ = true;
    }
    void found_awake() { has_sleeper_ = false; }
    bool is_asleep(OwnerIndex o) const { return has_sleeper_ && sleeper_ == o; }
    bool is_asleep(OwnerIndex o, std::uint32_t uses) const { return is_asleep(o) && sleepers_uses_ == uses; }

  private:
    Message messages_[kMessages];
    std::uint32_t next_;
    std::uint32_t sleepers_uses_;
    OwnerIndex sleeper_;
    bool has_sleeper_;
};

}  // namespace gr
