// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: that what is marked is what a simple marker reaches from the same roots in the same stop, block by block, in
//    graphs over all kinds, descriptors and sizes, whichever thread marks; and that a shadow of the graph is among it.
// Invariant: the collecting thread's stack and records are no roots, for they change between the two markings; a hidden
//    pointer is a complement. What wild words keep is kept by both.
// Must not know: the names of gc.h; what is done with what is not marked, but that it goes.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "collector/all_kinds.hpp"
#include "collector/simple_marker.hpp"
#include "instance/instances.hpp"

namespace gr::oracle_test {

using namespace fake;

constexpr std::size_t kNone = SIZE_MAX;
constexpr std::size_t kRoots = 64;
class Oracle;
Oracle *current = nullptr;

class Oracle : public testing::Test {
  protected:
    Oracle() : kinds_(kinds()) {
        current = this;
        collector.pace().automatic = false;
        collector.hooks() = {.push_roots = [] { current->push_roots(); }, .reached = [] { current->compare(); }};
        roots_ = static_cast<void **>(
            mmap(nullptr, 2 * kRoots * sizeof(void *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        EXPECT_TRUE(collector.roots().add(added_range()));
    }
    ~Oracle() override {
        collector.roots().remove(added_range());
        munmap(roots_, 2 * kRoots * sizeof(void *));
        collector.hooks() = {};
        collector.set_accepts(nullptr);
        stacks_.release();
        EXPECT_EQ(instances.first_fault(), nullptr);
    }

    // The first half is pushed by the hook; the second lies in a range that was added.
    platform::Range pushed_range() const { return range_of(roots_); }
    platform::Range added_range() const { return range_of(roots_ + kRoots); }
    static platform::Range range_of(void **words) {
        return {reinterpret_cast<const char *>(words), reinterpret_cast<const char *>(words + kRoots)};
    }

    CollectionReport collect() {
        compared_ = 0;
        own_frame_ = static_cast<const char *>(__builtin_frame_address(0));
        const CollectionReport report = collector.collect();
        EXPECT_TRUE(report.done);
        EXPECT_FALSE(oracle_failed_);
        EXPECT_EQ(only_marked_, 0U);
        EXPECT_EQ(only_reached_, 0U);
        EXPECT_EQ(untrue_entries_, 0U);
        EXPECT_GE(report.live_blocks, reached_count_) << "each marker counts what it marks";
        if (!scans_threads_) expect_kinds_counted(report);
        return report;
    }

    // Old blocks that nothing reaches stay marked; whatever is reached must be.
    CollectionReport collect_young() {
        compared_ = 0;
        own_frame_ = static_cast<const char *>(__builtin_frame_address(0));
        const CollectionReport report = collector.collect_young();
        EXPECT_TRUE(report.done);
        EXPECT_EQ(report.reason, Reason::young);
        EXPECT_FALSE(oracle_failed_);
        EXPECT_EQ(only_reached_, 0U);
        EXPECT_EQ(untrue_entries_, 0U);
        return report;
    }

    // What it left is what is in use now, where no other thread allocates.
    static void expect_kinds_counted(const CollectionReport &report) {
        LiveOfKind all;
        for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
            LiveOfKind here;
            collector.for_each_block(*collector.kind(i), [&](const BlockAt &block, bool) {
                ++here.blocks;
                here.bytes += block.bytes;
            });
            EXPECT_EQ(report.live_of_kinds[i].blocks, here.blocks) << "kind " << i;
            EXPECT_EQ(report.live_of_kinds[i].bytes, here.bytes) << "kind " << i;
            all.blocks += here.blocks;
            all.bytes += here.bytes;
        }
        EXPECT_EQ(report.live_blocks, all.blocks);
        EXPECT_EQ(report.live_bytes, all.bytes);
    }

    bool scans_threads_ = false;
    std::size_t compared_ = 0;
    std::size_t reached_count_ = 0;
    void **roots_ = nullptr;
    const std::array<KindHere, kKindNames> &kinds_;

  private:
    void push_roots() {
        stacks_.clear();
        if (scans_threads_) {
            collector.roots().for_each_of_threads(true, [](platform::Range range) { current->push_of_thread(range); });
        }
        collector.push(pushed_range());
    }
    void push_of_thread(platform::Range range) {
        const auto record = reinterpret_cast<const char *>(platform::thread_pointer());
        if (range.contains(own_frame_) || range.contains(record)) return;
        oracle_failed_ = !stacks_.add(range) || oracle_failed_;
        Marker::current()->scan_stack(range);
    }

    // While the world stands still, and all that stays is marked.
    void compare() {
        SimpleMarker simple(collector.field(), word_by_procedure);
        for (const platform::Range range : stacks_.all()) simple.scan_stack(range);
        simple.scan(pushed_range());
        collector.roots().for_each_variable([&](platform::Range range) { simple.scan(range); });
        collector.finalization().for_each_root([&](const void *p) { simple.consider(p); });
        for_each_block([&](Kind &kind, const BlockAt &block, bool) {
            if (kind.setup.lifetime == Lifetime::until_freed) simple.consider(block.begin);
        });
        simple.drain();
        only_marked_ = only_reached_ = 0;
        for_each_block([&](Kind &, const BlockAt &block, bool is_marked) {
            ++compared_;
            only_marked_ += is_marked && !simple.has_reached(block.begin);
            only_reached_ += !is_marked && simple.has_reached(block.begin);
        });
        reached_count_ = simple.count();
        for (std::uint32_t i = 0; i < collector.kind_count(); ++i)
            untrue_entries_ += count_untrue(collector.kind(i)->instance);
        oracle_failed_ = simple.failed() || oracle_failed_;
    }
    // The unit map says of each unit what it is, or nothing.
    static std::size_t count_untrue(const Instance &instance) {
        std::size_t count = 0;
        for (UnitIndex u = instance.region().first_unit(); u < instance.region().unit_end(); u = u + UnitCount(1)) {
            const UnitEntry e = load_entry(instance.region(), u);
            const Superblock *const s = instance.superblocks().head(u);
            const bool is_run = s->use == UnitUse::run && s->unit == u && e == kRunEntry;
            count += e != 0 && !is_run && (s->use != UnitUse::superblock || class_in(e) != s->size_class);
        }
        return count;
    }
    template <class Visit>
    static void for_each_block(Visit visit) {
        for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
            Kind &kind = *collector.kind(i);
            collector.for_each_block(kind, [&](const BlockAt &block, bool marked) { visit(kind, block, marked); });
        }
    }

    platform::MappedList<platform::Range> stacks_;
    const char *own_frame_ = nullptr;  // of the collecting thread: what lies below changes while it marks
    std::size_t only_marked_ = 0;
    std::size_t only_reached_ = 0;
    std::size_t untrue_entries_ = 0;
    bool oracle_failed_ = false;
};

// A graph, and what it should be.
class Graph {
  public:
    struct Setup {
        bool (*accepts)(std::size_t displacement) = nullptr;  // of pointers into blocks; nullptr: all
        bool has_wild_words = false;                          // which point anywhere among the blocks
    };

