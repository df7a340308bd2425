// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: phkmalloc's malloc and free: blocks up to half a page are a power of two long and lie in pages of one size, all
//    others are runs of pages. One lock.
// Invariant: a page with free blocks is in the list of its size, the highest first, and the first one serves. A page
//    whose last block came back is a free page at once.
// Must not know: how free runs and free blocks are kept.
#pragma once

#include <mutex>

#include "parts/contract/allocator.hpp"
#include "parts/lists/lock.hpp"
#include "parts/memory/malloc_options.hpp"
#include "parts/memory/misuse.hpp"
#include "parts/phkmalloc/divided_page.hpp"
#include "parts/phkmalloc/page_runs.hpp"

namespace gr::lab {

struct PagedOptions : MallocOptions {
    int cache_shift = 4;
};

inline constexpr MallocOption<PagedOptions> kPagedOptions[] = {
    {'A', 'a', &PagedOptions::abort, 0, 1},  // without it misuse is told, and the call does nothing
    {'H', 'h', &PagedOptions::hint, 0, 1},
    {'J', 'j', &PagedOptions::junk, 0, 1},
    {'V', 'v', &PagedOptions::system_v, 0, 1},
    {'X', 'x', &PagedOptions::fatal_exhaustion, 0, 1},
    {'Z', 'z', &PagedOptions::zero, 0, 1},
    {'>', '<', &PagedOptions::cache_shift, 0, 20},  // twice, or half, as many free pages stay at the heap's end
};

class PagedAllocator {
  public:
    void *allocate(std::size_t size) {
        const std::lock_guard held(lock_);
        read_options();
        if (size == 0 && options_.system_v != 0) return nullptr;
        return served(size, kAlignment);
    }
    void *allocate_aligned(std::size_t size, std::size_t alignment) {
        const std::lock_guard held(lock_);
        read_options();
        return served(size, alignment);
    }
    void free(void *p) {
        const std::lock_guard held(lock_);
        read_options();
        const Entry entry = runs_.directory().of(p);
        if (entry.state() == PageState::divided) return free_block(entry.info(), p);
        if (!is_run(entry, p)) return complain(p);
        auto *const begin = static_cast<char *>(p);
        free_run(begin, runs_.bytes_of(begin));
    }
    // A thread that holds the lock for a fork may ask, too.
    std::size_t usable_size(const void *p) {
        if (lock_.is_mine()) return size_of(p);
        const std::lock_guard held(lock_);
        return size_of(p);
    }
    // Pages that came back are handed out as they are.
    std::size_t zeroed_above() const { return SIZE_MAX; }

    void thread_ends() {}
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

    void draw(auto &picture) const {
        const auto heap =
            picture.place(picture.top(), show::PlaceKind::heap, picture.words("heap"), picture.words("the heap"));
        picture.lock(heap, &lock_);
        const auto full =
            picture.place(heap, show::PlaceKind::list, picture.words("full"), picture.words("full pages"));
        runs_.draw(picture, heap, [&](const DividedPage &page) {
            page.draw(picture);
            if (page.is_full()) picture.stands(page.begin(), full);
        });
        for (unsigned shift = kLeastShift; shift <= kMostShift; ++shift) {
            const AddressList<DividedPage> &pages = roomy_[shift];
            if (pages.first() == nullptr) continue;
            const auto bin = picture.place(heap, show::PlaceKind::bin, picture.words("b", shift),
                                           picture.words(std::size_t{1} << shift, " bytes"));
            for (const DividedPage *page = pages.first(); page != nullptr; page = pages.after(page))
                picture.stands(page->begin(), bin);
        }
    }

    // While no thread is in the allocator.
    bool is_valid() const {
        for (unsigned shift = kLeastShift; shift <= kMostShift; ++shift) {
            const AddressList<DividedPage> &pages = roomy_[shift];
            if (!pages.is_valid()) return false;
            for (const DividedPage *page = pages.first(); page != nullptr; page = pages.after(page)) {
                const Entry entry = runs_.directory().of(page->begin());
                if (entry.state() != PageState::divided || entry.info() != page) return false;
                if (page->size() >> shift != 1 || page->is_full() || page->is_empty()) return false;
            }
        }
        return runs_.is_valid();
    }
    // For tests.
    const PageRuns<DividedPage> &runs() const { return runs_; }

