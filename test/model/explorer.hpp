// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: takes the steps of a few actors in every possible order, and stops at the first that breaks a property.
// Invariant: complete and exact: a configuration is entered once, and two are the same only if the shared state and
//    every actor's place are the same, byte for byte. There is no bound on switches, and no hash in their
//    place.
// Must not know: what the steps do, and what the properties are.
#pragma once

#include "unfolding.hpp"

#include <array>
#include <concepts>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace gr::model {

// What the steps act on. A delayed store is one of an actor's that the others cannot see yet.
template <class M>
concept Explorable = std::has_unique_object_representations_v<typename M::State> &&
    requires(const M &machine, typename M::State &state, const typename M::State &seen, std::size_t actor,
             const typename M::Step &step, Answer answer) {
    { machine.is_enabled(seen, step) } -> std::same_as<bool>;
    { machine.is_private(step) } -> std::same_as<bool>;            // neither sees nor does what others do or see
    { machine.take(state, actor, step) } -> std::same_as<Answer>;  // throws Violation
    { machine.has_delayed(seen, actor) } -> std::same_as<bool>;
    { machine.write_back(state, actor) } -> std::same_as<void>;  // throws Violation
    { machine.check_always(seen) } -> std::same_as<void>;        // throws Violation
    { machine.check_end(seen) } -> std::same_as<void>;           // throws Violation
    { machine.describe(step, answer) } -> std::same_as<std::string>;
};

template <class Step>
struct Actor {
    std::string name;
    Program<Step> program;
};

struct Outcome {
    std::size_t states = 0;
    std::size_t steps = 0;    // taken between two states
    double schedules = 0;     // maximal ones: ways from the start to an end
    std::size_t longest = 0;  // steps of the longest schedule
    std::string violation;    // empty: every schedule keeps every property
    std::string schedule;     // the one that does not, a line per step
};

template <Explorable M>
class Explorer {
  public:
    using State = typename M::State;
    using Step = typename M::Step;

    Explorer(const M &machine, std::vector<Actor<Step>> actors) : machine_(machine) {
        if (actors.size() > M::kActors) throw std::length_error("more actors than the explorer has room for");
        for (Actor<Step> &actor : actors) {
            names_.push_back(std::move(actor.name));
            unfoldings_.emplace_back(std::move(actor.program));
        }
    }

    Outcome explore(const State &initial) {
        Configuration start{};
        start.shared = initial;
        for (std::size_t a = 0; a < names_.size(); ++a) start.places[a] = unfoldings_[a].start();
        try {
            outcome_.schedules = explore_from(start).schedules;
        } catch (const Violation &violation) {
            outcome_.violation = violation.what();
            outcome_.schedule = told_trail();
        }
        outcome_.states = seen_.size();
        return outcome_;
    }

  private:
    struct Configuration {
        State shared;
        std::array<Place, M::kActors> places;
        bool operator==(const Configuration &other) const { return bytes() == other.bytes(); }
        std::string_view bytes() const { return {reinterpret_cast<const char *>(this), sizeof *this}; }
    };
    static_assert(std::has_unique_object_representations_v<Configuration>, "padding would tell equals apart");
    struct Hash {
        std::size_t operator()(const Configuration &c) const { return std::hash<std::string_view>{}(c.bytes()); }
    };
    struct Onwards {  // from a configuration to the ends
        double schedules = 0;
        std::size_t longest = 0;
    };
    struct Taken {
        std::size_t actor;
        bool is_write_back;
        Step step;
        Answer answer;
    };

    Onwards explore_from(const Configuration &here) {
        // No configuration comes back, as places only go forward: what is known is known completely.
        const auto [known, is_new] = seen_.try_emplace(here);
        Onwards &onwards = known->second;
        if (!is_new) return onwards;
        if (const std::optional<std::size_t> alone = privately_busy(here)) {
            add(onwards, explore_step(here, *alone));
        } else {
            explore_all_from(here, onwards);
        }
        if (onwards.schedules == 0) onwards = end_at(here);
        outcome_.longest = std::max(outcome_.longest, onwards.longest);
        return onwards;
    }

    void explore_all_from(const Configuration &here, Onwards &onwards) {
        for (std::size_t a = 0; a < names_.size(); ++a) {
            if (here.places[a] != kDone && machine_.is_enabled(here.shared, unfoldings_[a].step_at(here.places[a]))) {
                add(onwards, explore_step(here, a));
            }
            if (machine_.has_delayed(here.shared, a)) add(onwards, explore_write_back(here, a));
        }
    }

    // An actor whose next step makes no difference to the others: when it is taken makes none either.
    std::optional<std::size_t> privately_busy(const Configuration &here) const {
        for (std::size_t a = 0; a < names_.size(); ++a) {
            if (here.places[a] != kDone && machine_.is_private(unfoldings_[a].step_at(here.places[a]))) return a;
        }
        return std::nullopt;
    }

    Onwards explore_step(Configuration there, std::size_t actor) {
        const Step step = unfoldings_[actor].step_at(there.places[actor]);
        trail_.push_back({actor, false, step, 0});
        trail_.back().answer = machine_.take(there.shared, actor, step);
        there.places[actor] = unfoldings_[actor].after(there.places[actor], trail_.back().answer);
        return explore_next(there);
    }

    Onwards explore_write_back(Configuration there, std::size_t actor) {
        trail_.push_back({actor, true, {}, 0});
        machine_.write_back(there.shared, actor);
        return explore_next(there);
    }

    Onwards explore_next(const Configuration &there) {
        ++outcome_.steps;
        machine_.check_always(there.shared);
        const Onwards onwards = explore_from(there);
        trail_.pop_back();
        return onwards;
    }

    Onwards end_at(const Configuration &here) const {
        for (std::size_t a = 0; a < names_.size(); ++a) {
            if (here.places[a] != kDone) throw Violation("deadlock: " + names_[a] + " waits for ever");
        }
        machine_.check_end(here.shared);
        return {1, 0};
    }

    static void add(Onwards &sum, const Onwards &branch) {
        sum.schedules += branch.schedules;
        sum.longest = std::max(sum.longest, branch.longest + 1);
    }

    std::string told_trail() const {
        std::string told;
        for (const Taken &taken : trail_) {
            std::string name = names_[taken.actor];
            name.resize(std::max<std::size_t>(name.size() + 1, 10), ' ');
            told += name;
            told += taken.is_write_back ? "(its delayed store becomes visible)"
                                        : machine_.describe(taken.step, taken.answer);
            told += '\n';
        }
        return told;
    }

    const M &machine_;
    std::vector<std::string> names_;
    std::vector<Unfolding<Step>> unfoldings_;
    std::unordered_map<Configuration, Onwards, Hash> seen_;
    std::vector<Taken> trail_;
    Outcome outcome_;
};

}  // namespace gr::model
