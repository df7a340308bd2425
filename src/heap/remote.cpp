// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: frees of other heaps' blocks: by letters from heap to heap, and by remote bits where there is no letter.
// Invariant: a block leaves the remote magazine and reaches a letter or a bit under one hold of the heap's lock.
// Must not know: requests in bytes.
#include <optional>
#include <utility>

#include "heap/heaps.hpp"
#include "heap/misuse.hpp"
#include "heap/offline_giver.hpp"

namespace gr {

// Groups remote frees by superblock and word, so that each word costs one atomic operation. The way that always works.
class Heaps::RemoteBits {
  public:
    explicit RemoteBits(Heaps &heaps) : heaps_(heaps) {}
    RemoteBits(const RemoteBits &) = delete;
    RemoteBits &operator=(const RemoteBits &) = delete;
    ~RemoteBits() {
        for (Entry &entry : entries_) send(entry);
    }

    void add(Superblock *s, BlockIndex i, const void *p) {
        const BitPosition at = BitPosition::of(i);
        Entry &entry = entries_[(s->unit.value * 7 + at.word) % kEntries];
        if (entry.superblock != s || entry.word != at.word) {
            send(entry);
            entry = {s, at.word, 0};
        }
        if ((entry.mask & at.mask) != 0) die_twice(heaps_.setup_.free, p, s->shape().size);
        entry.mask |= at.mask;
    }

  private:
    static constexpr unsigned kEntries = 32;
    struct Entry {
        Superblock *superblock = nullptr;
        std::uint32_t word = 0;
        Word mask = 0;
    };

    void send(const Entry &entry) {
        if (entry.superblock != nullptr) heaps_.set_remote(entry.superblock, entry.word, entry.mask, MayWait::yes);
    }

    Heaps &heaps_;
    Entry entries_[kEntries];
};

// Blocks that their owners' heaps shall have, as letters to each; sent when there is no more room for drafts, and at
// the end. The sender's lock is held.
class Heaps::Post {
  public:
    Post(Heaps &heaps, OwnerIndex from) : heaps_(heaps), outbox_(heaps.outbox(from)) {}
    Post(const Post &) = delete;
    Post &operator=(const Post &) = delete;
    ~Post() {
        for (unsigned i = 0; i < begun_; ++i) send(drafts_[i]);
    }

    // false: there is no paper left.
    bool add(OwnerIndex to, void *p, std::size_t size) {
        if (draft_->to != to) draft_ = draft_to(to);
        if (draft_->written < draft_->room) {
            draft_->first->write(draft_->written++, p);
        } else if (!begin_letter(*draft_, p)) {
            return false;
        }
        draft_->bytes += size;
        return true;
    }

  private:
    static constexpr unsigned kDrafts = 16;
    struct Draft {
        OwnerIndex to;
        std::uint32_t written;  // in the first letter
        std::uint32_t room;     // 0: there is no letter
        std::size_t bytes;
        Letter *first;
        Letter *last;
    };

    Draft *draft_to(OwnerIndex to) {
        for (unsigned i = 0; i < begun_; ++i) {
            if (drafts_[i].to == to) return &drafts_[i];
        }
        if (begun_ == kDrafts) send(drafts_[--begun_]);
        drafts_[begun_] = {.to = to, .written = 0, .room = 0, .bytes = 0, .first = nullptr, .last = nullptr};
        return &drafts_[begun_++];
    }
    bool begin_letter(Draft &draft, void *block) {
        if (no_paper_) return false;
        Letter *letter = outbox_.blank();
        if (letter == nullptr) {
            // Whoever has them does not read, perhaps never again: read for him.
            heaps_.settle(outbox_.slowest_reader());
            letter = outbox_.blank();
        }
        no_paper_ = letter == nullptr;
        if (no_paper_) return false;
        if (draft.first == nullptr) {
            draft.last = letter;
        } else {
            draft.first->close(draft.written);
        }
        letter->link.store(draft.first, std::memory_order_relaxed);
        letter->begin(draft.to, block);
        draft.first = letter;
        draft.written = 1;
        draft.room = Letter::kBlocks;
        platform::count(platform::Event::letter);
        return true;
    }
    void send(Draft &draft) {
        if (draft.first == nullptr) return;
        draft.first->close(draft.written);
        heaps_.owner(draft.to).mail.push(draft.first, draft.last);
        heaps_.note_remote(draft.to, draft.bytes, MayWait::yes);
    }

