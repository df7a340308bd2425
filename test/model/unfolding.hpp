// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an actor's program, unfolded into a tree by the answers its steps get. A place in the tree stands for the
//    actor's stack and program counter; a new place is found by running the act again with all answers up to it.
// Invariant: the same act, given the same answers, asks for the same steps. Nothing is carried from an act to the next,
//    so all ways through an act end at the same place.
// Must not know: the shared state, and the other actors.
#pragma once

#include "port.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace gr::model {

template <class Step>
using Act = std::function<void(Port<Step> &)>;
template <class Step>
using Program = std::vector<Act<Step>>;

using Place = std::uint32_t;
inline constexpr Place kDone = 0;

template <class Step>
class Unfolding {
  public:
    explicit Unfolding(Program<Step> program) : program_(std::move(program)), starts_(program_.size(), kUnknown) {
        points_.emplace_back();  // kDone
    }

    Place start() { return start_of(0); }
    const Step &step_at(Place place) const { return points_[place].step; }

    // Where the actor is once its step has that answer.
    Place after(Place place, Answer answer) {
        for (const auto &[known, next] : points_[place].next) {
            if (known == answer) return next;
        }
        const Place next = unfold(points_[place].act, place, answer);
        points_[place].next.emplace_back(answer, next);
        return next;
    }

  private:
    static constexpr Place kUnknown = ~Place{0};
    static constexpr std::size_t kLongestAct = 250;  // an act beyond it is taken to run for ever

    struct Point {
        Step step{};
        std::size_t act = 0;
        Place before = kDone;
        Answer answer_before = 0;
        std::vector<std::pair<Answer, Place>> next;
    };

    Place start_of(std::size_t act) {
        if (act == program_.size()) return kDone;
        if (starts_[act] == kUnknown) starts_[act] = unfold(act, kDone, 0);
        return starts_[act];
    }

    Place unfold(std::size_t act, Place before, Answer answer) {
        const std::optional<Step> step = run(act, answers_up_to(before, answer));
        if (!step) return start_of(act + 1);
        points_.push_back({*step, act, before, answer, {}});
        return static_cast<Place>(points_.size() - 1);
    }

    std::vector<Answer> answers_up_to(Place place, Answer last) const {
        std::vector<Answer> answers;
        for (; place != kDone; place = points_[place].before) {
            answers.push_back(last);
            last = points_[place].answer_before;
        }
        if (answers.size() > kLongestAct) throw Violation("an act does not end");
        std::reverse(answers.begin(), answers.end());
        return answers;
    }

    // The step the act asks for after these answers; none: it ends.
    std::optional<Step> run(std::size_t act, const std::vector<Answer> &answers) const {
        Port<Step> port(answers);
        try {
            program_[act](port);
        } catch (const Unanswered &) {
            return port.unanswered();
        }
        return std::nullopt;
    }

    Program<Step> program_;
    std::vector<Place> starts_;  // by act
    std::vector<Point> points_;  // by place
};

}  // namespace gr::model
