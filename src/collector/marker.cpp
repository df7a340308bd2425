// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/marker.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/bits.hpp"
#include "collector/sieve.hpp"
#include "collector/word_at.hpp"
#include "platform/events.hpp"
#include "platform/memory.hpp"

namespace gr {
namespace {

constexpr std::ptrdiff_t kWord = sizeof(std::uintptr_t);

// Where words lie at multiples of a word.
struct NoSieve {
    NoSieve(std::uintptr_t, std::size_t) {}
};

}  // namespace

thread_local constinit Marker *Marker::current_ = nullptr;

Marker::Marker(const MarkSetup &setup)
    : field_(setup.field),
      procedures_(setup.procedures),
      accepts_(setup.field.accepts()),
      most_unasked_(setup.field.may_be_protected() ? platform::page_size() - 1 : SIZE_MAX),
      work_(setup.worklist),
      later_(setup.later),
      words_(setup.field.words()),
      mode_(setup.mode),
      number_(setup.number),
      nothing_(setup.number) {
    for (Mark *&mark : ring_.marks) mark = &nothing_;
}

// The inner loop, and what it keeps in registers: a mark is a byte, so for the compiler to store one may change any member.
// While there is one nobody else uses the marker. No function gets its address, or it would lie in memory, too.
template <bool kFilters, bool kMoves, bool kTells, Words kWords>
class Marker::Loop {
  public:
    explicit Loop(Marker &marker)
        : marker_(marker),
          base_(reinterpret_cast<std::uintptr_t>(marker.field_.base())),
          bytes_(marker.field_.bytes()),
          sieve_(base_, bytes_),
          unaligned_sieve_(base_, bytes_),
          units_(marker.field_.unit_table()),
          number_(marker.number_),
          next_(marker.next_),
          left_(marker.left_),
          top_(marker.work_.top()) {}
    ~Loop() {
        marker_.next_ = next_;
        marker_.left_ = left_;
        marker_.work_.set_top(top_);
    }
    Loop(const Loop &) = delete;
    Loop &operator=(const Loop &) = delete;

    void scan(const char *begin, const char *end) {
        Found found;
        // The processor itself looks ahead no farther than to the end of a page.
        for (const char *fetched = begin; begin < end;) {
            const char *const stop = end - begin > kPieceBytes ? begin + kPieceBytes : end;
            const char *const ahead = end - begin > kAheadBytes ? begin + kAheadBytes : end;
            for (; fetched < ahead; fetched += std::ptrdiff_t{kCacheLineBytes}) __builtin_prefetch(fetched);
            find(begin, stop, &found);
            if constexpr (kWords == Words::anywhere) find_unaligned(begin, stop < end ? stop + kWord : stop, &found);
            follow(&found);
            begin = stop;
        }
    }
    [[gnu::always_inline]] void follow(std::uintptr_t word) {
        if (kMoves) {
            const Candidate candidate = marker_.field_.moving_candidate(word);
            if (candidate.mark != nullptr) exchange(candidate, word);
            return;
        }
        const UnitRow &row = units_.of(word);
        const std::size_t offset = word % kUnitBytes;
        const std::size_t index = row.index_at(offset);
        if (index >= row.blocks) [[unlikely]] {
            const Candidate far = row.size == 0 ? Candidate{} : marker_.field_.far_candidate(word);
            if (far.mark != nullptr) exchange(far, word);
            return;
        }
        const std::uintptr_t begin = word - (offset - index * row.size);
        exchange({row.marks + index, {reinterpret_cast<const char *>(begin), row.descriptor}}, word);
    }
    // What is left of the worklist, but for what is not a number of words: true, and the first such.
    bool run(Task *other) {
        for (;;) {
            if (--left_ == 0) [[unlikely]] {
                left_ = kTurnsToShare;
                top_ = marker_.share(top_);
            }
            Found found;
            bool is_other = false;
            do {
                bool is_cut = false;
                if (!pop(other)) {
                    if (found.count == 0) return false;
                    break;
                }
                if (!other->descriptor.is_length_up_to(kPiece)) [[unlikely]] {
                    is_other = other->descriptor.form() != Descriptor::Form::length ||
                               other->descriptor.length() > marker_.most_unasked_;
                    if (is_other) break;
                    push({other->begin + kPiece, Descriptor::of_length(other->descriptor.length() - kPiece)});
                    other->descriptor = Descriptor::of_length(kPiece);
                    is_cut = true;
                }
                const char *const stop = other->begin + align_down(other->descriptor.length(), sizeof(void *));
                find(other->begin, stop, &found);
                if constexpr (kWords == Words::anywhere)
                    find_unaligned(other->begin, is_cut ? stop + kWord : stop, &found);
            } while (found.count < kEnough);
            follow(&found);
            if (is_other) return true;
        }
    }
    [[gnu::always_inline]] void reach(const Candidate &candidate) {
        if (candidate.mark->load(std::memory_order_relaxed) == number_) return;
        mark(candidate.mark);
        if (kTells) marker_.observer_.tell(marker_.observer_.context, candidate.task.begin);
        if (!candidate.task.descriptor.is_nothing()) push(candidate.task);
    }

