// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which addresses of a trace stand for code that was loaded where other code lay before.
// Invariant: files are made up; the same seeds in each run.
// Must not know: processes.
#include "commands/record/code_addresses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gr::tool::code_addresses_test {

using Modules = std::vector<trace::Module>;

trace::Module file(const std::string &path, std::uint64_t begin, std::uint64_t end, std::uint64_t offset = 0) {
    return {begin, end, offset, path, "id of " + path};
}

// Which byte of which file lies at an address of the trace, by all that the trace was told.
class Told {
  public:
    void add(const Modules &loaded) { all_.insert(all_.end(), loaded.begin(), loaded.end()); }

    // Of the address behind a call; the last that was told counts.
    std::pair<std::string, std::uint64_t> at(std::uint64_t address) const {
        const std::uint64_t call = address - 1;
        for (auto one = all_.rbegin(); one != all_.rend(); ++one) {
            if (one->begin <= call && call < one->end) return {one->path, call - one->begin + one->offset};
        }
        return {"", 0};
    }
    // Whether parts of two files, or two parts of one, lie over each other.
    bool has_two_at_one() const {
        Modules sorted = all_;
        std::ranges::sort(sorted, {}, &trace::Module::begin);
        return std::ranges::adjacent_find(sorted, [](const auto &a, const auto &b) { return a.end > b.begin; }) !=
               sorted.end();
    }

  private:
    Modules all_;
};

TEST(CodeAddresses, TheFirstFileHasTheAddressesThemselves) {
    CodeAddresses addresses;
    const Modules loaded = addresses.update({file("b", 0x5000, 0x6000, 0x1000), file("a", 0x1000, 0x3000)});
    ASSERT_EQ(loaded.size(), 2U);
    EXPECT_EQ(loaded[0].path, "a");
    EXPECT_EQ(loaded[0].begin, 0x1000U);
    EXPECT_EQ(loaded[1].begin, 0x5000U);
    EXPECT_EQ(loaded[1].offset, 0x1000U);
    for (const std::uint64_t address : {0x1001U, 0x3000U, 0x4000U, 0x5fffU})
        EXPECT_EQ(addresses.in_trace(address), address);
    EXPECT_TRUE(addresses.update({file("a", 0x1000, 0x3000), file("b", 0x5000, 0x6000, 0x1000)}).empty());
}

TEST(CodeAddresses, ALaterFileHasAddressesThatNoProcessHas) {
    for (const bool is_seen_without : {false, true}) {
        CodeAddresses addresses;
        Told told;
        told.add(addresses.update({file("a", 0x1000, 0x3000)}));
        if (is_seen_without) told.add(addresses.update({}));
        told.add(addresses.update({file("b", 0x2000, 0x4000)}));
        EXPECT_GE(addresses.in_trace(0x2001), trace::kFirstStandIn);
        EXPECT_LT(addresses.in_trace(0x2001), trace::kFirstPlace);
        // Where only the second file ever lay, it has the addresses themselves.
        EXPECT_EQ(addresses.in_trace(0x3001), 0x3001U);
        for (const std::uint64_t address : {0x2001U, 0x3000U, 0x3001U, 0x4000U})
            EXPECT_EQ(told.at(addresses.in_trace(address)), std::pair(std::string("b"), address - 1 - 0x2000));
        EXPECT_EQ(told.at(0x1001), std::pair(std::string("a"), std::uint64_t{0}));
        EXPECT_FALSE(told.has_two_at_one());
    }
}

TEST(CodeAddresses, AFileThatComesBackIsToldAnew) {
    CodeAddresses addresses;
    Told told;
    told.add(addresses.update({file("a", 0x1000, 0x2000)}));
    const std::uint64_t first = addresses.in_trace(0x1800);
    told.add(addresses.update({file("b", 0x1000, 0x2000)}));
    const std::uint64_t second = addresses.in_trace(0x1800);
    told.add(addresses.update({file("a", 0x1000, 0x2000)}));
    const std::uint64_t third = addresses.in_trace(0x1800);
    EXPECT_EQ(told.at(first).first, "a");
    EXPECT_EQ(told.at(second).first, "b");
    EXPECT_EQ(told.at(third).first, "a");
    EXPECT_NE(first, third);
}

