// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a collection promises where a hook, a procedure or a descriptor of the program's comes in, where memory
//    ends, of threads that block the signal, and of blocks that are on their way back when it begins.
// Invariant: what must stay is held by a local variable at least; what must go is asked of many.
// Must not know: the names of gc.h.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "collector/all_kinds.hpp"
#include "instance/instances.hpp"

namespace gr::steps_test {

using namespace fake;

bool is_used(std::uintptr_t word) { return collector.block_at(shown(word)).begin == shown(word); }

class Steps : public testing::Test {
  protected:
    Steps() {
        kinds();
        collector.pace().automatic = false;
    }
    ~Steps() override {
        collector.hooks() = {};
        EXPECT_EQ(instances.first_fault(), nullptr);
    }

    static void **make(KindName kind, std::size_t words) {
        return static_cast<void **>(collector.allocate(*kinds()[kind].kind, words * sizeof(void *)));
    }
    // A chain, by its first words; all but its head are told in `all`.
    static void **make_chain(std::size_t length, std::vector<std::uintptr_t> *all) {
        void **head = nullptr;
        for (std::size_t i = 0; i < length; ++i) {
            auto **const node = make(kNormal, 4);
            node[0] = head;
            if (head != nullptr) all->push_back(hidden(head));
            head = node;
        }
        return head;
    }
};

std::uintptr_t marked_by_hook = 0;

TEST_F(Steps, WhatAHookMarksStaysWithAllThatItReaches) {
    std::vector<std::uintptr_t> chain;
    marked_by_hook = hidden(make_chain(1000, &chain));
    collector.hooks().push_roots = [] {};  // nothing that threads have
    collector.hooks().reached = [] { Marker::current()->consider(~marked_by_hook); };
    EXPECT_TRUE(collector.collect().done);
    EXPECT_TRUE(is_used(marked_by_hook));
    EXPECT_TRUE(std::ranges::all_of(chain, is_used));
    collector.hooks().reached = nullptr;
    EXPECT_TRUE(collector.collect().done);
    EXPECT_LE(std::ranges::count_if(chain, is_used), 10);
}

std::uintptr_t run_in_making = 0;

void store_run_entry(UnitEntry entry) {
    const Region &region = kinds()[kNormal].kind->instance.region();
    std::atomic_ref<UnitEntry>(region.entry(region.unit_of(shown(run_in_making)))).store(entry);
}

// As if a thread was stopped between the two steps of acquiring the run.
TEST_F(Steps, ARunThatHasNoEntryYetStays) {
    run_in_making = hidden(make(kNormal, 10000));
    collector.hooks().push_roots = [] {};  // nothing points to the run
    collector.hooks().step = [](Step step) {
        if (step == Step::stopping) store_run_entry(0);
        if (step == Step::resumed) store_run_entry(kRunEntry);
    };
    EXPECT_TRUE(collector.collect().done);
    EXPECT_TRUE(is_used(run_in_making));
    collector.hooks().step = nullptr;
    EXPECT_TRUE(collector.collect().done);
    EXPECT_FALSE(is_used(run_in_making));
}

unsigned asked_inside = 0;
unsigned done_inside = 0;

TEST_F(Steps, NoHookCollects) {
    asked_inside = done_inside = 0;
    collector.hooks().step = [](Step step) {
        if ((step != Step::begin && step != Step::end) || ++asked_inside > 10) return;
        done_inside += collector.collect().done ? 1 : 0;
    };
    EXPECT_TRUE(collector.collect().done);
    EXPECT_EQ(asked_inside, 2U);
    EXPECT_EQ(done_inside, 0U);
}

TEST_F(Steps, ADescriptorThatLiesInNoObjectIsNone) {
    constexpr std::uintptr_t kItself = kOwnDescriptor * sizeof(void *) | 3;
    void **const object = make(kPerObject, 8);
    object[kOwnDescriptor] = reinterpret_cast<void *>(kItself);
    collector.hooks().push_roots = [] {};
    marked_by_hook = hidden(object);
    object[0] = make(kNormal, 4);
    collector.hooks().reached = [] { Marker::current()->consider(~marked_by_hook); };
    EXPECT_TRUE(collector.collect().done);
    EXPECT_TRUE(is_used(marked_by_hook));
}

constexpr std::size_t kByStack = 9;

// Both halves of the block, as the marker's own stack would have them.
Task *push_halves(std::uintptr_t *block, Task *top, Task *limit, std::uintptr_t words) {
    const auto *const begin = reinterpret_cast<const char *>(block);
    const std::size_t half = words / 2 * sizeof(void *);
    EXPECT_GE(limit - top, 2);
    *++top = {begin, Descriptor::of_length(half)};
    *++top = {begin + half, Descriptor::of_length(half)};
    return top;
}

TEST_F(Steps, WhatAProcedureLeavesOnItsStackIsScanned) {
    constexpr std::uintptr_t kWords = 8;
    constexpr std::uintptr_t kProcedureForm = 2;
    static Kind *const kind = [] {
        collector.lock();
        collector.procedures()[kByStack] = push_halves;
        Kind *const made = collector.make_kind(
            {.descriptor = Descriptor(kWords << (Descriptor::kProcedureBits + 2) | kByStack << 2 | kProcedureForm)});
        collector.unlock();
        return made;
    }();
    auto **const object = static_cast<void **>(collector.allocate(*kind, kWords * sizeof(void *)));
    std::vector<std::uintptr_t> held;
    for (std::size_t i = 0; i < kWords; ++i) held.push_back(hidden(object[i] = make(kNormal, 6)));
    marked_by_hook = hidden(object);
    collector.hooks().push_roots = [] { Marker::current()->consider(~marked_by_hook); };
    EXPECT_TRUE(collector.collect().done);
    EXPECT_TRUE(std::ranges::all_of(held, is_used));
}

// The kernel gives no memory from the first mark on.
rlimit limit_before{};

TEST_F(Steps, WhereMemoryEndsWhileMarkingAllStays) {
    constexpr std::size_t kDepth = 1000;
    constexpr std::size_t kLeaves = 20;
    std::vector<std::uintptr_t> all;
    const auto keep = [&](void **block) {
        all.push_back(hidden(block));
        return block;
    };
    // Whether what was found first or last is scanned first: in one of two chains the leaves are left for later.
    void **const heads = keep(make(kNormal, 2));
    for (const std::size_t next : {std::size_t{0}, kLeaves}) {
        void **head = nullptr;
        for (std::size_t i = 0; i < kDepth; ++i) {
            void **const node = keep(make(kNormal, kLeaves + 1));
            for (std::size_t word = 0; word <= kLeaves; ++word)
                node[word] = word == next ? head : keep(make(kNormal, 4));
            head = node;
        }
        heads[next == 0 ? 0 : 1] = head;
    }
    const auto dead_begin = static_cast<std::ptrdiff_t>(all.size());
    for (std::size_t i = 0; i < kDepth; ++i) keep(make(kNormal, 4));
    marked_by_hook = hidden(heads);
    collector.hooks().push_roots = [] { Marker::current()->consider(~marked_by_hook); };
    ASSERT_EQ(getrlimit(RLIMIT_AS, &limit_before), 0);
    collector.hooks().step = [](Step step) {
        const rlimit none{0, limit_before.rlim_max};
        if (step == Step::marking) setrlimit(RLIMIT_AS, &none);
        if (step == Step::resuming) setrlimit(RLIMIT_AS, &limit_before);
    };
    const bool done = collector.collect().done;
    collector.hooks().step = nullptr;
    EXPECT_FALSE(done);
    EXPECT_TRUE(std::ranges::all_of(all, is_used));
    EXPECT_TRUE(collector.collect().done);
    EXPECT_TRUE(std::all_of(all.begin(), all.begin() + dead_begin, is_used));
    EXPECT_LE(std::count_if(all.begin() + dead_begin, all.end(), is_used), 10);
}

TEST_F(Steps, WhoseMemoryEndedSaysSo) {
    void **const block = make(kNormal, 4);
    EXPECT_TRUE(collector.collect().done);  // the block has a mark
    constexpr std::uint8_t kNoCollection = 0;
    Worklist worklist;
    Worklist later;
    Marker failing({collector.field(), collector.procedures(), worklist, later, kNoCollection, MarkMode::stopped});
    ASSERT_EQ(getrlimit(RLIMIT_AS, &limit_before), 0);
    const rlimit none{0, limit_before.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    failing.consider(reinterpret_cast<std::uintptr_t>(block));
    failing.drain();
    setrlimit(RLIMIT_AS, &limit_before);
    EXPECT_TRUE(failing.failed());
}

TEST_F(Steps, AMarkCountsInItsOwnCollectionOnly) {
    make(kAtomic, 2);
    EXPECT_TRUE(collector.collect().done);  // there are marks
    const Kind &kind = *kinds()[kAtomic].kind;
    make(kAtomic, 2);
    const Superblock *s = nullptr;
    kinds()[kAtomic].kind->instance.collector_view().for_each_superblock([&](const Superblock *one) { s = one; });
    ASSERT_NE(s, nullptr);
    constexpr Word kSome = 0x8000'0123'4567'89ab;
    for (unsigned number = 1; number <= UINT8_MAX; ++number) {
        kind.marks.stamp(s, 0, ~Word{0}, static_cast<std::uint8_t>(number ^ 1));
        kind.marks.stamp(s, 0, kSome, static_cast<std::uint8_t>(number));
        for (unsigned bit = 0; bit < 8; ++bit) {
            const auto other = static_cast<std::uint8_t>(number ^ 1U << bit);
            EXPECT_EQ(kind.marks.live(s, 0, other), bit == 0 ? ~kSome : 0);
        }
        EXPECT_EQ(kind.marks.live(s, 0, static_cast<std::uint8_t>(number)), kSome);
    }
}

// A thread that blocks the signal and sleeps while it is called, and is woken when the others stand.
struct Unstoppable {
    int wakes[2] = {-1, -1};
    std::atomic<std::uint32_t> id{0};
    std::atomic<bool> is_awake{false};
    std::atomic<void *> got{nullptr};

    void run() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(static_cast<unsigned>(sched_getcpu()), &here);
        pthread_setaffinity_np(pthread_self(), sizeof here, &here);
        Kind &kind = *kinds()[kUncollectable].kind;
        std::vector<void *> some(20);
        for (void *&block : some) block = collector.allocate(kind, 64);
        for (void *const block : some) Collector::free(kind, block);  // into this CPU's magazine
        id = platform::task_of_caller();
        char byte = 0;
        EXPECT_EQ(read(wakes[0], &byte, 1), 1);
        is_awake = true;
        got = collector.allocate(kind, 64);
    }
    bool waits() const { return platform::sleeping_stack_pointer(id) != nullptr; }
};
Unstoppable *unstoppable_thread = nullptr;
bool got_meanwhile = false;

TEST_F(Steps, WhoBlocksTheSignalGetsNoBlockBeforeItIsOver) {
    Unstoppable unstoppable;
    unstoppable_thread = &unstoppable;
    ASSERT_EQ(pipe(unstoppable.wakes), 0);
    std::thread thread([&] { unstoppable.run(); });
    while (unstoppable.id == 0 || !unstoppable.waits()) std::this_thread::yield();
    collector.hooks().step = [](Step step) {
        if (step != Step::marking) return;
        EXPECT_EQ(platform::world.unstoppable(), 1U);
        EXPECT_EQ(write(unstoppable_thread->wakes[1], "x", 1), 1);
        while (!unstoppable_thread->is_awake) platform::pause();
        while (unstoppable_thread->got == nullptr && !unstoppable_thread->waits()) platform::pause();
        got_meanwhile = unstoppable_thread->got != nullptr;
    };
    EXPECT_TRUE(collector.collect().done);
    thread.join();
    EXPECT_FALSE(got_meanwhile);
    EXPECT_NE(unstoppable.got, nullptr);
    Collector::free(*kinds()[kUncollectable].kind, unstoppable.got);
    close(unstoppable.wakes[0]);
    close(unstoppable.wakes[1]);
}

// A sleeper that blocks the signal may have words below its stack pointer: a system call is no call.
#if defined(__x86_64__)
constexpr long kBelow = 64;

[[gnu::noinline]] long read_holding_below(std::uintptr_t hidden_block, int from, char *byte) {
    std::uintptr_t found = hidden_block;
    long result = 0;  // SYS_read
    asm volatile(
        "notq %[word]\n\tmovq %[word], -%c[below](%%rsp)\n\txorq %[word], %[word]\n\tsyscall\n\t"
        "movq -%c[below](%%rsp), %[word]\n\tmovq $0, -%c[below](%%rsp)\n\tnotq %[word]"
        : [word] "+r"(found), "+a"(result)
        : "D"(static_cast<long>(from)), "S"(byte), "d"(1L), [below] "i"(kBelow)
        : "rcx", "r11", "memory");
    EXPECT_EQ(found, hidden_block);
    return result;
}

TEST_F(Steps, WhatASleeperHoldsBelowItsStackPointerStays) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::atomic<std::uint32_t> id{0};
    const std::uintptr_t block = hidden(make(kNormal, 4));
    std::thread thread([&] {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        char byte = 0;
        id = platform::task_of_caller();
        EXPECT_EQ(read_holding_below(block, ends[0], &byte), 1);
    });
    while (id == 0 || platform::sleeping_stack_pointer(id) == nullptr) std::this_thread::yield();
    // What this thread left on its own stack does not count.
    collector.hooks().push_roots = [] {
        collector.roots().for_each_of_threads(true, [](platform::Range range) {
            if (!range.contains(__builtin_frame_address(0))) Marker::current()->scan_stack(range);
        });
    };
    EXPECT_TRUE(collector.collect().done);
    EXPECT_EQ(platform::world.unstoppable(), 1U);
    EXPECT_TRUE(is_used(block));
    EXPECT_EQ(write(ends[1], "x", 1), 1);
    thread.join();
    close(ends[0]);
    close(ends[1]);
}
#endif