  private:
    static constexpr std::size_t kEnough = 16;
    static constexpr std::ptrdiff_t kPieceBytes = kPiece;
    static constexpr std::ptrdiff_t kTwoWords = 2 * sizeof(void *);
    static constexpr std::ptrdiff_t kAheadBytes = 8 * kPieceBytes;

    static constexpr std::size_t kMostInPiece = kWords == Words::anywhere ? kPiece : kPiece / sizeof(void *);

    // Words that may point.
    struct Found {
        std::size_t count = 0;
        std::uintptr_t words[kEnough + kMostInPiece];
    };

    // Of whole words. Without branches that depend on what a word is: whether it points is hard to foretell.
    [[gnu::always_inline]] void find(const char *begin, const char *end, Found *found) {
        std::size_t count = found->count;
        const auto find_at = [&](const char *at) {
            const std::uintptr_t word = word_at(at);
            found->words[count] = word;
            count += word - base_ < bytes_;
        };
        const auto find_in = [&](const char *at, const char *stop) {
            for (; stop - at >= kTwoWords; at += kTwoWords) {
                find_at(at);
                find_at(at + sizeof(void *));
            }
            if (at < stop) find_at(at);
        };
        // Much of what is large has no pointers at all.
        for (; end - begin >= Sieve::kBytes; begin += Sieve::kBytes)
            if (sieve_.lets_pass(begin)) find_in(begin, begin + Sieve::kBytes);
        find_in(begin, end);
        found->count = count;
    }
    // Of whole words: those at no multiple of a word. Few point, so that a branch is easy to foretell.
    [[gnu::always_inline]] void find_unaligned(const char *begin, const char *end, Found *found) {
        constexpr std::ptrdiff_t kAddresses = UnalignedSieve::kAddresses;
        constexpr std::ptrdiff_t kMore = 3 * kAddresses;
        std::size_t count = found->count;
        const auto find_all = [&](const char *at, const char *stop) {
            for (; at < stop; at += kWord) {
                for (std::ptrdiff_t i = 1; i < kWord; ++i) {
                    const std::uintptr_t word = word_at(at + i);
                    found->words[count] = word;
                    count += word - base_ < bytes_;
                }
            }
        };
        const auto look = [&](const char *at) { return unaligned_sieve_.look(at); };
        const char *at = begin;
        for (; end - at >= kMore + UnalignedSieve::kReach; at += kMore + kAddresses) {
            const auto passing = look(at) | look(at + kAddresses) | look(at + 2 * kAddresses) | look(at + kMore);
            if (UnalignedSieve::any(passing)) [[unlikely]]
                find_all(at, at + kMore + kAddresses);
        }
        const char *const rest = at;
        UnalignedSieve::Bytes passing{};
        for (; end - at >= UnalignedSieve::kReach; at += kAddresses) passing |= look(at);
        bool any = UnalignedSieve::any(passing);
        if (at == begin) {
            any = end - at == kTwoWords && UnalignedSieve::may_pass_within(word_at(at), word_at(at + kWord));
        } else if (end - at == kTwoWords) {
            any = UnalignedSieve::any(passing | unaligned_sieve_.look_before(end));
        }
        if (any) [[unlikely]]
            find_all(rest, end - kWord);
        found->count = count;
    }
    [[gnu::always_inline]] void follow(Found *found) {
        for (std::size_t i = 0; i < found->count; ++i) follow(found->words[i]);
        found->count = 0;
    }
    // Two markers that find a block at the same time both mark and scan it. Only the counted build asks whether they did.
    [[gnu::always_inline]] void mark(Mark *mark) {
        if constexpr (kCounted) {
            if (mark->exchange(number_, std::memory_order_relaxed) == number_)
                platform::count(platform::Event::block_marked_twice);
        } else {
            mark->store(number_, std::memory_order_relaxed);
        }
    }
    // Into the ring, and out of it what was there.
    [[gnu::always_inline]] void exchange(const Candidate &candidate, std::uintptr_t word) {
        if (kFilters) {
            const std::size_t displacement = word - reinterpret_cast<std::uintptr_t>(candidate.task.begin);
            if (displacement != 0 && !marker_.accepts_(displacement)) return;
        }
        __builtin_prefetch(static_cast<const void *>(candidate.mark), 1);
        __builtin_prefetch(candidate.task.begin);
        const Candidate out = marker_.ring_.at(next_);
        marker_.ring_.put(next_, candidate);
        next_ = (next_ + 1) % kRing;
        reach(out);
    }
    [[gnu::always_inline]] void push(Task task) {
        if (marker_.work_.is_full(top_)) [[unlikely]] {
            Task *const room = marker_.make_room(top_);
            if (room == nullptr) return;
            top_ = room;
        }
        *top_++ = task;
    }
    [[gnu::always_inline]] bool pop(Task *out) {
        if (marker_.work_.is_empty(top_)) [[unlikely]] {
            Task *const more = marker_.find_more(top_);
            if (more == nullptr) return false;
            top_ = more;
        }
        *out = *--top_;
        return true;
    }

