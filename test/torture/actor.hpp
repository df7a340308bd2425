// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an actor allocates: it is a worker thread, or the signal handler that interrupts one. It holds some blocks, passes
//    others on through mailboxes, and checks every block's claim and contents.
// Invariant: an actor is used by one thread of control; two actors share only the claims and the mailboxes.
// Must not know: threads, signals, time.
#pragma once

#include "claims.hpp"
#include "pattern.hpp"
#include "sizes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace gr::test {

// A block and the index of its size in one word, so that mailboxes can swap it atomically. Zero is no block.
class Parcel {
  public:
    Parcel() = default;
    Parcel(void *block, size_t index) : word_(reinterpret_cast<uintptr_t>(block) | uint64_t{index} << kIndexShift) {}
    explicit Parcel(uint64_t word) : word_(word) {}

    explicit operator bool() const { return word_ != 0; }
    uint64_t word() const { return word_; }
    void *block() const { return reinterpret_cast<void *>(word_ & ((uint64_t{1} << kIndexShift) - 1)); }
    size_t size() const { return kSizes[word_ >> kIndexShift]; }

  private:
    static constexpr int kIndexShift = 48;
    uint64_t word_ = 0;
};

class Mailboxes {
  public:
    // Leaves one parcel and takes what lay there. acq_rel: the taker sees the contents the giver wrote.
    Parcel swap(size_t box, Parcel given) {
        return Parcel(boxes_[box % kCount].exchange(given.word(), std::memory_order_acq_rel));
    }

    static constexpr size_t kCount = 256;

  private:
    std::array<std::atomic<uint64_t>, kCount> boxes_ = {};
};

class Actor {
  public:
    Actor(Owner owner, Claims &claims, Mailboxes &mailboxes)
        : owner_(owner), claims_(claims), mailboxes_(mailboxes), random_(owner) {}

    // One random operation: fills an empty place, or empties a full one in one of three ways.
    void step() {
        Parcel &place = held_[random_.below(held_.size())];
        ++operations_;
        if (!place) {
            place = allocate(pick_size_index(random_));
            return;
        }
        const uint64_t way = random_.below(8);
        if (way < 4) {
            dispose(place);
            place = Parcel();
        } else if (way < 7) {
            place = mailboxes_.swap(random_.below(Mailboxes::kCount), place);
            received_ += place ? 1 : 0;
        } else {
            place = resize(place, random_.below(kClassSizes));
        }
    }

    // Checks and frees whatever this actor holds.
    void drop_all() {
        for (Parcel &place : held_)
            if (place) dispose(std::exchange(place, Parcel()));
    }

    void dispose(Parcel parcel) {
        retire(parcel);
        errno = kErrnoMark;
        std::free(parcel.block());
        if (errno != kErrnoMark) fail("free(%p): changed errno to %d", parcel.block(), errno);
    }

    uint64_t operations() const { return operations_; }
    uint64_t received() const { return received_; }

  private:
    static constexpr size_t kPlaces = 48;
    static constexpr int kErrnoMark = 1234;

    Parcel allocate(size_t index) {
        void *block = std::malloc(kSizes[index]);
        if (block == nullptr) fail("malloc(%zu): out of memory: %s", kSizes[index], std::strerror(errno));
        return adopt(block, index);
    }

    Parcel adopt(void *block, size_t index) {
        if (reinterpret_cast<uintptr_t>(block) % 16 != 0)
            fail("malloc(%zu): %p is not aligned to 16 bytes", kSizes[index], block);
        claims_.claim(block, kSizes[index], owner_);
        Pattern(block, kSizes[index], owner_).write(block);
        return Parcel(block, index);
    }

    // The block's contents must be what its owner, perhaps another actor, wrote.
    void retire(Parcel parcel) {
        const Owner writer = claims_.owner(parcel.block());
        if (!Pattern(parcel.block(), parcel.size(), writer).matches(parcel.block()))
            fail("block %p of %zu bytes, held by owner %d: contents changed", parcel.block(), parcel.size(), writer);
        claims_.release(parcel.block(), parcel.size());
    }

    Parcel resize(Parcel parcel, size_t index) {
        std::array<unsigned char, 8> head;
        const size_t kept = std::min({head.size(), parcel.size(), kSizes[index]});
        retire(parcel);
        std::memcpy(head.data(), parcel.block(), kept);
        void *block = std::realloc(parcel.block(), kSizes[index]);
        if (block == nullptr)
            fail("realloc(%p, %zu): out of memory: %s", parcel.block(), kSizes[index], std::strerror(errno));
        if (std::memcmp(head.data(), block, kept) != 0)
            fail("realloc(%p, %zu): the first %zu bytes changed", parcel.block(), kSizes[index], kept);
        return adopt(block, index);
    }

    Owner owner_;
    Claims &claims_;
    Mailboxes &mailboxes_;
    Random random_;
    std::array<Parcel, kPlaces> held_ = {};
    uint64_t operations_ = 0;
    uint64_t received_ = 0;
};

}  // namespace gr::test
