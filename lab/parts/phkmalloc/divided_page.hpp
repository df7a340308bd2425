// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a page that is divided into blocks of one size, a power of two, with a bit for each free block (phkmalloc's
//    page info).
// Invariant: the info of small blocks lies in the page's first blocks, which are never free; the info of larger ones
//    lies in a record elsewhere. So a block's address is a multiple of its size.
// Must not know: in which list the page is, and where records come from.
#pragma once

#include <algorithm>
#include <new>

#include "parts/contract/shown.hpp"
#include "parts/jemalloc/quantum_bins.hpp"
#include "parts/jemalloc/region_bitmap.hpp"
#include "parts/lists/linked_list.hpp"

namespace gr::lab {

class DividedPage : public ListNode {
  public:
    static constexpr std::size_t kLargest = kRunPageBytes / 2;

    // With its bits.
    static constexpr std::size_t info_bytes(std::size_t size) {
        return sizeof(DividedPage) - sizeof(RegionBitmap) + RegionBitmap::bytes_for(blocks_of(size));
    }
    // phkmalloc's rule: a block must not be longer than the info twice.
    static constexpr bool is_info_inside(std::size_t size) { return size <= 2 * info_bytes(size); }
    static constexpr std::uint32_t blocks_of_info(std::size_t size) {
        return is_info_inside(size) ? static_cast<std::uint32_t>(divide_up(info_bytes(size), size)) : 0;
    }

    // The record is used where the info does not lie inside.
    static DividedPage *make(char *page, std::size_t size, void *record) {
        auto *const info = new (is_info_inside(size) ? page : record) DividedPage(page, size);
        for (std::uint32_t i = 0; i < blocks_of_info(size); ++i) info->blocks_.take();
        return info;
    }

    char *begin() const { return page_; }
    std::size_t size() const { return kRunPageBytes / blocks_.regions(); }
    bool is_full() const { return blocks_.free() == 0; }
    bool is_empty() const { return blocks_.used() == blocks_of_info(size()); }

    // The first free one; there is one.
    void *take() { return page_ + blocks_.take() * size(); }
    // false: this is no block in use.
    [[nodiscard]] bool put(const void *p) {
        const std::size_t at = offset_of(p);
        if (!is_block_at(at)) return false;
        return blocks_.put(static_cast<std::uint32_t>(at / size()));
    }
    bool is_in_use(const void *p) const {
        const std::size_t at = offset_of(p);
        return is_block_at(at) && !blocks_.is_free(static_cast<std::uint32_t>(at / size()));
    }
    void draw(auto &picture) const {
        picture.container(page_, show::ContainerKind::page, size(), blocks_.regions(), kRunPageBytes);
        for (std::uint32_t i = blocks_of_info(size()); i < blocks_.regions(); ++i) {
            const char *const block = page_ + i * size();
            picture.block(page_, i, block, size());
            if (blocks_.is_free(i)) picture.inside(block, show::Shown::free);
        }
    }

  private:
    DividedPage(char *page, std::size_t size) : page_(page), blocks_(blocks_of(size)) {}

    static constexpr std::uint32_t blocks_of(std::size_t size) {
        return static_cast<std::uint32_t>(kRunPageBytes / size);
    }
    std::size_t offset_of(const void *p) const {
        return static_cast<std::size_t>(static_cast<const char *>(p) - page_);
    }
    bool is_block_at(std::size_t offset) const {
        return offset % size() == 0 && offset >= blocks_of_info(size()) * size();
    }

    char *page_;
    RegionBitmap blocks_;  // last: its words follow
};

// Of the infos that do not lie inside, the longest.
inline constexpr std::size_t kPageInfoBytes = [] {
    std::size_t longest = 0;
    for (std::size_t size = DividedPage::kLargest; !DividedPage::is_info_inside(size); size /= 2)
        longest = std::max(longest, DividedPage::info_bytes(size));
    return longest;
}();

}  // namespace gr::lab
