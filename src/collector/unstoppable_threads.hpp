// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: keeps threads that block the signal of the stop out of the magazines of all kinds while an object of this class
//    lives.
// Invariant: nothing is done if there are no such threads.
// Must not know: what is done with the magazines meanwhile.
#pragma once

#include <optional>

#include "collector/kinds.hpp"
#include "platform/rseq/stop.hpp"
#include "platform/world/world.hpp"

namespace gr {

// A sequence of such a thread finds empty magazines; then its slow path waits for a lock that the collector holds.
class [[nodiscard]] UnstoppableThreadsKeptOut {
  public:
    explicit UnstoppableThreadsKeptOut(Kinds &kinds) {
        if (platform::world.unstoppable() == 0) return;
        kinds.for_each([this](Kind &kind) {
            const HeapsSetup &setup = kind.instance.heaps().setup();
            if (!setup.has_sequences()) return;
            done_ = done_ && setup.zeroes != nullptr;
            if (done_) done_ = stopped_[kind.number].emplace(setup.found_at, setup.zeroes).done();
        });
    }

    // false: the kernel cannot do this, and nothing may be collected.
    bool done() const { return done_; }

  private:
    bool done_ = true;
    std::array<std::optional<platform::SequencesStopped>, kMostKinds> stopped_{};
};

}  // namespace gr
