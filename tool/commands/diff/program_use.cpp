// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/diff/program_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "reading/symbols/calls.hpp"
#include "reporting/charts/point_series.hpp"
#include "reporting/charts/unread_files.hpp"
#include "reporting/steps/class_sizes.hpp"
#include "reporting/steps/gatherers.hpp"
#include "reporting/steps/mapped_memory.hpp"
#include "reporting/steps/samples.hpp"
#include "reporting/steps/stack_profile.hpp"
#include "reporting/steps/step_stream.hpp"

namespace gr::tool {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The first thread is called as the program is, which may be another file.
std::string name_of(const trace::Thread &thread, const trace::Start &start) {
    if (thread.id == start.process) return "(the first)";
    return thread.name.empty() ? "(no name)" : printable(thread.name);
}

class Gatherer {
  public:
    Gatherer(const trace::Trace &trace, const TimeAxis &axis)
        : axis_(axis), units_(trace.last().units + 1), threads_(trace.threads().size()) {
        use_.file = printable(trace.path());
        for (std::size_t i = 0; i < threads_.size(); ++i) {
            threads_[i] = &use_.by_thread[name_of(trace.threads()[i], trace.start())];
        }
    }

    void called(const Step &step) { use_.failed += step.kind == StepKind::failed ? 1 : 0; }
    void born(const Step &step) {
        pass(step.time);
        const auto size = static_cast<double>(step.block.size);
        for (Use *const one : {&use_.by_class[granary_block(step.block.size)],
                               &use_.by_size_bucket[trace::size_bucket(step.block.size)], thread_of(step.block)}) {
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
        draw(step.time);
    }
    void died(const Step &step) {
        pass(step.time);
        const auto size = static_cast<double>(step.block.size);
        use_.by_class[granary_block(step.block.size)].at_end -= size;
        use_.by_size_bucket[trace::size_bucket(step.block.size)].at_end -= size;
        thread_of(step.block)->at_end -= size;
        use_.end_blocks -= 1;
        use_.end_bytes -= size;
        draw(step.time);
    }
    void vanished(const Step &step) { died(step); }

    ProgramUse &finish() {
        pass(trace::Time{units_ - 1});
        use_.in_use = until_the_end(bytes_.values());
        use_.blocks_in_use = until_the_end(blocks_.values());
        return use_;
    }

  private:
    // A part begins with what was in use before it.
    void pass(trace::Time time) {
        const auto part =
            static_cast<std::size_t>(static_cast<double>(time.units) / static_cast<double>(units_) * kTimeParts);
        while (part_ < std::min(part, kTimeParts - 1)) use_.most_in_part[++part_] = use_.end_bytes;
    }
    // A trace may name blocks so large that their sum is rounded, and that less than nothing is left of it.
    void draw(trace::Time time) {
        const std::uint32_t point = axis_.point_of(time);
        bytes_.set(point, static_cast<std::uint64_t>(std::max(0.0, use_.end_bytes)));
        blocks_.set(point, static_cast<std::uint64_t>(std::max(0.0, use_.end_blocks)));
    }
    [[nodiscard]] std::vector<double> until_the_end(std::vector<double> values) const {
        const std::uint32_t last = axis_.point_of(trace::Time{units_ - 1});
        std::fill(values.begin() + last + 1, values.end(), kUnknown);
        return values;
    }
    Use *thread_of(const trace::Block &block) { return threads_[trace::number_of(block.thread)]; }

    ProgramUse use_;
    const TimeAxis &axis_;
    PointSeries bytes_;
    PointSeries blocks_;
    std::uint64_t units_;
    std::vector<Use *> threads_;
    std::size_t part_ = 0;
};

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

// Without --addresses, what has no name of its own is known by its file only: in another build it lies elsewhere. How many
// calls were left out differs from run to run.
Frame frame_of(const Call &call, const Naming &naming) {
    if (call.is_left_out) return {"… frames …", "", 0, ""};
    const std::string &function = naming.addresses ? call.unique_name() : call.function;
    const bool is_brief = call.is_known && !naming.whole_names;
    return {is_brief ? call.brief : function, base_name(call.file), naming.lines ? call.line : 0, call.module};
}
std::string text_of(const Frame &frame) {
    if (frame.file.empty()) return frame.name;
    return frame.line == 0 ? fmt::format("{} ({})", frame.name, frame.file)
                           : fmt::format("{} ({}:{})", frame.name, frame.file, frame.line);
}

// Of a stack, the outermost first. Calls that are not known, one in another, are one.
std::vector<Frame> frames_of(const std::vector<const Call *> &calls, const Naming &naming) {
    std::vector<Frame> frames;
    for (const Call *const call : calls) {
        Frame frame = frame_of(*call, naming);
        const bool is_again = !call->is_known && !frames.empty() && text_of(frame) == text_of(frames.back());
        if (!is_again) frames.push_back(std::move(frame));
    }
    return frames;
}

std::string caller_text(const std::vector<const Call *> &calls, const LibraryCode &library, const Naming &naming) {
    return calls.empty() ? kNoStack : text_of(frame_of(*calls[library.caller(calls)], naming));
}

class CallTree {
  public:
    explicit CallTree(std::vector<CallNode> *nodes) : nodes_(*nodes) { nodes_.resize(1); }

