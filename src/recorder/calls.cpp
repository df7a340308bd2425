// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: calls.hpp's slow path.
// Invariant: as there.
// Must not know: the names of the calls.
#include "recorder/calls.hpp"

#include "recorder/python_code.hpp"
#include "recorder/taken_stack.hpp"
#include "recorder/thread_stacks.hpp"

namespace gr {
namespace {

bool is_busy(std::uint32_t state) { return state == Writer::kCalling || state == Writer::kWriting; }

}  // namespace

Call::Call(const void *caller, platform::Frame frame) noexcept
    : writer_(own_writer), frame_(frame), before_(writer_.state()), is_recorded_(begin(caller)) {}

Call::Call(Resumed, platform::Frame frame) noexcept
    : writer_(own_writer), frame_(frame), before_(Writer::kNotReady), is_recorded_(begin(nullptr)) {
    if (!is_recorded_) writer_.set_state(Writer::kNotReady);
}

Call::~Call() {
    if (is_recorded_) writer_.set_state(is_busy(before_) ? before_ : writer_.ready_state());
}

bool Call::begin(const void *caller) {
    const std::uint32_t word = attached.word.load(std::memory_order_acquire);
    if (word == kNothing) return false;
    if (is_busy(before_) && next.calls_from(caller)) return false;
    if (word != writer_.arrival() || word == kUnknown) {
        if (!writer_.attach()) return false;
    }
    if (before_ != Writer::kWriting) writer_.set_state(Writer::kCalling);
    return true;
}

std::uint64_t Call::began_at() noexcept {
    const bool was_ready = before_ == writer_.arrival();
    if (!was_ready) writer_.count_call();  // else the fast path did
    if (!writer_.is_timed()) return 0;
    writer_.draw_timed();
    return recording.now();
}

bool Call::write(const Group &group) noexcept {
    const bool is_outermost = before_ != Writer::kWriting;
    writer_.set_state(Writer::kWriting);
    const bool is_written = writer_.put(group.records(), is_outermost);
    if (unsettled_ != nullptr) unsettled_->settle(is_written);
    unsettled_ = nullptr;
    if (is_outermost) writer_.publish(Writer::kCalling);
    return is_written;
}

bool Call::tell_place(void *call, std::uint64_t place, const PythonFrames::Frame &frame) {
    const PythonPlaceText text(frame);
    Group group;
    group.add_text(Kind::place, text.text(), place, text.line());
    return static_cast<Call *>(call)->write(group);
}

void Call::add_stack(Group *group, std::uint64_t time) noexcept {
    if (recording.control().stack_bytes == 0) return;
    const TakenStack stack(frame_, recording.control().stack_calls, {this, &tell_place, writer_.arrival()});
    unsettled_ = stack.stacks();
    group->add_stack(stack.words(), stack.further(), time, recording.now() - time);
}

void Call::add_obtained(Group *group, std::uint64_t time, Request request, const void *p) {
    if (writer_.is_stack_due() && writer_.draw_stack()) add_stack(group, time);
    group->add(record_of(request.kind, p, request.size_word(), time));
}

void Call::obtained(Request request, const void *p, std::uint64_t began) noexcept {
    const std::uint64_t time = recording.now();
    if (p != nullptr) writer_.count_bytes(request.size);
    obtained_at(time, request, p, began);
}

void Call::obtained_at(std::uint64_t time, Request request, const void *p, std::uint64_t began) noexcept {
    Group group;
    add_obtained(&group, time, request, p);
    if (began != 0) group.add(record_of(Kind::timed, nullptr, time - began, time));
    write(group);
}

void Call::releases(Kind kind, const void *p) noexcept {
    Group group;
    group.add(record_of(kind, p, 0, recording.now()));
    write(group);
}

void Call::released(Kind kind, const void *p, std::uint64_t began) noexcept {
    const std::uint64_t time = recording.now();
    Group group;
    group.add(record_of(kind, p, 0, began));
    group.add(record_of(Kind::timed, nullptr, time - began, time));
    write(group);
}

void Call::resized(const Resize &resize, const void *p, bool is_timed) noexcept {
    const std::uint64_t time = recording.now();
    if (p != nullptr) writer_.count_bytes(resize.size);
    resized_at(time, resize, p, is_timed);
}

void Call::resized_at(std::uint64_t time, const Resize &resize, const void *p, bool is_timed) noexcept {
    Group group;
    if (p != nullptr || resize.size == 0) group.add(record_of(Kind::realloc_free, resize.old, 0, resize.before));
    if (p != nullptr || resize.size != 0) add_obtained(&group, time, {Kind::realloc, resize.size}, p);
    if (is_timed) group.add(record_of(Kind::timed, nullptr, time - resize.before, time));
    write(group);
}

void finish_slowly(Kind kind, std::uint64_t size, std::uint64_t alignment, const void *p, std::uint64_t time) {
    Call call{Call::Resumed{}};
    if (call.is_recorded()) call.obtained_at(time, {kind, size, alignment}, p, 0);
}

void finish_resize_slowly(const Resize &resize, const void *p, std::uint64_t time) {
    Call call{Call::Resumed{}};
    if (call.is_recorded()) call.resized_at(time, resize, p, false);
}

}  // namespace gr
