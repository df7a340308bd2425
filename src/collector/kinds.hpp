// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the kinds of collected memory: each a whole allocator of its own, beside each other in one range of addresses.
// Invariant: a kind, once made, stays; its region lies in its own slot of the range, so an address tells its kind.
// Must not know: what is marked, and when.
#pragma once

#include "collector/field.hpp"
#include "instance/heap_tables.hpp"
#include "instance/instance.hpp"

namespace gr {

// What happens to a block that nothing points to: it is swept; it stays, and what it points to; it stays for the program to
// free, and is only known to be unreachable; it becomes free if the program has freed it, and any block that may be in use
// counts as something that points: none is followed, all are looked through, as the rest of memory is.
enum class Lifetime : std::uint8_t { collected, until_freed, watched, held_back };

struct KindSetup {
    Descriptor descriptor{};  // of its blocks
    bool adds_size = false;   // the block's to the descriptor
    bool zeroed = true;       // when a block is handed out
    Lifetime lifetime = Lifetime::collected;

    // What a block holds is asked of the block itself, also of one that is cached, or not handed out yet: what is freed is
    // to be cleared.
    bool asks_blocks() const {
        return descriptor.form() == Descriptor::Form::procedure || descriptor.form() == Descriptor::Form::per_object;
    }
};

struct Kind {
    Instance &instance;
    const gr_heap_tables *tables;  // of the instance, for who looks from outside
    Marks marks{};
    KindSetup setup{};
    std::uint32_t number = 0;
    bool tells_dead = false;  // the program looks at its dead blocks: none may be one that is only cached

    platform::Range units() const {
        const Region &region = instance.region();
        return {region.address(region.first_unit()), region.address(region.unit_end())};
    }
    // Whether its blocks are scanned.
    bool has_pointers() const { return !setup.descriptor.is_nothing() || setup.adds_size; }
    // Whether what the program frees may lie in a magazine as it is.
    bool may_be_freed_unseen() const {
        const bool is_swept_or_kept =
            setup.lifetime == Lifetime::collected || setup.lifetime == Lifetime::until_freed;
        return is_swept_or_kept && !setup.asks_blocks();
    }
    // Whether a new block is zeroed when it is handed out. Where blocks are asked, free ones are zero already.
    bool clears_new() const { return setup.zeroed && !setup.asks_blocks(); }
    // Whether nobody looks at its dead blocks, so that they may be freed at any time after the stop.
    bool may_be_swept_late() const {
        return setup.lifetime == Lifetime::collected && !setup.asks_blocks() && !tells_dead;
    }
};

class Kinds {
  public:
    constexpr Kinds() = default;

    // Once: the range. false: no addresses.
    bool start(const Options &options);
    // nullptr: there are as many as there may be, or no memory. One at a time.
    Kind *make(const KindSetup &setup);
    // In place of both: the only kind is an allocator that has started, all of whose blocks lie in its region from now on.
    Kind *adopt(Instance &adopted, const KindSetup &setup);

    // Of the block that lies there; nullptr: no kind's.
    Kind *kind_of(const void *p) const {
        const auto offset = static_cast<std::size_t>(static_cast<const char *>(p) - base_);
        const std::size_t slot = offset >> slot_shift_;
        return slot < kMostKinds ? kinds_[slot] : nullptr;
    }
    // What entries in assembly read: where the kinds lie, and what sequences find there.
    const char *base() const { return base_; }
    unsigned slot_shift() const { return slot_shift_; }
    const platform::SlabsPlace *found() const { return found_.data(); }
    Kind *kind(std::uint32_t number) const { return kinds_[number]; }
    std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::uint32_t i = 0; i < count(); ++i) visit(*kinds_[i]);
    }
    // Memory for the marks of all there is, and for the field. false: refused.
    bool cover_marks();
    constexpr Field &field() { return field_; }
    constexpr const Field &field() const { return field_; }

  private:
    bool enlist(Kind *kind);

    const char *base_ = nullptr;  // a multiple of a slot, but of an adopted kind's
    unsigned slot_shift_ = 0;
    Options options_{};
    std::atomic<std::uint32_t> count_{0};  // release, with the acquire of visitors: the kind is whole
    std::array<Kind *, kMostKinds> kinds_{};
    // Of each kind's instance, but of one that is adopted. What is read is whole, for who reads has a block of it.
    std::array<platform::SlabsPlace, kMostKinds> found_{};
    Field field_;
};

}  // namespace gr
