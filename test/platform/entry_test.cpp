// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which addresses free's fast path takes, and which it leaves to the slow one, instruction by instruction.
// Invariant: the area of rseq is the test's own and the kernel knows nothing of it, so that the assembly runs where libc
//    registers none, too: under the emulator. There is no other thread, so nothing is ever restarted.
// Must not know: what the slow paths do.
#include <gtest/gtest.h>
#include <linux/rseq.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "base/config.hpp"
#include "platform/rseq/reference.hpp"

extern "C" {
void entry_free(void *p);

std::vector<void *> left;  // to the slow path
void gr_free_slow(void *p) { left.push_back(p); }
void *gr_malloc_slow(std::size_t) { return nullptr; }
void *gr_new_slow(std::size_t) { return nullptr; }
}

namespace gr::platform::entry_test {

constexpr std::uint32_t kOwn = header_offset(3);
constexpr std::uint32_t kRemote = header_offset(kRemoteHeader);
constexpr std::uint32_t kUnits = 4;  // of which the first holds the unit map

thread_local struct rseq area;

char *map(std::size_t bytes) {
    void *const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(p, MAP_FAILED);
    return static_cast<char *>(p);
}

// Units 1 and 3 are the own heap's, unit 2 is that of another one. No byte of them is read.
class Entry : public testing::Test {
  protected:
    void SetUp() override {
        reserved_ = map((kUnits + 1) * kUnitBytes);
        base_ = reserved_ + (kUnitBytes - reinterpret_cast<std::uintptr_t>(reserved_) % kUnitBytes);
        slab_ = map(kSlabBytes);
        const std::uint64_t own = std::uint64_t{kOwn} << 32;
        const std::uint64_t others = (std::uint64_t{7} << kSlabShift | kOwn) << 32 | 7;
        const std::uint64_t entries[kUnits] = {0, own, others, own};
        std::memcpy(base_, entries, sizeof entries);
        put_header(kOwn, {.current = 300, .limit = 301, .begin = 300});
        put_header(kRemote, {.current = 400, .limit = 401, .begin = 400});
        const auto thread = static_cast<std::intptr_t>(thread_pointer());
        gr_sequence_state.rseq_offset = reinterpret_cast<std::intptr_t>(&area) - thread;
        gr_sequence_state.cid_offset = reinterpret_cast<std::intptr_t>(&area.cpu_id_start) - thread;
        gr_sequence_state.base = base_;
        gr_sequence_state.slabs = slab_;
        gr_sequence_state.fine_limit = kUnits * (kUnitBytes / kFineStep);
        left.clear();
    }
    void TearDown() override {
        gr_sequence_state = {};
        munmap(slab_, kSlabBytes);
        munmap(reserved_, (kUnits + 1) * kUnitBytes);
    }
    void put_header(std::uint32_t at, MagazineHeader header) { std::memcpy(slab_ + at, &header, sizeof header); }

    // Where the address went: it is in one place, and nowhere afterwards.
    enum class Way : std::uint8_t { own, remote, slow, lost };
    Way free(void *p) {
        entry_free(p);
        ReferenceSlab slab(slab_);
        void *own = nullptr;
        void *remote = nullptr;
        const auto pushed = slab.pop_n(kOwn, &own, 1);
        const auto sent = slab.pop_n(kRemote, &remote, 1);
        const bool slow = left.size() == 1 && left[0] == p;
        const bool any = !left.empty();
        left.clear();
        if (pushed + sent + (any ? 1 : 0) != 1) return Way::lost;
        if (slow) return Way::slow;
        if (pushed == 1 && own == p) return Way::own;
        return sent == 1 && remote == p ? Way::remote : Way::lost;
    }
    char *unit(std::uint32_t u) { return base_ + u * kUnitBytes; }

    char *base_ = nullptr;

  private:
    char *reserved_ = nullptr;
    char *slab_ = nullptr;
};

TEST_F(Entry, EveryMultipleOfTheFineStepIsPushedWhereItBelongs) {
    for (std::size_t offset = 0; offset < kUnitBytes; offset += kFineStep) {
        ASSERT_EQ(free(unit(1) + offset), Way::own) << offset;
        ASSERT_EQ(free(unit(2) + offset), Way::remote) << offset;
        ASSERT_EQ(free(unit(3) + offset), Way::own) << offset;
    }
}

TEST_F(Entry, AnyOtherAddressIsLeftToTheSlowPath) {
    for (std::size_t offset = 0; offset < kUnitBytes; ++offset) {
        if (offset % kFineStep == 0) continue;
        for (const std::uint32_t u : {1U, 2U, 3U}) ASSERT_EQ(free(unit(u) + offset), Way::slow) << u << ' ' << offset;
    }
}

TEST_F(Entry, SoIsWhatLiesOutsideOrInNobodysUnit) {
    EXPECT_EQ(free(unit(kUnits) - kFineStep), Way::own);
    EXPECT_EQ(free(unit(kUnits)), Way::slow);
    EXPECT_EQ(free(unit(0) + 4096), Way::slow);
    EXPECT_EQ(free(base_ - kFineStep), Way::slow);
    EXPECT_EQ(free(nullptr), Way::slow);
    for (unsigned bit = 4; bit < 64; ++bit) {
        char *const p = reinterpret_cast<char *>(reinterpret_cast<std::uintptr_t>(unit(1)) ^ std::uintptr_t{1} << bit);
        const bool inside = p >= unit(1) && p < unit(kUnits);
        EXPECT_EQ(free(p) == Way::slow, !inside) << "bit " << bit;
    }
    gr_sequence_state.fine_limit = 0;
    EXPECT_EQ(free(unit(1)), Way::slow);
}

TEST_F(Entry, AFullMagazineAndABlockFreedTwiceInARowAreTheSlowPathsToo) {
    entry_free(unit(1));
    entry_free(unit(1) + kFineStep);
    EXPECT_EQ(left, std::vector<void *>{unit(1) + kFineStep});
    put_header(kOwn, {.current = 301, .limit = 310, .begin = 300});
    entry_free(unit(1));
    EXPECT_EQ(left, (std::vector<void *>{unit(1) + kFineStep, unit(1)}));
}

}  // namespace gr::platform::entry_test
