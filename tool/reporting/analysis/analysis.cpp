// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: analysis.hpp.
// Invariant: gatherers that lie behind each other in memory are told of each step in turn; the order of sections is the
//    page's.
// Must not know: how a report is shown.
#include "reporting/analysis/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "reporting/charts/call_sites.hpp"
#include "reporting/charts/source_lines.hpp"
#include "reporting/charts/unread_files.hpp"
#include "reporting/document/words.hpp"
#include "reporting/sections/cache_lines.hpp"
#include "reporting/sections/footprint.hpp"
#include "reporting/sections/fragmentation.hpp"
#include "reporting/sections/head.hpp"
#include "reporting/sections/held_pages.hpp"
#include "reporting/sections/in_use_at_end.hpp"
#include "reporting/sections/intervals.hpp"
#include "reporting/sections/lifetimes.hpp"
#include "reporting/sections/memory_map.hpp"
#include "reporting/sections/origins.hpp"
#include "reporting/sections/resident_memory.hpp"
#include "reporting/sections/single_events.hpp"
#include "reporting/sections/sizes.hpp"
#include "reporting/sections/statistics.hpp"
#include "reporting/sections/temporaries.hpp"
#include "reporting/sections/threads.hpp"
#include "reporting/steps/gatherers.hpp"
#include "reporting/steps/samples.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/shown_threads.hpp"
#include "reporting/steps/stack_totals.hpp"
#include "reporting/steps/step_stream.hpp"

namespace gr::tool {

namespace {

class Analysis {
  public:
    Analysis(const Scope &scope, Calls &calls, const Naming &naming)
        : scope_(scope),
          gatherers_{Footprint(scope_), Statistics(scope_),  Sizes(scope_),       Lifetimes(scope_),
                     Intervals(scope_), Threads(scope_),     CacheLines(scope_),  Fragmentation(scope_),
                     MemoryMap(scope_), StackTotals(scope_), Temporaries(scope_), ResidentMemory(scope_)},
          single_events_(scope_),
          in_use_at_end_(scope_),
          held_at_peak_(scope_, "when resident memory was largest", "peak"),
          held_at_end_(scope_, "at the end", "end"),
          calls_(calls),
          sites_(scope_.trace, calls, naming),
          sources_(naming.sources) {}

    // With what else is to be looked at.
    Document document(StepStream::Way way) {
        add_looks(&way.looks);
        StepStream steps(scope_, std::move(way));
        while (const Batch *const batch = steps.next()) {
            for (const Step &step : *batch) tell_all(gatherers_, step);
            if (!scope_.is_window) continue;
            for (const Step &step : *batch) tell(single_events_, step);
        }
        get<MemoryMap>().finish();
        Document document = head_of(scope_, steps.left_out());
        const ShownThreads threads(scope_.threads, get<StackTotals>());
        document.sections = sections(threads);
        document.frames = sites_.frames();
        add_sources(&document);
        add_unread(&document);
        document.threads = threads.names();
        tell_story(&document);
        return document;
    }

