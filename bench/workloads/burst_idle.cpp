// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: how much memory does a process keep after a burst, when it has become idle?
//    Source: our own, beyond the papers. A burst allocates --mib (a serious measurement takes 2048) in
//    blocks, 80 % of them of 16 to 255 bytes, 17 % of 256 to 4,095, 3 % of 4 to 64 KiB, uniform inside each
//    range, and writes on all of it; then frees 95 % in random order, the survivors being chosen at random,
//    or, with --survivors older, the younger half. 100 ms later, without a call of malloc or free in between,
//    resident memory is read (idle_rss_kib, without this program's own arrays, which are own_kib) and
//    compared with the pages that hold a byte of a live block (floor_kib), below which no allocator comes without
//    moving blocks. Both are those of the last burst. --threads share a burst evenly. An operation is a burst
//    of all threads together, from the first malloc to the last free, the pause included.
// Invariant: verifies the stamp of each block that is freed and, after the pause, every byte of the survivors: pages
//    given back must have been empty. The program's arrays come from mmap and are wholly resident from the
//    start.
// Must not know: which malloc it runs on.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>

#include "blocks.hpp"
#include "team.hpp"

namespace {

using namespace gr::bench;

constexpr std::chrono::milliseconds kPause{100};

std::size_t draw(Random &random) {
    const std::uint64_t percent = random.below(100);
    if (percent < 80) return random.between(16, 255);
    if (percent < 97) return random.between(256, 4095);
    return random.between(4096, 65536);
}
constexpr double kMeanSize = 0.80 * (16 + 255) / 2 + 0.17 * (256 + 4095) / 2 + 0.03 * (4096 + 65536) / 2;

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// Blocks in memory that no malloc knows of.
class OwnArray {
  public:
    explicit OwnArray(std::size_t count)
        : bytes_((count * sizeof(Block) + page_size() - 1) / page_size() * page_size()) {
        constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
        void *const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, kFlags, -1, 0);
        if (memory == MAP_FAILED) fail("mmap of %zu bytes: out of memory", bytes_);
        blocks_ = {static_cast<Block *>(memory), count};
    }
    ~OwnArray() { munmap(blocks_.data(), bytes_); }
    OwnArray(const OwnArray &) = delete;
    OwnArray &operator=(const OwnArray &) = delete;

    std::span<Block> blocks() const { return blocks_; }
    std::size_t kib() const { return bytes_ / 1024; }

  private:
    std::size_t bytes_;
    std::span<Block> blocks_;
};

// What is between a block's stamps is filled with a byte that is not zero.
std::span<unsigned char> inside(const Block &block) {
    return {reinterpret_cast<unsigned char *>(block.words + 1), reinterpret_cast<unsigned char *>(&block.last())};
}
unsigned char filling(const Block &block) { return static_cast<unsigned char>(block.stamp | 1); }

