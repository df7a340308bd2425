// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/stack_names.hpp"

#include <utility>
#include <vector>

#include "reading/trace/columns.hpp"
#include "reading/trace/json.hpp"

namespace gr::trace {

namespace {

void check_stack_name(const std::string &name) {
    constexpr std::size_t kMostText = 4096;
    if (name.size() > kMostText) throw Damage("the name of a function is too long");
}

void check_place(const Place &place) {
    constexpr std::uint64_t kMostCalls = std::uint64_t{1} << 56;
    check_stack_name(place.function);
    check_stack_name(place.file);
    if (place.line < 0 || place.least_calls > place.most_calls || place.most_calls > kMostCalls)
        throw Damage("a place in the stacks has impossible numbers");
}

}  // namespace

void StackNames::take_places(std::string_view json) {
    std::vector<Place> told;
    from_json(json, &told);
    for (Place &place : told) {
        check_place(place);
        places_[place.number] = std::move(place);
    }
}

void StackNames::take_made_functions(std::string_view json) {
    std::vector<MadeFunction> told;
    from_json(json, &told);
    for (MadeFunction &function : told) {
        check_stack_name(function.name);
        made_[function.address] = std::move(function.name);
    }
}

const Place *StackNames::place(std::uint64_t address) const {
    const std::uint64_t number = address - kFirstPlace;
    const auto at = number <= UINT32_MAX ? places_.find(static_cast<std::uint32_t>(number)) : places_.end();
    return at == places_.end() ? nullptr : &at->second;
}

const std::string *StackNames::made_function(std::uint64_t address) const {
    const auto at = made_.find(address);
    return at == made_.end() ? nullptr : &at->second;
}

}  // namespace gr::trace