  private:
    // Calls without any lines have none, whatever the folder has.
    void add_sources(Document *document) const {
        if (sources_.empty() || document->frames.empty()) return;
        SourceLines sources(sources_);
        for (std::size_t i = 0; i < document->frames.size(); ++i)
            sources.add_to(&document->frames[i], sites_.lines()[i]);
        for (std::string &note : sources.notes(scope_.trace.start().began_nanoseconds))
            document->notes.push_back(std::move(note));
    }
    void add_unread(Document *document) const {
        std::string note = unread_note(calls_.unread());
        if (!note.empty()) document->notes.push_back(std::move(note));
    }
    template <class Gatherer>
    Gatherer &get() {
        return std::get<Gatherer>(gatherers_);
    }
    void add_looks(std::vector<Look> *looks) {
        if (const trace::Sample *const highest = highest_resident(scope_)) {
            looks->push_back(
                {highest->time, [this](const trace::Playback &playback) { held_at_peak_.look(playback.live()); }});
        }
        std::ranges::stable_sort(*looks, {}, &Look::time);
        const trace::Time end =
            scope_.is_window ? scope_.time.last() : trace::Time{std::numeric_limits<std::uint64_t>::max()};
        looks->push_back({end, [this](const trace::Playback &playback) {
                              in_use_at_end_.look(playback.live());
                              held_at_end_.look(playback.live());
                          }});
    }
    std::vector<Section> sections(const ShownThreads &threads) {
        std::vector<Section> sections = {get<Footprint>().section(),
                                         origins_section(scope_, get<StackTotals>(), threads, sites_),
                                         get<ResidentMemory>().section(sites_),
                                         get<Statistics>().section(),
                                         get<MemoryMap>().section(),
                                         get<Fragmentation>().section(),
                                         get<Sizes>().section(),
                                         get<Lifetimes>().section(),
                                         get<Temporaries>().section(sites_),
                                         get<Intervals>().section(),
                                         get<Threads>().section(),
                                         get<CacheLines>().section(),
                                         in_use_at_end_.section(get<StackTotals>(), threads, sites_)};
        add_held_pages(&sections);
        if (scope_.is_window) sections.insert(sections.begin(), single_events_.section(sites_));
        return sections;
    }
    // Where nothing is freed at the end, both moments tell the same.
    void add_held_pages(std::vector<Section> *sections) {
        Section at_end = held_at_end_.section(sites_);
        if (highest_resident(scope_) != nullptr) {
            Section at_peak = held_at_peak_.section(sites_);
            if (at_peak.answer == at_end.answer)
                at_end.question = HeldPages::question("when resident memory was largest, and at the end");
            else
                sections->push_back(std::move(at_peak));
        }
        sections->push_back(std::move(at_end));
    }

    Scope scope_;
    std::tuple<Footprint, Statistics, Sizes, Lifetimes, Intervals, Threads, CacheLines, Fragmentation, MemoryMap,
               StackTotals, Temporaries, ResidentMemory>
        gatherers_;
    SingleEvents single_events_;
    InUseAtEnd in_use_at_end_;
    HeldPages held_at_peak_;
    HeldPages held_at_end_;
    const Calls &calls_;
    CallSites sites_;
    std::string sources_;
};

}  // namespace

Document analyse(const trace::Trace &trace, const Naming &naming) {
    Calls calls(trace);
    return Analysis(Scope(trace), calls, naming).document({});
}

Document Analyst::whole(Course &course) {
    course.begin(trace_.events());
    positions_ = Positions();
    StepStream::Way way{{}, nullptr, &course};
    const std::vector<trace::Time> moments = Positions::moments(trace_);
    for (std::size_t i = 1; i <= moments.size(); ++i) {
        const trace::Time moment = moments[i - 1];
        const std::size_t left = moments.size() - i;
        way.looks.push_back({moment, [this, i, moment, left](const trace::Playback &playback) {
                                 if (positions_.wants(i)) positions_.keep(playback.position(moment), left);
                             }});
    }
    return Analysis(Scope(trace_), calls_, naming_).document(std::move(way));
}

Document Analyst::window(Window window, Course &course) {
    const trace::Position *const position = positions_.before(window.first);
    const trace::Time from = position != nullptr ? position->time() : trace::Time{};
    std::uint64_t events = 0;
    for (const trace::EventBlock &block : trace_.blocks()) {
        const trace::EventsSummary &summary = block.summary;
        if (summary.last_time > from.units && summary.first_time <= window.last.units) events += summary.events;
    }
    course.begin(events);
    std::optional<trace::Position> begin;
    StepStream::Way way{{}, position, &course};
    if (window.first.units != 0) {
        const trace::Time before{window.first.units - 1};
        way.looks.push_back(
            {before, [&begin, before](const trace::Playback &playback) { begin = playback.position(before); }});
    }
    Document document = Analysis(Scope(trace_, window), calls_, naming_).document(std::move(way));
    if (begin) positions_.visit(std::move(*begin));
    return document;
}

}  // namespace gr::tool
