// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: keeps every sequence of the process away from the slabs for a moment.
// Invariant: while the stop lasts, sequences find slabs of zeroes, which are never written to. A sequence that began
//    before, on the real slabs, has committed or will start over.
// Must not know: what is done to the slabs meanwhile.
#pragma once

namespace gr::platform {

// Asks the kernel for what a stop needs. Called once, and early, because it costs nothing while there is one thread.
// false: stops are not possible.
bool register_for_stops();

// Only one at a time. No thread may publish a header meanwhile: it would be written to the zeroes.
class [[nodiscard]] SequencesStopped {
  public:
    // `zeroes` has as many readable bytes as the slabs. `found_at` is the variable in which the sequences find the
    // slabs.
    SequencesStopped(char **found_at, char *zeroes);
    ~SequencesStopped();
    SequencesStopped(const SequencesStopped &) = delete;
    SequencesStopped &operator=(const SequencesStopped &) = delete;

    // false: the kernel refused, and the slabs are in use.
    bool done() const { return done_; }

  private:
    char **found_at_;
    char *slabs_;
    bool done_;
};

}  // namespace gr::platform
