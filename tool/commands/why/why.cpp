// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/why/why.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "commands/why/hints.hpp"
#include "reading/diagnosis/process_diagnosis.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kClassesNamed = 3;
constexpr std::uint64_t kSecond = 1'000'000'000;

std::string blocks_text(std::uint64_t count) {
    if (count == 1) return "1 block";
    if (count < 1000000) return fmt::format("{} blocks", count);
    return fmt::format("{:.1f} million blocks", static_cast<double>(count) / 1e6);
}

std::string free_text(std::span<const ExplainedHeap> heaps) {
    std::vector<std::string> named;
    for (const ClassOfHeap &c : largest(heaps, Part::free, kClassesNamed)) {
        named.push_back(
            fmt::format("{} in {}", bytes_text(whole(amount(c.size_class->amounts, Part::free).resident)), c.text()));
    }
    return fmt::format("free blocks in superblocks that also hold blocks in use{}{}", named.empty() ? "" : ": ",
                       fmt::join(named, ", "));
}

// Of a clock that all processes share.
std::uint64_t nanoseconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

// What stays because of the reuse allowance.
Reuse reuse_of(const HeapSnapshot &heap) {
    double used = -amount(heap.amounts, Part::empty).resident;
    for (const Amount &part : heap.amounts) used += part.resident;
    const std::uint64_t share = std::max(heap.retain_bytes, whole(used) / heap.retain_parts);
    const std::uint64_t empty = whole(amount(heap.amounts, Part::empty).resident);
    if (heap.reuse_bytes == 0 || heap.reuse_since == 0 || empty <= share) return {};
    return {.bytes = std::min(empty - share, heap.reuse_bytes),
            .seconds = (nanoseconds(CLOCK_MONOTONIC_COARSE) - heap.reuse_since) / kSecond};
}

std::string reuse_text(const Reuse &reuse) {
    if (reuse.bytes == 0) return "";
    return fmt::format("; {} of it because the program keeps reusing it, for {} s so far (GRANARY_REUSE)",
                       bytes_text(reuse.bytes), reuse.seconds);
}

std::string retained_text(const HeapSnapshot &heap, bool is_kind, bool by_pace) {
    if (is_kind && by_pace) {
        return fmt::format(
            "as much as may be allocated until the next collection, at least {} for each kind, unless GRANARY_RETAIN "
            "is set",
            size_text(heap.retain_bytes));
    }
    return fmt::format("GRANARY_RETAIN={}{}, or 1/{} of the memory in use if more", size_text(heap.retain_bytes),
                       is_kind ? " for each kind" : "", heap.retain_parts);
}

std::string untouched_text(const Amount &amount) {
    const std::uint64_t untouched = amount.bytes - std::min(amount.bytes, whole(amount.resident));
    if (untouched < ProcessMemory::page_bytes()) return "";
    return fmt::format("; another {} is not resident", bytes_text(untouched));
}

// How the memory in use of a kind has changed since the last collection.
std::string since_text(const Kind &kind, std::uint64_t live, const LastCollection &last) {
    if (kind.lifetime != Lifetime::collected) return "";
    if (last.number == 0) return "; no collection so far";
    const std::string since = live <= kind.left_bytes
                                  ? ""
                                  : fmt::format(", and {} more are in use now, some of which may be garbage",
                                                bytes_text(live - kind.left_bytes));
    return fmt::format("; the last collection left {} in use{}", bytes_text(kind.left_bytes), since);
}

class Explainer {
  public:
    Explainer(const ProcessMemory &memory, const std::vector<Mapping> &mappings, const FoundTables &found)
        : mappings_(mappings), accounted_(mappings.size()) {
        result_.process = memory.process();
        result_.executable = memory.executable();
        if (found.heap) files_.push_back(found.heap->file);
        if (found.collector && (!found.heap || found.heap->file != found.collector->file))
            files_.push_back(found.collector->file);
        result_.library = files_.front();
        read(memory, found);
    }

    Explanation explain() {
        if (result_.has_malloc()) add_malloc();
        if (!result_.kinds().empty()) add_kinds();
        add_tables();
        add_others();
        for (const Share &share : result_.shares) result_.resident += share.resident;
        for (const Mapping &mapping : mappings_) {
            result_.huge += mapping.huge;
            result_.lazy += mapping.lazy;
        }
        result_.hints = hints_about(result_);
        return std::move(result_);
    }

