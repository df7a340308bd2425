// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do groups of equal sizes cost when a part of each group stays and pins what it lies in?
//    Source: jemalloc (Evans, "Single-threaded benchmarks", figure 8) describes MicroQuill's sh6bench, no other
//    of our papers does: it repeatedly allocates groups of objects of equal size, more objects where they are
//    small, retains some portion of each cycle and frees the rest in various orders; 2,500 iterations, sizes
//    from 1 to 1000, memset after each malloc; 63 to 105 MB resident. This is the described behaviour written
//    anew, not that program.
//    Silent: how large a group is, what is retained and until when, the orders. Chosen here: a cycle is one
//    group of a random size, uniform, of 100,000 bytes but at most 4,000 objects; every fourth object is
//    retained until 2,500 cycles (of all threads together) are over, which makes 61 MB, then all is freed and
//    the next 2,500 begin; groups are freed in the order of allocation, in the reverse and at random by turns.
//    The original is single-threaded; more threads share the cycles and nothing else. 2,500 cycles are over in
//    a moment today: by default ten times as many. An operation is a cycle.
// Invariant: every byte of an object is written, differently in neighbours of a group; verifies the first and the last
//    byte of each when its group is complete, and of the retained once more before they are freed.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <cstring>
#include <span>

#include "workload.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::size_t min = 1;
    std::size_t max = 1000;
    std::uint64_t cycles = 2'500;  // of all threads together
};

constexpr std::size_t kGroupBytes = 100'000;
constexpr std::size_t kGroupMost = 4'000;
constexpr std::size_t kOneRetainedOf = 4;
constexpr std::size_t kRetainedMost = (kGroupMost + kOneRetainedOf - 1) / kOneRetainedOf;

using Objects = std::span<unsigned char *>;

struct Group {
    std::size_t size;
    std::size_t count;
    std::uint64_t cycle;
    unsigned char mark;  // of its first object; the next one has the next

    // The first object that is retained.
    std::size_t retained_from() const { return cycle % kOneRetainedOf; }
};

void shuffle(Objects objects, Random &random) {
    for (std::size_t left = objects.size(); left > 1; --left) std::swap(objects[left - 1], objects[random.below(left)]);
}

// Every `step`th object of the group, beginning with number `first`.
void verify(Objects objects, const Group &group, std::size_t first, std::size_t step) {
    std::size_t number = first;
    for (unsigned char *const object : objects) {
        const auto mark = static_cast<unsigned char>(group.mark + number);
        if (object[0] != mark || object[group.size - 1] != mark)
            fail("sh6bench-like: object %p changed while it was held", static_cast<void *>(object));
        number += step;
    }
}

void free_objects(Objects objects, const Group &group, Random &random) {
    if (group.cycle % 3 == 1) std::reverse(objects.begin(), objects.end());
    if (group.cycle % 3 == 2) shuffle(objects, random);
    for (unsigned char *const object : objects) std::free(object);
}

// What one thread retains.
class Retained {
  public:
    explicit Retained(std::uint64_t cycles) {
        groups_.reserve(cycles);
        objects_.reserve(cycles * kRetainedMost);
    }

    // Takes its part of the group; returns the rest.
    Objects take(const Group &group, Objects objects) {
        std::size_t rest = 0;
        for (std::size_t number = 0; number < objects.size(); ++number)
            if (number % kOneRetainedOf == group.retained_from())
                objects_.push_back(objects[number]);
            else
                objects[rest++] = objects[number];
        const std::size_t taken = objects.size() - rest;
        groups_.push_back({group.size, taken, group.cycle, group.mark});
        bytes_ += taken * group.size;
        return objects.first(rest);
    }
    void free_all(Random &random) {
        Objects left(objects_);
        for (const Group &group : groups_) {
            verify(left.first(group.count), group, group.retained_from(), kOneRetainedOf);
            free_objects(left.first(group.count), group, random);
            left = left.subspan(group.count);
        }
        groups_.clear();
        objects_.clear();
        bytes_ = 0;
    }
    std::size_t cycles() const { return groups_.size(); }
    std::uint64_t bytes() const { return bytes_; }

  private:
    std::vector<Group> groups_;
    std::vector<unsigned char *> objects_;
    std::uint64_t bytes_ = 0;
};

// Returns the largest number of bytes that were live.
std::uint64_t work(const Shape &shape, Worker &worker) {
    const std::uint64_t cycles = std::max<std::uint64_t>(shape.cycles / worker.threads, 1);
    std::vector<unsigned char *> objects(kGroupMost);
    Retained retained(cycles);
    std::uint64_t peak_bytes = 0;
    for (; worker.more(); worker.did(1)) {
        const std::size_t size = worker.random.between(shape.min, shape.max);
        const Group group{.size = size,
                          .count = std::min(kGroupMost, kGroupBytes / size),
                          .cycle = worker.done(),
                          .mark = static_cast<unsigned char>(worker.random.next())};
        for (std::size_t number = 0; number < group.count; ++number) {
            objects[number] = static_cast<unsigned char *>(allocate(size));
            std::memset(objects[number], static_cast<unsigned char>(group.mark + number), size);
        }
        peak_bytes = std::max(peak_bytes, retained.bytes() + group.count * size);
        const Objects all = Objects(objects).first(group.count);
        verify(all, group, 0, 1);
        free_objects(retained.take(group, all), group, worker.random);
        if (retained.cycles() == cycles) retained.free_all(worker.random);
    }
    retained.free_all(worker.random);
    return peak_bytes;
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload bench("sh6bench-like", "sh6bench as Evans describes it: groups of equal sizes, a part of each retained.",
                   {.threads = 1, .operations = 25'000});
    Options &options = bench.options();
    const Range sizes{1, kGroupBytes};
    options.number("--min", shape.min, "bytes", sizes);
    options.number("--max", shape.max, "bytes", sizes);
    options.number("--cycles", shape.cycles, "of all threads, until what they retain is freed", {1, 1 << 16});
    if (!bench.parse(argc, argv)) return bench.exit_code();
    if (shape.max < shape.min) {
        std::fprintf(stderr, "sh6bench-like: --max is below --min\n");
        return 2;
    }
    std::atomic<std::uint64_t> peak_bytes = 0;
    bench.run([&](Worker &worker) { peak_bytes += work(shape, worker); });
    bench.note("requested_peak_bytes", static_cast<double>(peak_bytes.load()));
    return bench.report();
}
