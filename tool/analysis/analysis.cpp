// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: analysis.hpp.
// Invariant: gatherers that lie behind each other in memory are told of each step in turn; the order of sections is the page's.
// Must not know: how a report is shown.
#include "analysis/analysis.hpp"

#include <limits>
#include <tuple>
#include <utility>

#include "analysis/cache_lines.hpp"
#include "analysis/call_sites.hpp"
#include "analysis/footprint.hpp"
#include "analysis/fragmentation.hpp"
#include "analysis/gatherers.hpp"
#include "analysis/head.hpp"
#include "analysis/held_pages.hpp"
#include "analysis/intervals.hpp"
#include "analysis/leaks.hpp"
#include "analysis/lifetimes.hpp"
#include "analysis/memory_map.hpp"
#include "analysis/origins.hpp"
#include "analysis/samples.hpp"
#include "analysis/scope.hpp"
#include "analysis/sizes.hpp"
#include "analysis/stack_totals.hpp"
#include "analysis/statistics.hpp"
#include "analysis/step_stream.hpp"
#include "analysis/temporaries.hpp"
#include "analysis/threads.hpp"

namespace gr::analysis {

namespace {

class Analysis {
  public:
    explicit Analysis(const trace::Trace &trace)
        : scope_(trace),
          gatherers_{Footprint(scope_), Statistics(scope_),  Sizes(scope_),      Lifetimes(scope_),
                     Intervals(scope_), Threads(scope_),     CacheLines(scope_), Fragmentation(scope_),
                     MemoryMap(scope_), StackTotals(scope_), Temporaries(scope_)},
          leaks_(scope_),
          held_at_peak_(scope_, "when most was resident", "peak"),
          held_at_end_(scope_, "at the end", "end") {}

    Document document() {
        StepStream steps(scope_.trace, scope_.time, looks());
        while (const Batch *const batch = steps.next()) {
            for (const Step &step : *batch) tell_all(gatherers_, step);
        }
        get<MemoryMap>().finish();
        Document document = head_of(scope_, steps.left_out());
        document.sections = sections();
        document.frames = sites_.frames();
        tell_story(&document);
        return document;
    }

  private:
    template <class Gatherer>
    Gatherer &get() {
        return std::get<Gatherer>(gatherers_);
    }
    std::vector<Look> looks() {
        std::vector<Look> looks;
        if (const trace::Sample *const highest = highest_resident(scope_.trace)) {
            looks.push_back({highest->time, [this](const trace::LiveSet &live) { held_at_peak_.look(live); }});
        }
        looks.push_back({trace::Time{std::numeric_limits<std::uint64_t>::max()}, [this](const trace::LiveSet &live) {
                             leaks_.look(live);
                             held_at_end_.look(live);
                         }});
        return looks;
    }
    std::vector<Section> sections() {
        std::vector<Section> sections = {get<Footprint>().section(),
                                         get<Statistics>().section(),
                                         get<MemoryMap>().section(),
                                         get<Fragmentation>().section(),
                                         origins_section(scope_, get<StackTotals>(), sites_),
                                         get<Sizes>().section(),
                                         get<Lifetimes>().section(),
                                         get<Temporaries>().section(sites_),
                                         get<Intervals>().section(),
                                         get<Threads>().section(),
                                         get<CacheLines>().section(),
                                         leaks_.section(get<StackTotals>(), sites_)};
        add_held_pages(&sections);
        return sections;
    }
    // Where nothing is freed at the end, both moments tell the same.
    void add_held_pages(std::vector<Section> *sections) {
        Section at_end = held_at_end_.section(sites_);
        if (!scope_.trace.samples().empty()) {
            Section at_peak = held_at_peak_.section(sites_);
            if (at_peak.answer == at_end.answer)
                at_end.question = HeldPages::question("when most was resident, and at the end");
            else
                sections->push_back(std::move(at_peak));
        }
        sections->push_back(std::move(at_end));
    }

    Scope scope_;
    std::tuple<Footprint, Statistics, Sizes, Lifetimes, Intervals, Threads, CacheLines, Fragmentation, MemoryMap,
               StackTotals, Temporaries>
        gatherers_;
    Leaks leaks_;
    HeldPages held_at_peak_;
    HeldPages held_at_end_;
    CallSites sites_{scope_.trace};
};

}  // namespace

Document analyse(const trace::Trace &trace) { return Analysis(trace).document(); }

}  // namespace gr::analysis