  private:
    using Entry = PageDirectory<DividedPage>::Entry;

    static constexpr unsigned kLeastShift = std::countr_zero(kAlignment);
    static constexpr unsigned kMostShift = std::countr_zero(DividedPage::kLargest);

    void read_options() {
        if (has_options_) return;
        MallocOptionReader<PagedOptions>(&options_, kPagedOptions).read_all();
        runs_.set_cache(kRunPageBytes << options_.cache_shift);
        has_options_ = true;
    }

    void *served(std::size_t size, std::size_t alignment) {
        void *const block = serve(size, alignment);
        if (block != nullptr) {
            options_.fill(block, size, false);
        } else if (options_.fatal_exhaustion != 0) {
            die_of_exhaustion(size);
        }
        return block;
    }
    // A block's own length is its alignment.
    void *serve(std::size_t size, std::size_t alignment) {
        if (size > kMaxRequest || alignment > kMaxRequest - size) return nullptr;
        const std::size_t wanted = std::max({size, alignment, kAlignment});
        if (wanted <= DividedPage::kLargest) return take_block(static_cast<unsigned>(std::bit_width(wanted - 1)));
        const std::size_t bytes = align_up(std::max<std::size_t>(size, 1), kRunPageBytes);
        return runs_.take(bytes, std::max(alignment, kRunPageBytes));
    }
    void *take_block(unsigned shift) {
        AddressList<DividedPage> &pages = roomy_[shift];
        if (pages.first() == nullptr && !divide_page(shift)) return nullptr;
        show::rule("Kamp 1998", "The first page of this size with a free block gives its first free block.");
        DividedPage *const page = pages.first();
        void *const block = page->take();
        if (page->is_full()) pages.remove(page);
        return block;
    }
    // false: no memory.
    bool divide_page(unsigned shift) {
        const std::size_t size = std::size_t{1} << shift;
        show::rule("Kamp 1998", "No page of this size has a free block: one more page is divided.");
        void *record = nullptr;
        if (!DividedPage::is_info_inside(size) && (record = infos_.take()) == nullptr) return false;
        char *const begin = runs_.take(kRunPageBytes, kRunPageBytes);
        if (begin == nullptr) {
            if (record != nullptr) infos_.put(record);
            return false;
        }
        DividedPage *const page = DividedPage::make(begin, size, record);
        runs_.divide(begin, page);
        roomy_[shift].insert(page);
        return true;
    }

    void free_block(DividedPage *page, void *p) {
        const bool was_full = page->is_full();
        if (!page->put(p)) return complain(p);
        options_.fill_freed(p, page->size());
        AddressList<DividedPage> &pages = roomy_[std::countr_zero(page->size())];
        if (was_full) pages.insert(page);
        if (!page->is_empty()) return;
        show::rule("Kamp 1998", "The last block of the page came back: the page is free at once.");
        pages.remove(page);
        char *const begin = page->begin();
        if (!DividedPage::is_info_inside(page->size())) infos_.put(page);
        free_run(begin, kRunPageBytes);
    }
    void free_run(char *begin, std::size_t bytes) {
        options_.fill_freed(begin, bytes);
        if (options_.hint != 0) platform::purge(begin, bytes);
        runs_.put(begin, bytes);
    }

    static bool is_run(Entry entry, const void *p) {
        return entry.state() == PageState::first && reinterpret_cast<std::uintptr_t>(p) % kRunPageBytes == 0;
    }
    // 0: it is no block in use.
    std::size_t size_of(const void *p) const {
        const Entry entry = runs_.directory().of(p);
        if (entry.state() == PageState::divided && entry.info()->is_in_use(p)) return entry.info()->size();
        if (is_run(entry, p)) return runs_.bytes_of(static_cast<const char *>(p));
        complain(p);
        return 0;
    }
    void complain(const void *p) const {
        if (options_.abort != 0) die_of_no_block(p);
        warn_of_no_block(p);
    }

    Lock<Rank::heap> lock_;
    bool has_options_ = false;
    PagedOptions options_;
    AddressList<DividedPage> roomy_[kMostShift + 1];  // by the size's power of two
    Records<kPageInfoBytes> infos_;
    PageRuns<DividedPage> runs_;
};

}  // namespace gr::lab