    Graph(const std::array<KindHere, kKindNames> &kinds, void **roots, Setup setup, unsigned seed)
        : kinds_(kinds), roots_(roots), setup_(setup), random_(seed), root_of_(2 * kRoots, kNone) {}
    ~Graph() {
        std::fill_n(roots_, 2 * kRoots, nullptr);
        for (Node &node : nodes_)
            if (node.kind == kUncollectable) free(node);
    }
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;

    void grow(std::size_t count) {
        const std::size_t before = nodes_.size();
        for (std::size_t i = 0; i < count; ++i) add_node();
        for (std::size_t n = before; n < nodes_.size(); ++n) link(n);
        for (std::size_t i = 0; i < 2 * kRoots / 3; ++i) {
            const std::size_t root = below(2 * kRoots);
            root_of_[root] = below(4) == 0 ? kNone : below(nodes_.size());
            roots_[root] = root_of_[root] == kNone ? nullptr : pointer_into(nodes_[root_of_[root]]);
            if (!counts(roots_[root], root_of_[root])) root_of_[root] = kNone;
        }
    }
    // What pointed there may point to another's block from now on.
    void free_some() {
        for (Node &node : nodes_)
            if (node.kind == kUncollectable && below(8) == 0) free(node);
    }
    std::size_t size() const { return nodes_.size(); }

