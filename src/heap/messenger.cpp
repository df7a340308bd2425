// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/messenger.hpp"

#include <optional>
#include <utility>

#include "heap/remote_batch.hpp"
#include "platform/events.hpp"

namespace gr {

// Collects blocks in drafts: one chain of messages for each owner. A draft is sent when there is no room for another
// draft, and at the end. The sender's lock is held.
class Messenger::Drafts {
  public:
    Drafts(Messenger &messenger, OwnerIndex from) : messenger_(messenger), outbox_(messenger.owners_.outbox(from)) {}
    Drafts(const Drafts &) = delete;
    Drafts &operator=(const Drafts &) = delete;
    ~Drafts() {
        for (unsigned i = 0; i < begun_; ++i) send(drafts_[i]);
    }

    // false: no message is blank.
    [[gnu::always_inline]] bool add(OwnerIndex to, void *p, std::size_t size) {
        if (draft_->to != to || draft_->written == draft_->room) [[unlikely]]
            return add_slowly(to, p, size);
        draft_->first->write(draft_->written++, p);
        draft_->bytes += size;
        return true;
    }

  private:
    [[gnu::noinline]] bool add_slowly(OwnerIndex to, void *p, std::size_t size) {
        if (draft_->to != to) draft_ = draft_to(to);
        if (draft_->written < draft_->room) {
            draft_->first->write(draft_->written++, p);
        } else if (!begin_message(*draft_, p)) {
            return false;
        }
        draft_->bytes += size;
        return true;
    }

    static constexpr unsigned kDrafts = 16;
    struct Draft {
        OwnerIndex to;
        std::uint32_t written;  // in the first message
        std::uint32_t room;     // 0: there is no message
        std::size_t bytes;
        Message *first;
        Message *last;
    };

    Draft *draft_to(OwnerIndex to) {
        for (unsigned i = 0; i < begun_; ++i) {
            if (drafts_[i].to == to) return &drafts_[i];
        }
        if (begun_ == kDrafts) send(drafts_[--begun_]);
        drafts_[begun_] = {.to = to, .written = 0, .room = 0, .bytes = 0, .first = nullptr, .last = nullptr};
        return &drafts_[begun_++];
    }
    bool begin_message(Draft &draft, void *block) {
        if (none_blank_) return false;
        Message *message = outbox_.blank();
        if (message == nullptr) {
            // The slowest reader has the oldest message and may never run again, so read its mailbox for it.
            const OwnerIndex slowest = outbox_.slowest_reader();
            const std::uint32_t uses = messenger_.owners_.heap(slowest).uses.load(std::memory_order_relaxed);
            messenger_.remote_.settle(slowest);
            message = outbox_.blank();
            if (message != nullptr) outbox_.found_asleep(slowest, uses);
        }
        none_blank_ = message == nullptr;
        if (none_blank_) return false;
        if (draft.first == nullptr) {
            draft.last = message;
        } else {
            draft.first->close(draft.written);
        }
        message->link.store(draft.first, std::memory_order_relaxed);
        message->begin(draft.to, block);
        draft.first = message;
        draft.written = 1;
        draft.room = Message::kBlocks;
        platform::count(platform::Event::message);
        return true;
    }
    void send(Draft &draft) {
        if (draft.first == nullptr) return;
        draft.first->close(draft.written);
        messenger_.owners_.owner(draft.to).inbox.push(draft.first, draft.last);
        messenger_.remote_.note(draft.to, draft.bytes, MayWait::yes);
    }

    Messenger &messenger_;
    Outbox &outbox_;
    unsigned begun_ = 0;
    Draft drafts_[kDrafts];  // the first `begun_`
    Draft *draft_ = draft_to(kNobody);
    bool none_blank_ = false;
};

std::size_t Messenger::send(OwnerIndex from, std::span<void *> blocks) {
    Drafts drafts(*this, from);
    Outbox &outbox = owners_.outbox(from);
    std::uint32_t rest_count = 0;
    std::size_t bytes = 0;
    for (void *const p : blocks) {
        const UnitEntry e = load_entry(region_, region_.unit_of(p));
        const ClassShape &shape = shape_of(class_in(e));
        bytes += shape.size;
        if (e != 0 && is_heap(owner_in(e)) && !outbox.is_asleep(owner_in(e))) {
            // The receiver of the message does not check the block again.
            if (!superblocks_.may_be_block(shape, p)) [[unlikely]]
                returns_.find_or_die(owners_.setup().free, p);
            if (drafts.add(owner_in(e), p, shape.size)) continue;
        }
        blocks[rest_count++] = p;
    }
    hand_in(drafts, outbox, blocks.first(rest_count));
    return bytes;
}

// Goes owner by owner, so that the lock of each global bin is taken once.
void Messenger::hand_in(Drafts &drafts, Outbox &outbox, std::span<void *> blocks) {
    std::optional<RemoteFrees::Batch> bits;
    Returns::Giver giver(returns_, outbox);
    while (!blocks.empty()) {
        const OwnerIndex first = owner_in(load_entry(region_, region_.unit_of(blocks[0])));
        std::uint32_t others = 0;
        const auto count = static_cast<std::uint32_t>(blocks.size());
        for (std::uint32_t i = 0, given = 1; i < count; i += given, given = 1) {
            void *const p = blocks[i];
            const UnitEntry e = load_entry(region_, region_.unit_of(p));
            if (i != 0 && owner_in(e) != first) {
                blocks[others++] = p;
                continue;
            }
            const BlockRef ref = returns_.find_or_die(owners_.setup().free, p);
            given = giver.give(ref, &blocks[i], count - i);
            if (given != 0) continue;
            given = 1;
            giver.let_go();  // settle no other owner under a global bin's lock
            // The owner counted as asleep but is awake.
            if (is_heap(owner_in(e)) && drafts.add(owner_in(e), p, shape_of(class_in(e)).size)) continue;
            if (!bits) bits.emplace(remote_);
            bits->add(ref.superblock, ref.index, p);
        }
        blocks = blocks.first(others);
    }
}

namespace {

constexpr std::uint32_t pushed(std::int64_t result) { return result < 0 ? 0 : static_cast<std::uint32_t>(result); }

}  // namespace

void Messenger::receive(OwnerIndex o) {
    if (!is_heap(o)) return;
    constexpr std::uint32_t kMostLeft = 4 * Message::kBlocks;  // small: the call stack may hold a batch already
    void *left[kMostLeft];
    std::uint32_t left_count = 0;
    for (Message *message = owners_.owner(o).inbox.take_all(); message != nullptr;) {
        Message *const next = message->link.load(std::memory_order_relaxed);  // before the sender may write it again
        if (left_count + Message::kBlocks > kMostLeft)
            returns_.give_back(o, left, std::exchange(left_count, 0), MayWait::no);
        message->prefetch_earlier();
        void **const blocks = left + left_count;
        const std::uint32_t count = message->read(blocks);
        std::uint32_t magazines[Message::kBlocks];
        std::uint32_t different = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const UnitEntry e = load_entry(region_, region_.unit_of(blocks[i]));
            magazines[i] = e != 0 && owner_in(e) == o ? magazine_of(class_in(e)) : kNoMagazine;
            different |= magazines[i] ^ magazines[0];
        }
        Slab slab = owners_.slab(o);
        left_count += different == 0 ? count - pushed(slab.push_n(magazines[0], blocks, count))
                                     : slab.push_each(blocks, magazines, count);
        message = next;
    }
    returns_.give_back(o, left, left_count, MayWait::no);
}

}  // namespace gr
