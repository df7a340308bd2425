// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/recorded_tree.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kMostLines = 40;

std::string file_name(const std::string &path) { return std::filesystem::path(path).filename().string(); }

std::string events_text(std::uint64_t events) { return count_words(static_cast<double>(events), "event", "events"); }

struct Process {
    std::uint32_t number = 0;
    std::string programs;  // one after the other, by exec
    std::string files;
    std::uint64_t own_events = 0;
    std::uint64_t events = 0;  // with those of what it made
    std::vector<std::uint32_t> children;

    // Such a process is told of in one line with others like it.
    [[nodiscard]] bool is_small() const { return files.empty() && children.empty(); }
};

class Tree {
  public:
    explicit Tree(const std::vector<WrittenTrace> &traces) {
        for (const WrittenTrace &trace : traces) add(trace);
        for (const WrittenTrace &trace : traces) {
            if (!is_placed(trace.process)) place(trace);
        }
        for (const std::uint32_t root : roots_) sum(root);
    }
    [[nodiscard]] std::size_t processes() const { return processes_.size(); }
    [[nodiscard]] std::string text() {
        show(roots_, 1);
        if (left_ != 0) text_ += fmt::format("  and {} more\n", left_);
        return text_;
    }

  private:
    void add(const WrittenTrace &trace) {
        Process &process = processes_[trace.process];
        process.number = trace.process;
        process.programs += (process.programs.empty() ? "" : " → ") + printable(file_name(trace.program));
        process.own_events += trace.events;
        if (trace.is_left_out) return;
        process.files += (process.files.empty() ? "" : ", ") + printable(file_name(trace.path));
        if (!trace.is_whole) process.files += " (cut off)";
    }
    [[nodiscard]] bool is_placed(std::uint32_t process) const { return placed_.contains(process); }
    void place(const WrittenTrace &trace) {
        placed_[trace.process] = true;
        const auto parent = processes_.find(trace.parent);
        const bool is_root = parent == processes_.end() || trace.parent == trace.process;
        (is_root ? roots_ : parent->second.children).push_back(trace.process);
    }
    void sum(std::uint32_t number) {
        Process &process = processes_[number];
        process.events = process.own_events;
        for (const std::uint32_t child : process.children) {
            sum(child);
            process.events += processes_[child].events;
        }
    }
    void show(std::vector<std::uint32_t> numbers, unsigned depth) {
        std::ranges::stable_sort(numbers, std::greater<>(), [&](std::uint32_t at) { return processes_[at].events; });
        std::map<std::string, std::pair<std::size_t, std::uint64_t>> small;  // by programs: how many, and their events
        for (const std::uint32_t number : numbers) {
            const Process &process = processes_[number];
            if (process.is_small()) {
                auto &[count, events] = small[process.programs];
                ++count;
                events += process.events;
                continue;
            }
            line(depth, fmt::format("{} ({}): {}{}", process.programs, number, events_text(process.own_events),
                                    process.files.empty() ? "" : ", " + process.files));
            show(process.children, depth + 1);
        }
        for (const auto &[programs, sum] : small)
            line(depth, fmt::format("{}{}: {}, left out", sum.first == 1 ? "" : fmt::format("{} × ", sum.first),
                                    programs, events_text(sum.second)));
    }
    void line(unsigned depth, const std::string &words) {
        if (++lines_ > kMostLines)
            ++left_;
        else
            text_ += std::string(std::size_t{2} * depth, ' ') + words + '\n';
    }

    std::map<std::uint32_t, Process> processes_;
    std::map<std::uint32_t, bool> placed_;
    std::vector<std::uint32_t> roots_;
    std::string text_;
    std::size_t lines_ = 0;
    std::size_t left_ = 0;
};

}  // namespace

void leave_out_small(std::vector<WrittenTrace> &traces, std::uint32_t main_process) {
    if (traces.size() <= kManyTraces) return;
    for (WrittenTrace &trace : traces) {
        if (trace.process == main_process || trace.events >= kSmallTrace || !trace.is_whole) continue;
        trace.is_left_out = ::unlink(trace.path.c_str()) == 0;
    }
}

std::string tree_text(const std::vector<WrittenTrace> &traces) {
    Tree tree(traces);
    return tree.processes() < 2 ? "" : tree.text();
}

}  // namespace gr::tool
