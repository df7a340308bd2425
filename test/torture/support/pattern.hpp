// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: contents for a live block that tell the block, its size and its owner; written once, checked later.
// Invariant: a block of at most 1 KiB is covered to its last byte; a larger one by its ends and at least 64 samples.
// Must not know: who allocates the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gr::test {

class Pattern {
  public:
    Pattern(const void *block, size_t size, uint64_t owner)
        : size_(size), seed_(reinterpret_cast<uintptr_t>(block) * 0x9e3779b97f4a7c15U ^ size << 8 ^ owner) {}

    void write(void *block) const {
        auto *bytes = static_cast<unsigned char *>(block);
        for_each_word([&](size_t offset) {
            const uint64_t word = word_at(offset);
            std::memcpy(bytes + offset, &word, sizeof word);
            return true;
        });
        for (size_t offset = whole_words(); offset < size_; ++offset) bytes[offset] = static_cast<unsigned char>(seed_);
    }

    bool matches(const void *block) const {
        const auto *bytes = static_cast<const unsigned char *>(block);
        const bool words_match = for_each_word([&](size_t offset) {
            uint64_t word;
            std::memcpy(&word, bytes + offset, sizeof word);
            return word == word_at(offset);
        });
        bool tail_matches = true;
        for (size_t offset = whole_words(); offset < size_; ++offset)
            tail_matches = tail_matches && bytes[offset] == static_cast<unsigned char>(seed_);
        return words_match && tail_matches;
    }

  private:
    size_t whole_words() const { return size_ & ~size_t{7}; }
    uint64_t word_at(size_t offset) const { return seed_ + offset * 0x2545f4914f6cdd1dU; }

    size_t stride() const {
        if (size_ <= 1024) return 8;
        return size_ <= 65536 ? 512 : (size_ / 64) & ~size_t{7};
    }

    template <typename Visit>
    bool for_each_word(Visit visit) const {
        for (size_t offset = 0; offset < whole_words(); offset += stride())
            if (!visit(offset)) return false;
        return whole_words() == 0 || visit(whole_words() - 8);
    }

    size_t size_;
    uint64_t seed_;
};

}  // namespace gr::test
