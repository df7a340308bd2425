// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: program_use.hpp.
// Invariant: as there.
// Must not know: what it is held against.
#include "diff/program_use.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/class_sizes.hpp"
#include "analysis/gatherers.hpp"
#include "analysis/samples.hpp"
#include "analysis/stack_profile.hpp"
#include "analysis/step_stream.hpp"
#include "base/text.hpp"
#include "symbols/calls.hpp"

namespace gr::tool {

namespace {

// The first thread is called as the program is, which may be another file.
std::string name_of(const trace::Thread &thread, const trace::Start &start) {
    if (thread.id == start.process) return "(the first)";
    return thread.name.empty() ? "(no name)" : printable(thread.name);
}

class Gatherer {
  public:
    explicit Gatherer(const trace::Trace &trace) : units_(trace.last().units + 1), threads_(trace.threads().size()) {
        use_.file = trace.path();
        for (std::size_t i = 0; i < threads_.size(); ++i) {
            threads_[i] = &use_.by_thread[name_of(trace.threads()[i], trace.start())];
        }
    }

    void called(const analysis::Step &step) { use_.failed += step.kind == analysis::StepKind::kFailed ? 1 : 0; }
    void born(const analysis::Step &step) {
        pass(step.time);
        const auto size = static_cast<double>(step.block.size);
        for (Use *const one : {&use_.by_class[analysis::granary_block(step.block.size)], thread_of(step.block)}) {
            one->bytes += size;
            one->blocks += 1;
            one->at_end += size;
        }
        use_.calls += 1;
        use_.bytes += size;
        use_.end_blocks += 1;
        use_.end_bytes += size;
        use_.peak_bytes = std::max(use_.peak_bytes, use_.end_bytes);
        use_.most_in_part[part_] = std::max(use_.most_in_part[part_], use_.end_bytes);
    }
    void died(const analysis::Step &step) {
        pass(step.time);
        const auto size = static_cast<double>(step.block.size);
        use_.by_class[analysis::granary_block(step.block.size)].at_end -= size;
        thread_of(step.block)->at_end -= size;
        use_.end_blocks -= 1;
        use_.end_bytes -= size;
    }
    void vanished(const analysis::Step &step) { died(step); }

    ProgramUse &finish() {
        pass(trace::Time{units_ - 1});
        return use_;
    }

  private:
    // A part begins with what was in use before it.
    void pass(trace::Time time) {
        const auto part =
            static_cast<std::size_t>(static_cast<double>(time.units) / static_cast<double>(units_) * kParts);
        while (part_ < std::min(part, kParts - 1)) use_.most_in_part[++part_] = use_.end_bytes;
    }
    Use *thread_of(const trace::Block &block) { return threads_[trace::number_of(block.thread)]; }

    ProgramUse use_;
    std::uint64_t units_;
    std::vector<Use *> threads_;
    std::size_t part_ = 0;
};

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

// The innermost calls. What has no name of its own is known by its file only: in another build it lies elsewhere.
std::string site_text(const std::vector<const symbols::Call *> &calls) {
    constexpr unsigned kCalls = 4;
    std::string text;
    std::string last;
    unsigned shown = 0;
    for (auto call = calls.rbegin(); call != calls.rend() && shown < kCalls; ++call) {
        const symbols::Call &one = **call;
        std::string name = one.is_known ? one.function : one.module.empty() ? "?" : "? in " + one.module;
        if (!one.file.empty()) name += fmt::format(" ({})", base_name(one.file));
        if (!one.is_known && name == last) continue;
        text += (shown++ == 0 ? "" : " < ") + name;
        last = name;
    }
    return text.empty() ? analysis::kNoStack : text;
}

void add_sites(const trace::Trace &trace, const analysis::StackTotals &totals, ProgramUse *use) {
    if (!use->has_stacks) return;
    symbols::Calls calls(trace);
    for (const analysis::StackUse &stack : analysis::stack_uses(totals)) {
        Use &site = use->by_site[site_text(calls.of(stack.stack))];
        site.bytes += stack.allocated.bytes;
        site.blocks += stack.allocated.blocks;
        site.at_peak += stack.at_peak.bytes;
        site.at_end += stack.at_end.bytes;
    }
}

}  // namespace

ProgramUse use_of(const trace::Trace &trace) {
    const analysis::Scope scope(trace);
    analysis::StackTotals totals(scope);
    Gatherer gatherer(trace);
    analysis::StepStream steps(scope, {});
    while (const analysis::Batch *const batch = steps.next()) {
        for (const analysis::Step &step : *batch) {
            analysis::tell(totals, step);
            analysis::tell(gatherer, step);
        }
    }
    ProgramUse use = std::move(gatherer.finish());
    use.allocator = trace.start().allocator;
    use.damage = trace.damage();
    use.has_stacks = scope.has_stacks();
    use.is_sampled = trace.start().stacks == trace::Stacks::kSampled;
    use.seconds = trace::seconds(trace.last());
    if (const trace::Sample *const most = analysis::highest_resident(scope)) {
        constexpr double kMicro = 1e-6;
        use.resident = static_cast<double>(most->resident_bytes);
        const trace::Sample &last = trace.samples().back();
        use.cpu_seconds = static_cast<double>(last.user_microseconds + last.system_microseconds) * kMicro;
    }
    add_sites(trace, totals, &use);
    return use;
}

}  // namespace gr::tool
