// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: free blocks of any size in bins of ranges: a list of those from a bin's size up to the next one's (Wasik 5.10).
// Invariant: a block lies in the list of the largest bin that is not above its bytes; the last list has the largest
//    size only. A bin's bit is set while its list holds something. bytes() is the sum of all.
// Must not know: what lies beside a block, and whose it is.
#pragma once

#include <array>

#include "parts/layout/block_tag.hpp"
#include "parts/layout/size_bins.hpp"
#include "parts/lists/linked_list.hpp"

namespace gr::lab {

// Which of several blocks: the first that is large enough of the request's own bin, else the first of any larger bin
// (5.10); or the tightest of all (2.2.1).
enum class Fit : std::uint8_t { first_of_bin, best };

template <SizeBins Bins, Fit kFit>
class RangeBins {
  public:
    // What lies in a block while it is in a list.
    using Node = ListNode;
    static constexpr unsigned kLast = Bins::kCount - 1;

    // The last list must have whole regions and nothing else, so that they are told apart.
    static constexpr bool is_for(std::size_t whole_bytes) { return Bins::largest() == whole_bytes; }

    std::size_t bytes() const { return bytes_; }
    std::size_t bytes_in(unsigned bin) const { return bins_[bin].bytes; }
    // Whose list a block of so many bytes is in, and at which a request for them begins.
    static unsigned bin_of_bytes(std::size_t bytes) {
        const unsigned bin = Bins::bin_of(bytes);
        return Bins::size_of(bin) == bytes ? bin : bin - 1;
    }
    static unsigned bin_of(const void *block) { return bin_of_bytes(tag_of(block).bytes); }

    // The bin.
    unsigned insert(void *block) {
        const std::size_t bytes = tag_of(block).bytes;
        const unsigned bin = bin_of(block);
        bins_[bin].list.push_front(static_cast<ListNode *>(block));
        bins_[bin].bytes += bytes;
        bytes_ += bytes;
        holding_[bin / kWordBits] |= bit_of(bin);
        return bin;
    }
    void remove(void *block) {
        const std::size_t bytes = tag_of(block).bytes;
        const unsigned bin = bin_of(block);
        bins_[bin].list.remove(static_cast<ListNode *>(block));
        bins_[bin].bytes -= bytes;
        bytes_ -= bytes;
        if (bins_[bin].list.is_empty()) holding_[bin / kWordBits] &= ~bit_of(bin);
    }
    // These stay where they are. nullptr: there is none.
    void *first(unsigned bin) const { return bins_[bin].list.first(); }
    // Of so many bytes at least.
    void *find(std::size_t bytes) const {
        for (unsigned bin = holding_from(bin_of_bytes(bytes)); bin <= kLast; bin = holding_from(bin + 1)) {
            if (void *const block = find_in(bin, bytes)) return block;
        }
        return nullptr;
    }

    // Each bin that holds something, with its blocks.
    void draw(auto &picture, auto place, show::Shown state) const {
        for (unsigned bin = 0; bin <= kLast; ++bin) {
            if (bins_[bin].list.is_empty()) continue;
            const auto own = picture.place(place, show::PlaceKind::bin, picture.words("b", bin),
                                           picture.words("from ", Bins::size_of(bin), " bytes"));
            bins_[bin].list.for_each([&](const ListNode &node) { picture.listed(&node, own, state); });
        }
    }

  private:
    struct Bin {
        LinkedList<ListNode> list;
        std::size_t bytes = 0;
    };

    static constexpr Word bit_of(unsigned bin) { return Word{1} << bin % kWordBits; }

    // The first bin from there on that holds something; beyond kLast: none does.
    unsigned holding_from(unsigned bin) const {
        for (unsigned w = bin / kWordBits; w < holding_.size(); ++w) {
            const Word word = w == bin / kWordBits ? holding_[w] & ~low_bits(bin % kWordBits) : holding_[w];
            if (word != 0) return w * kWordBits + static_cast<unsigned>(std::countr_zero(word));
        }
        return kLast + 1;
    }
    void *find_in(unsigned bin, std::size_t bytes) const {
        ListNode *found = nullptr;
        for (ListNode *node = bins_[bin].list.first(); node != nullptr; node = node->next) {
            const std::size_t has = tag_of(node).bytes;
            if (has < bytes || (found != nullptr && has >= tag_of(found).bytes)) continue;
            if (kFit == Fit::first_of_bin || has == bytes) return node;
            found = node;
        }
        return found;
    }

    std::array<Bin, Bins::kCount> bins_{};
    std::array<Word, divide_up(Bins::kCount, kWordBits)> holding_{};
    std::size_t bytes_ = 0;
};

}  // namespace gr::lab
