// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: how much more memory than it uses does a program occupy in the long run, when the sizes it wants
//    keep shifting and some blocks stay for ever?
//    Source: our own. In phase k sizes are drawn log-uniformly from 16 * 2^(k mod 8) to 128 * 2^(k mod 8)
//    bytes. A block lives an exponential number of phases of mean 3; one in fifty lives for ever, until those
//    hold a quarter of the live bytes. Live bytes stay the same from the first fill to the end: a phase is
//    64 ticks, at each the blocks whose time has come are freed and as many bytes allocated. The threads share
//    the live bytes, and each frees what it allocated.
//    A long run is --mib 200 --phases 2000 with one thread; the defaults are for a quick look.
//    --floor also counts, at the end, the pages that hold a byte of a live block: an allocator that cannot move blocks
//    needs these, so what is resident beyond them is what giving back left, and they themselves are placement. An
//    operation is one whole run of all phases; when the time is up the run is finished.
// Invariant: every byte of a block is written; verifies that its head, its middle and its end are unchanged when it is
//    freed. The lists run through the blocks: beside them the program holds 57 kB for each thread.
// Must not know: which malloc it runs on.
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "team.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kTicks = 64;  // in a phase
constexpr double kMeanLife = 3;     // phases
constexpr std::size_t kKinds = 8;   // of phases
constexpr std::uint64_t kOneLasts = 50;
constexpr std::size_t kLastingPart = 4;

std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

struct Shape {
    std::size_t mib = 32;
    std::size_t phases = 200;
    bool floor = false;
};

// In (0, 1], so that its logarithm is finite: at least -53 ln 2.
double fraction(Random &random) { return static_cast<double>((random.next() >> 11) + 1) * 0x1p-53; }
constexpr double kLongestDraw = 37;

// The smallest size is just this head.
struct Block {
    Block *next;
    std::uint32_t size;
    std::uint32_t mark;
};

std::uint32_t mark_of(const Block *block) {
    return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(block) * 0x9e3779b97f4a7c15U) >> 32) ^
           block->size;
}

Block *create(std::size_t size) {
    auto *const block = static_cast<Block *>(allocate(size));
    block->size = static_cast<std::uint32_t>(size);
    block->mark = mark_of(block);
    std::memset(block + 1, static_cast<unsigned char>(block->mark), size - sizeof(Block));
    return block;
}

void destroy(Block *block) {
    const auto *const bytes = reinterpret_cast<unsigned char *>(block);
    const auto byte = static_cast<unsigned char>(block->mark);
    const std::size_t size = block->size;
    const bool intact =
        block->mark == mark_of(block) &&
        (size == sizeof(Block) || (bytes[(sizeof(Block) + size) / 2] == byte && bytes[size - 1] == byte));
    if (!intact) fail("fragmentation: block %p changed while it was held", static_cast<void *>(block));
    std::free(block);
}

// The blocks of one thread.
class Population {
  public:
    Population(Random &random, std::size_t bytes) : random_(random), bytes_(bytes) {}

    void live_through(std::size_t phases) {
        for (std::size_t tick = 0; tick < phases * kTicks; ++tick) {
            destroy_all(due_[tick % kRing]);
            while (live_ < bytes_) add(tick);
        }
    }
    std::size_t live() const { return live_; }
    // Of the pages with a byte of a live block.
    std::size_t floor_bytes() const {
        std::vector<std::uintptr_t> pages;
        for (const Block *list : due_) add_pages(list, pages);
        add_pages(lasting_, pages);
        std::sort(pages.begin(), pages.end());
        return static_cast<std::size_t>(std::unique(pages.begin(), pages.end()) - pages.begin()) * page_size();
    }
    void destroy_all() {
        for (Block *&list : due_) destroy_all(list);
        destroy_all(lasting_);
        lasting_bytes_ = 0;
    }

  private:
    // Longer than any life, so that a list holds the blocks of one tick only.
    static constexpr std::size_t kRing = static_cast<std::size_t>(kLongestDraw * kMeanLife * kTicks) + 2;

    void add(std::size_t tick) {
        const std::size_t least = std::size_t{16} << (tick / kTicks % kKinds);
        const auto size = static_cast<std::size_t>(static_cast<double>(least) * std::exp2(3 * fraction(random_)));
        const bool lasts = random_.below(kOneLasts) == 0 && lasting_bytes_ + size <= bytes_ / kLastingPart;
        const double life = -std::log(fraction(random_)) * kMeanLife * kTicks;
        Block *&list = lasts ? lasting_ : due_[(tick + 1 + static_cast<std::size_t>(life)) % kRing];
        Block *const block = create(size);
        block->next = std::exchange(list, block);
        live_ += size;
        if (lasts) lasting_bytes_ += size;
    }
    static void add_pages(const Block *list, std::vector<std::uintptr_t> &pages) {
        for (const Block *block = list; block != nullptr; block = block->next) {
            const auto begin = reinterpret_cast<std::uintptr_t>(block);
            const std::uintptr_t last = (begin + block->size - 1) / page_size();
            for (std::uintptr_t page = begin / page_size(); page <= last; ++page) pages.push_back(page);
        }
    }
    void destroy_all(Block *&list) {
        while (list != nullptr) {
            Block *const next = list->next;
            live_ -= list->size;
            destroy(std::exchange(list, next));
        }
    }

    Random &random_;
    std::size_t bytes_;
    std::size_t live_ = 0;
    std::size_t lasting_bytes_ = 0;
    Block *lasting_ = nullptr;
    std::vector<Block *> due_ = std::vector<Block *>(kRing);
};

std::size_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    if (!(statm >> total >> resident)) fail("fragmentation: /proc/self/statm cannot be read");
    return resident * page_size();
}

// Of the last run.
struct Memory {
    double live = 0;
    double resident = 0;
    double floor = 0;
};

void work(const Shape &shape, Team &team, Memory &end, Worker &worker) {
    Population population(worker.random, (shape.mib << 20) / worker.threads);
    for (std::size_t turn = 0; team.more(worker, turn); ++turn) {
        population.live_through(shape.phases);
        const double live = team.sum(worker, static_cast<double>(population.live()));
        if (worker.index == 0) end = {.live = live, .resident = static_cast<double>(resident_bytes())};
        team.meet();
        if (shape.floor) {
            const double floor = team.sum(worker, static_cast<double>(population.floor_bytes()));
            if (worker.index == 0) end.floor = floor;
        }
        population.destroy_all();
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload fragmentation("fragmentation", "Phases of shifting sizes at a constant number of live bytes.",
                           {.threads = 1, .operations = 1});
    fragmentation.options().number("--mib", shape.mib, "live at any time", {1, 1 << 20});
    fragmentation.options().number("--phases", shape.phases, "in a run", {1, 1 << 30});
    fragmentation.options().flag("--floor", shape.floor, "count the pages with a live byte, each thread its own");
    if (!fragmentation.parse(argc, argv)) return fragmentation.exit_code();
    Team team(fragmentation.settings().threads);
    Memory end;
    fragmentation.run([&](Worker &worker) { work(shape, team, end, worker); });
    fragmentation.note("requested_peak_bytes", end.live);
    fragmentation.note("live_bytes", end.live);
    fragmentation.note("rss_bytes", end.resident);
    fragmentation.note("rss_over_live", end.resident / end.live);
    if (shape.floor) fragmentation.note("floor_over_live", end.floor / end.live);
    return fragmentation.report();
}