    // What it reaches is there, as it was; of the rest so many are, and are forgotten.
    std::size_t check() {
        const std::vector<bool> reached = reach();
        std::size_t kept = 0;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            if (nodes_[n].address == 0) continue;
            const bool is_used = collector.block_at(shown(nodes_[n].address)).begin == shown(nodes_[n].address);
            if (reached[n]) {
                EXPECT_TRUE(is_used) << "node " << n << " of kind " << unsigned{nodes_[n].kind};
                if (is_used) check_contents(nodes_[n]);
            } else {
                kept += is_used;
            }
        }
        forget_all_but(reached);
        return kept;
    }

  private:
    struct Link {
        std::size_t word;
        std::size_t to;
        std::uintptr_t pointer;  // hidden
    };
    struct Node {
        std::uintptr_t address;  // hidden; 0: freed
        std::size_t words;
        KindName kind;
        std::vector<Link> links;
    };

    std::size_t below(std::size_t end) { return random_() % end; }
    void **words_of(const Node &node) const { return reinterpret_cast<void **>(shown(node.address)); }
    // Smaller than a superblock's unit, of several units, and runs.
    std::size_t random_words(std::size_t least) {
        const std::size_t choice = below(1000);
        if (choice < 5) return kClassLimit / sizeof(void *) + below(40000);
        if (choice < 60) return 500 + below(kClassLimit / sizeof(void *) - 500);
        return least + below(40);
    }
    void *pointer_into(const Node &node) {
        const std::size_t displacement = below(2) == 0 ? 0 : below(node.words * sizeof(void *));
        return shown(node.address) + displacement;
    }
    bool counts(const void *pointer, std::size_t to) const {
        if (to == kNone) return false;
        const auto displacement =
            static_cast<std::size_t>(static_cast<const char *>(pointer) - shown(nodes_[to].address));
        return setup_.accepts == nullptr || setup_.accepts(displacement);
    }

    void add_node() {
        const auto kind = static_cast<KindName>(below(8) < 3 ? std::size_t{kNormal} : below(kKindNames));
        if (kind == kUncollectable && below(4) != 0) return;
        const std::size_t words = random_words(kinds_[kind].least_words);
        auto **const block = static_cast<void **>(collector.allocate(*kinds_[kind].kind, words * sizeof(void *)));
        ASSERT_NE(block, nullptr);
        if (kind == kAtomic) std::fill_n(block, words, nullptr);
        block[words - 1] = reinterpret_cast<void *>(words);
        if (kind == kPerObject) block[kOwnDescriptor] = reinterpret_cast<void *>(4 * sizeof(void *));
        nodes_.push_back({hidden(block), words, kind, {}});
    }
    void link(std::size_t n) {
        Node &node = nodes_[n];
        for (std::size_t i = below(5); i != 0 && node.words > 1; --i) {
            const std::size_t word =
                below(2) == 0 ? below(node.words - 1) : below(std::min<std::size_t>(node.words - 1, 5));
            const bool is_own = node.kind == kPerObject && word == kOwnDescriptor;
            if (is_own || words_of(node)[word] != nullptr) continue;
            const std::size_t to = below(nodes_.size());
            void *const pointer = pointer_into(nodes_[to]);
            words_of(node)[word] = pointer;
            if (kinds_[node.kind].is_scanned(word) && counts(pointer, to))
                node.links.push_back({word, to, hidden(pointer)});
        }
        if (setup_.has_wild_words && node.words > 2 && below(4) == 0) make_wild(node);
    }
    // Free blocks, tails, tables, ends: places to which no program would point.
    void make_wild(Node &node) {
        const std::size_t word = below(node.words - 1);
        const bool is_own = node.kind == kPerObject && word == kOwnDescriptor;
        if (is_own || words_of(node)[word] != nullptr) return;
        const Field &field = collector.field();
        const std::uintptr_t base = reinterpret_cast<std::uintptr_t>(field.base());
        const std::uintptr_t near = ~nodes_[below(nodes_.size())].address - kMiB + below(2 * kMiB);
        const std::uintptr_t wild = below(4) == 0 ? base + below(field.bytes()) : near;
        words_of(node)[word] = reinterpret_cast<void *>(wild);
    }
    void free(Node &node) {
        collector.free(*kinds_[node.kind].kind, shown(node.address));
        node.address = 0;
    }

