// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers of docs/design/blowup.md, computed from the allocator's constants; with a file's name, whether it says
//    the same.
// Invariant: the default configuration; nothing here runs the allocator.
// Must not know: what the document says around them.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "bound.hpp"
#include "region/allowance.hpp"

namespace {

using namespace gr;

constexpr const char *kCommand = "build/release/test/bounded/bounded_numbers > docs/results/raw/blowup.txt";
constexpr std::array<std::uint64_t, 2> kHeapCounts = {2, 64};
constexpr std::array<std::size_t, 4> kSizes = {64, 256, 4096, 32768};

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(kMiB); }

template <class... Values>
void put(std::ostream &out, const char *format, Values... values) {
    std::array<char, 200> line;
    std::snprintf(line.data(), line.size(), format, values...);
    out << line.data();
}

template <class Of>
std::uint64_t over_all_classes(Of of) {
    std::uint64_t sum = 0;
    for (std::uint32_t c = 1; c < kClassCount; ++c) sum += of(ClassIndex(c));
    return sum;
}

// Cached and uncollected bytes at one moment: the budget holds over all classes together.
constexpr std::uint64_t kBudget = kMagazineBudget << kBudgetDoublings;
constexpr std::uint64_t kRemoteMagazineBytes = kRemoteMagazineSlots * kClassLimit;

// Superblock bytes that one heap's magazines hold at most when nothing is live: a superblock for each block, the
// budget spent where a byte of it holds most.
std::uint64_t pinned_by_magazines() {
    std::vector<ClassIndex> classes;
    for (std::uint32_t c = 1; c < kClassCount; ++c) classes.emplace_back(c);
    const auto held_for_a_byte = [](ClassIndex c) { return shape_of(c).bytes() / shape_of(c).size; };
    std::stable_sort(classes.begin(), classes.end(),
                     [&](ClassIndex a, ClassIndex b) { return held_for_a_byte(a) > held_for_a_byte(b); });
    std::uint64_t left = kBudget;
    std::uint64_t pinned = 0;
    for (const ClassIndex c : classes) {
        const ClassShape &shape = shape_of(c);
        const std::uint64_t blocks = std::min<std::uint64_t>(shape.magazine_slots, left / shape.size);
        left -= blocks * shape.size;
        pinned += blocks * shape.bytes();
    }
    return pinned;
}

void print(std::ostream &out) {
    out << "$ " << kCommand << '\n';
    put(out, "%-44s", "MiB, for so many heaps");
    for (const std::uint64_t heaps : kHeapCounts) put(out, "%12lu", heaps);
    out << '\n';
    const auto row = [&](const char *name, auto of) {
        put(out, "%-44s", name);
        for (const std::uint64_t heaps : kHeapCounts) put(out, "%12.1f", mib(of(heaps)));
        out << '\n';
    };
    for (const std::size_t size : kSizes) {
        std::array<char, 64> name;
        std::snprintf(name.data(), name.size(), "one class, %zu bytes, nothing ever live", size);
        row(name.data(), [&](std::uint64_t heaps) { return test::bound_of_bytes(class_of(size), 0, heaps); });
        std::snprintf(name.data(), name.size(), "one class, %zu bytes, 1 GiB live at most", size);
        row(name.data(), [&](std::uint64_t heaps) { return test::bound_of_bytes(class_of(size), kGiB / size, heaps); });
    }
    row("all classes, nothing ever live", [](std::uint64_t heaps) {
        return over_all_classes([&](ClassIndex c) { return test::bound_of_bytes(c, 0, heaps); });
    });
    row("K, G, superblocks being made, all classes", [](std::uint64_t heaps) {
        return over_all_classes(
            [&](ClassIndex c) { return heaps * (kSlackSuperblocks + 1 + kForeignSuperblocks) * shape_of(c).bytes(); });
    });
    row("blocks in magazines at one moment", [](std::uint64_t heaps) { return heaps * kBudget; });
    row("and in remote magazines", [](std::uint64_t heaps) { return heaps * kRemoteMagazineBytes; });
    row("and freed remotely, not collected", [](std::uint64_t heaps) { return heaps * kRemoteThreshold; });
    row("superblocks that full magazines can hold", [](std::uint64_t heaps) { return heaps * pinned_by_magazines(); });
    const auto may_stay = [&](const char *what, std::size_t in_use, bool reusing) {
        Allowance allowance;
        allowance.initialise(kRetainBytes, SIZE_MAX);
        allowance.note_in_use(kGiB);
        if (reusing) allowance.retook(kGiB, 0);
        put(out, "%-44s%12.1f\n", what, mib(allowance.unit_bytes(in_use, in_use)));
        put(out, "%-44s%12.1f\n", "free pages in other units", mib(allowance.page_bytes(in_use)));
    };
    may_stay("empty units that may stay, nothing in use", 0, false);
    may_stay("the same, had 1 GiB been in use and retaken", 0, true);
    may_stay("empty units that may stay, 1 GiB in use", kGiB, false);
    may_stay("the same, had 1 GiB been retaken", kGiB, true);
}

}  // namespace

int main(int argc, char **argv) {
    std::ostringstream computed;
    print(computed);
    if (argc < 2) {
        std::cout << computed.str();
        return 0;
    }
    std::ostringstream written;
    written << std::ifstream(argv[1]).rdbuf();
    if (written.str() == computed.str()) return 0;
    std::cerr << argv[1] << ": the constants give other numbers; write them anew: " << kCommand << '\n';
    return 1;
}
