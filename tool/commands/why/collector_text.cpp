// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/why/collector_text.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace gr::tool {

namespace {

// Blocks of malloc that a search sweeps only if the program has freed them.
bool is_searched(const Explanation &e) {
    if (e.collector->kinds.empty()) return false;
    const Lifetime lifetime = e.collector->kinds.front().lifetime;
    return lifetime == Lifetime::watched || lifetime == Lifetime::held_back;
}

std::string time_text(std::uint64_t nanoseconds) {
    const double seconds = static_cast<double>(nanoseconds) / 1e9;
    return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1e3) : fmt::format("{:.1f} s", seconds);
}

// With leaks and in quarantine nothing else is swept, so the text tells what was found in use, quarantined blocks included.
std::string found_text(const Explanation &e) {
    const LastCollection &last = e.collector->last;
    const std::string bytes = bytes_text(last.live_bytes);
    if (is_searched(e)) return fmt::format("found {} in use in {} blocks", bytes, last.live_blocks);
    return fmt::format("freed {} block{} and left {} in use in {} blocks", last.freed_blocks,
                       last.freed_blocks == 1 ? "" : "s", bytes, last.live_blocks);
}

std::string last_text(const Explanation &e) {
    constexpr std::array kWhy{"requested by the program", "due", "after a refused allocation", "of young blocks",
                              "reason unknown"};
    const LastCollection &last = e.collector->last;
    const std::string beside =
        last.beside == 0 ? "" : fmt::format("marked for {} while the program ran, ", time_text(last.beside));
    return fmt::format("the last of {} ({}) began {} ago, {}stopped the program ({} other thread{}) for {}, {}",
                       last.number, kWhy[static_cast<std::size_t>(last.reason)], time_text(e.collector_age), beside,
                       last.threads, last.threads == 1 ? "" : "s", time_text(last.stopped), found_text(e));
}

std::string next_text(const Explanation &e) {
    const CollectorSnapshot &c = *e.collector;
    if (c.is_disabled) return "collections are disabled";
    if (is_for_leaks(e)) return "the next comes when leaks are requested, and when the program ends";
    if (c.waiting_due_bytes != 0) {
        return fmt::format("the next comes when {} are in quarantine, where large blocks count one eighth; {} are now",
                           bytes_text(c.waiting_due_bytes), bytes_text(c.waiting_bytes));
    }
    if (!c.is_automatic) return "the next comes when the program requests it";
    return fmt::format("the next{} is due when the units in use reach {}; they are {} now",
                       c.is_beside ? " (incremental)" : "", bytes_text(c.due_bytes), bytes_text(e.held_bytes()));
}

}  // namespace

std::string collections_text(const Explanation &e) {
    const std::string last = e.collector->last.number == 0 ? "none so far" : last_text(e);
    return fmt::format("{}; {}", last, next_text(e));
}

std::string_view reason_word(Reason reason) {
    constexpr std::array<std::string_view, 5> kWords{"asked", "due", "refused", "young", "unknown"};
    return kWords[static_cast<std::size_t>(reason)];
}

std::string_view contents_word(Contents contents) {
    constexpr std::array<std::string_view, 6> kWords{"none", "any", "layout", "procedure", "per_block", "unknown"};
    return kWords[static_cast<std::size_t>(contents)];
}

std::string_view lifetime_word(Lifetime lifetime) {
    constexpr std::array<std::string_view, 5> kWords{"collected", "until_freed", "watched", "held_back", "unknown"};
    return kWords[static_cast<std::size_t>(lifetime)];
}

bool is_for_leaks(const Explanation &e) { return e.collector->waiting_due_bytes == 0 && is_searched(e); }

}  // namespace gr::tool
