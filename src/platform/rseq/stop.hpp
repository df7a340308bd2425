// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: keeps every sequence of the process away from the slabs for a moment.
// Invariant: while it lasts, sequences find slabs of zeroes, which are never written to; what began before on the real
//    ones has committed or will start over.
// Must not know: what is done to the slabs meanwhile.
#pragma once

namespace gr::platform {

// Asks the kernel for what a stop needs: once, and early, for with one thread it costs nothing. false: there is no stop.
bool register_for_stops();

// One at a time, and nobody may publish a header meanwhile: it would go to the zeroes.
class [[nodiscard]] SequencesStopped {
  public:
    // `zeroes` are as many readable bytes as there are of slabs, which the sequences find at `found_at`.
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
