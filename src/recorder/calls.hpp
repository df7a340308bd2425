// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is done for each call of the program's: the fast path, which asks the allocator and writes one record, and
//    by which steps every other goes.
// Invariant: no lock is held while the allocator works; errno is as it leaves it. The allocator's own calls are no
//    calls of the program's; those of a signal handler that interrupted it are.
// Must not know: the names of the calls.
#pragma once

#include "platform/unwind/frame.hpp"
#include "recorder/next.hpp"
#include "recorder/python_frames.hpp"
#include "recorder/recording.hpp"
#include "recorder/writer.hpp"

namespace gr {

class ThreadStacks;

// What the program asks for; an alignment of 0 is none.
struct Request {
    Kind kind;
    std::uint64_t size;
    std::uint64_t alignment = 0;

    std::uint64_t size_word() const { return size_and(logarithm_of(alignment), size); }
};

struct Resize {
    const void *old;
    std::uint64_t before;  // the time
    std::uint64_t size;
};

// Of the slow path: whether it is recorded, and how.
class Call {
  public:
    // Stacks are those of the function that makes this.
    explicit Call(const void *caller, platform::Frame frame = platform::here()) noexcept;
    // Goes on where the fast path's was ready.
    struct Resumed {};
    explicit Call(Resumed, platform::Frame frame = platform::here()) noexcept;
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

    bool is_recorded() const { return is_recorded_; }
    // 0 where the call is not to be timed.
    std::uint64_t began_at() noexcept;
    void obtained(Request request, const void *p, std::uint64_t began) noexcept;
    void obtained_at(std::uint64_t time, Request request, const void *p, std::uint64_t began) noexcept;
    // Before the block is gone, as of now.
    void releases(Kind kind, const void *p) noexcept;
    // After it, as of before.
    void released(Kind kind, const void *p, std::uint64_t began) noexcept;
    void resized(const Resize &resize, const void *p, bool is_timed) noexcept;
    void resized_at(std::uint64_t time, const Resize &resize, const void *p, bool is_timed) noexcept;
    // The stack of the next record in the group, if stacks are wanted.
    void add_stack(Group *group, std::uint64_t time) noexcept;
    // false: it is lost.
    bool write(const Group &group) noexcept;

  private:
    bool begin(const void *caller);
    static bool tell_place(void *call, std::uint64_t place, const PythonFrames::Frame &frame);
    void add_obtained(Group *group, std::uint64_t time, Request request, const void *p);

    Writer &writer_;
    platform::Frame frame_;
    ThreadStacks *unsettled_ = nullptr;  // those of a stack that is not written yet
    std::uint32_t before_;
    bool is_recorded_;
};

// After the fast path's call, where more than a record is to be written, or the process is another.
void finish_slowly(Kind kind, std::uint64_t size, std::uint64_t alignment, const void *p, std::uint64_t time);

void finish_resize_slowly(const Resize &resize, const void *p, std::uint64_t time);

// Writes nothing where nothing is recorded: before this library is relocated the thread's variables are somebody else's.
[[gnu::always_inline]] inline bool is_ready(Writer &writer) {
    if (writer.state() != attached.word.load(std::memory_order_relaxed)) return false;
    writer.count_call();
    return !writer.is_timed();
}

// By value and apart, for in registers they cost the fast path nothing.
template <class Ask>
[[gnu::noinline]] void *obtain_slowly(Kind kind, std::uint64_t size, std::uint64_t alignment, const void *caller,
                                      Ask ask) {
    if (!next.is_found()) return early_memory.take(size, alignment);
    Call call(caller);
    if (!call.is_recorded()) return ask();
    const std::uint64_t began = call.began_at();
    void *const p = ask();
    call.obtained({kind, size, alignment}, p, began);
    return p;
}

template <class Ask>
[[gnu::always_inline]] inline void *obtain(Request request, Ask ask) {
    Writer &writer = own_writer;
    if (!is_ready(writer)) [[unlikely]]
        return obtain_slowly(request.kind, request.size, request.alignment, __builtin_return_address(0), ask);
    writer.set_state(Writer::kCalling);
    void *const p = ask();
    writer.set_state(Writer::kWriting);
    const std::uint64_t time = platform::counter();
    const std::uint32_t number = writer.arrival();
    const bool is_plain = p != nullptr && attached.word.load(std::memory_order_relaxed) == number;
    if (is_plain) writer.count_bytes(request.size);
    if (!is_plain || writer.is_stack_due()) [[unlikely]] {
        finish_slowly(request.kind, request.size, request.alignment, p, time);
        return p;
    }
    writer.put(
        record_of(request.kind, p, request.size | logarithm_of(request.alignment) << GR_RECORD_ALIGNMENT_SHIFT, time));
    writer.publish(number);
    return p;
}

template <class Give>
[[gnu::noinline]] void release_slowly(Kind kind, void *p, const void *caller, Give give) {
    if (!next.is_found()) return;
    Call call(caller);
    if (!call.is_recorded()) return give(p);
    const std::uint64_t began = call.began_at();
    if (began == 0) call.releases(kind, p);
    give(p);
    if (began != 0) call.released(kind, p, began);
}

template <class Give>
[[gnu::always_inline]] inline void release(Kind kind, void *p, Give give) {
    if (p == nullptr || early_memory.contains(p)) [[unlikely]]
        return;
    Writer &writer = own_writer;
    if (!is_ready(writer)) [[unlikely]]
        return release_slowly(kind, p, __builtin_return_address(0), give);
    writer.set_state(Writer::kWriting);
    writer.put(record_of(kind, p, 0, platform::counter()));
    writer.publish(writer.arrival());
    give(p);
}

// Of a block that the allocator may move, or of size 0, after which there is none.
template <class Ask>
[[gnu::noinline]] void *resize_slowly(void *old, std::uint64_t size, const void *caller, Ask ask) {
    if (!next.is_found()) return early_memory.take(size, 0);
    Call call(caller);
    if (!call.is_recorded()) return ask();
    const bool is_timed = call.began_at() != 0;
    const std::uint64_t before = recording.now();
    void *const p = ask();
    call.resized({old, before, size}, p, is_timed);
    return p;
}

template <class Ask>
[[gnu::always_inline]] inline void *resize(void *old, std::uint64_t size, Ask ask) {
    if (old == nullptr) return obtain({Kind::realloc, size}, ask);
    Writer &writer = own_writer;
    if (!is_ready(writer)) [[unlikely]]
        return resize_slowly(old, size, __builtin_return_address(0), ask);
    writer.set_state(Writer::kCalling);
    const std::uint64_t before = platform::counter();
    void *const p = ask();
    writer.set_state(Writer::kWriting);
    const std::uint64_t time = platform::counter();
    const std::uint32_t number = writer.arrival();
    const bool is_plain = p != nullptr && attached.word.load(std::memory_order_relaxed) == number;
    if (is_plain) writer.count_bytes(size);
    if (!is_plain || writer.is_stack_due()) [[unlikely]] {
        finish_resize_slowly({old, before, size}, p, time);
        return p;
    }
    writer.put(record_of(Kind::realloc_free, old, 0, before), record_of(Kind::realloc, p, size, time));
    writer.publish(number);
    return p;
}

}  // namespace gr