    std::vector<bool> reach() const {
        std::vector<bool> reached(nodes_.size());
        std::vector<std::size_t> work;
        for (const std::size_t root : root_of_)
            if (root != kNone) work.push_back(root);
        for (std::size_t n = 0; n < nodes_.size(); ++n)
            if (nodes_[n].kind == kUncollectable) work.push_back(n);
        while (!work.empty()) {
            const std::size_t n = work.back();
            work.pop_back();
            if (reached[n] || nodes_[n].address == 0) continue;
            reached[n] = true;
            for (const Link &link : nodes_[n].links) work.push_back(link.to);
        }
        return reached;
    }
    void check_contents(const Node &node) const {
        EXPECT_EQ(reinterpret_cast<std::size_t>(words_of(node)[node.words - 1]), node.words);
        for (const Link &link : node.links) EXPECT_EQ(hidden(words_of(node)[link.word]), link.pointer);
    }
    void forget_all_but(const std::vector<bool> &reached) {
        std::vector<std::size_t> now(nodes_.size(), kNone);
        std::vector<Node> kept;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            if (!reached[n]) continue;
            now[n] = kept.size();
            kept.push_back(std::move(nodes_[n]));
        }
        for (Node &node : kept) {
            for (Link &link : node.links) link.to = now[link.to];
            std::erase_if(node.links, [](const Link &link) { return link.to == kNone; });
        }
        for (std::size_t &root : root_of_)
            if (root != kNone) root = now[root];
        nodes_ = std::move(kept);
    }

    const std::array<KindHere, kKindNames> &kinds_;
    void **roots_;
    Setup setup_;
    std::mt19937_64 random_;
    std::vector<std::size_t> root_of_;
    std::vector<Node> nodes_;
};

void let_help(unsigned markers) {
    collector.lock();
    collector.markers().set_most(markers);
    collector.markers().ensure_helpers();
    collector.unlock();
}

constexpr bool accepts_few(std::size_t displacement) { return displacement == 0 || displacement % 48 == 40; }

// With one marker, then with more: helpers do not go away.
TEST_F(Oracle, GraphsOverAllKindsAreMarkedAlike) {
    constexpr unsigned kTurns = 4;
    std::size_t dead = 0;
    std::size_t kept = 0;
    for (const unsigned markers : {1U, 2U, 4U}) {
        let_help(markers);
        for (const Graph::Setup setup : {Graph::Setup{}, {.has_wild_words = true}, {accepts_few, true}}) {
            collector.set_accepts(setup.accepts);
            Graph graph(kinds_, roots_, setup, markers);
            for (unsigned turn = 0; turn < kTurns; ++turn) {
                graph.grow(6000);
                graph.free_some();
                const std::size_t before = graph.size();
                const CollectionReport report = collect();
                if (markers == 1) {
                    EXPECT_EQ(report.live_blocks, reached_count_);
                }
                EXPECT_GE(compared_, before / 2);
                const std::size_t kept_now = graph.check();
                if (setup.has_wild_words) continue;
                dead += before - graph.size();
                kept += kept_now;
            }
        }
    }
    EXPECT_GT(dead, 5000U);
    EXPECT_LE(kept, dead / 100);
}

// More tasks than one marker does alone: breadth, depth, and a block of many pieces.
TEST_F(Oracle, MinorCollectionsKeepWhatIsReached) {
    constexpr unsigned kTurns = 6;
    collector.lock();
    const char *const lack = collector.enable_generations();
    collector.unlock();
    if (lack != nullptr) GTEST_SKIP() << lack;
    for (const unsigned markers : {1U, 4U}) {
        let_help(markers);
        Graph graph(kinds_, roots_, {}, markers);
        std::uint64_t freed = 0;
        for (unsigned round = 0; round < 3; ++round) {
            graph.grow(6000);
            collect();
            graph.check();
            for (unsigned turn = 0; turn < kTurns; ++turn) {
                graph.grow(2000);
                graph.free_some();
                freed += collect_young().freed_blocks;
                graph.check();
            }
        }
        EXPECT_GT(freed, 1000U) << "minor collections free hardly anything";
        collect();
        graph.check();
    }
}

