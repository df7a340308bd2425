// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what does a small program of one thread need that uses very many sizes, each of them little and
//    for a while?
//    Source: ours, for what espresso shows in public suites and espresso-like here does not: lists of sets
//    whose size is the problem's, so that every step has a size of its own. A step draws a size of 16 to 8,191
//    bytes, each doubling as likely as the next, builds a list of 32 KiB of such blocks, and drops the oldest
//    of the four lists that it has, some 128 KiB. An operation is a block's malloc and free.
//    What was used for one size is wanted for another a moment later. An allocator that keeps each size apart
//    keeps what is free of it, too, as often as there are sizes.
// Invariant: verifies that a block still carries its stamp when it is freed.
// Must not know: which malloc it runs on.
#include <algorithm>

#include "blocks.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kSmallest = 16;
constexpr unsigned kDoublings = 9;

struct Shape {
    std::size_t lists = 4;
    std::size_t bytes = 32 * 1024;  // of a list
};

using List = std::vector<Block>;

void drop(List &list) {
    for (const Block &block : list) free_stamped(block, "many-sizes");
    list.clear();
}

// Returns the largest number of bytes that were live.
std::uint64_t work(const Shape &shape, Worker &worker) {
    std::vector<List> lists(shape.lists);
    for (List &list : lists) list.reserve(shape.bytes / kSmallest + 1);
    std::vector<std::uint64_t> bytes(shape.lists);
    std::uint64_t live = 0, peak = 0;
    for (std::size_t step = 0; worker.more(); ++step) {
        const std::size_t place = step % lists.size();
        drop(lists[place]);
        live -= std::exchange(bytes[place], 0);
        const std::size_t size = drawn_size(worker.random, kSmallest, kDoublings);
        const std::uint64_t count = std::min<std::uint64_t>(shape.bytes / size + 1, worker.left());
        while (lists[place].size() < count) lists[place].push_back(allocate_stamped(worker.random, size));
        bytes[place] = count * size;
        live += bytes[place];
        peak = std::max(peak, live);
        worker.did(count);
    }
    for (List &list : lists) drop(list);
    return peak;
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("many-sizes", "Lists of blocks, each of another size; little is live.",
                      {.threads = 1, .seconds = 5});
    const Range counts{1, 1 << 24};
    workload.options().number("--lists", shape.lists, "that live", counts);
    workload.options().number("--bytes", shape.bytes, "of a list", counts);
    if (!workload.parse(argc, argv)) return workload.exit_code();
    std::atomic<std::uint64_t> peaks = 0;
    workload.run([&](Worker &worker) { peaks += work(shape, worker); });
    workload.note("requested_peak_bytes", static_cast<double>(peaks.load()));
    return workload.report();
}