    Use &at(const std::vector<Frame> &frames) {
        std::uint32_t node = 0;
        for (const Frame &frame : frames) {
            const auto [at, is_new] =
                children_.try_emplace({node, text_of(frame)}, static_cast<std::uint32_t>(nodes_.size()));
            if (is_new) nodes_.push_back({node, frame, {}});
            node = at->second;
        }
        return nodes_[node].use;
    }

  private:
    std::vector<CallNode> &nodes_;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> children_;
};

void add_sites(const StackTotals &totals, const Naming &naming, Calls &calls, ProgramUse *use) {
    CallTree tree(&use->calls_tree);
    if (!use->has_stacks) return;
    const LibraryCode library(naming.wrappers);
    for (const StackUse &stack : stack_uses(totals)) {
        const std::vector<const Call *> of_stack = calls.of(stack.stack);
        for (Use *const one :
             {&use->by_site[caller_text(of_stack, library, naming)], &tree.at(frames_of(of_stack, naming))}) {
            one->bytes += stack.allocated.bytes;
            one->blocks += stack.allocated.blocks;
            one->at_peak += stack.at_peak.bytes;
            one->at_end += stack.at_end.bytes;
        }
    }
}

void add_mapped(const trace::Trace &trace, const Naming &naming, Calls &calls, ProgramUse *use) {
    const std::optional<trace::MemoryLook> look = look_at_peak(trace);
    if (!look) return;
    use->has_kinds = true;
    for (const trace::MemoryPart &part : look->parts) {
        if (part.kind != trace::MemoryKind::recorder)
            use->resident_by_kind[part.kind] += static_cast<double>(part.resident);
    }
    const LibraryCode library(naming.wrappers);
    for (const MappedUse &mapped : mapped_profile(trace)) {
        const bool is_known = mapped.stack != trace::StackNumber::none;
        Mapped &sum = use->mapped_by_site[is_known ? caller_text(calls.of(mapped.stack), library, naming)
                                                   : "(the call was not recorded)"];
        sum.resident += mapped.at_peak.resident;
        sum.addresses += mapped.at_peak.addresses;
    }
}

// Each sample counts until the next.
std::vector<double> resident_over_time(const trace::Trace &trace, const TimeAxis &axis) {
    const std::vector<trace::Sample> &samples = trace.samples();
    if (samples.empty()) return {};
    std::vector<double> values(TimeAxis::kPoints, kUnknown);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const trace::Time until = i + 1 < samples.size() ? samples[i + 1].time : trace.last();
        const std::uint32_t last = axis.point_of(until);
        for (std::uint32_t point = axis.point_of(samples[i].time); point <= last; ++point)
            values[point] = static_cast<double>(samples[i].resident_bytes);
    }
    return values;
}

}  // namespace

ProgramUse use_of(const trace::Trace &trace, const TimeAxis &axis, const Naming &naming) {
    const Scope scope(trace);
    StackTotals totals(scope);
    Gatherer gatherer(trace, axis);
    StepStream steps(scope, {});
    while (const Batch *const batch = steps.next()) {
        for (const Step &step : *batch) {
            tell(totals, step);
            tell(gatherer, step);
        }
    }
    ProgramUse use = std::move(gatherer.finish());
    use.allocator = printable(trace.start().allocator);
    if (!trace.damage().empty()) use.notes.push_back(trace.damage());
    use.has_stacks = scope.has_stacks();
    use.is_sampled = trace.start().stacks == trace::Stacks::sampled;
    use.seconds = trace::seconds(trace.last());
    if (const trace::Sample *const most = highest_resident(scope)) {
        constexpr double kMicro = 1e-6;
        use.resident = static_cast<double>(most->resident_bytes);
        const trace::Sample &last = trace.samples().back();
        use.cpu_seconds = static_cast<double>(last.user_microseconds + last.system_microseconds) * kMicro;
    }
    use.resident_over_time = resident_over_time(trace, axis);
    for (const trace::Mark &mark : trace.marks())
        use.marks.push_back({trace::seconds(mark.time), printable(mark.text)});
    Calls calls(trace);
    add_sites(totals, naming, calls, &use);
    add_mapped(trace, naming, calls, &use);
    if (std::string note = unread_note(calls.unread()); !note.empty()) use.notes.push_back(std::move(note));
    return use;
}

}  // namespace gr::tool