TEST_F(Oracle, WhatHelpersMarkIsMarkedAlike) {
    constexpr std::size_t kWide = 150000;
    constexpr std::size_t kDeep = 30000;
    Kind &normal = *kinds_[kNormal].kind;
    const auto make = [&](std::size_t words) {
        return static_cast<void **>(collector.allocate(normal, words * sizeof(void *)));
    };
    let_help(4);
    for (unsigned turn = 0; turn < 3; ++turn) {
        auto **const wide = make(kWide);
        roots_[0] = wide;
        for (std::size_t i = 0; i < kWide; ++i) {
            auto **const node = make(2 + i % 5);
            node[0] = wide[i / 2];
            node[1] = make(2);
            wide[i] = node;
        }
        for (std::size_t i = 0; i < kDeep; ++i) {
            auto **const node = make(3);
            node[2] = roots_[1];
            roots_[1] = node;
        }
        collect();
        EXPECT_GE(reached_count_, 2 * kWide + kDeep);
        std::size_t depth = 0;
        for (auto **node = static_cast<void **>(roots_[1]); node != nullptr; node = static_cast<void **>(node[2]))
            ++depth;
        EXPECT_EQ(depth, (turn + 1) * kDeep);
    }
    std::fill_n(roots_, 2 * kRoots, nullptr);
    collect();
    EXPECT_LT(reached_count_, kDeep);
}

void finalize(void *, void *) {}

TEST_F(Oracle, WhatIsQueuedForItsFinalizerStaysWithAllThatItReaches) {
    constexpr std::size_t kMany = 1000;
    Kind &normal = *kinds_[kNormal].kind;
    std::vector<std::uintptr_t> leaves;
    collector.lock();
    Finalizers &finalizers = collector.finalization().finalizers;
    for (std::size_t i = 0; i < kMany; ++i) {
        auto **const object = static_cast<void **>(collector.allocate(normal, 64));
        object[3] = collector.allocate(normal, 5000);
        void *const data = collector.allocate(normal, 16);
        leaves.push_back(hidden(object[3]));
        ASSERT_TRUE(finalizers.set(object, {finalize, data, FinalizationOrder::none}).has_value());
    }
    collector.unlock();
    const auto is_used = [](std::uintptr_t word) { return collector.block_at(shown(word)).begin == shown(word); };
    collect();
    EXPECT_GE(finalizers.queue().size(), kMany - 10);
    collect();
    EXPECT_TRUE(std::ranges::all_of(leaves, is_used));
    EXPECT_EQ(finalizers.queue().size() + finalizers.registered(), kMany);
    collector.lock();
    for (QueuedFinalizer one; finalizers.take(&one);) {
    }
    collector.unlock();
    collect();
    EXPECT_LE(std::ranges::count_if(leaves, is_used), 10);
}

TEST_F(Oracle, WhatThreadsHoldWhileTheyAllocateIsMarkedAlike) {
    scans_threads_ = true;
    let_help(2);
    std::atomic<bool> over{false};
    std::atomic<unsigned> broken{0};
    std::atomic<unsigned> turns{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            std::mt19937_64 random(t);
            for (; !over; ++turns) {
                void **head = nullptr;
                for (std::size_t i = 0; i < 300; ++i) {
                    const std::size_t words = 3 + random() % (i % 100 == 0 ? 8000 : 60);
                    Kind &kind = *kinds_[random() % 2 == 0 ? kNormal : kBitmap].kind;
                    auto **const node = static_cast<void **>(collector.allocate(kind, words * sizeof(void *)));
                    node[1] = head;
                    node[2] = node;
                    head = node;
                }
                for (void **node = head; node != nullptr; node = static_cast<void **>(node[1]))
                    broken += node[2] != node;
            }
        });
    }
    while (turns < threads.size()) std::this_thread::yield();
    for (unsigned i = 0; i < 60; ++i) collect();
    over = true;
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(broken, 0U);
}

}  // namespace gr::oracle_test
