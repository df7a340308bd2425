// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page directory of phkmalloc: an array with an entry for each page, which says what the page is: free, the
//    first of a run, one that follows it, or divided into blocks. Then the entry is the address of the page's info.
// Invariant: a page that was never entered, or has left, is foreign. The array lies apart from the pages, so asking
//    about an address reads nothing of what the program has.
// Must not know: what an info says, and which runs there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "parts/jemalloc/quantum_bins.hpp"
#include "platform/memory.hpp"

namespace gr::lab {

enum class PageState : std::uintptr_t { foreign, free, first, follow, divided };

// phkmalloc has one array from its first page on, because brk gives all pages in a row. Pages of mmap lie anywhere, so
// here the array has two levels.
template <class Info>
class PageDirectory {
    static_assert(alignof(Info) > static_cast<std::uintptr_t>(PageState::divided), "no info's address is a state");

  public:
    class Entry {
      public:
        constexpr Entry() = default;
        constexpr explicit Entry(PageState state) : word_(static_cast<std::uintptr_t>(state)) {}
        explicit Entry(Info *info) : word_(reinterpret_cast<std::uintptr_t>(info)) {}

        PageState state() const { return is_divided() ? PageState::divided : static_cast<PageState>(word_); }
        // Of a divided page.
        Info *info() const {
            GR_CHECK(is_divided());
            return reinterpret_cast<Info *>(word_);
        }

      private:
        bool is_divided() const { return word_ >= static_cast<std::uintptr_t>(PageState::divided); }

        std::uintptr_t word_ = 0;
    };

    // Of the page in which any address lies.
    Entry of(const void *p) const {
        const std::uintptr_t page = page_of(p);
        if (root_ == nullptr || page >> (2 * kLevelBits) != 0) return Entry();
        const Leaf *const leaf = root_->leaves[page >> kLevelBits];
        return leaf == nullptr ? Entry() : leaf->entries[page & low_bits(kLevelBits)];
    }
    // The pages may be entered from then on. false: no memory.
    bool make_room(const char *begin, std::size_t bytes) {
        const std::uintptr_t last = page_of(begin + bytes - 1);
        if (last >> (2 * kLevelBits) != 0 || !make(&root_)) return false;
        for (std::uintptr_t i = page_of(begin) >> kLevelBits; i <= last >> kLevelBits; ++i)
            if (!make(&root_->leaves[i])) return false;
        return true;
    }
    void enter(const char *page, Entry entry) {
        const std::uintptr_t number = page_of(page);
        root_->leaves[number >> kLevelBits]->entries[number & low_bits(kLevelBits)] = entry;
    }
    void enter_all(const char *begin, std::size_t bytes, PageState state) {
        for (std::size_t at = 0; at < bytes; at += kRunPageBytes) enter(begin + at, Entry(state));
    }
    // Every page that is not foreign, the lowest first.
    void for_each(auto visit) const {
        if (root_ == nullptr) return;
        for (std::uintptr_t i = 0; i < std::size(root_->leaves); ++i) {
            if (root_->leaves[i] == nullptr) continue;
            for (std::uintptr_t k = 0; k < std::size(root_->leaves[i]->entries); ++k) {
                const Entry entry = root_->leaves[i]->entries[k];
                if (entry.state() != PageState::foreign) visit(page_at(i << kLevelBits | k), entry);
            }
        }
    }

  private:
    static constexpr unsigned kAddressBits = 48;
    static constexpr unsigned kLevelBits = (kAddressBits - kRunPageShift) / 2;
    struct Leaf {
        Entry entries[std::size_t{1} << kLevelBits];
    };
    struct Root {
        Leaf *leaves[std::size_t{1} << kLevelBits];
    };

    // false: no memory. Mapped memory is zero: no leaves, and pages that are foreign.
    template <class Level>
    static bool make(Level **level) {
        if (*level == nullptr) *level = static_cast<Level *>(platform::map(sizeof(Level), 1));
        return *level != nullptr;
    }
    static const char *page_at(std::uintptr_t number) {
        return reinterpret_cast<const char *>(number << kRunPageShift);
    }
    static std::uintptr_t page_of(const void *p) { return reinterpret_cast<std::uintptr_t>(p) >> kRunPageShift; }

    Root *root_ = nullptr;
};

}  // namespace gr::lab
