// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/steps/mapped_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "reading/trace/columns.hpp"

namespace gr::tool {

namespace {

std::optional<trace::MemoryLook> whole_look(const trace::Trace &trace, const trace::MemoryBlock &block) {
    try {
        return trace.memory_at(block);
    } catch (const trace::Damage &) {
        return std::nullopt;
    }
}

// Of a break that shrank the size is the complement of what it lost.
bool maps(const trace::Request &request) {
    return request.kind == trace::RequestKind::map ||
           (request.kind == trace::RequestKind::brk && request.size <= INT64_MAX);
}

}  // namespace

std::optional<trace::MemoryLook> look_at_peak(const trace::Trace &trace) {
    const auto most =
        std::ranges::max_element(trace.memory(), {}, [](const auto &block) { return block.summary.resident; });
    return most == trace.memory().end() ? std::nullopt : whole_look(trace, *most);
}

std::optional<trace::MemoryLook> look_at_end(const trace::Trace &trace) {
    return trace.memory().empty() ? std::nullopt : whole_look(trace, trace.memory().back());
}

std::vector<MappedUse> mapped_profile(const trace::Trace &trace) {
    std::map<trace::StackNumber, MappedUse> by_stack;
    for (const trace::Request &request : trace.requests()) {
        if (!maps(request)) continue;
        MappedUse &use = by_stack[request.stack];
        use.calls += 1;
        use.bytes += static_cast<double>(request.size);
    }
    const auto add = [&](const std::optional<trace::MemoryLook> &look, MappedSum MappedUse::*moment) {
        if (!look) return;
        for (const trace::MemoryPart &part : look->parts) {
            if (part.kind != trace::MemoryKind::own) continue;
            MappedSum &sum = by_stack[part.stack].*moment;
            sum.resident += static_cast<double>(part.resident);
            sum.addresses += static_cast<double>(part.bytes);
            sum.mappings += static_cast<double>(part.mappings);
        }
    };
    add(look_at_peak(trace), &MappedUse::at_peak);
    add(look_at_end(trace), &MappedUse::at_end);
    std::vector<MappedUse> uses;
    for (auto &[stack, use] : by_stack) {
        use.stack = stack;
        uses.push_back(use);
    }
    return uses;
}

const char *kind_name(trace::MemoryKind kind) {
    switch (kind) {
        case trace::MemoryKind::heap:
            return "the allocator's heap";
        case trace::MemoryKind::own:
            return "mapped by the program or a library, without malloc";
        case trace::MemoryKind::stack:
            return "stacks of threads";
        case trace::MemoryKind::data:
            return "variables of the program and of libraries";
        case trace::MemoryKind::code:
            return "code of the program and of libraries";
        case trace::MemoryKind::file:
            return "other mapped files";
        case trace::MemoryKind::shared:
            return "shared memory";
        case trace::MemoryKind::recorder:
            return "the recording's own";
        case trace::MemoryKind::earlier:
            return "mapped before the recording began";
        case trace::MemoryKind::not_known:
            break;
    }
    return "not known";
}

}  // namespace gr::tool
