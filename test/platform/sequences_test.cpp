// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the assembly against its C++ twin: the same random histories on two slabs, signals falling in between.
// Invariant: after every call both slabs hold the same bytes, except where a sequence that did not commit may have
//    left a copy in a slot above `current`; results are equal.
// Must not know: size classes and heaps.
#include <gtest/gtest.h>
#include <linux/rseq.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/size_class.hpp"
#include "platform/process.hpp"
#include "platform/rseq/per_cpu_counter.hpp"
#include "platform/rseq/reference.hpp"

namespace gr::platform::sequences_test {

constexpr auto kWrongCid = static_cast<std::int64_t>(SequenceResult::wrong_cid);
constexpr auto kAborted = static_cast<std::int64_t>(SequenceResult::aborted);
constexpr auto kDiffers = static_cast<std::int64_t>(SequenceResult::differs);

class Sequences : public testing::Test {
  protected:
    void SetUp() override {
        if (!find_area(&gr_sequence_state))
            GTEST_SKIP() << "libc registers no rseq here: nothing interrupts a sequence";
        cids_ = cpu_bound();
        ASSERT_NE(cids_, 0U);
        pin();
        slabs_ = map_slabs();
        gr_sequence_state.slabs = slabs_;
        twin_ = std::vector<std::uint64_t>(kSlabBytes / sizeof(std::uint64_t));
        cid_ = static_cast<std::uint32_t>(current_cid(gr_sequence_state));
        ASSERT_LT(cid_, cids_);
    }
    void TearDown() override {
        if (slabs_ != nullptr) munmap(slabs_, cids_ * kSlabBytes);
        gr_sequence_state = {};
        sched_setaffinity(0, sizeof before_, &before_);
    }

    virtual bool find_area(SequenceState *state) { return find_rseq(state); }

    char *slab() { return slabs_ + cid_ * kSlabBytes; }
    ReferenceSlab twin() { return ReferenceSlab(reinterpret_cast<char *>(twin_.data())); }
    void put_header(std::uint32_t at, MagazineHeader header) {
        std::memcpy(slab() + at, &header, sizeof header);
        std::memcpy(reinterpret_cast<char *>(twin_.data()) + at, &header, sizeof header);
    }
    MagazineHeader header(std::uint32_t at) {
        MagazineHeader header;
        std::memcpy(&header, slab() + at, sizeof header);
        return header;
    }
    bool same_bytes() { return std::memcmp(slab(), twin_.data(), kSlabBytes) == 0; }