bool intact(const Block &block) {
    const std::span<const unsigned char> bytes = inside(block);
    return bytes.empty() ||
           (bytes[0] == filling(block) && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// The kernel's exact count, read without malloc.
std::size_t resident_kib() {
    char text[1024] = {};
    const int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    const bool read_it = file >= 0 && read(file, text, sizeof text - 1) > 0;
    if (file >= 0) close(file);
    const char *const figure = std::strstr(text, "Rss:");
    if (!read_it || figure == nullptr) fail("/proc/self/smaps_rollup: resident memory cannot be read");
    return std::strtoul(figure + std::strlen("Rss:"), nullptr, 10);
}

// Of the pages with a byte of a block.
std::size_t floor_kib(std::span<Block> blocks) {
    std::sort(blocks.begin(), blocks.end(), [](const Block &a, const Block &b) { return a.words < b.words; });
    std::uintptr_t pages = 0, uncounted = 0;
    for (const Block &block : blocks) {
        const auto address = reinterpret_cast<std::uintptr_t>(block.words);
        const std::uintptr_t end = (address + block.size - 1) / page_size() + 1;
        pages += end - std::max(uncounted, address / page_size());
        uncounted = end;
    }
    return pages * (page_size() / 1024);
}

struct Shape {
    std::size_t mib = 256;
    bool older = false;
};

class Bursts {
  public:
    Bursts(const Settings &settings, const Shape &shape)
        : older_(shape.older),
          share_(share_of(shape.mib, settings.threads)),
          kept_(shape.older ? share_ / 2 : share_ / 20),
          all_(share_ * settings.threads),
          gathered_(kept_ * settings.threads),
          team_(settings.threads) {}

    void run(Worker &worker) {
        const std::span<Block> own = all_.blocks().subspan(worker.index * share_, share_);
        for (std::size_t burst = 0; team_.more(worker, burst); ++burst) {
            allocate_all(own, worker.random);
            team_.meet();
            free_most(own, worker.random);
            team_.meet();
            if (worker.index == 0) measure();
            team_.meet();
            free_survivors(own.first(kept_));
        }
    }
    void note(Workload &workload) const {
        const std::size_t own = all_.kib() + gathered_.kib();
        workload.note("requested_peak_bytes", static_cast<double>(peak_));
        workload.note("idle_rss_kib", static_cast<double>(resident_ - own));
        workload.note("floor_kib", static_cast<double>(floor_));
        workload.note("own_kib", static_cast<double>(own));
    }

  private:
    // In blocks; so many that one in twenty is one.
    static std::size_t share_of(std::size_t mib, std::size_t threads) {
        const double blocks = static_cast<double>(mib << 20) / kMeanSize / static_cast<double>(threads);
        return std::max(std::size_t{20}, static_cast<std::size_t>(blocks));
    }

    void allocate_all(std::span<Block> own, Random &random) {
        std::uint64_t bytes = 0;
        for (Block &block : own) {
            block = allocate_stamped(random, draw(random));
            std::memset(inside(block).data(), filling(block), inside(block).size());
            bytes += block.size;
        }
        live_ += bytes;
    }
    // Afterwards the first kept_ are the survivors.
    void free_most(std::span<Block> own, Random &random) const {
        shuffle(random, older_ ? own.subspan(kept_) : own);
        for (const Block &block : own.subspan(kept_)) free_stamped(block, "burst-idle");
    }
    void measure() {
        std::this_thread::sleep_for(kPause);
        resident_ = resident_kib();
        for (std::size_t first = 0, to = 0; first < all_.blocks().size(); first += share_, to += kept_)
            std::copy_n(all_.blocks().begin() + static_cast<std::ptrdiff_t>(first), kept_,
                        gathered_.blocks().begin() + static_cast<std::ptrdiff_t>(to));
        floor_ = floor_kib(gathered_.blocks());
        peak_ = std::max(peak_, live_.exchange(0));
    }
    static void free_survivors(std::span<const Block> survivors) {
        for (const Block &block : survivors) {
            if (!intact(block)) fail("burst-idle: block %p changed in the pause", static_cast<void *>(block.words));
            free_stamped(block, "burst-idle");
        }
    }

    bool older_;
    std::size_t share_;  // blocks of one thread
    std::size_t kept_;   // survivors of one thread
    OwnArray all_;
    OwnArray gathered_;  // the survivors of all threads
    Team team_;
    std::atomic<std::uint64_t> live_ = 0;  // requested bytes of this burst
    // Written by the first thread while the others wait.
    std::uint64_t peak_ = 0;
    std::size_t resident_ = 0;
    std::size_t floor_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    std::string survivors = "random";
    Workload workload("burst-idle", "Resident memory after a burst, compared with the pages still in use.",
                      {.threads = 1, .operations = 1});
    workload.options().number("--mib", shape.mib, "allocated in a burst", {1, 1 << 20});
    workload.options().word("--survivors", survivors, "5 % at random, or the older half", {"random", "older"});
    if (!workload.parse(argc, argv)) return workload.exit_code();
    shape.older = survivors == "older";

    Bursts bursts(workload.settings(), shape);
    workload.run([&](Worker &worker) { bursts.run(worker); });
    bursts.note(workload);
    return workload.report();
}