TEST(CodeAddresses, TheRestOfAFileKeepsItsAddressesWhereAPartWasUnloaded) {
    CodeAddresses addresses;
    Told told;
    told.add(addresses.update({file("a", 0x1000, 0x5000)}));
    const Modules loaded =
        addresses.update({file("a", 0x1000, 0x2000), file("b", 0x2000, 0x4000), file("a", 0x4000, 0x5000, 0x3000)});
    ASSERT_EQ(loaded.size(), 1U);
    EXPECT_EQ(loaded[0].path, "b");
    told.add(loaded);
    EXPECT_EQ(addresses.in_trace(0x1800), 0x1800U);
    EXPECT_EQ(addresses.in_trace(0x4800), 0x4800U);
    EXPECT_EQ(told.at(addresses.in_trace(0x2800)).first, "b");
}

TEST(CodeAddresses, OnlyTheNewPartOfAFileThatGrowsIsTold) {
    CodeAddresses addresses;
    ASSERT_EQ(addresses.update({file("a", 0x1000, 0x2000)}).size(), 1U);
    const Modules loaded = addresses.update({file("a", 0x1000, 0x3000)});
    ASSERT_EQ(loaded.size(), 1U);
    EXPECT_EQ(loaded[0].begin, 0x2000U);
    EXPECT_EQ(loaded[0].end, 0x3000U);
    EXPECT_EQ(loaded[0].offset, 0x1000U);
}

// The address is behind the call, and may be behind the file.
TEST(CodeAddresses, AnAddressIsKnownIfTheCallLiesInAFileNow) {
    CodeAddresses addresses;
    (void)addresses.update({file("a", 0x1000, 0x2000)});
    EXPECT_FALSE(addresses.is_known(0x1000));
    EXPECT_TRUE(addresses.is_known(0x1001));
    EXPECT_TRUE(addresses.is_known(0x2000));
    EXPECT_FALSE(addresses.is_known(0x2001));
    (void)addresses.update({file("b", 0x1000, 0x2000)});
    EXPECT_FALSE(addresses.is_known(0x1800)) << "the first file is gone";
    EXPECT_TRUE(addresses.is_known(addresses.in_trace(0x1800)));
    EXPECT_FALSE(CodeAddresses().is_known(0x1800));
}

TEST(CodeAddresses, BeginAlikeIfTheFirstFileIsTheSame) {
    CodeAddresses parent;
    CodeAddresses child;
    EXPECT_FALSE(child.begins_as(parent)) << "nothing is known of either";
    (void)parent.update({file("a", 0x1000, 0x2000), file("b", 0x3000, 0x4000)});
    EXPECT_FALSE(child.begins_as(parent));
    (void)child.update({file("a", 0x1000, 0x2000)});
    EXPECT_TRUE(child.begins_as(parent));
    CodeAddresses other;
    (void)other.update({file("c", 0x1000, 0x2000)});
    EXPECT_FALSE(other.begins_as(parent));
    CodeAddresses elsewhere;
    (void)elsewhere.update({file("a", 0x2000, 0x3000)});
    EXPECT_FALSE(elsewhere.begins_as(parent));
}

// Against a plain map of what lies at each page. What an address of the trace once meant, it means until the end.
TEST(CodeAddresses, AnAddressOfTheTraceMeansOnePlaceForever) {
    constexpr std::uint64_t kPage = 0x1000;
    constexpr unsigned kPages = 24;
    constexpr int kRuns = 200;
    constexpr int kSteps = 30;
    for (int run = 0; run < kRuns; ++run) {
        std::mt19937 random(static_cast<unsigned>(run));
        const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
        CodeAddresses addresses;
        Told told;
        std::map<std::uint64_t, std::pair<std::string, std::uint64_t>> meant;
        for (int step = 0; step < kSteps; ++step) {
            Modules mapped;
            for (std::uint64_t page = 1 + below(4); page < kPages;) {
                const std::uint64_t end = std::min<std::uint64_t>(page + 1 + below(6), kPages);
                const std::uint64_t offset = kPage * below(3);
                mapped.push_back(
                    file(std::string(1, static_cast<char>('a' + below(3))), page * kPage, end * kPage, offset));
                page = end + below(4);
            }
            told.add(addresses.update(mapped));
            ASSERT_FALSE(told.has_two_at_one());
            for (const trace::Module &module : mapped) {
                for (std::uint64_t at = module.begin; at < module.end; at += kPage / 2) {
                    const std::uint64_t address = addresses.in_trace(at + 1);
                    const std::pair here(module.path, at - module.begin + module.offset);
                    ASSERT_EQ(told.at(address), here) << "run " << run << ", step " << step;
                    ASSERT_EQ(meant.emplace(address, here).first->second, here) << "run " << run << ", step " << step;
                    ASSERT_TRUE(addresses.is_known(address));
                }
            }
        }
    }
}

}  // namespace gr::tool::code_addresses_test
