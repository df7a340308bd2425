// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: at which addresses a marker finds words: in ranges and blocks of each length, and where a range is parted.
// Invariant: the block that is looked for has one pointer to it, at one address.
// Must not know: roots; how a collection begins and ends.
#include "collector/marker.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "collector/kinds.hpp"

namespace gr::marker_test {

constexpr std::uint8_t kNumber = 1;
constexpr std::size_t kWord = sizeof(void *);

struct Made {
    Kinds kinds;
    Kind *kind = nullptr;
};

// Kinds take addresses for ever, so there is one for all tests.
Made &made() {
    static constinit Made all;
    if (all.kind == nullptr) {
        EXPECT_TRUE(all.kinds.start(Options::defaults()));
        all.kind = all.kinds.make({.adds_size = true});
        all.kinds.field().set_may_be_protected(true);
    }
    return all;
}

class Marking : public testing::Test {
  protected:
    explicit Marking(Words words = Words::anywhere) : field_(made().kinds.field()), sought_(allocate(48)) {
        made().kinds.field().set_words(words);
    }

    static char *allocate(std::size_t bytes) {
        auto *const block = static_cast<char *>(made().kind->instance.allocate(bytes));
        return static_cast<char *>(std::memset(block, 0, bytes));
    }
    static void prepare() {
        ASSERT_TRUE(made().kinds.cover_marks());
        made().kinds.field().prepare(made().kind->number, made().kind->instance.collector_view());
    }
    // Whether scan(marker) leads to the block that is sought.
    template <class Scan>
    bool finds(Scan scan) {
        const Target sought = field_.target(reinterpret_cast<std::uintptr_t>(sought_));
        sought.mark->store(0);
        Marker marker({field_, procedures_, worklist_, later_, kNumber, MarkMode::stopped});
        scan(marker);
        marker.drain();
        return marker.is_marked(sought);
    }
    bool finds_in(platform::Range range) {
        return finds([&](Marker &marker) { marker.scan(range); });
    }
    bool finds_from(const char *block) {
        field_.target(reinterpret_cast<std::uintptr_t>(block)).mark->store(0);
        return finds([&](Marker &marker) { marker.consider(reinterpret_cast<std::uintptr_t>(block)); });
    }
    void put(char *at) const { std::memcpy(at, &sought_, kWord); }
    static void clear(char *at) { std::memset(at, 0, kWord); }

    const Field &field_;
    MarkProcedures procedures_{};
    Worklist worklist_;
    Worklist later_;
    char *sought_;
};

class MarkingAligned : public Marking {
  protected:
    MarkingAligned() : Marking(Words::aligned) {}
};

TEST_F(Marking, FindsAWordAtEachAddressOfARangeOfEachLength) {
    prepare();
    alignas(kWord) char memory[1200] = {};
    for (std::size_t bytes = kWord; bytes <= sizeof memory; bytes += kWord) {
        for (std::size_t at = 0; at + kWord <= bytes; ++at) {
            put(&memory[at]);
            ASSERT_TRUE(finds_in({&memory[0], &memory[bytes]})) << at << " of " << bytes;
            clear(&memory[at]);
        }
    }
    EXPECT_FALSE(finds_in({&memory[0], &memory[sizeof memory]}));
}

TEST_F(MarkingAligned, FindsAWordAtMultiplesOfAWordOnly) {
    prepare();
    alignas(kWord) char memory[640] = {};
    for (std::size_t at = 0; at + kWord <= sizeof memory; ++at) {
        put(&memory[at]);
        ASSERT_EQ(finds_in({&memory[0], &memory[sizeof memory]}), at % kWord == 0) << at;
        clear(&memory[at]);
    }
}

// What lies between is pointers, numbers and text, as in a program's memory.
TEST_F(Marking, FindsAWordAmongOthers) {
    char *const other = allocate(48);
    prepare();
    alignas(kWord) char memory[640];
    for (std::size_t at = 0; at + kWord <= sizeof memory; ++at) {
        for (std::size_t i = 0; i < sizeof memory; i += kWord) {
            const std::uintptr_t words[] = {reinterpret_cast<std::uintptr_t>(other), i, ~std::uintptr_t{0}};
            std::memcpy(&memory[i], &words[i / kWord % std::size(words)], kWord);
        }
        put(&memory[at]);
        ASSERT_TRUE(finds_in({&memory[0], &memory[sizeof memory]})) << at;
    }
}

TEST_F(Marking, FindsAWordAtEachAddressOfABlockOfEachSize) {
    std::vector<char *> blocks;
    const std::size_t sizes[] = {16, 32, 48, 64, 80, 96, 112, 128, 512, 528, 1024, 1040, 4096, 8192, 200'000};
    for (const std::size_t size : sizes) blocks.push_back(allocate(size));
    prepare();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        // In steps by which each distance to the end of a part occurs.
        const std::size_t step = sizes[i] > 8192 ? 509 : 1;
        for (std::size_t at = 0; at + kWord <= sizes[i]; at += step) {
            put(blocks[i] + at);
            ASSERT_TRUE(finds_from(blocks[i])) << at << " of " << sizes[i];
            clear(blocks[i] + at);
        }
        EXPECT_FALSE(finds_from(blocks[i]));
    }
}

TEST_F(Marking, FindsAWordThatLiesInTwoRangesThatTouch) {
    prepare();
    alignas(kWord) char memory[160] = {};
    for (std::size_t at = 0; at + kWord <= sizeof memory; ++at) {
        put(&memory[at]);
        ASSERT_TRUE(finds([&](Marker &marker) {
            marker.scan({&memory[0], &memory[80]});
            marker.scan({&memory[80], &memory[sizeof memory]});
        })) << at;
        clear(&memory[at]);
    }
}

// The pages before and behind cannot be read.
TEST_F(Marking, ReadsNothingBesideARange) {
    prepare();
    const std::size_t page = platform::page_size();
    auto *const pages =
        static_cast<char *>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(mprotect(pages, page, PROT_NONE), 0);
    ASSERT_EQ(mprotect(pages + 2 * page, page, PROT_NONE), 0);
    for (std::size_t bytes = 0; bytes <= 640; bytes += kWord) {
        EXPECT_FALSE(finds_in({pages + page, pages + page + bytes}));
        EXPECT_FALSE(finds_in({pages + 2 * page - bytes, pages + 2 * page}));
    }
    munmap(pages, 3 * page);
}

}  // namespace gr::marker_test
