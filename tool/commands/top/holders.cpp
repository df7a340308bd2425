// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/top/holders.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <map>

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

bool contains(const CodeModule &module, std::uint64_t address) {
    return module.begin < address && address <= module.end;
}

}  // namespace

std::string Holder::name_of(const CodePlace &place) {
    if (!place.function.empty()) return place.function;
    if (place.module.empty()) return fmt::format("{:#x}", place.address);
    return place.module.substr(place.module.rfind('/') + 1);
}

HolderReader::HolderReader(int process) : memory_(process) { profile_.emplace(memory_, find_profile(memory_)); }

HolderReader::~HolderReader() = default;

// Of a library that came later the files are asked for again, and all is known anew.
const CodePlace &HolderReader::place_of(std::uint64_t call) {
    const auto is_known = [&] {
        return std::ranges::any_of(modules_, [&](const CodeModule &m) { return contains(m, call); });
    };
    if (places_ == nullptr || !is_known()) {
        modules_ = loaded_code(memory_.process());
        places_ = std::make_unique<CodePlaces>(modules_);
        // An address that is nobody's is not asked for again.
        if (!is_known()) {
            CodeModule nobody;
            nobody.begin = call - 1;
            nobody.end = call;
            modules_.push_back(nobody);
        }
    }
    return places_->of_call(call);
}

Holders HolderReader::read(Order order, std::size_t calls) {
    Holders result{.process = memory_.process(), .executable = memory_.executable(), .profile = profile_->read()};
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    result.now = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    std::map<std::vector<std::uint64_t>, std::size_t> places;
    for (const ProfileSite &site : result.profile.sites) {
        const std::size_t count = std::min(calls, site.calls->size());
        std::vector<std::uint64_t> key(site.calls->begin(), site.calls->begin() + static_cast<std::ptrdiff_t>(count));
        const auto [at, is_new] = places.try_emplace(std::move(key), result.all.size());
        if (is_new) result.all.emplace_back();
        Holder &holder = result.all[at->second];
        holder.sums.allocated += site.sums.allocated;
        holder.sums.live += site.sums.live;
        holder.sums.peak += site.sums.peak;
        if (!is_new) continue;
        for (const std::uint64_t call : at->first) {
            CodePlace &place = holder.calls.emplace_back(place_of(call));
            place.function = demangled(place.function);
        }
    }
    std::ranges::stable_sort(result.all, std::greater{}, [&](const Holder &h) { return ordered_by(h, order); });
    return result;
}

}  // namespace gr::tool
