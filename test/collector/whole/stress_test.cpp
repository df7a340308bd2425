// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: graphs that grow and change while each allocation, or every so many, collects, and what is dead is overwritten:
//    what the program reaches is as it left it, by whatever it holds it; what comes anew is zeroed.
// Invariant: the shadow of a graph knows blocks by their complements; that something dead goes is asked of many.
// Must not know: the names of gc.h; how it is marked.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "collector/all_kinds.hpp"
#include "instance/instances.hpp"

namespace gr::stress_test {

using namespace fake;

constexpr int kPoison = 0xd8;  // as a descriptor it would be a length beyond all memory
constexpr std::size_t kPlaceWords = 12;
constexpr unsigned kMostThreads = 3;

std::atomic<std::size_t> poisoned{0};

// All that stays is marked, and nothing runs.
void poison_dead() {
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        Kind &kind = *collector.kind(i);
        if (kind.setup.lifetime != Lifetime::collected) continue;
        collector.for_each_block(kind, [](const BlockAt &block, bool is_marked) {
            if (is_marked) return;
            std::memset(block.begin, kPoison, block.bytes);
            poisoned.fetch_add(1, std::memory_order_relaxed);
        });
    }
}

class Stress : public testing::Test {
  protected:
    Stress() {
        kinds();
        poisoned = 0;
        collector.pace().automatic = false;
        collector.hooks() = {.reached = poison_dead};
    }
    ~Stress() override {
        collector.hooks() = {};
        EXPECT_EQ(instances.first_fault(), nullptr);
    }
};

void *static_places[kMostThreads][kPlaceWords];
thread_local void *thread_places[kPlaceWords];

