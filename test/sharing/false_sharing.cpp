// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: counts allocator-induced false sharing, by address, on Hoard's two programs (Hoard, section 5.3):
//    active-false: every thread allocates an object, writes it a number of times, frees it;
//    passive-false: one thread allocates objects and deals them out, each thread frees what it was dealt, and
//    all go on as in active-false.
// Invariant: a line counts when malloc hands out a block in it while it holds a live block that malloc handed to a
//    thread on another processor. A block that the program itself passes on stays its allocator's, so what the
//    program shares does not count. With rseq the count must be zero; stripes promise less, it is printed.
// Must not know: superblocks, heaps.
#include <pthread.h>

#include <array>
#include <barrier>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cpus.hpp"
#include "lines.hpp"
#include "program_options.hpp"

using namespace gr::test;

namespace {

struct Plan {
    std::string mode = "active";
    size_t rounds = 20000;
};

constexpr std::array<size_t, 7> kObjectSizes = {8, 16, 24, 48, 80, 200, 1000};
constexpr size_t kWrites = 20;
constexpr size_t kDealt = 64;   // objects for each thread in a round of passive-false
constexpr size_t kAtOnce = 16;  // objects a thread holds at the same time, every second round; else one, as in Hoard

struct Object {
    unsigned char *block;
    size_t size;
};

struct Count {
    size_t objects = 0;
    size_t shared_lines = 0;
};

class Program {
  public:
    Program(const Plan &plan, const std::vector<int> &cpus)
        : plan_(plan), cpus_(cpus), step_(static_cast<std::ptrdiff_t>(cpus.size())), dealt_(cpus.size()) {}

    Count run() {
        std::vector<Count> counts(cpus_.size());
        std::vector<std::thread> threads;
        for (size_t number = 1; number < cpus_.size(); ++number)
            threads.emplace_back([&, number] { counts[number] = be_processor(number); });
        counts[0] = be_processor(0);
        Count total = counts[0];
        for (size_t number = 1; number < cpus_.size(); ++number) {
            threads[number - 1].join();
            total.objects += counts[number].objects;
            total.shared_lines += counts[number].shared_lines;
        }
        return total;
    }

  private:
    Count be_processor(size_t processor) {
        pin(0, cpus_[processor]);
        Count count;
        step_.arrive_and_wait();
        for (size_t round = 0; round < plan_.rounds; ++round) {
            const size_t size = kObjectSizes[round % kObjectSizes.size()];
            if (plan_.mode == "passive") pass_round(processor, size, count);
            for (size_t turn = 0; turn < kDealt; ++turn) use_objects(processor, size, round % 2 ? kAtOnce : 1, count);
        }
        return count;
    }

    // The first thread allocates neighbours and deals them out in turn, so that each line is torn apart. No barrier
    // follows the frees: the others still hold their part while a thread goes on to allocate.
    void pass_round(size_t processor, size_t size, Count &count) {
        step_.arrive_and_wait();
        if (processor == 0)
            for (size_t number = 0; number < kDealt * cpus_.size(); ++number)
                dealt_[number % cpus_.size()].push_back(allocate(0, size, count));
        step_.arrive_and_wait();
        for (const Object &object : dealt_[processor]) release(object, 0);
        dealt_[processor].clear();
    }

    void use_objects(size_t processor, size_t size, size_t at_once, Count &count) {
        std::array<Object, kAtOnce> held;
        for (size_t number = 0; number < at_once; ++number) held[number] = allocate(processor, size, count);
        for (size_t turn = 0; turn < kWrites; ++turn)
            for (size_t number = 0; number < at_once; ++number) held[number].block[0] = mark(held[number], processor);
        for (size_t number = 0; number < at_once; ++number) {
            if (held[number].block[0] != mark(held[number], processor))
                fail("object %p of %zu bytes: its first byte changed", static_cast<void *>(held[number].block), size);
            release(held[number], processor);
        }
    }

    Object allocate(size_t processor, size_t size, Count &count) {
        auto *block = static_cast<unsigned char *>(std::malloc(size));
        if (block == nullptr) fail("malloc(%zu): out of memory", size);
        count.objects += 1;
        count.shared_lines += lines_.hand_out(block, size, processor);
        return {block, size};
    }

    void release(const Object &object, size_t allocating_processor) {
        lines_.take_back(object.block, object.size, allocating_processor);
        std::free(object.block);
    }

    static unsigned char mark(const Object &object, size_t processor) {
        return static_cast<unsigned char>((reinterpret_cast<uintptr_t>(object.block) >> 4) + 31 * processor);
    }

    Plan plan_;
    std::vector<int> cpus_;
    Lines lines_;
    std::barrier<> step_;
    std::vector<std::vector<Object>> dealt_;
};

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Plan plan;
    gr::bench::Options options("Counts cache lines that malloc shares out to two processors.");
    options.word("--mode", plan.mode, "active or passive", {"active", "passive"});
    options.number("--rounds", plan.rounds, "rounds for each thread");
    if (!options.parse(argc, argv)) return options.exit_code();
    std::vector<int> cpus = allowed_cpus();
    if (cpus.size() > Lines::kProcessors) cpus.resize(Lines::kProcessors);
    if (cpus.size() < 2) {
        dprintf(STDOUT_FILENO, "false sharing: skipped: it needs two CPUs\n");
        return kSkipped;
    }
    alarm(600);
    const Count count = std::make_unique<Program>(plan, cpus)->run();
    dprintf(STDOUT_FILENO, "%s-false: %zu objects on %zu processors, %zu shared lines, rseq %s\n", plan.mode.c_str(),
            count.objects, cpus.size(), count.shared_lines, rseq_in_use() ? "on" : "off");
    if (rseq_in_use() && count.shared_lines != 0)
        fail("%s-false: malloc gave two processors parts of the same line %zu times", plan.mode.c_str(),
             count.shared_lines);
    return 0;
}
