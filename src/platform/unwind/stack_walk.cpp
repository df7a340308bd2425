// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "platform/unwind/stack_walk.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <iterator>

#include "platform/loader.hpp"
#include "platform/memory.hpp"
#include "platform/unwind/frame_pointer.hpp"
#include "platform/unwind/frame_tables.hpp"

// glibc 2.35 and later have it.
#pragma weak _dl_find_object

namespace gr::platform {
namespace {

void *object_of(const void *code) {
    dl_find_object object{};
    return _dl_find_object(const_cast<void *>(code), &object) == 0 ? object.dlfo_map_start : nullptr;
}

bool find_own(dl_find_object *own) {
    return &_dl_find_object != nullptr && _dl_find_object(reinterpret_cast<void *>(&find_frame_rule), own) == 0;
}

}  // namespace

bool StackWalk::is_possible() {
    dl_find_object own{};
    return find_own(&own);
}

bool StackWalk::initialise() {
    dl_find_object own{};
    if (!find_own(&own)) return false;
    own_begin_ = reinterpret_cast<std::uintptr_t>(own.dlfo_map_start);
    // If this library is linked into a program, it has no addresses of its own.
    const bool is_library = own.dlfo_link_map != nullptr && own.dlfo_link_map->l_name[0] != '\0';
    own_bytes_ = is_library ? reinterpret_cast<std::uintptr_t>(own.dlfo_map_end) - own_begin_ : 0;
    if (known_ == nullptr) known_ = static_cast<Known *>(map((std::size_t{1} << kKnownBits) * sizeof(Known), 1));
    return known_ != nullptr;
}

FrameRule StackWalk::rule_for(std::uintptr_t code) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    Known &known = known_[code * kGoldenRatio >> (64 - kKnownBits)];
    const std::uint64_t rule = known.rule.load(std::memory_order_relaxed);
    if ((known.mixed.load(std::memory_order_relaxed) ^ rule) == code) return FrameRule(rule);
    const FrameRule found = find_frame_rule(code);
    known.rule.store(found.bits(), std::memory_order_relaxed);
    known.mixed.store(code ^ found.bits(), std::memory_order_relaxed);
    return found;
}

[[gnu::always_inline]] inline bool StackWalk::step(Frame *frame) {
    const FrameRule rule = rule_for(frame->code);
    return rule.is_none() ? step_by_frame_pointer(frame) : rule.step(frame);
}

std::size_t StackWalk::take(std::span<std::uintptr_t> out, Frame from) {
    std::size_t count = 0;
    while (count < out.size() && step(&from)) {
        if (!is_own(from.code)) out[count++] = from.code;
    }
    return count;
}

// What the frame pointer tells is not repeated: only the kernel knows whether it can still be read.
[[gnu::noinline]] bool StackWalk::step_anew(Frame *frame, LastWalk::Walk *walk) {
    const Frame from = *frame;
    const FrameRule rule = rule_for(from.code);
    LastWalk::Read read;
    if (!rule.is_none()) read = {rule.return_address_at(from), rule.frame_pointer_at(from)};
    if (rule.is_none() ? !step_by_frame_pointer(frame) : !rule.step(frame)) {
        *frame = from;
        return false;
    }
    walk->made(from, read);
    return true;
}

StackWalk::Ends StackWalk::take_ends(const Room &room, StackMemory *memory, Frame from) {
    // Acquire: pairs with the release in forget(), before which the rules were forgotten.
    const std::uint32_t unloads = unloads_.load(std::memory_order_acquire);
    if (memory->unloads != unloads) memory->last.forget();
    memory->unloads = unloads;
    std::size_t count = 0;
    const auto add = [&](const Frame &frame) {
        if (is_own(frame.code)) return true;
        if (!room.stacks.empty()) room.stacks[count] = frame.stack;
        room.codes[count++] = frame.code;
        return count < room.codes.size();
    };
    LastWalk::Walk walk(&memory->last);
    while (walk.repeat(&from, add) && step_anew(&from, &walk) && add(from)) {
    }
    walk.end(from);
    return {count, count < room.codes.size() ? 0 : walk_beyond(&from, &memory->outline)};
}

std::size_t StackWalk::walk_beyond(Frame *frame, StackOutline *outline) {
    StackOutline::Walk walk(outline);
    for (;;) {
        const FrameRule rule = rule_for(frame->code);
        const std::uintptr_t kept_at =
            rule.is_none() ? frame->frame_pointer + sizeof(void *) : rule.return_address_at(*frame);
        if (!step(frame)) break;
        if (!is_own(frame->code) && walk.pass({frame->code, frame->stack, kept_at})) break;
    }
    return walk.end();
}

const char *StackWalk::program_stack() {
    constexpr unsigned kMostFrames = 64;
    const void *const passed[] = {object_of(reinterpret_cast<const void *>(&find_frame_rule)),
                                  object_of(libc_symbol("exit")),
                                  object_of(reinterpret_cast<const void *>(getauxval(AT_BASE)))};
    Frame frame = here();
    for (unsigned i = 0; i < kMostFrames; ++i) {
        const void *const object = object_of(reinterpret_cast<const void *>(frame.code - 1));
        if (std::ranges::find(passed, object) == std::end(passed)) return reinterpret_cast<const char *>(frame.stack);
        const FrameRule rule = rule_for(frame.code);
        if (rule.is_none() || !rule.step(&frame)) break;
    }
    return nullptr;
}

void StackWalk::forget() {
    for (std::size_t i = 0; known_ != nullptr && i < std::size_t{1} << kKnownBits; ++i)
        known_[i].mixed.store(0, std::memory_order_relaxed);
    // Release: pairs with the acquire of walks.
    unloads_.fetch_add(1, std::memory_order_release);
}

}  // namespace gr::platform
