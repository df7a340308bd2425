// SPDX-License-Identifier: Apache-2.0 OR MIT
// A descriptor is unmade before its units can be handed out again.

#include "heap/unit_store.hpp"

#include "platform/memory.hpp"
#include "platform/reentry.hpp"

namespace gr {

Superblock *UnitStore::acquire_superblock(ClassIndex c, Prefer prefer, Near near) {
    release_deferred();
    Run run;
    if (!pages_.allocate(UnitCount(shape_of(c).units), UnitCount(1), prefer, &run, near)) return nullptr;
    if (Superblocks::is_wide(c) && !pages_.ensure_table(Superblocks::kWideBitmaps, run)) {
        pages_.release(run.first, run.count);
        return nullptr;
    }
    return superblocks_.make_superblock(run.first, c, run.zeroed);
}

void *UnitStore::acquire_run(UnitCount count, UnitCount alignment, CpuGroup group, std::size_t kept, bool *zeroed) {
    const platform::Reentry entry;
    if (entry.again()) return nullptr;
    release_deferred();
    Run run;
    if (!pages_.allocate(count, alignment, Prefer::warm, &run, Near{group})) return nullptr;
    *zeroed = run.zeroed;
    char *block = region_.address(run.first);
    // A collection that stops this thread frees a run with an entry unless a register or the stack has its address. So
    // the compiler may not compute the address again from the unit.
    asm volatile("" : "+r"(block));
    const std::size_t absent = run.zeroed ? SIZE_MAX : superblocks_.absent_tail(run.first, run.count);
    Superblock *const s = superblocks_.make_run(run.first, run.count);
    if (kept < s->bytes()) leave_tail(s, kept, absent);
    // The run's other entries stay 0: no block starts inside a run. release: pairs with the acquire of a walk. The walk
    // may have got the address from no other thread, and reads the entry before the descriptor.
    std::atomic_ref<UnitEntry>(region_.entry(s->unit)).store(kRunEntry, std::memory_order_release);
    return block;
}

// The pages that are not absent already are returned to the OS. What the kernel refuses to take, as it does with locked
// pages, stays a part of the block. Of an absent tail the program may have written to the first byte.
void UnitStore::leave_tail(Superblock *run, std::size_t kept, std::size_t absent) {
    const std::size_t page = platform::page_size();
    const std::size_t begin = align_up(kept, page);
    if (page < kLeastPageBytes || begin >= run->bytes()) return;
    const std::size_t tail = run->bytes() - begin;
    char *const first = region_.address(run->unit) + begin;
    if (absent >= tail) {
        if (absent == tail && *first != 0) *first = 0;
    } else {
        if (!platform::purge(first, tail)) return;
        pages_.huge_pages().was_split(region_.chunk_of(UnitIndex(run->unit.value + run->units.value - 1)));
    }
    Superblocks::set_tail(run, tail);
    pages_.left_absent(tail);
}

bool UnitStore::release_run(Superblock *run) {
    const platform::Reentry entry;
    // The exchange decides which of two frees of the same run is the second.
    if (std::atomic_ref<UnitEntry>(region_.entry(run->unit)).exchange(0, std::memory_order_relaxed) != kRunEntry) {
        return false;
    }
    release(run);
    return true;
}

bool UnitStore::resize_run(Superblock *run, UnitCount count) {
    const platform::Reentry entry;
    if (entry.again()) return false;
    const UnitCount old = run->units;
    if (count > old) {
        if (!pages_.extend(run->unit, old, count)) return false;
        superblocks_.resize_run(run, count);
        return true;
    }
    superblocks_.resize_run(run, count);
    if (count < old && !pages_.release(run->unit + count, old - count)) {
        superblocks_.resize_run(run, old);
        return false;
    }
    return true;
}

void UnitStore::hand_over(Superblock *s, OwnerIndex to) {
    // release: a thread that reads the new owner finds the superblock as the previous owner left it. seq_cst: see
    // owner_of.
    s->owner.store(to, std::memory_order_seq_cst);
    store_entries(region_, s, entry_of(to, s->size_class));
}

void UnitStore::take_back(Superblock *s) {
    if (s->absent.any()) pages_.became_present(s->absent.count() * platform::page_size());
    store_entries(region_, s, 0);
    s->owner.store(kNobody, std::memory_order_seq_cst);  // see owner_of
    release(s);
}

void UnitStore::release(Superblock *s) {
    const UnitIndex first = s->unit;
    const UnitCount count = s->units;
    const std::uint32_t absent = s->use == UnitUse::superblock ? s->absent.count() : 0;
    // The tail counts as present, although its pages are absent until the units are used again.
    if (s->use == UnitUse::run && s->tail_pages != 0) pages_.became_present(s->tail_bytes());
    superblocks_.unmake(s);
    // A signal handler must not wait here: the holder of this page heap may wait for a page heap that the handler
    // interrupted.
    if (!platform::Reentry::is_again() && pages_.release(first, count, absent)) return;
    Superblock *head = deferred_.load(std::memory_order_relaxed);
    do {
        s->deferred = head;
    } while (!deferred_.compare_exchange_weak(head, s, std::memory_order_release, std::memory_order_relaxed));
}

void UnitStore::release_deferred() {
    if (deferred_.load(std::memory_order_relaxed) == nullptr) return;
    Superblock *s = deferred_.exchange(nullptr, std::memory_order_acquire);
    while (s != nullptr) {
        Superblock *const next = s->deferred;
        release(s);
        s = next;
    }
}

}  // namespace gr
