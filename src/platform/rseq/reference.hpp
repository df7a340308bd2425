// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the sequences in plain C++, on a slab that no other thread touches meanwhile. The path without rseq runs them
//    under its heap's lock, and the tests compare the assembly with them.
// Invariant: same arguments, same results, same slab afterwards as the assembly of the same name.
// Must not know: size classes and heaps.
#pragma once

#include "platform/rseq/sequences.hpp"

namespace gr::platform {

class ReferenceSlab {
  public:
    explicit ReferenceSlab(char *slab) : slab_(slab) {}

    void *pop(std::uint32_t header) {
        MagazineHeader &magazine = at(header);
        void *const block = slot(header, magazine.current - 1U);
        if (block != nullptr) --magazine.current;
        return block;
    }
    bool push(std::uint32_t header, void *block) {
        MagazineHeader &magazine = at(header);
        if (magazine.current >= magazine.limit) return false;
        slot(header, magazine.current) = block;
        ++magazine.current;
        return true;
    }
    std::int64_t push_n(std::uint32_t header, void *const *blocks, std::uint32_t count) {
        MagazineHeader &magazine = at(header);
        if (magazine.current >= magazine.limit) return 0;
        const std::uint32_t room = magazine.limit - magazine.current;
        const std::uint32_t moved = count < room ? count : room;
        for (std::uint32_t i = 0; i < moved; ++i) slot(header, magazine.current + i) = blocks[count - moved + i];
        magazine.current += moved;
        return moved;
    }
    std::int64_t pop_n(std::uint32_t header, void **blocks, std::uint32_t count) {
        MagazineHeader &magazine = at(header);
        const std::uint32_t held = magazine.held();
        const std::uint32_t moved = count < held ? count : held;
        magazine.current -= moved;
        for (std::uint32_t i = 0; i < moved; ++i) blocks[i] = slot(header, magazine.current + i);
        return moved;
    }
    std::uint32_t push_each(void **blocks, const std::uint32_t *headers, std::uint32_t count) {
        std::uint32_t stay = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (!push(headers[i], blocks[i])) blocks[stay++] = blocks[i];
        }
        return stay;
    }
    std::int64_t replace(std::uint32_t header, std::uint64_t expected, std::uint64_t desired) {
        MagazineHeader &magazine = at(header);
        if (as_word(magazine) != expected) return static_cast<std::int64_t>(SequenceResult::differs);
        magazine = as_header(desired);
        return 0;
    }
    // Whether the block lies on top of the magazine.
    bool is_top(std::uint32_t header, const void *block) { return slot(header, at(header).current - 1U) == block; }

  private:
    MagazineHeader &at(std::uint32_t header) { return *reinterpret_cast<MagazineHeader *>(slab_ + header); }
    void *&slot(std::uint32_t header, std::uint32_t index) {
        const std::int64_t offset = static_cast<std::int32_t>(index) * std::int64_t{sizeof(void *)};
        return *reinterpret_cast<void **>(slab_ + header + kSlotDisplacement + offset);
    }

    char *slab_;
};

}  // namespace gr::platform