TEST_F(Steps, WhoRunsOnACoroutinesStackKeepsWhatItsOwnHolds) {
    constexpr std::size_t kStack = 256 * kKiB;
    void *const stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(stack, MAP_FAILED);
    ucontext_t here;
    ucontext_t there;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = kStack;
    there.uc_link = &here;
    makecontext(
        &there, [] { collector.collect(); }, 0);
    void *volatile held[200];
    std::vector<std::uintptr_t> all;
    for (void *volatile &place : held) {
        place = make(kNormal, 4);
        all.push_back(hidden(place));
    }
    const std::uint64_t number = collector.last().number;
    ASSERT_EQ(swapcontext(&here, &there), 0);
    EXPECT_EQ(collector.last().number, number + 1);
    EXPECT_TRUE(std::ranges::all_of(all, is_used));
    munmap(stack, kStack);
}

// As fork's handlers do it.
TEST_F(Steps, AForkedChildHasHelpersOfItsOwn) {
    collector.lock();
    collector.markers().set_most(2);
    collector.markers().ensure_helpers();
    instances.lock_all();
    const pid_t child = fork();
    if (child != 0) {
        instances.unlock_all();
        collector.unlock();
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        return;
    }
    alarm(60);
    instances.unlock_all();
    instances.forget_other_threads();
    collector.forget_other_threads();
    collector.unlock();
    if (collector.markers().helpers() != 0) _exit(1);
    collector.markers().ensure_helpers();
    if (collector.markers().helpers() != 1) _exit(2);
    _exit(collector.collect().done ? 0 : 3);
}

