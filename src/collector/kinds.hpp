// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the kinds of collected memory: each kind is a complete allocator, and all lie in one range of addresses.
// Invariant: a kind that was made stays. Its region lies in its own slot of the range, so an address tells its kind. The
//    range is reserved; in a process with a limit on addresses (RLIMIT_AS) nothing is mapped but what kinds use.
// Must not know: what is marked, and when.
#pragma once

#include "collector/field.hpp"
#include "instance/heap_tables.hpp"
#include "instance/instance.hpp"

namespace gr {

// What happens to a block that nothing points to. collected: the sweep frees it. until_freed: the block stays, with all
// that it points to. watched: the block stays until the program frees it, and is only known to be unreachable.
// held_back: the block becomes free if the program has freed it; every block that may be in use is scanned like a root,
// and no pointer is followed.
enum class Lifetime : std::uint8_t { collected, until_freed, watched, held_back };

struct KindSetup {
    Descriptor descriptor{};  // of each block
    bool adds_size = false;   // whether a block's size is added to the descriptor
    bool zeroed = true;       // whether a block is zeroed when it is handed out
    Lifetime lifetime = Lifetime::collected;
    Words words = Words::aligned;  // in its blocks and in the roots; of an adopted kind only

    // Whether each block says itself what it holds. Cached blocks and blocks that were never handed out are asked, too,
    // so a freed block must be cleared.
    bool asks_blocks() const {
        return descriptor.form() == Descriptor::Form::procedure || descriptor.form() == Descriptor::Form::per_object;
    }
};

struct Kind {
    Instance &instance;
    const gr_heap_tables *tables;  // of the instance, for tools outside the process
    Marks marks{};
    KindSetup setup{};
    std::uint32_t number = 0;
    bool tells_dead = false;  // the program looks at the kind's dead blocks, so no dead block may only be cached
    bool keeps_dead = false;  // besides, dead blocks stay in the sweep, and are freed when the program has been asked

    platform::Range units() const {
        const Region &region = instance.region();
        return {region.address(region.first_unit()), region.address(region.unit_end())};
    }
    // Whether the kind's blocks are scanned.
    bool has_pointers() const { return !setup.descriptor.is_nothing() || setup.adds_size; }
    // Whether a freed block may lie in a magazine with its old contents.
    bool may_be_freed_unseen() const {
        const bool is_swept_or_kept = setup.lifetime == Lifetime::collected || setup.lifetime == Lifetime::until_freed;
        return is_swept_or_kept && !setup.asks_blocks();
    }
    // Whether a new block is zeroed when it is handed out. In a kind whose blocks are asked, free blocks are zero.
    bool clears_new() const { return setup.zeroed && !setup.asks_blocks(); }
    // Whether dead blocks may be freed at any time after the stop: neither the program nor a marker looks at them.
    bool may_be_swept_late() const {
        return setup.lifetime == Lifetime::collected && !setup.asks_blocks() && !tells_dead;
    }
};

class Kinds {
  public:
    constexpr Kinds() = default;

    // Once. Reserves the range. false: no addresses.
    bool start(const Options &options);
    // The bytes that the process might map at the start, if the range is not reserved; else SIZE_MAX.
    std::size_t address_limit() const { return address_limit_; }
    bool is_reserved() const { return address_limit_ == SIZE_MAX; }
    // One call at a time. nullptr: there are kMostKinds kinds already, or there is no memory.
    Kind *make(const KindSetup &setup);
    // In place of start() and make(): the only kind is an allocator that has started. All its blocks lie in its region
    // from now on.
    Kind *adopt(Instance &adopted, const KindSetup &setup);

    // The kind whose slot the address lies in. nullptr: none.
    Kind *kind_of(const void *p) const {
        const auto offset = static_cast<std::size_t>(static_cast<const char *>(p) - base_);
        const std::size_t slot = offset >> slot_shift_;
        return slot < kMostKinds ? kinds_[slot] : nullptr;
    }
    // For the entries in assembly: where the kinds lie, and what sequences find there.
    const char *base() const { return base_; }
    unsigned slot_shift() const { return slot_shift_; }
    const platform::SlabsPlace *found() const { return found_.data(); }
    Kind *kind(std::uint32_t number) const { return kinds_[number]; }
    std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::uint32_t i = 0; i < count(); ++i) visit(*kinds_[i]);
    }
    // Bytes of units in use, of all kinds, without absent pages.
    std::size_t present_bytes() const;
    // Commits memory for the marks of all units, and for the field. false: refused.
    bool cover_marks();
    constexpr Field &field() { return field_; }
    constexpr const Field &field() const { return field_; }

  private:
    bool reserve();
    bool spread();
    bool begin_field(std::size_t slot);
    bool enlist(Kind *kind);

    const char *base_ = nullptr;  // a multiple of the slot size, except for an adopted kind
    unsigned slot_shift_ = 0;
    std::size_t address_limit_ = SIZE_MAX;
    Options options_{};
    std::atomic<std::uint32_t> count_{0};  // released by enlist(), acquired by count(): the kind is complete
    std::array<Kind *, kMostKinds> kinds_{};
    // For each kind's instance, except an adopted one. A thread that reads an entry has a block of the kind, so the
    // entry is complete.
    std::array<platform::SlabsPlace, kMostKinds> found_{};
    Field field_;
};

}  // namespace gr
