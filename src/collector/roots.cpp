// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/roots.hpp"

#include <sys/auxv.h>

#include <algorithm>

#include "base/bits.hpp"
#include "platform/process.hpp"
#include "platform/thread.hpp"

namespace gr {

bool Roots::add(platform::Range range) {
    for (const platform::Range known : added_.all()) {
        if (known.begin <= range.begin && range.end <= known.end) return true;
    }
    return added_.add(range);
}

const platform::Range *Roots::first_excluded(platform::Range range) const {
    const platform::Range *first = nullptr;
    for (const auto *const holes : {&excluded_, &unused_}) {
        for (const platform::Range &hole : holes->all()) {
            const bool is_common = hole.begin < range.end && range.begin < hole.end;
            if (is_common && (first == nullptr || hole.begin < first->begin)) first = &hole;
        }
    }
    return first;
}

bool Roots::is_variable(const void *p) const {
    for (const platform::Range range : modules_.variables()) {
        if (range.contains(p)) return true;
    }
    return false;
}

void Roots::remove(platform::Range range) {
    for (std::size_t i = added_.size(); i-- != 0;) {
        if (range.begin <= added_[i].begin && added_[i].end <= range.end) added_.remove(i);
    }
}

bool Roots::stop(std::span<const std::uint32_t> exempt, void (*lock)()) {
    struct Stop {
        std::span<const std::uint32_t> exempt;
        void (*lock)();
        bool done = false;
    } stop{exempt, lock};
    const auto at_rest = [](void *context) {
        auto &s = *static_cast<Stop *>(context);
        s.lock();
        return s.done = platform::world.stop(s.exempt);
    };
    const bool known = modules_.learn(at_rest, &stop) && mappings_.begin_asking();
    if (stop.done && !known) resume();
    return known;
}

bool Roots::has_told_end(const platform::StoppedThread &thread) const {
    if (thread.stack_end == nullptr || thread.stack_end <= thread.stack_pointer) return false;
    return mappings_.of(thread.stack_pointer).contains(thread.stack_end - 1);
}

platform::Range Roots::stack_from(const platform::StoppedThread &thread) const {
    const char *const pointer = thread.stack_pointer;
    const auto first = align_down(reinterpret_cast<std::uintptr_t>(pointer), sizeof(void *));
    const platform::Mapping mapping = mappings_.of(pointer);
    const auto *const record = reinterpret_cast<const char *>(thread.thread_pointer);
    const char *end = mapping.contains(record) && pointer < record ? record : mapping.end;
    if (has_told_end(thread)) end = std::min(end, thread.stack_end);
    return {reinterpret_cast<const char *>(first), end};
}

platform::Range Roots::whole_pages(platform::Range range) {
    const std::size_t page = platform::page_size();
    const auto begin = align_down(reinterpret_cast<std::uintptr_t>(range.begin), page);
    const auto end = align_up(reinterpret_cast<std::uintptr_t>(range.end), page);
    return {reinterpret_cast<const char *>(begin), reinterpret_cast<const char *>(end)};
}

// libc lays a thread's record above its stack, in the same mapping; the first thread's stack is the kernel's, and its
// name lies there.
platform::Range Roots::own_stack(const platform::StoppedThread &thread) const {
    if (thread.id == platform::process_id()) {
        const platform::Mapping first = mappings_.of(reinterpret_cast<const void *>(getauxval(AT_EXECFN)));
        return {first.begin, first.end};
    }
    const platform::Range told = records_.stack(thread.thread_pointer, mappings_);
    if (!told.is_empty()) return told;
    const auto *const record = reinterpret_cast<const char *>(thread.thread_pointer);
    return {mappings_.of(record).begin, record};
}

// The stack, if it is a mapping of its own: libc's stacks lie above a guard, the kernel's above a gap. If other memory
// lies below, the mapping may hold the program's data.
platform::Range Roots::alone(platform::Range stack) const {
    return mappings_.of(stack.begin - 1).readable ? platform::Range{} : stack;
}

bool Roots::find_unused(const char *own_pointer, std::span<const char *const> stack_pointers) {
    // The table of mappings has the beginnings of mappings, where blocks may begin, too. The list of what is excluded has
    // the end of the region's tables, where the first block begins.
    const std::span<const platform::Mapping> known = mappings_.all();
    const auto *const list = reinterpret_cast<const char *>(known.data());
    bool complete = unused_.add({list, list + known.size_bytes()}) && unused_.add(excluded_.room());
    const auto add = [&](const char *pointer, platform::Range stack) {
        if (stack.contains(pointer)) complete = unused_.add({stack.begin, pointer}) && complete;
    };
    const auto add_of_thread = [&](const platform::StoppedThread &thread, const char *pointer) {
        if (thread.is_on_stack_for_signals) return;
        const bool is_first = thread.id == platform::process_id();
        add(pointer, is_first ? alone(own_stack(thread)) : records_.stack(thread.thread_pointer, mappings_));
    };
    std::size_t at = 0;
    while (const platform::StoppedThread *const thread = platform::world.next_stopped(&at))
        add_of_thread(*thread, thread->stack_pointer);
    add_of_thread({.id = platform::task_of_caller(),
                   .thread_pointer = platform::thread_pointer(),
                   .is_on_stack_for_signals = platform::is_on_stack_for_signals()},
                  own_pointer);
    for (const char *const pointer : stack_pointers) {
        const platform::Mapping mapping = mappings_.of(pointer);
        add(pointer, alone({mapping.begin, mapping.end}));
    }
    // This list, too. Adding an element may move the list, so its place is written last.
    if (!unused_.add({})) return false;
    unused_.last() = unused_.room();
    return complete;
}

platform::Range Roots::mapped_part(platform::Range range) const {
    const platform::Mapping mapping = mappings_.of(range.begin);
    if (!mapping.readable) return {};
    return {range.begin, range.end < mapping.end ? range.end : mapping.end};
}

std::size_t Roots::static_bytes() const {
    std::size_t bytes = 0;
    for (const platform::Range range : modules_.variables()) bytes += range.bytes();
    for (const platform::Range range : added_.all()) bytes += range.bytes();
    return bytes;
}

}  // namespace gr
