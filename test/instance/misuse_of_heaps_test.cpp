// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the exact last words about a block given to the wrong heap, and about a heap that cannot be destroyed.
// Invariant: one line on stderr, then SIGABRT.
// Must not know: the C library's names.
#include <gtest/gtest.h>
#include <signal.h>

#include <sstream>
#include <string>

#include "fake/memory.hpp"
#include "instance/instances.hpp"
#include "platform/reentry.hpp"

namespace gr::misuse_of_heaps_test {

constexpr std::size_t kLarge = 100 * kKiB;

class MisuseOfHeapsDeathTest : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        setenv("GRANARY_REGION", "256M", 1);
        ASSERT_TRUE(instance.ensure_started());
    }
    static gr_heap *make() { return instances.make(64 * kMiB, "gr_heap_free"); }
};

std::string line(const char *function, const void *p, const std::string &rest) {
    std::ostringstream out;
    out << "^granary: " << function << "\\(" << p << "\\): " << rest << "; aborting\n$";
    return out.str();
}

#define EXPECT_ABORT(statement, message) EXPECT_EXIT(statement, testing::KilledBySignal(SIGABRT), message)
constexpr const char *kOfMalloc = "not a block of this heap but of malloc: release it with free";
constexpr const char *kOfFirstClass =
    "not a block of this heap but of another heap: release it with gr_heap_free and that heap";
constexpr const char *kForeign = "not a block of this heap: a foreign pointer, or a large block that is already free";
constexpr const char *kNoHeap = "not a heap that gr_heap_new returned, or already destroyed";
constexpr const char *kInterrupted = "called by a signal handler that interrupted the allocator";

TEST_F(MisuseOfHeapsDeathTest, TheLineSaysWhoseTheBlockIs) {
    gr_heap *const a = make();
    gr_heap *const b = make();
    for (const std::size_t size : {std::size_t{10}, kLarge, 40 * kMiB}) {
        void *const of_malloc = instance.allocate(size);
        void *const of_a = a->instance.allocate(size);
        EXPECT_ABORT(a->instance.free("f", of_malloc), line("f", of_malloc, kOfMalloc));
        EXPECT_ABORT(b->instance.free("f", of_a), line("f", of_a, kOfFirstClass));
        EXPECT_ABORT(instance.free("f", of_a), line("f", of_a, kOfFirstClass));
        EXPECT_ABORT(static_cast<void>(b->instance.resize("r", of_a, 5)), line("r", of_a, kOfFirstClass));
        EXPECT_ABORT(static_cast<void>(a->instance.usable_size("u", of_malloc)), line("u", of_malloc, kOfMalloc));
        instance.free("test", of_malloc);
    }
    int local = 0;
    EXPECT_ABORT(a->instance.free("f", &local), line("f", &local, kForeign));
    const platform::Reentry handler;
    void *const direct = b->instance.allocate(40 * kMiB);
    EXPECT_ABORT(a->instance.free("f", direct), line("f", direct, kOfFirstClass));
}

// Found later, it is named after what the program calls.
TEST_F(MisuseOfHeapsDeathTest, WhatAFlushFindsIsNamedAfterTheHeapsOwnFree) {
    gr_heap *const a = make();
    void *const p = a->instance.allocate(100);
    void *const q = a->instance.allocate(100);
    EXPECT_ABORT(
        {
            for (void *block : {p, q, p}) a->instance.free("f", block);
            a->instance.trim(0);
        },
        line("gr_heap_free", p, "freed twice, a block of 112 bytes"));
}

TEST_F(MisuseOfHeapsDeathTest, OnlyLiveHeapsAreDestroyedAndNotByHandlers) {
    gr_heap *const a = make();
    alignas(gr_heap) char no_heap[sizeof(gr_heap)] = {};
    EXPECT_ABORT(instances.destroy("d", reinterpret_cast<gr_heap *>(no_heap)), line("d", no_heap, kNoHeap));
    EXPECT_ABORT(
        {
            instances.destroy("d", a);
            instances.destroy("d", a);
        },
        line("d", a, kNoHeap));
    {
        const platform::Reentry interrupted;
        EXPECT_ABORT(instances.destroy("d", a), line("d", a, kInterrupted));
    }
    instances.lock_all();
    EXPECT_ABORT(instances.destroy("d", a), line("d", a, kInterrupted));
    instances.unlock_all();
}

}  // namespace gr::misuse_of_heaps_test
