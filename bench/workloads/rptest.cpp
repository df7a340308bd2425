// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do blocks up to some pages cost when every second is freed by another thread than the one
//    that allocated it, and caches are cold in between?
//    Source: the pattern of rpmalloc's benchmark, rptest in public suites, written anew from a description:
//    threads allocate 8 bytes to 16 KiB, some blocks aligned, some by calloc, half are freed by another
//    thread, with pauses. Chosen here: a thread has 1,000 places. In a loop it replaces the blocks of 100 of
//    them, picked at random; of what was there it frees every second itself and sends the others, together, to
//    the next thread, then frees what was sent to it. Small sizes are likelier: the smaller of two numbers that
//    are uniform. One of eight blocks is aligned to 16 to 128 bytes, one of eight calloc's. After ten loops it
//    pauses: it walks through a MiB of its own, because sleeping would measure the scheduler. Each thread has
//    room for 32 parcels; a thread that finds no room frees what it was sent and lets others run. An operation is a
//    replacement.
// Invariant: a block has its alignment, the first and the last word of calloc's are zero, and each still carries its
//    stamp when it is freed; every parcel arrives.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <deque>

#include "blocks.hpp"
#include "handover.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::size_t places = 1000;
    std::size_t loop = 100;
    std::size_t loops = 10;    // between two pauses
    std::size_t pause = 1024;  // KiB
    std::size_t min = 8;
    std::size_t max = 16'000;
};

constexpr std::size_t kRoom = 32;
constexpr std::uint64_t kOneSpecialOf = 8;
constexpr std::size_t kSmallestAlignment = 16;
constexpr unsigned kAlignments = 4;
constexpr std::size_t kLine = 64;

Block aligned(Random &random, std::size_t size) {
    const std::size_t alignment = kSmallestAlignment << random.below(kAlignments);
    void *bytes = nullptr;
    if (posix_memalign(&bytes, alignment, size) != 0) fail("posix_memalign(%zu, %zu) failed", alignment, size);
    if (reinterpret_cast<std::uintptr_t>(bytes) % alignment != 0)
        fail("rptest: block %p is not aligned to %zu bytes", bytes, alignment);
    return stamped(random, bytes, size);
}

Block zeroed(Random &random, std::size_t size) {
    void *const bytes = std::calloc(1, size);
    if (bytes == nullptr) fail("calloc(1, %zu): out of memory", size);
    const Block block{static_cast<std::uint64_t *>(bytes), static_cast<std::uint32_t>(size), 0};
    if (block.words[0] != 0 || block.last() != 0) fail("rptest: block %p is not zeroed", bytes);
    return stamped(random, bytes, size);
}

Block new_block(const Shape &shape, Random &random) {
    const std::size_t size = std::min(random.between(shape.min, shape.max), random.between(shape.min, shape.max));
    switch (random.below(kOneSpecialOf)) {
        case 0:
            return aligned(random, size);
        case 1:
            return zeroed(random, size);
        default:
            return allocate_stamped(random, size);
    }
}

using Parcel = std::vector<Block>;

struct Shared {
    std::deque<Queue<Parcel>> rooms;  // one for each thread
    std::atomic<std::size_t> working;
};

// One thread's places and post.
class Trader {
  public:
    Trader(const Shape &shape, Worker &worker, Shared &shared)
        : shape_(shape),
          worker_(worker),
          own_(shared.rooms[worker.index]),
          next_(shared.rooms[(worker.index + 1) % worker.threads]),
          blocks_(shape.places),
          idle_(shape.pause * 1024) {
        sent_.reserve(shape.loop);
        received_.reserve(shape.loop);
    }

    void loop() {
        const std::uint64_t count = std::min<std::uint64_t>(shape_.loop, worker_.left());
        for (std::uint64_t number = 0; number < count; ++number) {
            Block &block = blocks_[worker_.random.below(blocks_.size())];
            release(block);
            block = new_block(shape_, worker_.random);
        }
        worker_.did(count);
        while (!next_.try_push(sent_)) {
            receive();
            std::this_thread::yield();
        }
        sent_.clear();
        receive();
    }
    void pause() {
        for (std::size_t place = 0; place < idle_.size(); place += kLine) ++idle_[place];
    }
    // Until no thread works any more, so that no room stays full.
    void end() {
        while (own_.pop(received_)) free_received();
        for (const Block &block : blocks_)
            if (block.words != nullptr) free_stamped(block, "rptest");
    }

  private:
    void release(const Block &block) {
        if (block.words == nullptr) return;
        if (++released_ % 2 == 0)
            free_stamped(block, "rptest");
        else
            sent_.push_back(block);
    }
    void receive() {
        while (own_.try_pop(received_)) free_received();
    }
    void free_received() {
        for (const Block &block : received_) free_stamped(block, "rptest");
        received_.clear();
    }

    const Shape &shape_;
    Worker &worker_;
    Queue<Parcel> &own_;
    Queue<Parcel> &next_;
    std::vector<Block> blocks_;
    Parcel sent_, received_;
    std::uint64_t released_ = 0;
    std::vector<unsigned char> idle_;
};

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("rptest", "Blocks of 8 bytes to 16 KiB, half of them freed by another thread.",
                      {.threads = 2, .seconds = 5});
    const Range counts{1, 1 << 20};
    const Range sizes{sizeof(std::uint64_t), 1 << 30};
    workload.options().number("--places", shape.places, "of each thread", counts);
    workload.options().number("--loops", shape.loops, "between pauses", counts);
    workload.options().number("--pause", shape.pause, "KiB that are walked through", counts);
    workload.options().number("--min", shape.min, "bytes", sizes);
    workload.options().number("--max", shape.max, "bytes", sizes);
    if (!workload.parse(argc, argv)) return workload.exit_code();
    if (shape.max < shape.min) return std::fputs("rptest: --max is below --min\n", stderr), 2;

    Shared shared{.rooms = {}, .working = workload.settings().threads};
    Parcel empty;
    while (shared.rooms.size() < workload.settings().threads) shared.rooms.emplace_back(kRoom, empty);
    workload.run([&](Worker &worker) {
        Trader trader(shape, worker, shared);
        for (std::size_t loop = 1; worker.more(); ++loop) {
            trader.loop();
            if (loop % shape.loops == 0) trader.pause();
        }
        if (shared.working.fetch_sub(1) == 1)
            for (Queue<Parcel> &room : shared.rooms) room.close();
        trader.end();
    });
    return workload.report();
}
