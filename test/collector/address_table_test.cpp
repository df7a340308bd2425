// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the table against std::unordered_map, small and crowded, and without memory.
// Invariant: no test depends on where addresses hash to.
// Must not know: what a collector keeps in it.
#include "collector/address_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "fake/memory.hpp"

namespace gr::address_table_test {

// So large that a new table has few slots: clusters are long, and some go across the end.
struct Large {
    std::uint64_t number = 0;
    std::array<char, 1000> rest{};
};

using Table = AddressTable<Large>;
using Model = std::unordered_map<std::uint64_t, std::uint64_t>;  // by the number that makes the address

const void *address_of(std::uint64_t number) { return reinterpret_cast<const void *>(number * 8); }
std::uint64_t number_of(const void *address) { return reinterpret_cast<std::uintptr_t>(address) / 8; }

Model contents(const Table &table) {
    Model all;
    table.for_each([&](const void *address, const Large &value) {
        RC_ASSERT(all.emplace(number_of(address), value.number).second);
    });
    return all;
}

class AddressTableTest : public testing::Test {
  protected:
    void SetUp() override { fake::reset(); }
    void TearDown() override {
        fake::reset();
        table_.release();
    }
    Table table_;
};

RC_GTEST_PROP(AddressTableProperty, AgreesWithAnUnorderedMap, ()) {
    enum class Act : std::uint8_t { add, remove, change };
    const auto acts = *rc::gen::container<std::vector<std::tuple<Act, std::uint64_t, std::uint64_t>>>(
        rc::gen::tuple(rc::gen::element(Act::add, Act::add, Act::remove, Act::change),
                       rc::gen::inRange<std::uint64_t>(1, 60), rc::gen::arbitrary<std::uint64_t>()));
    Table table;
    Model model;
    for (const auto &[act, key, number] : acts) {
        const void *const address = address_of(key);
        Large *const found = table.find(address);
        RC_ASSERT((found != nullptr) == (model.count(key) != 0));
        if (act == Act::remove) {
            RC_ASSERT(table.remove(address) == (model.erase(key) != 0));
        } else if (found != nullptr) {
            RC_ASSERT(found->number == model.at(key));
            found->number = model[key] = number;
        } else if (act == Act::add) {
            RC_ASSERT(table.add(address, {.number = number}));
            model[key] = number;
        }
        RC_ASSERT(table.size() == model.size());
    }
    RC_ASSERT(contents(table) == model);
    table.release();
}

RC_GTEST_PROP(AddressTableProperty, AsksAboutEachOnceAndRemovesWhatWasSaid, ()) {
    const auto keys = *rc::gen::unique<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(1, 1000));
    Table table;
    Model model;
    for (const std::uint64_t key : keys) {
        const auto number = *rc::gen::arbitrary<std::uint64_t>();
        RC_ASSERT(table.add(address_of(key), {.number = number}));
        model[key] = number;
    }
    Model asked;
    table.remove_if([&](const void *address, const Large &value) {
        RC_ASSERT(asked.emplace(number_of(address), value.number).second);
        return value.number % 3 != 0;
    });
    RC_ASSERT(asked == model);
    std::erase_if(model, [](const auto &entry) { return entry.second % 3 != 0; });
    RC_ASSERT(contents(table) == model);
    for (const auto &[key, number] : model) RC_ASSERT(table.find(address_of(key))->number == number);
    table.release();
}

TEST_F(AddressTableTest, KeepsAThousandSmallEntries) {
    AddressTable<std::uint32_t> small;
    for (std::uint32_t i = 1; i <= 1000; ++i) ASSERT_TRUE(small.add(address_of(i), i));
    for (std::uint32_t i = 1; i <= 1000; ++i) ASSERT_EQ(*small.find(address_of(i)), i);
    for (std::uint32_t i = 1; i <= 1000; i += 2) ASSERT_TRUE(small.remove(address_of(i)));
    for (std::uint32_t i = 1; i <= 1000; ++i) ASSERT_EQ(small.find(address_of(i)) != nullptr, i % 2 == 0);
    small.release();
}

