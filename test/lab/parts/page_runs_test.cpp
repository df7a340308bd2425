// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page directory, lists by address, and runs of pages: first fit, joining, alignment, and what goes back.
// Invariant: pages lie where the kernel put them; only their order among each other is asked.
// Must not know: blocks.
#include "parts/phkmalloc/page_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace gr::lab::page_runs_test {

constexpr std::size_t kPage = kRunPageBytes;
constexpr std::size_t kLongCache = std::size_t{1} << 30;

struct Info {
    std::uint64_t number;
};
using Runs = PageRuns<Info>;

TEST(PageDirectoryTest, AnEntryHoldsForEachAddressOfItsPage) {
    static constinit PageDirectory<Info> directory;
    char *const page = reinterpret_cast<char *>(std::uintptr_t{0x7123'4567'f000});
    EXPECT_EQ(directory.of(page).state(), PageState::foreign);
    ASSERT_TRUE(directory.make_room(page, 3 * kPage));
    directory.enter_all(page, 2 * kPage, PageState::follow);
    Info info{7};
    directory.enter(page + 2 * kPage, PageDirectory<Info>::Entry(&info));
    EXPECT_EQ(directory.of(page - 1).state(), PageState::foreign);
    EXPECT_EQ(directory.of(page).state(), PageState::follow);
    EXPECT_EQ(directory.of(page + 2 * kPage - 1).state(), PageState::follow);
    EXPECT_EQ(directory.of(page + 2 * kPage).state(), PageState::divided);
    EXPECT_EQ(directory.of(page + 3 * kPage - 1).info(), &info);
    EXPECT_EQ(directory.of(page + 3 * kPage).state(), PageState::foreign);
    EXPECT_EQ(directory.of(reinterpret_cast<void *>(UINTPTR_MAX)).state(), PageState::foreign);
    EXPECT_FALSE(directory.make_room(reinterpret_cast<char *>(std::uintptr_t{1} << 62), kPage));
}

TEST(AddressListTest, TheHighestIsFirst) {
    struct Place : ListNode {
        char *begin() const { return at; }
        char *at = nullptr;
    };
    char bytes[5];
    Place places[5];
    AddressList<Place> list;
    for (const std::size_t i : {2U, 4U, 0U, 1U, 3U}) {
        places[i].at = &bytes[i];
        list.insert(&places[i]);
        ASSERT_TRUE(list.is_valid());
    }
    EXPECT_EQ(list.first(), &places[4]);
    EXPECT_EQ(list.last_above(&bytes[2]), &places[3]);
    EXPECT_EQ(list.last_above(&bytes[4]), nullptr);
    list.remove(&places[3]);
    EXPECT_EQ(list.last_above(&bytes[2]), &places[4]);
    std::swap(places[4].at, places[0].at);
    EXPECT_FALSE(list.is_valid());
}

TEST(RecordsTest, ARecordThatCameBackIsNext) {
    static constinit Records<40> records;
    std::vector<void *> taken;
    for (std::size_t i = 0; i < 3 * kPage / 40; ++i) taken.push_back(records.take());
    std::vector<void *> sorted = taken;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i)
        ASSERT_GE(static_cast<char *>(sorted[i]) - static_cast<char *>(sorted[i - 1]), 40);
    records.put(taken[17]);
    EXPECT_EQ(records.take(), taken[17]);
}

TEST(PageRunsTest, TheFirstFitIsTheHighestAndNeighboursAreJoined) {
    static constinit Runs runs;
    runs.set_cache(kLongCache);
    char *const all = runs.take(10 * kPage, kPage);
    ASSERT_NE(all, nullptr);
    runs.put(all, 10 * kPage);
    char *pages[10];
    for (char *&page : pages) page = runs.take(kPage, kPage);
    for (int i = 1; i < 10; ++i) EXPECT_EQ(pages[i], pages[i - 1] - kPage);
    EXPECT_EQ(runs.free_bytes(), 0U);
    for (const int i : {1, 2, 5, 7, 8, 9}) runs.put(pages[i], kPage);
    EXPECT_TRUE(runs.is_valid());
    EXPECT_EQ(runs.take(3 * kPage, kPage), pages[9]) << "the first that is long enough";
    EXPECT_EQ(runs.take(kPage, kPage), pages[1]) << "the upper end of the highest";
    runs.put(pages[9], 3 * kPage);
    runs.put(pages[6], kPage);
    EXPECT_TRUE(runs.is_valid());
    EXPECT_EQ(runs.take(5 * kPage, kPage), pages[9]) << "joined on both sides";
}