    Heaps &heaps_;
    Outbox &outbox_;
    unsigned begun_ = 0;
    Draft drafts_[kDrafts];  // the first `begun_`
    Draft *draft_ = draft_to(kNobody);
    bool no_paper_ = false;
};

void Heaps::set_remote(Superblock *s, std::uint32_t word, Word mask, MayWait may_wait) {
    const ClassIndex c = s->size_class;
    const std::size_t size = shape_of(c).size;
    platform::count(platform::Event::atomic_operation);
    if (!superblocks_.set_remote(s, word, mask)) {
        const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
        die_twice(setup_.free, superblocks_.address(s, BlockIndex(word * kWordBits + first)), size);
    }
    announce(s);
    const OwnerIndex o = owner_of(s);
    if (!is_heap(o)) return;
    note_remote(o, static_cast<std::size_t>(std::popcount(mask)) * size, may_wait);
    if (may_wait == MayWait::no) global(c).arrears.store(true, std::memory_order_relaxed);
}

// Rule 6: an idle owner still collects; not inside another's drain, lest that become as deep as there are heaps.
void Heaps::note_remote(OwnerIndex o, std::size_t bytes, MayWait may_wait) {
    platform::count(platform::Event::atomic_operation);
    const std::size_t waiting = owner(o).remote_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (waiting > (thrift_.is_on() ? 0 : kRemoteThreshold) && may_wait == MayWait::yes) settle(o);
}

void Heaps::free_to_remote_bits(const char *function, void *p, bool in_handler) {
    const BlockRef ref = find_or_die(function, p);
    if (superblocks_.is_free(ref.superblock, ref.index)) die_twice(function, p, ref.superblock->shape().size);
    if (!in_handler && OfflineGiver(*this, MayWait::yes).give(ref, &p, 1) != 0) return;
    const BitPosition at = BitPosition::of(ref.index);
    set_remote(ref.superblock, at.word, at.mask, MayWait::yes);
}

Heaps::Flush Heaps::flush_remote(OwnerIndex o) {
    if (!lock(o)) return Flush::refused;
    heap(o).note_use();
    const Flush result = flush_remote_locked(o, true);
    unlock_and_settle(o);
    return result;
}

Heaps::Flush Heaps::flush_remote_locked(OwnerIndex o, bool may_grow) {
    platform::count(platform::Event::remote_flush);
    const platform::MagazineHeader header = slab(o).header(kRemoteMagazine);
    const auto capacity = static_cast<std::uint32_t>(header.limit - header.begin);
    if (may_grow && capacity < kRemoteMagazineSlots) {
        const std::uint32_t wider = capacity == 0 ? kMagazineFirstSlots : capacity * 2;
        if (!slab(o).set_capacity(kRemoteMagazine, kRemoteSlotsBegin, wider)) return Flush::moved;
        if (capacity == 0) return Flush::room;
    }
    void *blocks[kRemoteMagazineSlots];
    const std::int64_t popped = slab(o).pop_n(kRemoteMagazine, blocks, kRemoteMagazineSlots);
    if (popped < 0) return Flush::moved;
    send_to_owners(o, {blocks, static_cast<std::size_t>(popped)});
    return Flush::room;
}

// The sender's lock is held.
void Heaps::send_to_owners(OwnerIndex from, std::span<void *const> blocks) {
    std::optional<RemoteBits> bits;
    Post post(*this, from);
    OfflineGiver offline(*this, MayWait::yes);
    const auto count = static_cast<std::uint32_t>(blocks.size());
    for (std::uint32_t i = 0, given = 1; i < count; i += given, given = 1) {
        void *const p = blocks[i];
        const UnitEntry e = load_entry(region_, region_.unit_of(p));
        if (e != 0 && is_heap(owner_in(e))) {
            offline.let_go();  // no other owner is settled under a global bin's lock
            if (post.add(owner_in(e), p, shape_of(class_in(e)).size)) continue;
        }
        const BlockRef ref = find_or_die(setup_.free, p);
        given = offline.give(ref, &blocks[i], count - i);
        if (given != 0) continue;
        offline.let_go();
        if (!bits) bits.emplace(*this);
        bits->add(ref.superblock, ref.index, p);
        given = 1;
    }
}

// The heap's lock is held, perhaps more by a caller further out. Into its magazines, where these may be touched and
// have room, as if freed here; else to the bitmaps.
void Heaps::open_mail(OwnerIndex o) {
    if (!is_heap(o)) return;
    void *left[kBatchBlocks];
    std::uint32_t left_count = 0;
    bool touchable = true;
    for (Letter *letter = owner(o).mail.take_all(); letter != nullptr;) {
        Letter *const next = letter->link.load(std::memory_order_relaxed);  // before it is its sender's again
        void *blocks[Letter::kBlocks];
        const std::uint32_t count = letter->read(blocks);
        if (left_count + count > kBatchBlocks) give_back(o, left, std::exchange(left_count, 0), MayWait::no);
        const auto entry = [&](std::uint32_t i) { return load_entry(region_, region_.unit_of(blocks[i])); };
        UnitEntry e = entry(0);
        UnitEntry other = 0;
        for (std::uint32_t i = 0, alike = 1; i < count; i += alike, alike = 1, e = other) {
            while (i + alike < count && (other = entry(i + alike)) == e) ++alike;
            const bool own = touchable && e != 0 && owner_in(e) == o;
            const std::int64_t pushed = own ? slab(o).push_n(magazine_of(class_in(e)), &blocks[i], alike) : 0;
            if (pushed < 0) touchable = false;
            for (auto n = static_cast<std::uint32_t>(pushed < 0 ? 0 : pushed); n < alike; ++n)
                left[left_count++] = blocks[i + n];
        }
        letter = next;
    }
    give_back(o, left, left_count, MayWait::no);
}

}  // namespace gr
