// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: local heaps entered by LFMalloc's transactional layer (3.1.4): what restartable_heaps.hpp does in assembly, in
//    C++.
// Invariant: as RestartableHeaps. A CPU's table and the words of the lists in it change by transactions on that CPU,
//    each by its last step. What a push announced may be done late; until then its list counts one block too many in
//    use. A pop's word is done at once, since its block may come back on another CPU, which must not find it free.
//    Without rseq these are LockedHeaps by CPU.
// Must not know: where superblocks come from.
#pragma once

#include <concepts>

#include "parts/lfmalloc/local_heaps.hpp"
#include "parts/lfmalloc/transactions.hpp"

namespace gr::lab {

template <WhichHeap Which>
class TransactionalHeaps : public LockedHeaps<ByCpu> {
    static_assert(std::same_as<Which, ByCpu>, "transactions exclude only threads on the same CPU: use ByCpu");

    using Without = LockedHeaps<ByCpu>;

  public:
    bool start() { return Without::start() && (!ByCpu::is_kept || slots_.start(count_)); }
    int heap_of_caller() const { return ByCpu::is_kept ? ByCpu::kept() : Without::heap_of_caller(); }
    void *pop(unsigned bin) {
        if (!ByCpu::is_kept) return Without::pop(bin);
        Transaction transaction(slots_);
        if (transaction.cpu() < 0) return nullptr;
        LocalList *const list = transaction.load(heaps_[transaction.cpu()].online[bin]);
        return list == nullptr ? nullptr : pop(list, transaction);
    }
    // Two stores, the block's link and the list's word.
    bool push(LocalList *list, void *block) {
        if (!ByCpu::is_kept) return Without::push(list, block);
        Transaction transaction(slots_);
        if (transaction.cpu() < 0) return false;
        if (transaction.load(heaps_[transaction.cpu()].online[list->bin]) != list) return false;
        LocalWord s = LocalWord::of(transaction.load(list->word));
        const std::uint64_t link = s.first;
        s.first = LocalList::place_of(block);
        ++s.count;
        return transaction.store_all({{block, link}, {&list->word, s.word()}});
    }
    bool install(int heap, unsigned bin, LocalList *expected, LocalList *desired) {
        if (!ByCpu::is_kept) return Without::install(heap, bin, expected, desired);
        Transaction transaction(slots_);
        if (transaction.cpu() != heap) return false;
        std::atomic<LocalList *> &online = heaps_[heap].online[bin];
        return transaction.load(online) == expected && transaction.store(online, desired);
    }
    // For fork. The child's first transaction on a CPU does what was announced there, as any next transaction does.
    void lock() {
        if (!ByCpu::is_kept) Without::lock();
    }
    void unlock() {
        if (!ByCpu::is_kept) Without::unlock();
    }

  private:
    // As LocalList::pop. The list's shape is loaded by a step, too: one that went offline may get another.
    static void *pop(LocalList *list, Transaction &transaction) {
        LocalWord s = LocalWord::of(transaction.load(list->word));
        char *block = nullptr;
        if (s.first != 0) {
            block = list->begin() + s.first * kAlignment;
            s.first = static_cast<std::uint16_t>(transaction.load(block));
            --s.count;
        } else {
            const auto shape = std::bit_cast<Shape>(transaction.load(&list->block_bytes));
            if (s.fresh >= shape.blocks) return nullptr;
            block = list->begin() + kSuperblockHeaderBytes + std::size_t{s.fresh} * shape.block_bytes;
            ++s.fresh;
        }
        return transaction.store(list->word, s.word()) ? block : nullptr;
    }

    struct Shape {
        std::uint32_t block_bytes;
        std::uint32_t blocks;
    };
    static_assert(offsetof(LocalList, block_bytes) % sizeof(Shape) == 0 &&
                      offsetof(LocalList, blocks) == offsetof(LocalList, block_bytes) + sizeof(std::uint32_t),
                  "one step loads both");

    TransactionSlots slots_;
};

}  // namespace gr::lab