  private:
    void read(const ProcessMemory &memory, const FoundTables &found) {
        if (found.collector) {
            result_.collector = take_snapshot(memory, mappings_, *found.collector);
            const std::uint64_t now = nanoseconds(CLOCK_MONOTONIC);
            result_.collector_age = now - std::min(now, result_.collector->last.began);
            account(result_.collector->accounted);
        }
        if (found.heap) {
            const WaitingFlags flags = result_.collector ? result_.collector->flags : WaitingFlags{};
            add_heap("malloc", true, take_snapshot(memory, mappings_, found.heap->tables, flags));
        }
        if (!found.collector) return;
        for (const Kind &kind : result_.collector->kinds) {
            if (found.heap && kind.heap_at == found.heap->tables.self) {
                result_.heaps.front().kind = kind;
                continue;
            }
            const gr_heap_tables tables = read_heap_tables(memory, kind.heap_at, found.collector->file);
            add_heap(name_of(kind), false, take_snapshot(memory, mappings_, tables, {}));
            result_.heaps.back().kind = kind;
        }
    }

    std::string name_of(const Kind &kind) const {
        std::string name = description(kind);
        const bool is_taken = std::ranges::find(result_.heaps, name, &ExplainedHeap::name) != result_.heaps.end();
        return is_taken ? fmt::format("{} (kind {})", name, kind.number) : name;
    }

    void add_heap(std::string name, bool is_malloc, HeapSnapshot snapshot) {
        account(snapshot.accounted);
        result_.reuse += reuse_of(snapshot);
        result_.heaps.push_back({std::move(name), is_malloc, {}, std::move(snapshot)});
    }
    void account(const std::vector<double> &accounted) {
        for (std::size_t i = 0; i < accounted.size(); ++i) accounted_[i] += accounted[i];
    }

    void add(Owner owner, std::string name, const std::string &heap, const Amount &amount, std::string text) {
        result_.shares.push_back({std::move(name), heap, whole(amount.resident), amount.bytes, owner, std::move(text)});
    }
    void add(Owner owner, std::string name, double resident, std::string text) {
        if (resident > 0) add(owner, std::move(name), "", {0, resident}, std::move(text));
    }

    void add_malloc() {
        const ExplainedHeap &heap = result_.heaps.front();
        const Amount live = live_amount(heap.snapshot);
        add(Owner::malloc, "live", heap.name, live,
            fmt::format("in use: {} that the program holds{}{}{}", blocks_text(heap.snapshot.live_blocks),
                        heap.kind ? " or has lost" : "", untouched_text(live),
                        heap.kind ? since_text(*heap.kind, live.bytes, result_.collector->last) : ""));
        add_rest(Owner::malloc, heap.name, result_.malloc());
    }

    void add_kinds() {
        for (const ExplainedHeap &heap : result_.kinds()) {
            const Amount live = live_amount(heap.snapshot);
            add(Owner::collector, "live", heap.name, live,
                fmt::format("in use: {} ({}){}{}", blocks_text(heap.snapshot.live_blocks), heap.name,
                            untouched_text(live), since_text(*heap.kind, live.bytes, result_.collector->last)));
        }
        add_rest(Owner::collector, "collected", result_.kinds());
    }

    // Beside live blocks.
    void add_rest(Owner owner, const std::string &name, std::span<const ExplainedHeap> heaps) {
        const HeapSnapshot &first = heaps.front().snapshot;
        Reuse reuse;
        for (const ExplainedHeap &heap : heaps) reuse += reuse_of(heap.snapshot);
        if (result_.collector && result_.collector->flags.narrow_at != 0 && owner == Owner::malloc) {
            const Amount waiting = sum_of(heaps, Part::waiting);
            add(owner, "waiting", name, waiting,
                fmt::format("freed, in quarantine: {} that wait until no pointer to them is left{}",
                            blocks_text(first.waiting_blocks), untouched_text(waiting)));
        }
        add(owner, "free", name, sum_of(heaps, Part::free), free_text(heaps));
        add(owner, "magazines", name, sum_of(heaps, Part::cached),
            fmt::format("free blocks cached in the magazines and messages of {} heap{}", first.heaps,
                        first.heaps == 1 ? "" : "s"));
        add(owner, "remote", name, sum_of(heaps, Part::remote),
            "freed remotely, not yet taken back by the heaps that own the blocks");
        add(owner, "empty", name, sum_of(heaps, Part::empty),
            fmt::format("empty, retained for the next request ({}){}",
                        retained_text(first, owner == Owner::collector,
                                      result_.collector && result_.collector->retains_by_pace),
                        reuse_text(reuse)));
        add(owner, "tails", name, sum_of(heaps, Part::tail), "ends of superblocks that no block covers");
    }