    Marker &marker_;
    const std::uintptr_t base_;
    const std::size_t bytes_;
    const Sieve sieve_;
    [[no_unique_address]] const std::conditional_t<kWords == Words::anywhere, UnalignedSieve, NoSieve> unaligned_sieve_;
    const UnitTable units_;
    const std::uint8_t number_;
    unsigned next_;
    std::uint32_t left_;
    Task *top_;
};

// nullptr: no memory for it.
Task *Marker::make_room(Task *top) {
    work_.set_top(top);
    if (work_.make_room()) return work_.top();
    failed_ = true;
    return nullptr;
}

// nullptr: nothing is left.
Task *Marker::find_more(Task *top) {
    work_.set_top(top);
    return work_.find_more() ? work_.top() : nullptr;
}

Task *Marker::share(Task *top) {
    work_.set_top(top);
    work_.share();
    return work_.top();
}

template <class Use>
void Marker::with_loop(Use use) {
    if (observer_.tell != nullptr) {
        with_loop<true, true>(use);  // what holds while blocks move holds while they do not
    } else if (mode_ == MarkMode::stopped) {
        with_loop<false, false>(use);
    } else {
        with_loop<true, false>(use);
    }
}

template <bool kMoves, bool kTells, class Use>
void Marker::with_loop(Use use) {
    if (accepts_ == nullptr) {
        Loop<false, kMoves, kTells, Words::aligned> loop(*this);
        use(loop);
    } else {
        Loop<true, kMoves, kTells, Words::aligned> loop(*this);
        use(loop);
    }
}

template <class Use>
void Marker::with_loop_anywhere(Use use) {
    Loop<false, false, false, Words::anywhere> loop(*this);
    use(loop);
}

void Marker::follow(std::uintptr_t word) {
    with_loop([&](auto &loop) { loop.follow(word); });
}

void Marker::consider_inside(std::uintptr_t word) {
    const Field::Accepts elsewhere = std::exchange(accepts_, nullptr);
    consider(word);
    accepts_ = elsewhere;
}

void Marker::scan(platform::Range range) {
    if (words_ == Words::anywhere) return scan_anywhere(range);
    const auto first = align_up(reinterpret_cast<std::uintptr_t>(range.begin), sizeof(void *));
    const auto end = align_down(reinterpret_cast<std::uintptr_t>(range.end), sizeof(void *));
    with_loop(
        [&](auto &loop) { loop.scan(reinterpret_cast<const char *>(first), reinterpret_cast<const char *>(end)); });
}

// A word may lie in two ranges that touch: the second is scanned from the last word of the first on.
void Marker::scan_anywhere(platform::Range range) {
    const auto first = align_up(reinterpret_cast<std::uintptr_t>(range.begin), sizeof(void *));
    const auto end = align_down(reinterpret_cast<std::uintptr_t>(range.end), sizeof(void *));
    if (first >= end) return;
    const char *const begin = reinterpret_cast<const char *>(first);
    const char *const from = begin == scanned_to_ ? begin - sizeof(void *) : begin;
    scanned_to_ = reinterpret_cast<const char *>(end);
    with_loop_anywhere([&](auto &loop) { loop.scan(from, scanned_to_); });
}

void Marker::scan_stack(platform::Range range) {
    const Field::Accepts elsewhere = std::exchange(accepts_, nullptr);
    scan(range);
    accepts_ = elsewhere;
}

// What came last, for in a list nothing else is there. false: the ring is empty.
bool Marker::reach_last_of_ring() {
    for (unsigned i = 1; i <= kRing; ++i) {
        const unsigned at = (next_ - i) % kRing;
        if (ring_.marks[at] == &nothing_) continue;
        const Candidate last = ring_.at(at);
        ring_.marks[at] = &nothing_;
        with_loop([&](auto &loop) { loop.reach(last); });
        return true;
    }
    return false;
}

void Marker::drain() {
    const auto run = [this](Task *other) {
        bool found = false;
        const auto use = [&](auto &loop) { found = loop.run(other); };
        if (words_ == Words::anywhere) {
            with_loop_anywhere(use);
        } else {
            with_loop(use);
        }
        return found;
    };
    do {
        for (Task other{}; run(&other);) scan(other);
    } while (reach_last_of_ring());
}

}  // namespace gr