// A program: it holds some objects in each place where one may, and they hold others.
class Mutator {
  public:
    // `on_stack` lies in a frame of the thread that calls.
    Mutator(unsigned number, void **on_stack, std::size_t collect_every)
        : number_(number), random_(number + 1), collect_every_(collect_every), next_id_(number + 1) {
        mapped_ = static_cast<void **>(
            mmap(nullptr, kPlaceWords * sizeof(void *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        collector.lock();
        EXPECT_TRUE(collector.roots().add(mapped_range()));
        collector.unlock();
        places_ = {static_places[number], thread_places, on_stack, mapped_, make_kept()};
        held_.assign(places_.size() * kPlaceWords, kNobody);
    }
    ~Mutator() {
        for (std::size_t at = 0; at < held_.size(); ++at) hold(at, kNobody);
        free_kept();
        collector.lock();
        collector.roots().remove(mapped_range());
        if (number_ == 0) take_finalizers();
        for (const auto &[id, object] : unfinalized_) collector.finalization().finalizers.set(shown(object.first), {});
        for (const auto &[id, cell] : cells_) collector.finalization().short_links.remove(cell.get());
        collector.unlock();
        munmap(mapped_, kPlaceWords * sizeof(void *));
    }
    Mutator(const Mutator &) = delete;
    Mutator &operator=(const Mutator &) = delete;

    void run(std::size_t steps) {
        for (std::size_t i = 1; i <= steps && !testing::Test::HasFailure(); ++i) {
            step();
            if (i % 200 == 0) check();
        }
        check();
    }
    std::size_t collections() const { return collections_; }
    std::size_t finalized() const { return finalized_; }

  private:
    struct Node {
        std::uintptr_t address;  // hidden
        std::size_t words;
        KindName kind;
        std::unordered_map<std::size_t, std::pair<std::size_t, std::uintptr_t>> links;  // by word: id, hidden pointer
    };
    static constexpr std::size_t kNobody = 0;
    static constexpr std::size_t kKept = 4;  // the place that is a block itself

    std::size_t below(std::size_t end) { return random_() % end; }
    platform::Range mapped_range() const {
        return {reinterpret_cast<const char *>(mapped_), reinterpret_cast<const char *>(mapped_ + kPlaceWords)};
    }
    void *&place(std::size_t at) { return places_[at / kPlaceWords][at % kPlaceWords]; }
    void **words_of(const Node &node) const { return reinterpret_cast<void **>(shown(node.address)); }

    void step() {
        const std::size_t at = below(held_.size());
        switch (below(10)) {
            case 0:
            case 1:
            case 2:
            case 3:
                return make(at);
            case 4:
            case 5:
                return link(pick(), pick());
            case 6:
                return hold(at, pick());
            case 7:
                return unlink(pick());
            case 8:
                return move_kept();
            default:
                return hold(at, kNobody);
        }
    }

    void collect_sometimes() {
        if (++allocations_ % collect_every_ != 0) return;
        collections_ += collector.collect().done ? 1 : 0;
        if (number_ != 0) return;  // only the first has finalizers
        collector.lock();
        take_finalizers();
        collector.unlock();
    }
    void take_finalizers() {
        for (QueuedFinalizer one; collector.finalization().finalizers.take(&one);) finalize(one);
    }
    // What has a finalizer is whole when it comes, it comes once, and no other object has it.
    void finalize(const QueuedFinalizer &one) {
        const auto id = reinterpret_cast<std::size_t>(one.finalizer.client_data);
        ASSERT_TRUE(unfinalized_.contains(id));
        EXPECT_EQ(reinterpret_cast<std::size_t>(static_cast<void **>(one.object)[unfinalized_.at(id).second - 1]), id);
        EXPECT_FALSE(reach().contains(id));
        unfinalized_.erase(id);
        ++finalized_;
    }

    // Held at once: another thread may collect.
    void make(std::size_t at) {
        collect_sometimes();
        constexpr KindName kKinds[] = {kAtomic, kNormal, kNormal, kBitmap, kByProcedure, kPerObject};
        const KindName kind = kKinds[below(std::size(kKinds))];
        const std::size_t choice = below(200);
        const std::size_t least = std::max<std::size_t>(kinds()[kind].least_words, 3);
        const std::size_t words = choice == 0   ? 5000 + below(5000)
                                  : choice < 10 ? 500 + below(2000)
                                                : least + below(30);
        auto **const block = static_cast<void **>(collector.allocate(*kinds()[kind].kind, words * sizeof(void *)));
        const std::size_t id = next_id_;
        next_id_ += kMostThreads;
        place(at) = block;
        held_[at] = id;
        if (kind == kAtomic) std::fill_n(block, words, nullptr);
        EXPECT_TRUE(std::all_of(block, block + words, [](const void *word) { return word == nullptr; })) << words;
        block[words - 1] = reinterpret_cast<void *>(id);
        if (kind == kPerObject) block[kOwnDescriptor] = reinterpret_cast<void *>(4 * sizeof(void *));
        expect_cleared(block);
        nodes_[id] = {hidden(block), words, kind, {}};
        if (below(4) == 0) add_link(id, block);
        if (number_ == 0 && below(8) == 0) add_finalizer(id, block, words);
    }
    // The object that had the address before is gone: its links are cleared.
    void expect_cleared(const void *block) {
        for (const auto &[id, cell] : cells_) EXPECT_NE(*cell, block) << "a link to " << id << " outlived it";
        std::erase_if(cells_, [](const auto &one) { return *one.second == nullptr; });
    }
    void add_link(std::size_t id, void *block) {
        cells_[id] = std::make_unique<void *>(block);
        collector.lock();
        EXPECT_EQ(collector.finalization().short_links.add(cells_[id].get(), block), LinkResult::success);
        collector.unlock();
    }

    void add_finalizer(std::size_t id, const void *block, std::size_t words) {
        unfinalized_[id] = {hidden(block), words};
        collector.lock();
        const auto before = collector.finalization().finalizers.set(
            block, {[](void *, void *) {}, reinterpret_cast<void *>(id), FinalizationOrder::none});
        collector.unlock();
        EXPECT_TRUE(before.has_value() && before->procedure == nullptr) << "who had the address before";
    }

    // An object that a walk reaches, or none; all objects on the way are as they should be.
    std::size_t pick() {
        std::size_t id = held_[below(held_.size())];
        for (std::size_t steps = below(8); id != kNobody; --steps) {
            check(nodes_.at(id), id);
            const auto &links = nodes_.at(id).links;
            if (steps == 0 || links.empty()) break;
            id = std::next(links.begin(), static_cast<std::ptrdiff_t>(below(links.size())))->second.first;
        }
        return id;
    }
    void *pointer_into(const Node &node) {
        return shown(node.address) + (below(2) == 0 ? 0 : below(node.words * sizeof(void *)));
    }
    void hold(std::size_t at, std::size_t id) {
        held_[at] = id;
        place(at) = id == kNobody ? nullptr : pointer_into(nodes_.at(id));
    }
    void link(std::size_t from, std::size_t to) {
        if (from == kNobody || to == kNobody) return;
        Node &node = nodes_.at(from);
        const std::size_t word = below(std::min<std::size_t>(node.words - 1, 6));
        if (!kinds()[node.kind].is_scanned(word)) return;
        void *const pointer = pointer_into(nodes_.at(to));
        words_of(node)[word] = pointer;
        node.links[word] = {to, hidden(pointer)};
    }
    void unlink(std::size_t from) {
        if (from == kNobody || nodes_.at(from).links.empty()) return;
        Node &node = nodes_.at(from);
        words_of(node)[node.links.begin()->first] = nullptr;
        node.links.erase(node.links.begin());
    }

    void **make_kept() {
        collect_sometimes();
        return static_cast<void **>(collector.allocate(*kinds()[kUncollectable].kind, kPlaceWords * sizeof(void *)));
    }
    void free_kept() {
        std::memset(static_cast<void *>(places_[kKept]), kPoison, kPlaceWords * sizeof(void *));
        collector.free(*kinds()[kUncollectable].kind, places_[kKept]);
    }
    void move_kept() {
        void **const now = make_kept();
        EXPECT_TRUE(std::all_of(now, now + kPlaceWords, [](const void *word) { return word == nullptr; }));
        std::copy_n(places_[kKept], kPlaceWords, now);
        free_kept();
        places_[kKept] = now;
    }

    std::unordered_map<std::size_t, bool> reach() const {
        std::unordered_map<std::size_t, bool> reached;
        std::vector<std::size_t> work;
        std::ranges::copy_if(held_, std::back_inserter(work), [](std::size_t id) { return id != kNobody; });
        while (!work.empty()) {
            const std::size_t id = work.back();
            work.pop_back();
            if (!reached.emplace(id, true).second) continue;
            for (const auto &[word, to] : nodes_.at(id).links) work.push_back(to.first);
        }
        return reached;
    }
    void check(const Node &node, std::size_t id) const {
        EXPECT_EQ(collector.block_at(shown(node.address)).begin, shown(node.address));
        EXPECT_EQ(reinterpret_cast<std::size_t>(words_of(node)[node.words - 1]), id);
        for (const auto &[word, to] : node.links) EXPECT_EQ(hidden(words_of(node)[word]), to.second);
        const auto cell = cells_.find(id);
        EXPECT_TRUE(cell == cells_.end() || hidden(*cell->second) == node.address);
    }
    void check() {
        const auto reached = reach();
        for (const auto &[id, is_reached] : reached) check(nodes_.at(id), id);
        std::erase_if(nodes_, [&](const auto &one) { return !reached.contains(one.first); });
    }

    unsigned number_;
    std::mt19937_64 random_;
    std::size_t collect_every_;
    std::size_t next_id_;  // those of other threads are others
    std::size_t allocations_ = 0;
    std::size_t collections_ = 0;
    std::size_t finalized_ = 0;
    void **mapped_ = nullptr;
    std::array<void **, 5> places_{};
    std::vector<std::size_t> held_;  // by place: id
    std::unordered_map<std::size_t, Node> nodes_;
    std::unordered_map<std::size_t, std::unique_ptr<void *>> cells_;
    std::unordered_map<std::size_t, std::pair<std::uintptr_t, std::size_t>> unfinalized_;  // hidden, words
};

TEST_F(Stress, ACollectionAtEachAllocationLosesNothing) {
    for (const std::size_t every : {1U, 2U, 7U}) {
        void *on_stack[kPlaceWords] = {};
        Mutator mutator(0, &on_stack[0], every);
        mutator.run(4000);
        EXPECT_GE(mutator.collections(), 1200 / every);
        EXPECT_GE(mutator.finalized(), 30U);
    }
    EXPECT_GE(poisoned, 3000U);
}

TEST_F(Stress, ThreadsThatCollectWhileOthersAllocateLoseNothing) {
    std::vector<std::thread> threads;
    std::atomic<std::size_t> collections{0};
    for (unsigned number = 0; number < kMostThreads; ++number) {
        threads.emplace_back([number, &collections] {
            void *on_stack[kPlaceWords] = {};
            Mutator mutator(number, &on_stack[0], 20);
            mutator.run(6000);
            collections += mutator.collections();
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_GE(collections, 100U);
    EXPECT_GE(poisoned, 3000U);
}

}  // namespace gr::stress_test
