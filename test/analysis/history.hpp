// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a random trace, and what was in use behind each of its events, found in the plainest way; and charts of a document by
//    their titles.
// Invariant: no two events bear the same time, so their order is known; plain maps, nothing kept from event to event but these.
// Must not know: how the analysis gathers.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "reading/trace/reader.hpp"
#include "reading/trace/writer.hpp"
#include "reporting/analysis/analysis.hpp"

namespace gr::tool {

using trace::Event;
using trace::Op;
using trace::StackNumber;
using trace::ThreadNumber;
using trace::Time;

// The functions of a history have no names.
inline Naming by_address() {
    Naming naming;
    naming.addresses = true;
    return naming;
}

struct Alive {
    Event birth;
    std::uint64_t number = 0;        // of blocks born before
    std::uint64_t bytes_before = 0;  // that these were asked for with
};
using LiveMap = std::map<std::uint64_t, Alive>;  // by address

struct Moment {
    Event event;
    LiveMap live;       // behind it
    bool died = false;  // the event freed this block
    Alive dead;
    std::uint64_t births = 0;  // behind it
    std::uint64_t bytes_born = 0;
};

class History {
  public:
    static constexpr unsigned kThreads = 3;
    static constexpr unsigned kStacks = 9;
    static constexpr std::uint64_t kPage = 4096;

    explicit History(std::vector<Event> events) {
        Moment now;
        for (const Event &event : events) {
            now.event = event;
            now.died = false;
            if (obtains(event.op) && event.address != 0) {
                now.live[event.address] = {event, now.births++, now.bytes_born};
                now.bytes_born += event.size;
            } else if (frees(event.op) && now.live.contains(event.address)) {
                now.died = true;
                now.dead = now.live.at(event.address);
                now.live.erase(event.address);
            }
            moments_.push_back(now);
        }
    }
    static History random(unsigned seed, std::size_t count);

    [[nodiscard]] const std::vector<Moment> &moments() const { return moments_; }
    [[nodiscard]] const LiveMap &end() const { return moments_.back().live; }
    [[nodiscard]] static std::vector<trace::StackNode> nodes() {
        std::vector<trace::StackNode> nodes;
        for (std::uint32_t i = 1; i <= kStacks; ++i) nodes.push_back({StackNumber{i / 3}, 0x400000 + i * 16});
        return nodes;
    }
    void write(const std::string &path, trace::Stacks stacks, const std::vector<trace::Sample> &samples,
               std::size_t events_a_block = trace::kMostEvents) const;

    // The highest that a number of a moment is in each of the points, with what it was at the point's begin.
    template <class Number>
    [[nodiscard]] std::vector<double> highest_by_point(std::uint32_t points, std::uint64_t last, Number number) const {
        std::vector<double> values(points);
        std::vector<double> numbers;
        for (const Moment &moment : moments_) numbers.push_back(number(moment));
        for (std::uint32_t point = 0; point < points; ++point) {
            double before = 0;
            for (std::size_t i = 0; i < moments_.size(); ++i) {
                const std::uint64_t its = part_of(moments_[i].event.time, points, last);
                if (its < point) before = numbers[i];
                if (its == point) values[point] = std::max(values[point], numbers[i]);
            }
            values[point] = std::max(values[point], before);
        }
        return values;
    }
    static std::uint64_t part_of(Time time, std::uint32_t parts, std::uint64_t last) {
        return time.units * parts / (last + 1);
    }

  private:
    std::vector<Moment> moments_;
};

inline History History::random(unsigned seed, std::size_t count) {
    std::mt19937_64 random(seed);
    std::vector<Event> events;
    std::map<std::uint64_t, std::uint64_t> used;  // address, end
    std::uint64_t time = 0;
    while (events.size() < count) {
        Event event;
        event.time = Time{time += 1 + random() % (events.size() % 50 == 0 ? 3000 : 7)};
        event.thread = ThreadNumber{static_cast<std::uint32_t>(random() % kThreads)};
        if (random() % 8 == 0) event.nanoseconds = static_cast<std::uint32_t>(1 + random() % 5000);
        if (!used.empty() && random() % 100 < (used.size() > 60 ? 80U : 40U)) {
            auto at = used.begin();
            std::advance(at, random() % used.size());
            if (random() % 5 == 0 && !events.empty() && used.contains(events.back().address)) {
                at = used.find(events.back().address);  // the last one: temporary
                event.thread = events.back().thread;
            }
            event.op = random() % 6 == 0 ? Op::realloc_free : Op::free;
            event.address = at->first;
            used.erase(at);
        } else {
            event.op = random() % 3 == 0 ? Op::operator_new : Op::malloc;
            // Small blocks lie close together, large ones far away.
            const bool is_large = random() % 20 == 0;
            event.size = is_large ? random() % 40000 : random() % (1U << (1 + random() % 7));
            event.address = is_large ? 0x7f0000000000 + random() % 8192 * 16 : 0x55000000 + random() % 512 * 16;
            const std::uint64_t end = event.address + std::max<std::uint64_t>(event.size, 16);
            const auto next = used.lower_bound(event.address);
            if (next != used.end() && next->first < end) continue;
            if (next != used.begin() && std::prev(next)->second > event.address) continue;
            event.stack = StackNumber{static_cast<std::uint32_t>(random() % (kStacks + 1))};
            used[event.address] = end;
            if (random() % 40 == 0) {
                used.erase(event.address);
                event.address = 0;  // it got none
            }
        }
        events.push_back(event);
    }
    return History(std::move(events));
}

inline void History::write(const std::string &path, trace::Stacks stacks, const std::vector<trace::Sample> &samples,
                           std::size_t events_a_block) const {
    trace::Writer writer(path);
    trace::Start start;
    start.program = "/bin/program";
    start.page_bytes = kPage;
    start.stacks = stacks;
    start.timed_calls = 8;
    writer.start(start);
    writer.stacks(nodes());
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
        std::vector<Event> events;
        for (const Moment &moment : moments_) {
            if (moment.event.thread == ThreadNumber{thread}) events.push_back(moment.event);
            if (events.size() < events_a_block) continue;
            writer.events(ThreadNumber{thread}, events, 0);
            events.clear();
        }
        if (!events.empty()) writer.events(ThreadNumber{thread}, events, 0);
    }
    if (!samples.empty()) writer.samples(samples);
    writer.end({moments_.back().event.time, trace::End::Reason::exit, 0, writer.events_written(), 0});
}

// A folder that goes with the test.
class Folder {
  public:
    Folder() { std::filesystem::create_directory(path_); }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    [[nodiscard]] std::string file(const std::string &name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() / ("analysis_test." + std::to_string(::getpid()));
};

inline const Section &section_of(const Document &document, const std::string &id) {
    for (const Section &section : document.sections) {
        if (section.id == id) return section;
    }
    throw std::runtime_error("no section " + id);
}

template <class Kind>
const Kind &chart_of(const Section &section, const std::string &title) {
    for (const Chart &chart : section.charts) {
        const Kind *const found = std::get_if<Kind>(&chart);
        if (found != nullptr && found->title == title) return *found;
    }
    throw std::runtime_error("no chart " + title);
}

inline double number_in(const TableChart &table, const std::string &row, std::size_t column) {
    for (const std::vector<Value> &one : table.rows) {
        const std::string *const name = std::get_if<std::string>(&one[0]);
        if (name != nullptr && *name == row) return std::get<double>(one[column]);
    }
    throw std::runtime_error("no row " + row);
}

}  // namespace gr::tool
