// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: who wants which document of a trace, and the documents: the whole first, then one window after the other.
// Invariant: one document is made at a time. A reader wants one at a time: what he wanted before is given up, if nobody
//    else wants it. kMostReaders readers, and about kMostBytes of windows' documents, are kept; the oldest go.
// Must not know: how a question comes in.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "reporting/analysis/analysis.hpp"

namespace gr::tool {

class Desk {
  public:
    static constexpr std::size_t kMostReaders = 16;
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

    // nullopt: the whole.
    using Wanted = std::optional<Window>;
    struct Answer {
        std::shared_ptr<const std::string> document;  // nullptr: not yet
        std::string failure;                          // why there is none; empty: it is being made, or waits
        double done = 0;                              // of what is being made, from 0 to 1
    };

    // Begins with the whole.
    Desk(const trace::Trace &trace, const Naming &naming);
    ~Desk();
    Desk(const Desk &) = delete;
    Desk &operator=(const Desk &) = delete;

    // A reader is anybody who calls himself so.
    [[nodiscard]] Answer ask(const std::string &reader, const Wanted &wanted);

  private:
    struct Wish {
        std::string reader;
        Wanted wanted;
    };
    struct Made {
        Wanted wanted;
        std::shared_ptr<const std::string> document;  // nullptr: it failed
        std::string failure;
    };
    struct Making {
        Wanted wanted;
        Course course;
    };

    void work();
    [[nodiscard]] Made make(Making &making);
    [[nodiscard]] const Wish *next() const;
    void wish(const std::string &reader, const Wanted &wanted);
    void stop_what_nobody_wants();
    [[nodiscard]] std::list<Made>::iterator find(const Wanted &wanted);
    void keep(Made made);

    Analyst analyst_;  // the worker's
    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Wish> wishes_;  // one of a reader; who has waited longest first
    std::list<Made> made_;    // what was asked for last first
    std::shared_ptr<Making> making_;
    bool has_begun_ = false;
    bool is_over_ = false;
    std::thread worker_;
};

}  // namespace gr::tool
