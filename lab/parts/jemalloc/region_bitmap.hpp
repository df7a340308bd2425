// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which blocks of a page or a run are free: a bit each, in words that follow at once (phkmalloc's page info;
//    jemalloc, run headers, where a block is a region).
// Invariant: no word before the hint has a bit that is set. The count of free blocks is the count of bits that are set.
// Must not know: where the blocks lie, and how long they are.
#pragma once

#include "base/bitmap.hpp"

namespace gr::lab {

class alignas(Word) RegionBitmap {
  public:
    static constexpr std::size_t bytes_for(std::uint32_t regions) {
        return sizeof(RegionBitmap) + divide_up(regions, kWordBits) * sizeof(Word);
    }

    // All are free. Behind it lies memory for the words.
    explicit RegionBitmap(std::uint32_t regions) : regions_(regions), free_(regions) { bits().set_all(); }
    RegionBitmap(const RegionBitmap &) = delete;
    RegionBitmap &operator=(const RegionBitmap &) = delete;

    std::uint32_t regions() const { return regions_; }
    std::uint32_t free() const { return free_; }
    std::uint32_t used() const { return regions_ - free_; }
    bool is_free(std::uint32_t region) const { return bits().test(BlockIndex(region)); }

    // The first free one; there is one.
    std::uint32_t take() {
        GR_CHECK(free_ != 0);
        std::uint32_t w = hint_;
        while (words()[w] == 0) ++w;
        Word &word = words()[w];
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
        word &= word - 1;
        hint_ = w;
        --free_;
        return w * kWordBits + bit;
    }
    // false: it is free already.
    [[nodiscard]] bool put(std::uint32_t region) {
        const BitPosition at = BitPosition::of(BlockIndex(region));
        Word &word = words()[at.word];
        if ((word & at.mask) != 0) return false;
        word |= at.mask;
        if (at.word < hint_) hint_ = at.word;
        ++free_;
        return true;
    }

  private:
    Word *words() const { return reinterpret_cast<Word *>(const_cast<RegionBitmap *>(this) + 1); }
    Bitmap bits() const { return {words(), regions_}; }

    std::uint32_t regions_;
    std::uint32_t free_;
    std::uint32_t hint_ = 0;  // the first word that may have a free one
};

static_assert(sizeof(RegionBitmap) % sizeof(Word) == 0, "a bitmap is whole words");

}  // namespace gr::lab