    // A library's file, and its zeroed data, which follows the file in memory. Of what is linked in nothing is known.
    bool is_library(std::size_t i) const {
        const auto is_file = [&](const Mapping &mapping) {
            return mapping.name != result_.executable && std::ranges::find(files_, mapping.name) != files_.end();
        };
        if (is_file(mappings_[i])) return true;
        return i > 0 && mappings_[i].name.empty() && is_file(mappings_[i - 1]) &&
               mappings_[i - 1].end == mappings_[i].begin && mappings_[i].writable;
    }

    // What a mapping has resident beside the heaps.
    double rest(std::size_t i) const {
        return std::max(0.0, static_cast<double>(mappings_[i].resident) - accounted_[i]);
    }

    void add_tables() {
        double tables = 0;
        for (const ExplainedHeap &heap : result_.heaps) tables += heap.snapshot.table_resident;
        add(Owner::granary, "tables", tables, "the allocator's own tables (metadata)");
        if (result_.collector) add_collector_memory();
        double library = 0;
        for (std::size_t i = 0; i < mappings_.size(); ++i) library += is_library(i) ? rest(i) : 0;
        add(Owner::granary, "library", library, fmt::format("code and data of {}", fmt::join(files_, " and ")));
    }

    void add_collector_memory() {
        struct Words {
            const char *name;
            const char *text;
        };
        static constexpr std::array<Words, kCollectorMemories> kWords{{
            {"marks", "marks, one byte for each block (metadata)"},
            {"places", "the marker's table of units (metadata)"},
            {"finalization", "finalizers and links, registered or queued"},
            {"flags", "flags of blocks in quarantine (metadata)"},
            {"origins", "the call stack that allocated each block"},
            {"snapshot", "which blocks were free when an incremental collection ended"},
        }};
        for (std::size_t use = 0; use < kWords.size(); ++use)
            add(Owner::granary, kWords[use].name, result_.collector->memory[use], kWords[use].text);
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
        const bool has_malloc = result_.has_malloc();
        add(Owner::others, "files", files, "the program, its libraries and other mapped files");
        add(Owner::others, "shared", shared, "shared memory");
        add(Owner::others, "brk", brk,
            has_malloc ? "memory from brk, which Granary never uses" : "memory from brk: the C library's malloc");
        add(Owner::others, "stack", stack, "the main thread's stack");
        add(Owner::others, "anonymous", anonymous,
            has_malloc ? "other anonymous memory: thread stacks, and mappings made without malloc"
                       : "other anonymous memory: thread stacks and mappings, those of malloc included");
    }

    const std::vector<Mapping> &mappings_;
    std::vector<std::string> files_;
    std::vector<double> accounted_;  // resident bytes of each mapping that are among a heap's or the collector's
    Explanation result_{};
};

}  // namespace

std::uint64_t Explanation::held_bytes() const {
    std::uint64_t bytes = 0;
    for (const ExplainedHeap &heap : heaps) bytes += heap.kind ? heap.snapshot.present_bytes() : 0;
    return bytes;
}

std::uint64_t Explanation::grown_bytes() const {
    std::uint64_t bytes = 0;
    for (const ExplainedHeap &heap : heaps) {
        if (!heap.kind || heap.kind->lifetime != Lifetime::collected) continue;
        const std::uint64_t live = live_amount(heap.snapshot).bytes;
        bytes += live - std::min(live, heap.kind->left_bytes);
    }
    return bytes;
}

Amount live_amount(const HeapSnapshot &heap) {
    Amount live = amount(heap.amounts, Part::live);
    live += heap.direct;
    return live;
}

Explanation explain(int process) {
    const ProcessMemory memory(process);
    const std::vector<Mapping> mappings = memory.mappings();
    const FoundTables found = find_tables(memory, mappings);
    if (!found.heap && !found.collector) {
        const Diagnosis diagnosis = diagnose_process(process);
        const std::string reason =
            diagnosis.verdict() == Verdict::no
                ? diagnosis.summary()
                : diagnosis.summary() + ", but on an old version, or the process has not started yet";
        throw Failure(ExitCode::not_runnable, fmt::format("process {} cannot be explained: {}", process, reason));
    }
    return Explainer(memory, mappings, found).explain();
}

}  // namespace gr::tool
