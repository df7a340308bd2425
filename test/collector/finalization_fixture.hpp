// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the fixture of tests in which a graph is collected: finalization whole, over a graph in the place of a heap.
// Invariant: a collection marks what is held and what finalization keeps, settles, and sweeps the rest.
// Must not know: the rules of links, finalizers, toggle references and ephemerons.
#pragma once

#include <gtest/gtest.h>

#include "collector/finalization.hpp"
#include "fake/memory.hpp"

namespace gr::fake {

template <ObservableMarking Graph>
class FinalizationFixture : public testing::Test {
  protected:
    void TearDown() override { reset(); }

    FinalizationReport collect() {
        graph_.begin();
        all_.for_each_root([&](const void *pointer) { graph_.mark_what(pointer); });
        const FinalizationReport report = all_.settle(graph_, JavaFinalization::on);
        graph_.sweep();
        return report;
    }
    std::size_t call() {
        return call_finalizers([this](QueuedFinalizer *one) { return all_.finalizers.take(one); });
    }
    void **finalizable(FinalizationOrder order) {
        void **const object = graph_.make();
        finalize(object, order);
        return object;
    }
    void finalize(const void *object, FinalizationOrder order = FinalizationOrder::normal) {
        EXPECT_TRUE(all_.finalizers.set(object, {[](void *, void *) {}, nullptr, order}));
    }
    static void link(Links &links, void **cell, const void *object) {
        EXPECT_EQ(links.add(cell, object), LinkResult::success);
    }

    Graph graph_;
    Finalization all_;
};

}  // namespace gr::fake
