// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: publishing a magazine's header and moving its limit.
// Invariant: one store of the whole header, in a sequence on its own cid, against the value it was derived from.
// Must not know: superblocks.
#include "heap/magazine.hpp"

namespace gr {

bool Slab::set_capacity(std::uint32_t header_at, std::uint32_t slots_begin, std::uint32_t capacity) {
    const std::uint16_t begin = index_from(header_at, slots_begin);
    for (unsigned i = 0; i < kSequenceRetries; ++i) {
        const platform::MagazineHeader old = header(header_at);
        platform::MagazineHeader next = old;
        next.begin = begin;
        if (old.begin == 0) next.current = begin;
        next.limit = static_cast<std::uint16_t>(begin + capacity);
        const std::uint64_t expected = platform::as_word(old);
        const std::uint64_t desired = platform::as_word(next);
        const std::int64_t result = sequences_ ? platform::gr_sequence_replace(cid_, header_at, expected, desired)
                                               : platform::ReferenceSlab(memory_).replace(header_at, expected, desired);
        if (result == 0) return true;
        if (result == static_cast<std::int64_t>(platform::SequenceResult::wrong_cid)) return false;
    }
    return false;
}

}  // namespace gr