TEST(PageRunsTest, PagesSayWhatTheyAre) {
    static constinit Runs runs;
    char *const run = runs.take(3 * kPage, kPage);
    EXPECT_EQ(runs.directory().of(run).state(), PageState::first);
    EXPECT_EQ(runs.directory().of(run + kPage).state(), PageState::follow);
    EXPECT_EQ(runs.directory().of(run + 3 * kPage - 1).state(), PageState::follow);
    EXPECT_EQ(runs.bytes_of(run), 3 * kPage);
    Info info{1};
    char *const page = runs.take(kPage, kPage);
    runs.divide(page, &info);
    EXPECT_EQ(runs.directory().of(page).info(), &info);
    runs.put(page, kPage);
    EXPECT_EQ(runs.directory().of(page).state(), PageState::free);
    runs.put(run, 3 * kPage);
    EXPECT_TRUE(runs.is_valid());
}

TEST(PageRunsTest, GrowthIsNotAPageMoreThanWhatIsAsked) {
    static constinit Runs runs;
    const std::size_t before = Held::bytes();
    char *const run = runs.take(5 * kPage, kPage);
    const std::size_t records = kPage;  // nobody has had any
    EXPECT_EQ(Held::bytes() - before, 5 * kPage + records);
    std::memset(run, 1, 5 * kPage);
    runs.put(run, 5 * kPage);
}

TEST(PageRunsTest, OfTheHeapsEndTheCacheStaysAndTheRestGoesBack) {
    static constinit Runs runs;
    constexpr std::size_t kCache = 4 * kPage;
    runs.set_cache(kLongCache);
    runs.put(runs.take(40 * kPage, kPage), 40 * kPage);
    char *const upper = runs.take(20 * kPage, kPage);
    char *lower = runs.take(20 * kPage, kPage);
    ASSERT_EQ(lower, upper - 20 * kPage);
    runs.set_cache(kCache);
    const std::size_t before = Held::bytes();
    runs.put(upper, 20 * kPage);
    EXPECT_EQ(Held::bytes(), before) << "a hole in the middle is kept";
    EXPECT_EQ(runs.free_bytes(), 20 * kPage);
    runs.put(lower, 20 * kPage);
    EXPECT_EQ(Held::bytes(), before - 36 * kPage) << "joined, and given back but for the cache";
    EXPECT_EQ(runs.free_bytes(), kCache);
    EXPECT_EQ(runs.directory().of(lower).state(), PageState::foreign);
    EXPECT_TRUE(runs.is_valid());
    lower = runs.take(kCache, kPage);
    EXPECT_EQ(lower, upper + 16 * kPage);
    runs.put(lower, kCache);
    EXPECT_EQ(runs.free_bytes(), kCache) << "no more than the cache: nothing goes back";
}

TEST(PageRunsTest, AnAlignedRunLeavesWhatIsBesideItFree) {
    static constinit Runs runs;
    runs.set_cache(kLongCache);
    constexpr std::size_t kAll = 600 * kPage;
    runs.put(runs.take(kAll, kPage), kAll);
    for (std::size_t alignment = kPage; alignment <= 256 * kPage; alignment *= 2) {
        char *const run = runs.take(3 * kPage, alignment);
        ASSERT_NE(run, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(run) % alignment, 0U);
        EXPECT_EQ(runs.bytes_of(run), 3 * kPage);
        EXPECT_TRUE(runs.is_valid());
        EXPECT_EQ(runs.free_bytes(), kAll - 3 * kPage);
        runs.put(run, 3 * kPage);
        EXPECT_EQ(runs.free_bytes(), kAll);
        EXPECT_TRUE(runs.is_valid());
    }
}

TEST(PageRunsTest, RandomRunsAreApartAndCount) {
    static constinit Runs runs;
    runs.set_cache(8 * kPage);
    std::mt19937 random(11);
    std::map<char *, std::size_t> taken;
    for (int step = 0; step < 4000; ++step) {
        if (taken.empty() || random() % 2 == 0) {
            const std::size_t bytes = (1 + random() % 20) * kPage;
            char *const run = runs.take(bytes, random() % 8 == 0 ? 16 * kPage : kPage);
            ASSERT_NE(run, nullptr);
            const auto next = taken.lower_bound(run);
            ASSERT_TRUE(next == taken.end() || run + bytes <= next->first);
            ASSERT_TRUE(next == taken.begin() || std::prev(next)->first + std::prev(next)->second <= run);
            run[0] = run[bytes - 1] = 'x';
            taken.emplace(run, bytes);
        } else {
            const auto at = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
            ASSERT_EQ(runs.bytes_of(at->first), at->second);
            runs.put(at->first, at->second);
            taken.erase(at);
        }
        ASSERT_TRUE(runs.is_valid());
    }
}

}  // namespace gr::lab::page_runs_test
