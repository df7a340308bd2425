// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the exact last words for every misuse, and when it is found.
// Invariant: one line on stderr, then SIGABRT; correct programs never see any.
// Must not know: the C library's names.
#include <gtest/gtest.h>
#include <signal.h>

#include <sstream>
#include <string>
#include <vector>

#include "instance/fresh_instance.hpp"

namespace gr::misuse_test {

using fake::FreshInstance;

std::string text(const void *p) {
    std::ostringstream out;
    out << p;
    return out.str();
}
std::string foreign(const void *p) {
    return "^granary: free\\(" + text(p) +
           "\\): not a block of this heap: a foreign pointer, or a large block that is already free; aborting\n$";
}
std::string interior(const void *p, const void *start, std::size_t size) {
    return "^granary: free\\(" + text(p) + "\\): inside a block: it starts at " + text(start) + " and has " +
           std::to_string(size) + " bytes; aborting\n$";
}
std::string twice(const void *p, std::size_t size) {
    return "^granary: free\\(" + text(p) + "\\): freed twice, a block of " + std::to_string(size) +
           " bytes; aborting\n$";
}

#define EXPECT_ABORT(statement, message) EXPECT_EXIT(statement, testing::KilledBySignal(SIGABRT), message)

class MisuseDeathTest : public testing::Test {
  protected:
    char *allocate(std::size_t size) { return static_cast<char *>(instance_->allocate(size)); }
    void free(void *p) { instance_->free("free", p); }
    FreshInstance instance_;
};

TEST_F(MisuseDeathTest, ForeignPointers) {
    int local = 0;
    free(allocate(1));
    EXPECT_ABORT(free(&local), foreign(&local));
    EXPECT_ABORT(free(instance_->region().base()), foreign(instance_->region().base()));
    const char *const end = instance_->region().address(instance_->region().unit_end());
    EXPECT_ABORT(free(const_cast<char *>(end)), foreign(end));
    EXPECT_ABORT(free(const_cast<char *>(end) - kUnitBytes), foreign(end - kUnitBytes));
    void *const direct = instance_->allocate(40 * kMiB);
    EXPECT_ABORT(free(static_cast<char *>(direct) + 4096), foreign(static_cast<char *>(direct) + 4096));
    free(direct);
}

TEST_F(MisuseDeathTest, LargeBlocksFreedTwice) {
    for (const std::size_t size : {100 * kKiB, 3 * kMiB, 40 * kMiB}) {
        char *const p = allocate(size);
        free(p);
        EXPECT_ABORT(free(p), foreign(p));
    }
}

TEST_F(MisuseDeathTest, InteriorOfALargeBlock) {
    char *const p = allocate(3 * kMiB);
    for (const std::size_t offset : {std::size_t{16}, kUnitBytes, 3 * kMiB - 1}) {
        EXPECT_ABORT(free(p + offset), interior(p + offset, p, 3 * kMiB));
    }
    free(p);
}

TEST_F(MisuseDeathTest, ASmallBlockFreedTwiceInARow) {
    for (const std::size_t size : {std::size_t{16}, std::size_t{512}, std::size_t{2000}, std::size_t{30000}}) {
        char *const p = allocate(size);
        EXPECT_ABORT(
            {
                free(p);
                free(p);
            },
            twice(p, instance_->usable_size("test", p)));
        free(p);
    }
}

TEST_F(MisuseDeathTest, ASmallBlockFreedTwiceWithOthersBetweenIsFoundByTheFlush) {
    for (const std::size_t size : {std::size_t{16}, std::size_t{512}, std::size_t{2000}}) {
        char *const p = allocate(size);
        char *const q = allocate(size);
        EXPECT_ABORT(
            {
                free(p);
                free(q);
                free(p);
                instance_->trim(0);
            },
            twice(p, instance_->usable_size("test", p)));
        free(p);
        free(q);
    }
}

// A flush takes the half that was freed last, so a full magazine finds both frees before another half is freed.
TEST_F(MisuseDeathTest, AFullMagazineFindsItWithoutATrim) {
    char *const p = allocate(48);
    EXPECT_ABORT(
        {
            std::vector<char *> others;
            for (int i = 0; i < 2000; ++i) others.push_back(allocate(48));
            for (int i = 0; i < 1500; ++i) free(others[static_cast<std::size_t>(i)]);
            free(p);
            free(others[1500]);
            free(p);
            for (std::size_t i = 1501; i < 1501 + kMagazineMaxSlots; ++i) free(others[i]);
        },
        twice(p, 48));
    free(p);
}

TEST_F(MisuseDeathTest, AnUnalignedPointerIsFoundAtOnce) {
    for (const std::size_t size : {std::size_t{16}, std::size_t{512}, std::size_t{2000}, std::size_t{30000}}) {
        char *const p = allocate(size);
        const std::size_t usable = instance_->usable_size("test", p);
        for (std::size_t offset = 1; offset < kFineStep; ++offset)
            EXPECT_ABORT(free(p + offset), interior(p + offset, p, usable));
        free(p);
    }
    char *const run = allocate(3 * kMiB);
    EXPECT_ABORT(free(run + 8), interior(run + 8, run, 3 * kMiB));
    free(run);
    char *const direct = allocate(40 * kMiB);
    EXPECT_ABORT(free(direct + 8), foreign(direct + 8));
    free(direct);
}

TEST_F(MisuseDeathTest, InteriorOfASmallBlockIsFoundByTheFlush) {
    for (const std::size_t size : {std::size_t{32}, std::size_t{512}, std::size_t{2000}, std::size_t{30000}}) {
        char *const p = allocate(size);
        const std::size_t usable = instance_->usable_size("test", p);
        EXPECT_ABORT(
            {
                free(p + 16);
                instance_->trim(0);
            },
            interior(p + 16, p, usable));
        free(p);
    }
}

TEST_F(MisuseDeathTest, OtherEntriesUseTheirOwnName) {
    int local = 0;
    EXPECT_ABORT(static_cast<void>(instance_->resize("realloc", &local, 5)),
                 "^granary: realloc\\(" + text(&local) + "\\): not a block of this heap");
    EXPECT_ABORT(static_cast<void>(instance_->usable_size("malloc_usable_size", &local)),
                 "^granary: malloc_usable_size\\(" + text(&local) + "\\): not a block of this heap");
    char *const p = allocate(3 * kMiB);
    EXPECT_ABORT(static_cast<void>(instance_->usable_size("malloc_usable_size", p + 64)),
                 "^granary: malloc_usable_size\\(" + text(p + 64) + "\\): inside a block: it starts at " + text(p));
    free(p);
}

TEST_F(MisuseDeathTest, WhenEverySmallBlockIsFreeItsUnitIsForeign) {
    std::vector<char *> blocks;
    for (int i = 0; i < 2000; ++i) blocks.push_back(allocate(1000));
    char *const p = blocks[blocks.size() / 2];
    for (char *block : blocks) free(block);
    instance_->trim(0);
    EXPECT_EXIT(
        {
            free(p);
            instance_->trim(0);
        },
        testing::KilledBySignal(SIGABRT), "^granary: free\\(" + text(p) + "\\): (not a block|freed twice)");
}

}  // namespace gr::misuse_test
