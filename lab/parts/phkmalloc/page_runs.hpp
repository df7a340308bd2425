// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: runs of pages: the list of free runs in the order of their addresses, first fit, neighbours joined (phkmalloc),
//    and the memory from the kernel that they are cut from.
// Invariant: no two free runs touch. The directory says of each page what it is. What is known about a free run lies
//    apart, so a free page is not touched. Of the run at the heap's end no more than the cache stays free; the rest
//    goes back to the kernel at once.
// Must not know: what is in a run that was taken.
#pragma once

#include <algorithm>

#include "parts/contract/shown.hpp"
#include "parts/jemalloc/records.hpp"
#include "parts/lists/address_list.hpp"
#include "parts/phkmalloc/page_directory.hpp"

namespace gr::lab {

// phkmalloc's heap grows upwards by brk. Linux puts mappings below each other, so here the heap grows downwards: its
// end is its lowest page, and the first fit is the highest.
template <class Info>
class PageRuns {
  public:
    const PageDirectory<Info> &directory() const { return directory_; }

    // How much of the end of the heap may stay free: a page at least.
    void set_cache(std::size_t bytes) { cache_bytes_ = bytes; }

    // Whole pages at a multiple of a power of two, of a page at least; nullptr: no memory.
    char *take(std::size_t bytes, std::size_t alignment) {
        char *run = take_free(bytes, alignment);
        if (run == nullptr && grow(bytes + alignment - kRunPageBytes)) run = take_free(bytes, alignment);
        if (run == nullptr) return nullptr;
        show::rule("Kamp 1998", "First fit: the first free run by address that is long enough is cut.");
        directory_.enter(run, Entry(PageState::first));
        directory_.enter_all(run + kRunPageBytes, bytes - kRunPageBytes, PageState::follow);
        return run;
    }
    // All of a run.
    void put(char *begin, std::size_t bytes) {
        show::rule("Kamp 1998", "The pages are a free run, joined with the free runs beside it.");
        FreeRun *const run = add_free(begin, bytes);
        if (run == nullptr) return give_back(begin, bytes);
        if (run->begin() == end_of_heap_) shrink(run);
    }
    // Of a run whose first page this is.
    std::size_t bytes_of(const char *begin) const {
        std::size_t bytes = kRunPageBytes;
        while (directory_.of(begin + bytes).state() == PageState::follow) bytes += kRunPageBytes;
        return bytes;
    }
    // A run of one page, which is the info's from now on. It comes back by put.
    void divide(char *page, Info *info) { directory_.enter(page, Entry(info)); }

    // visit: draws the divided page of an info.
    void draw(auto &picture, auto place, auto visit) const {
        const auto taken =
            picture.place(place, show::PlaceKind::list, picture.words("taken"), picture.words("runs of pages"));
        directory_.for_each([&](const char *page, Entry entry) {
            if (entry.state() == PageState::divided) visit(*entry.info());
            if (entry.state() == PageState::first) draw_run(picture, taken, page, bytes_of(page));
        });
        const auto free =
            picture.place(place, show::PlaceKind::list, picture.words("free"), picture.words("free runs"));
        for (const FreeRun *run = runs_.first(); run != nullptr; run = runs_.after(run)) {
            draw_run(picture, free, run->begin(), run->bytes());
            picture.inside(run->begin(), show::Shown::free);
        }
    }

    bool is_valid() const {
        if (!runs_.is_valid()) return false;
        for (const FreeRun *run = runs_.first(); run != nullptr; run = runs_.after(run)) {
            const FreeRun *const below = runs_.after(run);
            if (run->begin() >= run->end() || run->begin() < end_of_heap_) return false;
            if (below != nullptr && below->end() >= run->begin()) return false;
            for (const char *page = run->begin(); page != run->end(); page += kRunPageBytes)
                if (directory_.of(page).state() != PageState::free) return false;
        }
        return true;
    }
    std::size_t free_bytes() const {
        std::size_t bytes = 0;
        for (const FreeRun *run = runs_.first(); run != nullptr; run = runs_.after(run)) bytes += run->bytes();
        return bytes;
    }

  private:
    using Entry = typename PageDirectory<Info>::Entry;

    class FreeRun : public ListNode {
      public:
        FreeRun(char *begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}

