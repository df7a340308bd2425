// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      why the resident set of a process is as large as it is.
// Invariant: see why.hpp.
// Must not know: how anything is drawn or printed.
#include "why.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "doctor.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kClassesNamed = 3;
constexpr std::uint64_t kAllowanceParts = 32;  // as the manual says of GRANARY_RETAIN
constexpr std::uint64_t kWorthAHint = 10;      // per cent of the resident set, and
constexpr std::uint64_t kLeastWorth = 1 << 20;

std::uint64_t whole(double bytes) { return static_cast<std::uint64_t>(std::llround(std::max(0.0, bytes))); }

std::uint64_t percent(std::uint64_t part, std::uint64_t of) { return of == 0 ? 0 : part * 100 / of; }

std::string blocks_text(std::uint64_t count) {
    if (count == 1) return "1 block";
    if (count < 1000000) return fmt::format("{} blocks", count);
    return fmt::format("{:.1f} million blocks", static_cast<double>(count) / 1e6);
}

// The classes that hold most of a part, the first of them first.
std::vector<const ClassSummary *> largest(const HeapSnapshot &heap, Part part) {
    std::vector<const ClassSummary *> classes;
    for (const ClassSummary &c : heap.classes) {
        if (amount(c.amounts, part).resident > 0) classes.push_back(&c);
    }
    std::ranges::sort(classes, [part](const ClassSummary *a, const ClassSummary *b) {
        return amount(a->amounts, part).resident > amount(b->amounts, part).resident;
    });
    if (classes.size() > kClassesNamed) classes.resize(kClassesNamed);
    return classes;
}

std::string free_text(const HeapSnapshot &heap) {
    std::vector<std::string> named;
    for (const ClassSummary *c : largest(heap, Part::kFree)) {
        named.push_back(fmt::format("{} in blocks of {}", bytes_text(whole(amount(c->amounts, Part::kFree).resident)),
                                    c->block_bytes));
    }
    const std::string list = named.empty() ? "" : fmt::format(": {}", fmt::join(named, ", "));
    return fmt::format("free in superblocks that hold other blocks{}{}", list, named.empty() ? "" : " bytes");
}

