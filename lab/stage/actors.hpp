// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the threads of a script, which take turns: a step runs in its thread while all others wait.
// Invariant: one thread at a time calls the library. A thread is bound to a CPU of its own, as far as there are enough.
// Must not know: how a script is written, and what the library does.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "stage/script.hpp"
#include "stage/shown_library.hpp"

namespace gr::lab::stage {

class Actors {
  public:
    Actors(const ShownLibrary &library, unsigned threads);
    ~Actors();
    Actors(const Actors &) = delete;
    Actors &operator=(const Actors &) = delete;

    // What went wrong; empty: nothing.
    std::string run(const Step &step);
    // Whether a thread stopped in the middle of a call. Such threads cannot be joined.
    bool any_stopped() const { return !stopped_.empty(); }
    // By the library, in a thread's call: gives the turn back, and returns when the thread goes on.
    static void stop();

  private:
    void wait_for_turns(unsigned number);
    void stop_here();
    void begin(const Step &step) const;
    bool act(const Step &step);
    bool act(const Action &action);

    const ShownLibrary &library_;
    std::map<std::string, void *> blocks_;
    std::mutex mutex_;
    std::condition_variable changed_;
    unsigned turn_ = 0;           // whose turn it is; 0: the director's
    const Step *step_ = nullptr;  // nullptr in a thread's turn: the thread ends without a step
    bool has_memory_ = true;
    std::set<unsigned> stopped_;
    std::vector<std::thread> threads_;
};

}  // namespace gr::lab::stage