TEST_F(Steps, ALargeBlockIsZeroedToItsEnd) {
    const auto whole_is_zero = [](const void *block) {
        const BlockAt at = collector.block_at(block);
        const auto *const bytes = static_cast<const unsigned char *>(at.begin);
        return std::all_of(bytes, bytes + at.bytes, [](unsigned char byte) { return byte == 0; });
    };
    for (unsigned turn = 0; turn < 3; ++turn) {
        for (std::size_t i = 0; i < 40; ++i) {
            void **const block = make(kNormal, kClassLimit / sizeof(void *) + 1 + i * 100);
            ASSERT_TRUE(whole_is_zero(block));
            std::memset(static_cast<void *>(block), 0xa5, collector.block_at(block).bytes);
        }
        EXPECT_TRUE(collector.collect().done);
    }
}

// The calling thread runs on the first or the last of its CPUs, which are one where there is one only.
class OnCpu {
  public:
    enum Which : std::uint8_t { first, last };

    explicit OnCpu(Which which) {
        sched_getaffinity(0, sizeof all_, &all_);
        int cpu = -1;
        for (int i = 0; i < CPU_SETSIZE; ++i) {
            if (CPU_ISSET(static_cast<unsigned>(i), &all_) && (cpu < 0 || which == last)) cpu = i;
        }
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(cpu), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~OnCpu() { sched_setaffinity(0, sizeof all_, &all_); }
    OnCpu(const OnCpu &) = delete;
    OnCpu &operator=(const OnCpu &) = delete;

    cpu_set_t all() const { return all_; }

  private:
    cpu_set_t all_{};
};

// What one heap's thread allocates another's frees: it lies in remote magazines, messages and remote bits when it is
// collected.
TEST_F(Steps, BlocksOnTheirWayBackComeOnce) {
    constexpr std::size_t kMany = 6000;
    for (unsigned turn = 0; turn < 8; ++turn) {
        const OnCpu first(OnCpu::first);
        std::vector<void *> mine;
        for (std::size_t i = 0; i < kMany; ++i) mine.push_back(make(kUncollectable, 2 + i % 30));
        std::set<void *> others;
        for (std::size_t i = 0; i < kMany / 10; ++i) others.insert(make(kUncollectable, 2 + i % 30));
        std::thread([&, all = first.all()] {
            sched_setaffinity(0, sizeof all, &all);
            const OnCpu last(OnCpu::last);
            for (void *const block : mine) Collector::free(*kinds()[kUncollectable].kind, block);
            if (turn % 2 == 0) {
                EXPECT_TRUE(collector.collect().done);
            }
        }).join();
        if (turn % 2 == 1) {
            EXPECT_TRUE(collector.collect().done);
        }
        for (std::size_t i = 0; i < kMany; ++i) {
            void *const block = make(kUncollectable, 2 + i % 30);
            ASSERT_TRUE(others.insert(block).second) << "one block for two";
        }
        for (void *const block : others) Collector::free(*kinds()[kUncollectable].kind, block);
    }
}

}  // namespace gr::steps_test
