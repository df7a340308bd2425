// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: pprof.hpp.
// Invariant: as there. Ids count from 1; a location is an address of code with the calls that go on there,
//    or a place without address.
// Must not know: how pprof shows it.
#include "commands/export/pprof.hpp"

#include <granary/wire/profile_proto.hpp>

#include <cmath>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "commands/export/protobuf.hpp"
#include "reporting/steps/mapped_memory.hpp"
#include "reporting/steps/stack_profile.hpp"

namespace gr::tool {

namespace {

using namespace profile_proto;

class Profile {
  public:
    Profile(const trace::Trace &trace, Calls &calls, Sink &sink)
        : trace_(trace), calls_(calls), sink_(sink), mapped_(mapped_profile(trace)) {
        number_of("");
    }

    void write(Moment in_use) {
        for (const auto &[type, unit] : {std::pair("alloc_objects", "count"), std::pair("alloc_space", "bytes"),
                                         std::pair("inuse_objects", "count"), std::pair("inuse_space", "bytes")}) {
            add(profile::kSampleType, value_type_of(type, unit));
        }
        if (!mapped_.empty()) {
            for (const char *const type : {"mapped_space", "mapped_resident"})
                add(profile::kSampleType, value_type_of(type, "bytes"));
        }
        add_mappings();
        for (const StackUse &use : stack_profile(trace_)) add_sample(use, in_use);
        for (const MappedUse &use : mapped_) add_mapped(use, in_use);
        add_rest(in_use);
        for (const std::string *const text : texts_) {
            Message one;
            one.text(profile::kStringTable, *text);
            sink_.write(one.bytes());
        }
    }

  private:
    void add(std::uint32_t field, const Message &message) {
        Message one;
        one.message(field, message);
        sink_.write(one.bytes());
    }
    std::uint64_t number_of(const std::string &text) {
        const auto [at, is_new] = numbers_.try_emplace(text, texts_.size());
        if (is_new) texts_.push_back(&at->first);
        return at->second;
    }
    Message value_type_of(const char *type, const char *unit) {
        Message message;
        message.number(value_type::kType, number_of(type));
        message.number(value_type::kUnit, number_of(unit));
        return message;
    }
    void add_mappings() {
        std::uint64_t id = 0;
        for (const trace::Module &piece : calls_.modules().all()) {
            Message one;
            one.number(mapping::kId, ++id);
            one.number(mapping::kBegin, piece.begin);
            one.number(mapping::kEnd, piece.end);
            one.number(mapping::kOffset, piece.offset);
            one.number(mapping::kFile, number_of(piece.path));
            one.number(mapping::kBuildId, number_of(piece.build_id));
            // Names are here already: whoever reads need not look for the file.
            for (const auto field :
                 {mapping::kHasFunctions, mapping::kHasFiles, mapping::kHasLines, mapping::kHasInlines})
                one.number(field, 1);
            add(profile::kMapping, one);
        }
    }
    std::uint64_t function_of(const std::string &name, const std::string &file) {
        const auto [at, is_new] = functions_.try_emplace({name, file}, functions_.size() + 1);
        if (is_new) {
            Message one;
            one.number(function::kId, at->second);
            one.number(function::kName, number_of(name));
            one.number(function::kSystemName, number_of(name));
            one.number(function::kFile, number_of(file));
            add(profile::kFunction, one);
        }
        return at->second;
    }
    // Of the call itself: the address behind it may be another line's.
    std::uint64_t location_of(std::uint64_t address) {
        const auto [at, is_new] = locations_.try_emplace(address, locations_.size() + 1);
        if (!is_new) return at->second;
        Message one;
        one.number(location::kId, at->second);
        if (const trace::Module *const piece = calls_.modules().at(address - 1)) {
            one.number(location::kMapping, static_cast<std::uint64_t>(piece - calls_.modules().all().data()) + 1);
        }
        if (address < trace::kFirstPlace) one.number(location::kAddress, address - 1);
        const std::vector<Call> &calls = calls_.at(address);
        for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
            add_line(&one, call->unique_name(), call->file, static_cast<std::uint64_t>(call->line));
        }
        add(profile::kLocation, one);
        return at->second;
    }
    void add_line(Message *location, const std::string &name, const std::string &file, std::uint64_t number) {
        Message one;
        one.number(line::kFunction, function_of(name, file));
        one.number(line::kNumber, number);
        location->message(location::kLine, one);
    }
    std::uint64_t no_location() {
        constexpr std::uint64_t kNoAddress = 0;
        const auto [at, is_new] = locations_.try_emplace(kNoAddress, locations_.size() + 1);
        if (is_new) {
            Message one;
            one.number(location::kId, at->second);
            add_line(&one, kNoStack, "", 0);
            add(profile::kLocation, one);
        }
        return at->second;
    }
    void add_sample(const StackUse &use, Moment in_use) {
        const StackSum &now = in_use == Moment::peak ? use.at_peak : use.at_end;
        std::vector<double> values = {use.allocated.blocks, use.allocated.bytes, now.blocks, now.bytes};
        if (!mapped_.empty()) values.insert(values.end(), {0, 0});
        add_values(use.stack, values);
    }
    void add_mapped(const MappedUse &use, Moment in_use) {
        add_values(use.stack, {0, 0, 0, 0, use.bytes, (in_use == Moment::peak ? use.at_peak : use.at_end).resident});
    }
    void add_values(trace::StackNumber stack, const std::vector<double> &numbers) {
        std::vector<std::uint64_t> locations;
        const auto &stacks = trace_.stacks();
        for (auto node = stack; node != trace::StackNumber::none; node = stacks[trace::number_of(node)].parent)
            locations.push_back(location_of(stacks[trace::number_of(node)].address));
        if (locations.empty()) locations.push_back(no_location());
        std::vector<std::uint64_t> values;
        for (const double value : numbers) values.push_back(static_cast<std::uint64_t>(std::llround(value)));
        Message one;
        one.numbers(sample::kLocations, locations);
        one.numbers(sample::kValues, values);
        add(profile::kSample, one);
    }
    void add_rest(Moment in_use) {
        const trace::Start &start = trace_.start();
        Message rest;
        rest.number(profile::kTime, static_cast<std::uint64_t>(start.began_nanoseconds));
        rest.number(profile::kDuration, trace_.last().units * trace::kTimeUnitNanoseconds);
        rest.message(profile::kPeriodType, value_type_of("space", "bytes"));
        rest.number(profile::kPeriod, start.stacks == trace::Stacks::sampled ? start.stack_bytes : 1);
        rest.number(profile::kComment,
                    number_of(in_use == Moment::peak ? "in use: when most bytes were" : "in use: at the end"));
        rest.number(profile::kDefaultSampleType, number_of("inuse_space"));
        sink_.write(rest.bytes());
    }

    const trace::Trace &trace_;
    Calls &calls_;
    Sink &sink_;
    std::vector<MappedUse> mapped_;  // empty: such memory was not recorded
    std::unordered_map<std::string, std::uint64_t> numbers_;
    std::vector<const std::string *> texts_;
    std::map<std::pair<std::string, std::string>, std::uint64_t> functions_;
    std::unordered_map<std::uint64_t, std::uint64_t> locations_;
};

}  // namespace

void write_pprof(const trace::Trace &trace, Calls &calls, Moment in_use, Sink &sink) {
    Profile(trace, calls, sink).write(in_use);
}

}  // namespace gr::tool
