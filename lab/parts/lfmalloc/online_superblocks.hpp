// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: LFMalloc's malloc and free (3.2.3): blocks come from the superblock of their class that is online in the
//    caller's heap, and go back to its local list, or to the remote list of another's.
// Invariant: a superblock is online in one heap, in the global heap, or this thread's alone on its way between them.
// Must not know: how local heaps are kept apart.
// Differs: a thread that was interrupted kRetries times gets a block from the global heap; lines 8 to 31 try for ever.
#pragma once

#include "parts/layout/container_sizes.hpp"
#include "parts/layout/size_bins.hpp"
#include "parts/lfmalloc/global_superblocks.hpp"
#include "parts/lfmalloc/local_heaps.hpp"

namespace gr::lab {

// "A limit" of line 15.
inline constexpr std::size_t kMostEmptySuperblocks = 16;

template <LocalHeapsLike LocalHeaps, RoomToGoOnline kRoom = RoomToGoOnline::one_block,
          std::size_t kMostEmpty = kMostEmptySuperblocks>
class OnlineSuperblocks {
    // A step between two classes is 20% at most (3.2.1).
    static constexpr std::size_t kLargest = (kSuperblockBytes - kSuperblockHeaderBytes) / 2;
    static constexpr RadixMap<kLargest, LocalHeap::kMostBins> kClasses{kLargest, 120};
    static constexpr unsigned kRetries = 8;

  public:
    using Blocks = InContainers<FixedContainers<kSuperblockBytes>>;
    static constexpr std::size_t kMostLimit = kLargest + 1;

    bool start() {
        const std::lock_guard held(start_lock_);
        if (limit() == 0 && local_.start()) limit_.store(kMostLimit, std::memory_order_release);
        return limit() != 0;
    }
    // acquire: pairs with the start, which another thread may have made.
    std::size_t limit() const { return limit_.load(std::memory_order_acquire); }

    void *take(std::size_t size) {
        const unsigned bin = kClasses.bin_of(size);
        if (void *const block = local_.pop(bin)) [[likely]] {
            show::rule("LFMalloc 004, 3.2.3, malloc lines 9 to 14",
                       "The local list of the online superblock has a block.");
            return block;
        }
        return replace_and_take(bin);
    }
    void put(void *block) {
        auto *const s = static_cast<Superblock *>(Container::at(block, kSuperblockBytes));
        s->check_in_use(block);
        const bool is_local = local_.push(&s->local, block);
        if (is_local)
            show::rule("LFMalloc 004, 3.2.3, free lines 4 to 8", "The superblock is online here: the block is local.");
        if (!is_local) global_.put_block(s, block);
    }
    void draw(auto &picture) const {
        global_.draw(picture);
        local_.draw(picture);
        const auto start =
            picture.place(picture.top(), show::PlaceKind::list, picture.words("start"), picture.words("the start"));
        picture.lock(start, &start_lock_);
    }

    void thread_ends() {}
    void lock() { lock_all(start_lock_, local_, global_); }
    void unlock() { unlock_all(start_lock_, local_, global_); }

  private:
    // Lines 15 to 31. If there is no other superblock to be had, the online one goes offline all the same, and then
    // blocks that were freed remotely can be found. A thread that may use no heap, or is interrupted at each try, as by
    // a debugger's single steps, gets a block of a superblock that stays offline.
    [[gnu::noinline]] void *replace_and_take(unsigned bin) {
        for (unsigned i = 0; i < kRetries; ++i) {
            const int heap = local_.heap_of_caller();
            if (heap < 0) break;
            LocalList *const online = local_.online(heap, bin);
            if (online == nullptr || !online->has_room()) {
                Superblock *const s = global_.take(bin, kClasses.size_of(bin));
                if (s == nullptr && online == nullptr) return nullptr;
                Superblock *const replaced = Superblock::of(online);
                const bool installed = local_.install(heap, bin, online, s == nullptr ? nullptr : &s->local);
                if (installed)
                    show::rule("LFMalloc 004, 3.2.3, malloc lines 25 to 30",
                               "It goes online; what was online goes offline.");
                else
                    show::rule("LFMalloc 004, 3.2.3, malloc lines 27 and 28",
                               "The thread left the heap: it goes back.");
                Superblock *const offline = installed ? replaced : s;
                if (offline != nullptr) global_.put(offline);
            }
            if (void *const block = local_.pop(bin)) {
                show::rule("LFMalloc 004, 3.2.3, malloc lines 9 to 14",
                           "The local list of the online superblock has a block.");
                return block;
            }
        }
        Superblock *const s = global_.take(bin, kClasses.size_of(bin));
        if (s == nullptr) return nullptr;
        void *const block = s->local.pop();
        global_.put(s);
        return block;
    }

    std::atomic<std::size_t> limit_{0};
    LocalHeaps local_;
    GlobalSuperblocks<LocalHeap::kMostBins, kRoom, kMostEmpty> global_;
    Lock<Rank::instances> start_lock_;
};

}  // namespace gr::lab
