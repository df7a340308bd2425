// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/flusher.hpp"

#include "platform/events.hpp"

namespace gr {

Flusher::Result Flusher::flush(OwnerIndex o, ClassIndex c, void *p) {
    if (!owners_.lock(o)) return Result::refused;
    const Result result = flush_locked(o, c, p);
    remote_.unlock_and_settle(o);
    return result;
}

Flusher::Result Flusher::flush_locked(OwnerIndex o, ClassIndex c, void *p) {
    platform::count(platform::Event::flush);
    owners_.heap(o).note_use();
    return capacities_.grow(o, c) ? Result::room : return_batch(o, c, p);
}

// Not inlined, so that its blocks lie on the stack only while it runs.
[[gnu::noinline]] Flusher::Result Flusher::return_batch(OwnerIndex o, ClassIndex c, void *p) {
    void *blocks[kBatchBlocks];
    const std::int64_t popped =
        owners_.slab(o).pop_n(magazine_of(c), blocks, batch_of((owners_.heap(o).magazines.capacity(c) + 1) / 2));
    if (popped < 0) return Result::moved;
    if (popped == 0) blocks[0] = p;
    const std::uint32_t given = popped == 0 ? 1 : static_cast<std::uint32_t>(popped);
    returns_.give_back(o, blocks, given);
    capacities_.look(o, c, given / kLookParts + 1);
    return popped == 0 ? Result::freed : Result::room;
}

Flusher::Result Flusher::flush_remote(OwnerIndex o) {
    if (!owners_.lock(o)) return Result::refused;
    owners_.heap(o).note_use();
    const Result result = flush_remote_locked(o, true);
    remote_.unlock_and_settle(o);
    return result;
}

Flusher::Result Flusher::flush_remote_locked(OwnerIndex o, bool may_grow) {
    platform::count(platform::Event::remote_flush);
    Slab slab = owners_.slab(o);
    const platform::MagazineHeader header = slab.header(kRemoteMagazine);
    const std::uint32_t capacity = header.capacity();
    if (may_grow && !capacities_.may_gather()) [[unlikely]]
        return Result::refused;
    if (may_grow && capacity == 0) {
        return slab.set_capacity(kRemoteMagazine, kRemoteSlotsBegin, kMagazineFirstSlots) ? Result::room
                                                                                          : Result::moved;
    }
    void *blocks[kRemoteMagazineSlots];
    const std::int64_t popped = slab.pop_n(kRemoteMagazine, blocks, kRemoteMagazineSlots);
    if (popped < 0) return Result::moved;
    const std::size_t bytes = messenger_.send(o, {blocks, static_cast<std::size_t>(popped)});
    // A remote magazine counts slots, not bytes. If it held too many bytes, it is narrower the next time.
    const std::uint32_t wanted = bytes > kRemoteMagazineBytes ? capacity / 2 : capacity * 2;
    if (may_grow && kMagazineFirstSlots <= wanted && wanted <= kRemoteMagazineSlots) {
        if (!slab.set_capacity(kRemoteMagazine, kRemoteSlotsBegin, wanted)) return Result::moved;
    }
    return Result::room;
}

// The magazines of classes come last: the drain may fill them from messages, even from some that this heap sent itself.
void Flusher::flush_all(OwnerIndex o) {
    flush_remote_locked(o, false);
    remote_.drain(o);
    for (std::uint32_t c = 1; c < kClassCount; ++c) capacities_.flush_excess(o, ClassIndex(c), 0);
}

// The remote magazine comes first: the drain then also reads messages that this heap sent to itself.
void Flusher::flush_detached(OwnerIndex o) {
    Slab slab = owners_.slab(o);
    messenger_.send(o, slab.detached(kRemoteMagazine));
    slab.forget_detached(kRemoteMagazine);
    remote_.drain(o);
    for (std::uint32_t i = 1; i < kClassCount; ++i) {
        const ClassIndex c(i);
        const std::span<void *const> blocks = slab.detached(magazine_of(c));
        if (blocks.empty()) continue;
        returns_.give_back(o, blocks.data(), static_cast<std::uint32_t>(blocks.size()));
        slab.forget_detached(magazine_of(c));
        owners_.heap(o).magazines.set_capacity(c, 0);
    }
}

}  // namespace gr
