// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/top/holders.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/failure.hpp"
#include "reading/diagnosis/process_diagnosis.hpp"
#include "reading/process/process_code.hpp"
#include "reading/symbols/function_name.hpp"

namespace gr::tool {

namespace {

FoundProfile find_profile(const ProcessMemory &memory) {
    const FoundTables found = find_tables(memory, memory.mappings());
    if (found.profile) return *found.profile;
    if (found.heap) {
        throw Failure(ExitCode::not_runnable,
                      fmt::format("process {} takes no profile; start it with GRANARY_PROFILE=on, as in 'granary run "
                                  "--set PROFILE=on PROGRAM', or let it call gr_profile_start",
                                  memory.process()));
    }
    throw Failure(ExitCode::not_runnable, fmt::format("process {} cannot be examined: {}", memory.process(),
                                                      diagnose_process(memory.process()).summary()));
}

std::uint64_t ordered_by(const Holder &holder, Order order) {
    switch (order) {
        case Order::live:
            return holder.sums.live.bytes;
        case Order::peak:
            return holder.sums.peak.bytes;
        case Order::allocated:
            return holder.sums.allocated.bytes;
    }
    return 0;
}

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

bool contains(const CodeModule &module, std::uint64_t address) {
    return module.begin < address && address <= module.end;
}

}  // namespace

std::string Holder::name_of(const CodePlace &place) {
    if (!place.function.empty()) return place.function;
    if (place.module.empty()) return fmt::format("{:#x}", place.address);
    return base_name(place.module);
}

HolderReader::HolderReader(int process, std::vector<std::string> wrappers)
    : memory_(process), wrappers_(std::move(wrappers)) {
    profile_.emplace(memory_, find_profile(memory_));
}

HolderReader::~HolderReader() = default;

// A library may have come since the files were looked at. Then everything is known anew.
void HolderReader::look_at_files(std::uint64_t address) {
    const auto is_in_file = [&] {
        return std::ranges::any_of(modules_, [&](const CodeModule &m) { return contains(m, address); });
    };
    if (places_ != nullptr && (is_in_file() || unmapped_.contains(address))) return;
    modules_ = loaded_code(memory_.process());
    places_ = std::make_unique<CodePlaces>(modules_);
    known_.clear();
    library_.emplace(wrappers_);
    if (!is_in_file()) unmapped_.insert(address);
}

const HolderReader::CallsAt &HolderReader::calls_at(std::uint64_t address) {
    look_at_files(address);
    const auto [at, is_new] = known_.try_emplace(address);
    CallsAt &result = at->second;
    if (!is_new) return result;
    result.places = places_->all_of_call(address);
    for (CodePlace &place : result.places) {
        const bool is_named = !place.function.empty();
        place.function = demangled(place.function);
        result.calls.push_back({.function = Holder::name_of(place),
                                .brief = {},
                                .file = place.file,
                                .line = place.line,
                                .module = base_name(place.module),
                                .is_known = is_named});
    }
    return result;
}

// The innermost call of a stack stands first. Files are looked at before, since that forgets calls.
std::vector<CodePlace> HolderReader::wanting(const std::vector<std::uint64_t> &stack, std::size_t count) {
    for (const std::uint64_t address : stack) look_at_files(address);
    std::vector<const CodePlace *> places;  // the outermost first
    std::vector<const Call *> calls;
    for (auto address = stack.rbegin(); address != stack.rend(); ++address) {
        const CallsAt &here = calls_at(*address);
        for (std::size_t i = 0; i < here.calls.size(); ++i) {
            places.push_back(&here.places[i]);
            calls.push_back(&here.calls[i]);
        }
    }
    std::vector<CodePlace> result;
    if (calls.empty()) return result;
    for (std::size_t i = library_->caller(calls) + 1; i-- != 0 && result.size() != count;) result.push_back(*places[i]);
    return result;
}

Holders HolderReader::read(Order order, std::size_t calls) {
    Holders result{.process = memory_.process(), .executable = memory_.executable(), .profile = profile_->read()};
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    result.now = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    std::map<std::vector<std::pair<std::uint64_t, std::string>>, std::size_t> known;
    for (const ProfileSite &site : result.profile.sites) {
        std::vector<CodePlace> wanted = wanting(*site.calls, calls);
        std::vector<std::pair<std::uint64_t, std::string>> key;
        for (const CodePlace &place : wanted) key.emplace_back(place.address, place.function);
        const auto [at, is_new] = known.try_emplace(std::move(key), result.all.size());
        if (is_new) result.all.push_back({.sums = {}, .calls = std::move(wanted)});
        Holder &holder = result.all[at->second];
        holder.sums.allocated += site.sums.allocated;
        holder.sums.live += site.sums.live;
        holder.sums.peak += site.sums.peak;
    }
    std::ranges::stable_sort(result.all, std::greater{}, [&](const Holder &h) { return ordered_by(h, order); });
    return result;
}

}  // namespace gr::tool