// Of a clock that all processes share.
std::uint64_t coarse_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// What stays beyond the share.
Breath breath_of(const HeapSnapshot &heap) {
    double used = 0;
    for (const Part part : {Part::kLive, Part::kCached, Part::kRemote, Part::kFree, Part::kTail})
        used += amount(heap.amounts, part).resident;
    const std::uint64_t share = std::max(heap.retain_bytes, whole(used) / kAllowanceParts);
    const std::uint64_t empty = whole(amount(heap.amounts, Part::kEmpty).resident);
    if (heap.breath_bytes == 0 || heap.breath_since == 0 || empty <= share) return {};
    return {.bytes = std::min(empty - share, heap.breath_bytes),
            .seconds = (coarse_nanoseconds() - heap.breath_since) / 1'000'000'000};
}

std::string breath_text(const Breath &breath) {
    if (breath.bytes == 0) return "";
    return fmt::format("; {} of it since the program has been taking it again and again, for {} s (GRANARY_BREATH)",
                       bytes_text(breath.bytes), breath.seconds);
}

class Explainer {
  public:
    Explainer(const ProcessMemory &memory, const std::vector<Mapping> &mappings, const FoundHeap &found)
        : mappings_(mappings), file_(found.file) {
        result_.process = memory.process();
        result_.executable = memory.executable();
        result_.library = found.file;
        result_.heap = take_snapshot(memory, mappings, found.tables);
        result_.breath = breath_of(result_.heap);
    }

    Explanation explain() {
        add_heap();
        add_tables();
        add_others();
        result_.resident = 0;
        for (const Share &share : result_.shares) result_.resident += share.resident;
        result_.huge = 0;
        for (const Mapping &mapping : mappings_) result_.huge += mapping.huge;
        add_hints();
        return std::move(result_);
    }

  private:
    void add(std::string name, double resident, std::uint64_t bytes, bool granary, std::string text) {
        result_.shares.push_back({std::move(name), whole(resident), bytes, granary, std::move(text)});
    }
    void add(std::string name, const Amount &amount, std::string text) {
        add(std::move(name), amount.resident, amount.bytes, true, std::move(text));
    }

    void add_heap() {
        const HeapSnapshot &heap = result_.heap;
        Amount live = amount(heap.amounts, Part::kLive);
        live += heap.direct;
        const std::uint64_t untouched = live.bytes - std::min(live.bytes, whole(live.resident));
        const std::string more = untouched < ProcessMemory::page_bytes()
                                     ? ""
                                     : fmt::format("; {} more is not resident", bytes_text(untouched));
        add("live", live, fmt::format("live in {} that the program holds{}", blocks_text(heap.live_blocks), more));
        add("free", amount(heap.amounts, Part::kFree), free_text(heap));
        add("magazines", amount(heap.amounts, Part::kCached),
            fmt::format("free in the magazines of {} heap{}", heap.heaps, heap.heaps == 1 ? "" : "s"));
        add("remote", amount(heap.amounts, Part::kRemote), "freed by other threads and not yet collected");
        add("empty", amount(heap.amounts, Part::kEmpty),
            fmt::format("empty, kept for the next request (GRANARY_RETAIN={}, or a 32nd of what is in use){}",
                        size_text(heap.retain_bytes), breath_text(result_.breath)));
        add("tails", amount(heap.amounts, Part::kTail), "at the ends of superblocks, which no block covers");
    }

    // The library's file, and its zeroed data, which follows the file in memory.
    bool is_library(std::size_t i) const {
        if (file_ == result_.executable) return false;
        if (mappings_[i].name == file_) return true;
        return i > 0 && mappings_[i].name.empty() && mappings_[i - 1].name == file_ &&
               mappings_[i - 1].end == mappings_[i].begin && mappings_[i].writable;
    }

    // What a mapping has resident beside the heap.
    double rest(std::size_t i) const {
        return std::max(0.0, static_cast<double>(mappings_[i].resident) - result_.heap.accounted[i]);
    }

    void add_tables() {
        double library = 0;
        for (std::size_t i = 0; i < mappings_.size(); ++i) library += is_library(i) ? rest(i) : 0;
        add("tables", result_.heap.table_resident, 0, true, "tables that tell all this (metadata)");
        if (library > 0) add("library", library, 0, true, fmt::format("code and data of {}", file_));
    }

    void add_others() {
        double files = 0;
        double shared = 0;
        double brk = 0;
        double stack = 0;
        double anonymous = 0;
        for (std::size_t i = 0; i < mappings_.size(); ++i) {
            const std::string &name = mappings_[i].name;
            if (is_library(i)) continue;
            double &sum = mappings_[i].shared     ? shared
                          : name.starts_with('/') ? files
                          : name == "[heap]"      ? brk
                          : name == "[stack]"     ? stack
                                                  : anonymous;
            sum += rest(i);
        }
        const auto add_other = [this](std::string name, double resident, std::string text) {
            if (resident > 0) add(std::move(name), resident, 0, false, std::move(text));
        };
        add_other("files", files, "the program, its libraries and files it has mapped");
        add_other("shared", shared, "shared memory");
        add_other("brk", brk, "memory from brk, which Granary never uses");
        add_other("stack", stack, "the main thread's stack");
        add_other("anonymous", anonymous,
                  "other anonymous memory: threads' stacks, and what was mapped without malloc");
    }

    std::uint64_t resident_of(std::string_view name) const {
        const auto share = std::ranges::find(result_.shares, name, &Share::name);
        return share == result_.shares.end() ? 0 : share->resident;
    }
    bool is_worth(std::uint64_t bytes) const {
        return bytes >= kLeastWorth && percent(bytes, result_.resident) >= kWorthAHint;
    }

    void add_hints() {
        auto &hints = result_.hints;
        const std::uint64_t empty = resident_of("empty");
        if (is_worth(empty)) {
            hints.push_back(
                fmt::format("malloc_trim(0) in the program gives the {} back that are empty; a smaller "
                            "GRANARY_RETAIN keeps less of them from the start",
                            bytes_text(empty)));
        }
        if (is_worth(resident_of("free"))) add_fragmentation_hint();
        const std::uint64_t cached = resident_of("magazines");
        if (is_worth(cached)) {
            hints.push_back(
                fmt::format("a smaller GRANARY_MAGAZINE (it is {} for each heap now) keeps less than the {} "
                            "that magazines hold",
                            size_text(result_.heap.magazine_bytes), bytes_text(cached)));
        }
        std::uint64_t others = 0;
        for (const Share &share : result_.shares) others += share.granary ? 0 : share.resident;
        if (percent(others, result_.resident) >= 50 && others >= kLeastWorth) {
            hints.push_back(fmt::format("{} %, {}, are not Granary's; no setting of malloc changes them",
                                        percent(others, result_.resident), bytes_text(others)));
        }
        const std::uint64_t live = resident_of("live");
        if (percent(live, result_.resident) >= 50) {
            hints.push_back(
                fmt::format("{} % are live: the program holds them, and only it knows whether it still needs "
                            "them; two readings some time apart tell what grows",
                            percent(live, result_.resident)));
        }
        if (hints.empty()) hints.emplace_back("nothing stands out");
    }

    void add_fragmentation_hint() {
        const ClassSummary &worst = *largest(result_.heap, Part::kFree).front();
        result_.hints.push_back(fmt::format(
            "most of what is free lies between blocks of {} bytes: {} live ones of {} in {} superblocks ({} %); "
            "freeing or moving what is left in the emptiest gives these back, and gr_page_utilization(3) tells which",
            worst.block_bytes, worst.live_blocks, worst.blocks, worst.superblocks,
            percent(worst.live_blocks, worst.blocks)));
    }

    const std::vector<Mapping> &mappings_;
    const std::string &file_;
    Explanation result_{};
};

}  // namespace

Explanation explain(int process) {
    const ProcessMemory memory(process);
    const std::vector<Mapping> mappings = memory.mappings();
    const std::optional<FoundHeap> found = find_heap(memory, mappings);
    if (!found) {
        const Diagnosis diagnosis = diagnose_process(process);
        const std::string reason = diagnosis.verdict() == Verdict::kNo
                                       ? diagnosis.summary()
                                       : diagnosis.summary() + ", but an old one, or one that has not started";
        throw Failure(ExitCode::kNotRunnable, fmt::format("process {} cannot be explained: {}", process, reason));
    }
    return Explainer(memory, mappings, *found).explain();
}

}  // namespace gr::tool
