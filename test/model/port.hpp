// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the only way an actor reaches the shared state: it asks for a step, and gets the step's answer.
// Invariant: what an actor does next is a function of the answers it got; it keeps nothing else between two steps.
// Must not know: what a step does, and which other actors take steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace gr::model {

using Answer = std::uint8_t;

// A property does not hold.
class Violation : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Thrown through the actor by the first step that has no answer yet.
struct Unanswered {};

template <class Step>
class Port {
  public:
    explicit Port(std::span<const Answer> answers) : answers_(answers) {}

    Answer ask(const Step &step) {
        if (next_ == answers_.size()) {
            unanswered_ = step;
            throw Unanswered{};
        }
        return answers_[next_++];
    }
    const Step &unanswered() const { return unanswered_; }

  private:
    std::span<const Answer> answers_;
    std::size_t next_ = 0;
    Step unanswered_{};
};

}  // namespace gr::model