TEST_F(AddressTableTest, HoldsNoAddressAsOne) {
    const std::size_t mapped = fake::mapped_bytes();
    AddressTable<Hidden> hidden;
    const auto *const object = reinterpret_cast<const char *>(0x123456789a0);
    ASSERT_TRUE(hidden.add(object, Hidden(object)));
    EXPECT_GT(fake::mapped_bytes(), mapped);
    // From a value, in a slot that is used, over the slot.
    const Hidden *const value = hidden.find(object);
    const Hidden *const slot = value - 1;
    EXPECT_EQ(slot->reveal(), object);
    for (const Hidden *const word : {slot, value}) EXPECT_NE(word->bits(), reinterpret_cast<std::uintptr_t>(object));
    hidden.release();
    EXPECT_EQ(fake::mapped_bytes(), mapped) << "memory was kept";
}

TEST_F(AddressTableTest, WithoutMemoryKeepsWhatItHas) {
    fake::fail(fake::Call::map, 0, 1);
    EXPECT_FALSE(table_.add(address_of(1), {.number = 1}));
    EXPECT_EQ(table_.size(), 0U);
    EXPECT_EQ(table_.find(address_of(1)), nullptr);

    std::uint64_t next = 1;
    ASSERT_TRUE(table_.add(address_of(next++), {.number = 1}));
    fake::fail(fake::Call::map, 0);
    while (table_.add(address_of(next), {.number = next})) ++next;
    EXPECT_EQ(table_.size(), next - 1);
    EXPECT_EQ(table_.find(address_of(next)), nullptr);
    for (std::uint64_t i = 1; i < next; ++i) EXPECT_EQ(table_.find(address_of(i))->number, i);
    EXPECT_TRUE(table_.remove(address_of(1)));
    EXPECT_TRUE(table_.add(address_of(next), {.number = next})) << "there is room where one was removed";
    EXPECT_FALSE(table_.add(address_of(1), {.number = 1}));
    fake::reset();
    EXPECT_TRUE(table_.add(address_of(1), {.number = 1}));
    for (std::uint64_t i = 1; i <= next; ++i) EXPECT_EQ(table_.find(address_of(i))->number, i);
}

// By halves, one for each call, and not what was used since the last one.
TEST_F(AddressTableTest, GivesMemoryBackWhereLittleIsUsed) {
    const std::size_t before = fake::mapped_bytes();
    AddressTable<std::uint64_t> small;
    const auto fill = [&] {
        for (std::uint64_t i = 1; i <= 100000; ++i) ASSERT_NE(small.find_or_add(address_of(i), i).value, nullptr);
    };
    const auto thin = [&] { small.remove_if([](const void *, std::uint64_t value) { return value > 10; }); };
    const auto expect_ten = [&] {
        for (std::uint64_t i = 1; i <= 20; ++i) EXPECT_EQ(small.find(address_of(i)) != nullptr, i <= 10);
    };
    ASSERT_TRUE(small.add(address_of(1), 1));
    const std::size_t least = fake::mapped_bytes();
    for (unsigned turn = 0; turn < 3; ++turn) {
        fill();
        thin();
        const std::size_t most = fake::mapped_bytes();
        small.give_back();
        EXPECT_EQ(fake::mapped_bytes(), most) << "it was used since the last call";
        expect_ten();
    }
    fake::fail(fake::Call::map, 0, 1);
    const std::size_t most = fake::mapped_bytes();
    small.give_back();
    EXPECT_EQ(fake::mapped_bytes(), most) << "there was no memory for a smaller one";
    small.give_back();
    EXPECT_EQ(fake::mapped_bytes() - before, (most - before) / 2);
    expect_ten();
    for (unsigned turn = 0; turn < 20; ++turn) small.give_back();
    EXPECT_EQ(fake::mapped_bytes(), least);
    expect_ten();
    small.release();
    EXPECT_EQ(fake::mapped_bytes(), before);
}

TEST_F(AddressTableTest, FindsOrAdds) {
    const auto added = table_.find_or_add(address_of(1), {.number = 1});
    ASSERT_NE(added.value, nullptr);
    EXPECT_TRUE(added.is_new);
    const auto known = table_.find_or_add(address_of(1), {.number = 2});
    EXPECT_FALSE(known.is_new);
    EXPECT_EQ(known.value->number, 1U);
    EXPECT_EQ(table_.size(), 1U);
}

TEST_F(AddressTableTest, MayBeAskedWhileItHasNoMemory) {
    EXPECT_EQ(table_.find(address_of(1)), nullptr);
    EXPECT_FALSE(table_.remove(address_of(1)));
    table_.remove_if([](const void *, const Large &) { return true; });
    table_.for_each([](const void *, const Large &) { FAIL(); });
    EXPECT_EQ(table_.size(), 0U);
}

}  // namespace gr::address_table_test
