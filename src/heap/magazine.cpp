// SPDX-License-Identifier: Apache-2.0 OR MIT
// One store changes a header: a sequence on its own cid, against the old value, or a store while no sequence writes.

#include "heap/magazine.hpp"

namespace gr {

bool Slab::set_capacity(std::uint32_t header_at, std::uint32_t slots_begin, std::uint32_t capacity) {
    const std::uint16_t begin = index_from(header_at, slots_begin);
    for (unsigned i = 0; i < kSequenceRetries; ++i) {
        const platform::MagazineHeader old = header(header_at);
        platform::MagazineHeader next = old;
        if (old.begin != begin) {
            if (old.current != old.begin) return false;
            next.current = next.begin = begin;
        }
        next.limit = static_cast<std::uint16_t>(begin + capacity);
        const std::uint64_t expected = platform::as_word(old);
        const std::uint64_t desired = platform::as_word(next);
        const std::int64_t result = found_at_ != nullptr
                                        ? platform::gr_sequence_replace(cid_, header_at, expected, desired, found_at_)
                                        : platform::ReferenceSlab(memory_).replace(header_at, expected, desired);
        if (result == 0) return true;
        if (result == static_cast<std::int64_t>(platform::SequenceResult::wrong_cid)) return false;
    }
    return false;
}

// Only while no sequence writes there. relaxed: ordered by the stop, or by the heap's lock.
void Slab::set_header(std::uint32_t header_at, platform::MagazineHeader value) {
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t *>(memory_ + header_at))
        .store(platform::as_word(value), std::memory_order_relaxed);
}

bool Slab::has_blocks() const {
    for (std::uint32_t i = 0; i < platform::kHeaderCount; ++i) {
        const platform::MagazineHeader magazine = header(platform::header_offset(i));
        if (magazine.held() != 0) return true;
    }
    return false;
}

void Slab::detach_all() {
    for (std::uint32_t i = 0; i < platform::kHeaderCount; ++i) {
        platform::MagazineHeader magazine = header(platform::header_offset(i));
        if (magazine.held() == 0) continue;
        magazine.limit = magazine.begin;
        magazine.begin = static_cast<std::uint16_t>(std::exchange(magazine.current, magazine.begin));
        set_header(platform::header_offset(i), magazine);
    }
}

void Slab::drop_all() {
    for (std::uint32_t i = 0; i < platform::kHeaderCount; ++i) {
        platform::MagazineHeader magazine = header(platform::header_offset(i));
        if (magazine.held() == 0) continue;
        magazine.current = magazine.begin;
        set_header(platform::header_offset(i), magazine);
    }
}

void Slab::close(std::uint32_t header_at) {
    platform::MagazineHeader magazine = header(header_at);
    magazine.limit = static_cast<std::uint16_t>(magazine.current);
    set_header(header_at, magazine);
}

bool Slab::has_detached() const {
    for (std::uint32_t i = 0; i < platform::kHeaderCount; ++i) {
        if (header(platform::header_offset(i)).is_detached()) return true;
    }
    return false;
}

std::span<void *> Slab::detached(std::uint32_t header_at) const {
    const platform::MagazineHeader magazine = header(header_at);
    if (!magazine.is_detached()) return {};
    return {slot(header_at, magazine.current), slot(header_at, magazine.begin)};
}

// A detached magazine has no capacity and no block for the sequences, so no sequence commits anything to its header.
void Slab::forget_detached(std::uint32_t header_at) {
    platform::MagazineHeader magazine = header(header_at);
    if (!magazine.is_detached()) return;
    magazine.begin = static_cast<std::uint16_t>(magazine.current);
    set_header(header_at, magazine);
}

}  // namespace gr