  private:
    // One CPU: the cid of a thread that is alone does not change.
    void pin() {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    char *map_slabs() const {
        void *const p = mmap(nullptr, cids_ * kSlabBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        EXPECT_NE(p, MAP_FAILED);
        return static_cast<char *>(p);
    }

    cpu_set_t before_{};
    char *slabs_ = nullptr;
    std::vector<std::uint64_t> twin_;

  protected:
    std::uint32_t cids_ = 0;
    std::uint32_t cid_ = 0;
};

volatile sig_atomic_t signals;

// Interrupts this thread every few dozen microseconds, so that some sequences are cut.
class Interruptions {
  public:
    using Handler = void (*)(int);
    explicit Interruptions(Handler handler = [](int) { signals = signals + 1; }) {
        struct sigaction action {};
        action.sa_handler = handler;
        sigaction(SIGALRM, &action, &before_);
        const itimerval often{{0, 40}, {0, 40}};
        setitimer(ITIMER_REAL, &often, nullptr);
    }
    Interruptions(const Interruptions &) = delete;
    Interruptions &operator=(const Interruptions &) = delete;
    ~Interruptions() {
        const itimerval never{};
        setitimer(ITIMER_REAL, &never, nullptr);
        sigaction(SIGALRM, &before_, nullptr);
    }

  private:
    struct sigaction before_ {};
};

template <class Operation>
std::int64_t until_committed(Operation operation) {
    std::int64_t result = kAborted;
    while (result == kAborted) result = operation();
    return result;
}

// Two magazines side by side, with one sentinel each.
struct Place {
    std::uint32_t header;
    std::uint16_t begin;
    std::uint16_t slots;
};
const Place kPlaces[] = {{header_offset(3), 300, 40}, {header_offset(kRemoteHeader), 400, 256}};

class History : public Sequences {
  protected:
    void expect_agreement() {
        for (int i = 0; i < 100000; ++i) {
            step();
            ASSERT_FALSE(HasFatalFailure()) << "step " << i;
            if (i % 16 == 0) {
                ASSERT_TRUE(same_bytes()) << "step " << i;
            }
        }
        EXPECT_TRUE(same_bytes());
    }
    void step() {
        const Place &place = kPlaces[random_() % 2];
        switch (random_() % 8) {
            case 7:
                return push_each();
            case 0:
                return pop(place);
            case 6:
                return push(place);
            case 1:
            case 2:
                return push_n(place);
            case 3:
            case 4:
                return pop_n(place);
            default:
                return replace(place);
        }
    }
    void pop(const Place &place) {
        void *const expected = twin().pop(place.header);
        void *got = gr_sequence_pop(place.header, &gr_sequence_state.slabs);
        // An abort and an empty magazine look alike: only the first is worth another try.
        while (got == nullptr && expected != nullptr) got = gr_sequence_pop(place.header, &gr_sequence_state.slabs);
        ASSERT_EQ(got, expected);
    }
    // Of the caller's own heap, or of the next one's; now and then the block that lies on top already.
    void push(const Place &place) {
        const bool is_foreign = place.header == header_offset(kRemoteHeader);
        const std::uint64_t entry =
            entry_of(is_foreign ? cid_ + 1 : cid_, is_foreign ? header_offset(5) : place.header);
        void *block = reinterpret_cast<void *>(16 * (random_() % 8 == 0 ? next_block_ : ++next_block_));
        const bool expected = !twin().is_top(place.header, block) && twin().push(place.header, block);
        const auto try_once = [&] {
            return gr_sequence_push(block, entry, &gr_sequence_state.slabs, next_block_, counter_.words());
        };
        // An abort and a full magazine look alike.
        bool pushed = try_once();
        while (!pushed && expected) pushed = try_once();
        ASSERT_EQ(pushed, expected);
        if (pushed) counted_ += next_block_;
        ASSERT_EQ(counter_.sum(), counted_);
    }
    void push_n(const Place &place) { push_n(place, 1 + random_() % 48); }
    void push_n(const Place &place, std::size_t most) {
        std::vector<void *> blocks(most);
        for (void *&block : blocks) block = reinterpret_cast<void *>(16 * ++next_block_);
        const auto count = static_cast<std::uint32_t>(blocks.size());
        const std::int64_t expected = twin().push_n(place.header, blocks.data(), count);
        ASSERT_EQ(until_committed([&] {
                      return gr_sequence_push_n(cid_, place.header, blocks.data(), count, &gr_sequence_state.slabs);
                  }),
                  expected);
    }
    // Into both magazines and into one without a slot. A block that is cut stays, so the twin is told which did.
    void push_each() {
        std::vector<void *> blocks(1 + random_() % 24);
        std::vector<std::uint32_t> headers(blocks.size());
        for (void *&block : blocks) block = reinterpret_cast<void *>(16 * ++next_block_);
        for (std::uint32_t &to : headers) to = random_() % 4 == 0 ? header_offset(0) : kPlaces[random_() % 2].header;
        std::vector<void *> left = blocks;
        const std::uint32_t stay = gr_sequence_push_each(
            cid_, left.data(), headers.data(), static_cast<std::uint32_t>(left.size()), &gr_sequence_state.slabs);
        ASSERT_LE(stay, blocks.size());
        std::uint32_t stayed = 0;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (stayed < stay && left[stayed] == blocks[i]) {
                ++stayed;
            } else {
                ASSERT_TRUE(twin().push(headers[i], blocks[i])) << "there was no room";
            }
        }
        ASSERT_EQ(stayed, stay) << "not in their order";
        // One that was cut may lie in the slot above the top, where another one goes.
        for (const Place &place : kPlaces) push_n(place, 1);
    }
    void pop_n(const Place &place) {
        const auto count = static_cast<std::uint32_t>(1 + random_() % 48);
        std::vector<void *> expected(count, this);  // also what must not be written shows
        std::vector<void *> got(count, this);
        const std::int64_t moved = twin().pop_n(place.header, expected.data(), count);
        ASSERT_EQ(until_committed([&] {
                      return gr_sequence_pop_n(cid_, place.header, got.data(), count, &gr_sequence_state.slabs);
                  }),
                  moved);
        ASSERT_EQ(got, expected);
    }
    // Moves the limit, also below current, or expects what is not there.
    void replace(const Place &place) {
        MagazineHeader next = header(place.header);
        std::uint64_t expected = as_word(next);
        if (random_() % 3 == 0) expected ^= std::uint64_t{1} << (random_() % 64);
        next.begin = place.begin;
        if (next.current == 0) next.current = place.begin;
        next.limit = static_cast<std::uint16_t>(place.begin + random_() % (place.slots + 1U));
        const std::int64_t result = twin().replace(place.header, expected, as_word(next));
        ASSERT_EQ(until_committed([&] {
                      return gr_sequence_replace(cid_, place.header, expected, as_word(next), &gr_sequence_state.slabs);
                  }),
                  result);
    }

    static std::uint64_t entry_of(std::uint32_t cid, std::uint32_t header) {
        return ((std::uint64_t{cid} << kSlabShift) + header) << 32 | cid;
    }
    void SetUp() override {
        Sequences::SetUp();
        counter_.start(cid_ + 1);
    }

    std::mt19937 random_{20};
    std::uintptr_t next_block_ = 0;
    PerCpuCounter counter_;
    std::uint64_t counted_ = 0;
};

TEST_F(History, AgreesWithTheReference) { expect_agreement(); }

// Where no kernel looks at it, as under an emulator: nothing is interrupted there, but all else is the assembly's.
class HistoryInAnAreaOfItsOwn : public History {
    bool find_area(SequenceState *state) override {
        static thread_local struct rseq area;
        const auto thread = static_cast<std::intptr_t>(thread_pointer());
        state->rseq_offset = reinterpret_cast<std::intptr_t>(&area) - thread;
        state->cid_offset = reinterpret_cast<std::intptr_t>(&area.cpu_id_start) - thread;
        return true;
    }
};

TEST_F(HistoryInAnAreaOfItsOwn, AgreesWithTheReference) { expect_agreement(); }

TEST_F(History, AgreesWithTheReferenceUnderSignals) {
    const Interruptions interruptions;
    const sig_atomic_t until = signals + 2000;
    while (signals < until) {
        for (int i = 0; i < 100; ++i) {
            step();
            ASSERT_FALSE(HasFatalFailure());
        }
        ASSERT_TRUE(same_bytes());
    }
}

TEST_F(Sequences, AnAllZeroHeaderIsEmptyAndFull) {
    void *block = this;
    EXPECT_EQ(gr_sequence_pop(header_offset(5), &gr_sequence_state.slabs), nullptr);
    EXPECT_EQ(until_committed(
                  [&] { return gr_sequence_push_n(cid_, header_offset(5), &block, 1, &gr_sequence_state.slabs); }),
              0);
    EXPECT_EQ(
        until_committed([&] { return gr_sequence_pop_n(cid_, header_offset(5), &block, 1, &gr_sequence_state.slabs); }),
        0);
    EXPECT_TRUE(same_bytes()) << "a slab of zeroes was written to";
}

TEST_F(Sequences, WhatMayNotBePushedIsNeitherPushedNorCounted) {
    PerCpuCounter counter;
    counter.start(cid_ + 1);
    put_header(header_offset(3), {300, 340, 300});
    put_header(header_offset(kRemoteHeader), {400, 440, 400});
    const auto push = [&](std::uint64_t owner, std::uint64_t offset) {
        return gr_sequence_push(&counter, offset << 32 | owner, &gr_sequence_state.slabs, 1, counter.words());
    };
    const std::uint64_t slab = std::uint64_t{cid_} << kSlabShift;
    EXPECT_FALSE(push(cid_, slab)) << "no class";
    EXPECT_FALSE(push(cid_, slab + header_offset(5))) << "no room";
    EXPECT_FALSE(push(UINT32_MAX, 0)) << "a run's";
    EXPECT_FALSE(push(cid_ + 1, header_offset(kClassCount))) << "beyond the largest class";
    EXPECT_TRUE(same_bytes());
    EXPECT_EQ(counter.sum(), 0U);
    counter.add(5);
    EXPECT_EQ(counter.sum(), 5U);
}

TEST_F(Sequences, TheLastOfManyLiesOnTopBothWays) {
    put_header(header_offset(3), {300, 340, 300});
    void *blocks[] = {&blocks[0], &blocks[1], &blocks[2]};
    ASSERT_EQ(until_committed(
                  [&] { return gr_sequence_push_n(cid_, header_offset(3), blocks, 3, &gr_sequence_state.slabs); }),
              3);
    void *popped = nullptr;
    while (popped == nullptr) popped = gr_sequence_pop(header_offset(3), &gr_sequence_state.slabs);
    EXPECT_EQ(popped, blocks[2]);
    void *out[3] = {};
    ASSERT_EQ(
        until_committed([&] { return gr_sequence_pop_n(cid_, header_offset(3), out, 3, &gr_sequence_state.slabs); }),
        2);
    EXPECT_EQ(out[0], blocks[0]);
    EXPECT_EQ(out[1], blocks[1]);
    EXPECT_EQ(out[2], nullptr);
    EXPECT_EQ(gr_sequence_pop(header_offset(3), &gr_sequence_state.slabs), nullptr) << "the sentinel was popped";
}

TEST_F(Sequences, WhatFindsNoRoomAreTheFirst) {
    put_header(header_offset(3), {300, 302, 300});
    void *blocks[] = {&blocks[0], &blocks[1], &blocks[2]};
    ASSERT_EQ(until_committed(
                  [&] { return gr_sequence_push_n(cid_, header_offset(3), blocks, 3, &gr_sequence_state.slabs); }),
              2);
    void *out[3] = {};
    ASSERT_EQ(
        until_committed([&] { return gr_sequence_pop_n(cid_, header_offset(3), out, 1, &gr_sequence_state.slabs); }),
        1);
    EXPECT_EQ(out[0], blocks[2]);
    ASSERT_EQ(
        until_committed([&] { return gr_sequence_pop_n(cid_, header_offset(3), out, 3, &gr_sequence_state.slabs); }),
        1);
    EXPECT_EQ(out[0], blocks[1]);
}

TEST_F(Sequences, EachGoesToItsOwnMagazineAndTheOthersStay) {
    put_header(header_offset(3), {300, 302, 300});
    put_header(header_offset(5), {400, 401, 400});
    void *blocks[] = {&blocks[0], &blocks[1], &blocks[2], &blocks[3], &blocks[4], &blocks[5]};
    const std::uint32_t headers[] = {header_offset(3), header_offset(5), header_offset(0),
                                     header_offset(5), header_offset(3), header_offset(3)};
    void *left[6] = {};
    ReferenceSlab reference(twin());
    std::copy(std::begin(blocks), std::end(blocks), left);
    ASSERT_EQ(reference.push_each(left, headers, 6), 3U);
    std::copy(std::begin(blocks), std::end(blocks), left);
    ASSERT_EQ(gr_sequence_push_each(cid_, left, headers, 6, &gr_sequence_state.slabs), 3U);
    EXPECT_EQ(left[0], blocks[2]) << "no magazine";
    EXPECT_EQ(left[1], blocks[3]) << "no room";
    EXPECT_EQ(left[2], blocks[5]) << "no room";
    EXPECT_EQ(header(header_offset(3)).current, 302);
    EXPECT_EQ(header(header_offset(5)).current, 401);
    EXPECT_TRUE(same_bytes());
}

TEST_F(Sequences, ALimitBelowCurrentMeansFull) {
    put_header(header_offset(3), {310, 305, 300});
    void *block = this;
    EXPECT_EQ(until_committed(
                  [&] { return gr_sequence_push_n(cid_, header_offset(3), &block, 1, &gr_sequence_state.slabs); }),
              0);
    EXPECT_EQ(header(header_offset(3)).current, 310);
}

TEST_F(Sequences, ReplaceLooksAtTheWholeHeader) {
    const MagazineHeader now{310, 320, 300};
    const MagazineHeader next{310, 330, 300};
    put_header(header_offset(3), now);
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t other = as_word(now) ^ std::uint64_t{1} << bit;
        ASSERT_EQ(until_committed([&] {
                      return gr_sequence_replace(cid_, header_offset(3), other, as_word(next),
                                                 &gr_sequence_state.slabs);
                  }),
                  kDiffers);
        ASSERT_TRUE(same_bytes());
    }
    ASSERT_EQ(until_committed([&] {
                  return gr_sequence_replace(cid_, header_offset(3), as_word(now), as_word(next),
                                             &gr_sequence_state.slabs);
              }),
              0);
    EXPECT_EQ(as_word(header(header_offset(3))), as_word(next));
}

TEST_F(Sequences, AnotherCidIsRefusedAndNothingMoves) {
    put_header(header_offset(3), {310, 320, 300});
    void *blocks[4] = {};
    for (const std::uint32_t other : {cid_ + 1, cid_ ^ 0x80000000U, UINT32_MAX}) {
        EXPECT_EQ(gr_sequence_push_n(other, header_offset(3), blocks, 4, &gr_sequence_state.slabs), kWrongCid);
        EXPECT_EQ(gr_sequence_pop_n(other, header_offset(3), blocks, 4, &gr_sequence_state.slabs), kWrongCid);
        EXPECT_EQ(gr_sequence_replace(other, header_offset(3), 0, 1, &gr_sequence_state.slabs), kWrongCid);
        const std::uint32_t headers[4] = {header_offset(3), header_offset(3), header_offset(3), header_offset(3)};
        EXPECT_EQ(gr_sequence_push_each(other, blocks, headers, 4, &gr_sequence_state.slabs), 4U);
    }
    EXPECT_TRUE(same_bytes());
}

// A thread of a program that manages rseq by itself: its field holds a negative CPU.
TEST_F(Sequences, AThreadWithoutRseqIsRefused) {
    put_header(header_offset(3), {310, 320, 300});
    bool unregistered = false;
    std::int64_t results[4] = {};
    std::uint32_t stay = 0;
    bool pushed = false;
    PerCpuCounter counter;
    counter.start(cids_);
    std::int32_t cid = 0;
    std::thread([&] {
        constexpr unsigned kRegisteredBytes = 32;
        char *const area = reinterpret_cast<char *>(thread_pointer()) + gr_sequence_state.rseq_offset;
        unregistered = syscall(SYS_rseq, area, kRegisteredBytes, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0;
        if (!unregistered) return;
        void *block = area;
        pushed = gr_sequence_push(block, std::uint64_t{header_offset(3)} << 32 | cid_, &gr_sequence_state.slabs, 1,
                                  counter.words());
        results[0] = gr_sequence_pop(header_offset(3), &gr_sequence_state.slabs) == nullptr ? 0 : 1;
        results[1] = gr_sequence_push_n(cid_, header_offset(3), &block, 1, &gr_sequence_state.slabs);
        results[2] = gr_sequence_pop_n(cid_, header_offset(3), &block, 1, &gr_sequence_state.slabs);
        results[3] = gr_sequence_replace(cid_, header_offset(3), 0, 1, &gr_sequence_state.slabs);
        const std::uint32_t magazine = header_offset(3);
        stay = gr_sequence_push_each(cid_, &block, &magazine, 1, &gr_sequence_state.slabs);
        cid = current_cid(gr_sequence_state);
    }).join();
    if (!unregistered) GTEST_SKIP() << "libc registered more than the original 32 bytes; cannot unregister them";
    EXPECT_FALSE(pushed);
    EXPECT_EQ(results[0], 0);
    EXPECT_EQ(stay, 1U);
    for (int i = 1; i < 4; ++i) EXPECT_EQ(results[i], kWrongCid) << i;
    EXPECT_LT(cid, 0);
    EXPECT_TRUE(same_bytes());
}

// Pop has no cid: it takes from the slab of the CPU it runs on, so one that is cut takes nothing.
TEST_F(Sequences, SignalsNeitherLoseNorDoubleBlocks) {
    put_header(header_offset(3), {300, 340, 300});
    const Interruptions interruptions;
    const sig_atomic_t until = signals + 1000;
    std::uintptr_t next = 0;
    while (signals < until) {
        void *in = reinterpret_cast<void *>(16 * ++next);
        ASSERT_EQ(until_committed(
                      [&] { return gr_sequence_push_n(cid_, header_offset(3), &in, 1, &gr_sequence_state.slabs); }),
                  1);
        ASSERT_EQ(header(header_offset(3)).current, 301);
        void *out = nullptr;
        while (out == nullptr) {
            ASSERT_EQ(header(header_offset(3)).current, 301);
            out = gr_sequence_pop(header_offset(3), &gr_sequence_state.slabs);
        }
        ASSERT_EQ(out, in);
        ASSERT_EQ(header(header_offset(3)).current, 300);
    }
}

// Ids that main and handler push and pop on one magazine; every one comes out once.
struct Traffic {
    static constexpr std::uint32_t kIds = 4U << 20;
    std::uint32_t cid = 0;
    std::atomic<std::uint32_t> next{0};  // one instruction: the handler takes numbers too
    std::vector<std::uint8_t> pushed = std::vector<std::uint8_t>(kIds);
    std::vector<std::uint8_t> popped = std::vector<std::uint8_t>(kIds);

    // For main and for a handler that interrupts it anywhere, also inside this.
    void push() {
        const std::uint32_t id = ++next;
        void *block = reinterpret_cast<void *>(std::uintptr_t{id} << 4);
        const std::int64_t moved = until_committed(
            [&] { return gr_sequence_push_n(cid, header_offset(3), &block, 1, &gr_sequence_state.slabs); });
        pushed[id] = moved == 1;
    }
    bool pop() {
        void *block = nullptr;
        const std::int64_t moved = until_committed(
            [&] { return gr_sequence_pop_n(cid, header_offset(3), &block, 1, &gr_sequence_state.slabs); });
        if (moved == 1) ++popped[reinterpret_cast<std::uintptr_t>(block) >> 4];
        return moved == 1;
    }
    bool has_room() const { return next + 8 < kIds; }
};
Traffic *traffic;

void work_on_the_same_magazine(int) {
    signals = signals + 1;
    if (!traffic->has_room()) return;
    if (signals % 3 == 0) {
        traffic->pop();
    } else {
        traffic->push();
    }
}

TEST_F(Sequences, AHandlerOnTheSameMagazineLosesNothing) {
    put_header(header_offset(3), {300, 340, 300});
    Traffic all;
    all.cid = cid_;
    traffic = &all;
    const sig_atomic_t until = signals + 4000;
    {
        const Interruptions interruptions(work_on_the_same_magazine);
        while (signals < until && all.has_room()) {
            all.push();
            all.pop();
            all.pop();
            all.push();
        }
    }
    while (all.pop()) {
    }
    for (std::uint32_t id = 0; id <= all.next; ++id) ASSERT_EQ(all.pushed[id], all.popped[id]) << "block " << id;
}

}  // namespace gr::platform::sequences_test
