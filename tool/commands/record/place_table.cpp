// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/place_table.hpp"

#include <algorithm>
#include <utility>

#include "reading/trace/event.hpp"

namespace gr::tool {

std::uint64_t PlaceTable::left_out(trace::StackNumber caller, std::uint64_t calls) {
    const auto [at, is_new] =
        left_out_.try_emplace(trace::number_of(caller), static_cast<std::uint32_t>(places_.size()));
    trace::Place &place = is_new ? add() : places_[at->second];
    const std::uint64_t least = is_new ? calls : std::min(place.least_calls, calls);
    const std::uint64_t most = std::max(place.most_calls, calls);
    if (least != place.least_calls || most != place.most_calls) tell(place.number);
    place.least_calls = least;
    place.most_calls = most;
    return trace::kFirstPlace + place.number;
}

std::uint64_t PlaceTable::of_word(std::uint64_t word) {
    const auto known = words_.find(word);
    if (known != words_.end()) return trace::kFirstPlace + known->second;
    const std::uint32_t number = add().number;
    words_.emplace(word, number);
    return trace::kFirstPlace + number;
}

// Many words may mean one place: a function has a word for each of its instructions.
void PlaceTable::describe(std::uint64_t word, trace::Place place) {
    if (const auto known = words_.find(word); known != words_.end()) {
        place.number = known->second;
        if (places_[place.number].function == place.function && places_[place.number].line == place.line) return;
    } else {
        const auto next = static_cast<std::uint32_t>(places_.size());
        const auto [at, is_new] = described_.try_emplace({place.function, place.file, place.line}, next);
        words_.emplace(word, at->second);
        if (!is_new) return;
        place.number = add().number;
    }
    tell(place.number);
    places_[place.number] = std::move(place);
}

std::vector<trace::Place> PlaceTable::take_untold() {
    std::vector<trace::Place> told;
    told.reserve(untold_.size());
    for (const std::uint32_t number : untold_) {
        told.push_back(places_[number]);
        is_untold_[number] = false;
    }
    untold_.clear();
    return told;
}

trace::Place &PlaceTable::add() {
    trace::Place place;
    place.number = static_cast<std::uint32_t>(places_.size());
    places_.push_back(place);
    is_untold_.push_back(false);
    tell(place.number);
    return places_.back();
}

void PlaceTable::tell(std::uint32_t number) {
    if (is_untold_[number]) return;
    is_untold_[number] = true;
    untold_.push_back(number);
}

}  // namespace gr::tool
