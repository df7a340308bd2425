// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/why/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.hpp"

namespace gr::tool {

namespace {

constexpr std::uint64_t kWorthAHint = 10;  // per cent of the resident set, and
constexpr std::uint64_t kLeastWorth = 1 << 20;
constexpr std::uint64_t kMost = 50;  // per cent

class Hints {
  public:
    explicit Hints(const Explanation &explanation) : e_(explanation) {}

    std::vector<std::string> all() {
        if (e_.collector) about_collections();
        about_empty();
        about_free(
            Owner::malloc, e_.malloc(),
            "a superblock is returned when its last blocks are freed or moved; gr_page_utilization(3) tells which "
            "blocks to move");
        about_free(
            Owner::collector, e_.kinds(),
            "the collector moves no block, so a superblock stays until the program drops the last objects in it");
        about_magazines();
        about_waiting();
        about_others();
        about_live();
        if (hints_.empty()) hints_.emplace_back("nothing: no part of the memory is unusually large");
        return std::move(hints_);
    }

  private:
    std::uint64_t resident_of(Owner owner, std::string_view name) const {
        std::uint64_t bytes = 0;
        for (const Share &share : e_.shares) bytes += share.owner == owner && share.name == name ? share.resident : 0;
        return bytes;
    }
    bool is_worth(std::uint64_t bytes) const {
        return bytes >= kLeastWorth && percent(bytes, e_.resident) >= kWorthAHint;
    }

    void about_collections() {
        const std::uint64_t grown = e_.grown_bytes();
        if (!is_worth(grown)) return;
        if (e_.collector->is_disabled) {
            hints_.push_back(
                fmt::format("collections are disabled, and {} more are in use than after the last collection; the "
                            "garbage in them stays until the program enables collections",
                            bytes_text(grown)));
        } else if (e_.kinds().empty()) {
            hints_.push_back(
                fmt::format("{} more are in use than after the last collection; the next collection frees the garbage "
                            "in them",
                            bytes_text(grown)));
        } else {
            hints_.push_back(fmt::format(
                "a collection now (GC_gcollect() in the program) frees the garbage in the {} that came into use since "
                "the last collection; with a larger GC_FREE_SPACE_DIVISOR collections are more frequent",
                bytes_text(grown)));
        }
    }

    void about_empty() {
        const std::uint64_t of_malloc = resident_of(Owner::malloc, "empty");
        if (is_worth(of_malloc)) {
            hints_.push_back(
                fmt::format("malloc_trim(0) in the program returns the {} of empty memory to the kernel; a smaller "
                            "GRANARY_RETAIN retains less from the start",
                            bytes_text(of_malloc)));
        }
        const std::uint64_t of_kinds = resident_of(Owner::collector, "empty");
        if (is_worth(of_kinds)) {
            hints_.push_back(
                fmt::format("GC_gcollect_and_unmap() in the program returns the {} of empty memory to the kernel; a "
                            "smaller GRANARY_RETAIN, which holds for each kind, retains less from the start",
                            bytes_text(of_kinds)));
        }
    }

    void about_free(Owner owner, std::span<const ExplainedHeap> heaps, std::string_view what_helps) {
        if (!is_worth(resident_of(owner, "free"))) return;
        const ClassOfHeap worst = largest(heaps, Part::free, 1).front();
        const ClassSummary &c = *worst.size_class;
        hints_.push_back(fmt::format(
            "most of the free memory lies between {}: {} of {} blocks in {} superblocks are in use ({} %); {}",
            worst.text(), c.live_blocks, c.blocks, c.superblocks, percent(c.live_blocks, c.blocks), what_helps));
    }

    void about_magazines() {
        const std::uint64_t cached =
            resident_of(Owner::malloc, "magazines") + resident_of(Owner::collector, "magazines");
        if (!is_worth(cached)) return;
        hints_.push_back(
            fmt::format("a smaller GRANARY_MAGAZINE (now {} for each heap) caches less than the {} "
                        "that the magazines hold",
                        size_text(e_.heaps.front().snapshot.magazine_bytes), bytes_text(cached)));
    }

    void about_waiting() {
        const std::uint64_t waiting = resident_of(Owner::malloc, "waiting");
        if (!is_worth(waiting)) return;
        hints_.push_back(
            fmt::format("{} are in quarantine: the next search frees the blocks in quarantine to which no pointer is "
                        "left",
                        bytes_text(waiting)));
    }

    void about_others() {
        std::uint64_t others = 0;
        for (const Share &share : e_.shares) others += share.owner == Owner::others ? share.resident : 0;
        if (percent(others, e_.resident) < kMost || others < kLeastWorth) return;
        hints_.push_back(fmt::format("{} % ({}) are outside Granary; no setting of {} changes them",
                                     percent(others, e_.resident), bytes_text(others),
                                     e_.has_malloc() ? "malloc" : "the collector"));
    }

    void about_live() {
        const std::uint64_t live = resident_of(Owner::malloc, "live") + resident_of(Owner::collector, "live");
        if (percent(live, e_.resident) < kMost) return;
        hints_.push_back(
            fmt::format("{} % are in use: the program holds these blocks, and only the program knows whether it still "
                        "needs them; two readings some time apart show what grows",
                        percent(live, e_.resident)));
    }

    const Explanation &e_;
    std::vector<std::string> hints_;
};

}  // namespace

std::vector<std::string> hints_about(const Explanation &explanation) { return Hints(explanation).all(); }

}  // namespace gr::tool