        char *begin() const { return begin_; }
        char *end() const { return begin_ + bytes_; }
        std::size_t bytes() const { return bytes_; }
        void set(char *begin, char *end) {
            begin_ = begin;
            bytes_ = static_cast<std::size_t>(end - begin);
        }

      private:
        char *begin_;
        std::size_t bytes_;
    };

    static void draw_run(auto &picture, auto place, const char *begin, std::size_t bytes) {
        picture.container(begin, show::ContainerKind::run, bytes, 1, bytes);
        picture.block(begin, 0, begin, bytes);
        picture.stands(begin, place);
    }

    char *take_free(std::size_t bytes, std::size_t alignment) {
        for (FreeRun *run = runs_.first(); run != nullptr; run = runs_.after(run)) {
            if (run->bytes() < bytes) continue;
            const std::size_t beyond = reinterpret_cast<std::uintptr_t>(run->end() - bytes) % alignment;
            if (beyond <= run->bytes() - bytes) return cut(run, run->end() - bytes - beyond, bytes);
        }
        return nullptr;
    }
    // What is left on either side stays free. nullptr: no memory for what is known about it.
    char *cut(FreeRun *run, char *piece, std::size_t bytes) {
        char *const begin = run->begin();
        char *const above = piece + bytes;
        const std::size_t bytes_above = static_cast<std::size_t>(run->end() - above);
        if (begin == piece && bytes_above == 0) {
            forget(run);
        } else if (begin == piece) {
            run->set(above, run->end());
        } else {
            if (bytes_above != 0 && know(above, bytes_above) == nullptr) return nullptr;
            run->set(begin, piece);
        }
        return piece;
    }

    // With the free runs beside it. nullptr: no memory for what is known about it.
    FreeRun *add_free(char *begin, std::size_t bytes) {
        char *const end = begin + bytes;
        FreeRun *const above = runs_.last_above(begin);
        FreeRun *const below = above == nullptr ? runs_.first() : runs_.after(above);
        const bool joins_above = above != nullptr && above->begin() == end;
        const bool joins_below = below != nullptr && below->end() == begin;
        FreeRun *run = joins_above ? above : below;
        if (joins_above) {
            above->set(joins_below ? below->begin() : begin, above->end());
            if (joins_below) forget(below);
        } else if (joins_below) {
            below->set(below->begin(), end);
        } else {
            run = know(begin, bytes);
        }
        if (run != nullptr) directory_.enter_all(begin, bytes, PageState::free);
        return run;
    }
    FreeRun *know(char *begin, std::size_t bytes) {
        void *const record = records_.take();
        if (record == nullptr) return nullptr;
        auto *const run = new (record) FreeRun(begin, bytes);
        runs_.insert(run);
        return run;
    }
    void forget(FreeRun *run) {
        runs_.remove(run);
        records_.put(run);
    }

    // So many bytes more, as phkmalloc: not one page of the kernel's beyond what is asked for. false: no memory.
    bool grow(std::size_t bytes) {
        bytes = align_up(bytes, platform::page_size());
        auto *const begin = static_cast<char *>(platform::map(bytes, kRunPageBytes));
        if (begin == nullptr) return false;
        if (!directory_.make_room(begin, bytes) || add_free(begin, bytes) == nullptr) {
            platform::unmap(begin, bytes);
            return false;
        }
        Held::took(bytes);
        end_of_heap_ = end_of_heap_ == nullptr ? begin : std::min(end_of_heap_, begin);
        return true;
    }
    void shrink(FreeRun *run) {
        if (run->bytes() < cache_bytes_ + platform::page_size()) return;
        char *const begin = run->begin();
        const std::size_t bytes = align_down(run->bytes() - cache_bytes_, platform::page_size());
        end_of_heap_ = begin + bytes;
        run->set(end_of_heap_, run->end());
        give_back(begin, bytes);
    }
    // Where the kernel refuses, the pages are lost: they stay mapped, and nothing leads to them.
    void give_back(char *begin, std::size_t bytes) {
        directory_.enter_all(begin, bytes, PageState::foreign);
        if (platform::unmap(begin, bytes)) Held::gave(bytes);
    }

    PageDirectory<Info> directory_;
    AddressList<FreeRun> runs_;
    Records<sizeof(FreeRun)> records_;
    std::size_t cache_bytes_ = kRunPageBytes;
    char *end_of_heap_ = nullptr;
};

}  // namespace gr::lab
