// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the recorder: its memory, events, steps, and what a stage or the environment asks for.
// Invariant: as recorder.hpp. The library allocates nothing for it but by the kernel.
// Must not know: any allocator.
#include "show/recorder.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "granary/granary.h"
#include "platform/memory.hpp"
#include "platform/mutex.hpp"
#include "platform/process.hpp"
#include "platform/syscall.hpp"
#include "show/output.hpp"
#include "show/picture_writer.hpp"
#include "show/stage_functions.hpp"

namespace gr::lab::show {
namespace {

struct Event {
    enum class Kind : std::uint8_t { rule, waits, locked, unlocked, kernel };
    Kind kind;
    const void *lock;
    const char *cite;
    const char *text;
    std::ptrdiff_t bytes;
};

// From the kernel, zeroed.
struct Memory {
    static constexpr std::uint32_t kMostEvents = 1U << 16;

    Picture picture;
    Output out;
    Event events[kMostEvents];
};

// What was cut into blocks, also before the first step.
class Pieces {
  public:
    void add(const Piece &piece) {
        const std::lock_guard held(mutex_);
        if (is_over_) return;
        take_out(piece.begin);
        if (count_ == std::size(pieces_)) die_of("the picture has become too large: show fewer calls");
        pieces_[count_++] = piece;
    }
    void remove(const void *begin) {
        const std::lock_guard held(mutex_);
        take_out(begin);
    }
    // Nothing is recorded any more, or not yet.
    void is_over(bool is_over) {
        const std::lock_guard held(mutex_);
        is_over_ = is_over;
    }
    std::span<const Piece> all() const { return {&pieces_[0], count_}; }

  private:
    class PieceMutex {
      public:
        void lock() { mutex_.lock_always(platform::Rank::worklist); }
        void unlock() { mutex_.unlock(platform::Rank::worklist); }

      private:
        platform::Mutex mutex_;
    };

    void take_out(const void *begin) {
        for (std::uint32_t i = 0; i < count_; ++i) {
            if (pieces_[i].begin != begin) continue;
            pieces_[i] = pieces_[--count_];
            return;
        }
    }

    PieceMutex mutex_;
    bool is_over_ = false;
    std::uint32_t count_ = 0;
    Piece pieces_[Picture::kMostContainers] = {};
};

constinit Pieces pieces;
constinit Memory *memory = nullptr;
constinit std::atomic<bool> is_on{false};  // release: the memory, with the acquire of each call
constinit DrawnAllocator drawn;
constinit std::uint32_t event_count = 0;
constinit std::uint32_t thread_of_step = 0;
constinit std::uint64_t steps = 0;
// Of a stage.
constinit Stopped stopped = nullptr;
constinit bool is_stop_wanted = false;
// Of a program.
constinit platform::Mutex mutex;
constinit unsigned process = 0;  // 0: a stage says what is a step
constinit std::uint64_t most_steps = 0;
constinit std::uint32_t threads = 0;
thread_local constinit std::uint32_t own_number = 0;
thread_local constinit bool is_in_step = false;

// A child of fork records nothing: another thread may have held the recorder's locks.
bool is_in_child() { return process != 0 && platform::process_id() != process; }

bool begin(int file, const char *script, const char *program) {
    memory = static_cast<Memory *>(platform::map(sizeof(Memory), 1));
    if (memory == nullptr) return false;
    Output &out = memory->out;
    out.open(file);
    out << "{\"format\":\"granary-lab-show 1\",\"allocator\":";
    quote(out, chosen_allocator.name);
    for (const auto &[key, text] : {std::pair{",\"script\":", script}, std::pair{",\"program\":", program}}) {
        out << key;
        if (text == nullptr) {
            out << "null";
        } else {
            quote(out, text);
        }
    }
    out << "}\n";
    out.flush();
    is_on.store(true, std::memory_order_release);
    return true;
}

void write_event(const Event &event, const PictureWriter &writer, auto begin_event) {
    Output &out = memory->out;
    switch (event.kind) {
        case Event::Kind::rule:
            begin_event("rule");
            out << ",\"cite\":";
            quote(out, event.cite);
            out << ",\"text\":";
            quote(out, event.text);
            break;
        case Event::Kind::waits:
        case Event::Kind::locked:
        case Event::Kind::unlocked: {
            const NamedLock *const lock = memory->picture.find(event.lock);
            if (lock == nullptr) die_of("a lock was taken that no place names");
            begin_event(event.kind == Event::Kind::waits    ? "wait"
                        : event.kind == Event::Kind::locked ? "lock"
                                                            : "unlock");
            out << ",\"place\":";
            Words words;
            quote(out, writer.id_of(*lock, words));
            break;
        }
        case Event::Kind::kernel:
            begin_event("kernel");
            out << ",\"bytes\":" << (event.bytes < 0 ? "-" : "") << static_cast<std::size_t>(std::abs(event.bytes));
            break;
    }
    out << '}';
}

void begin_step(std::uint32_t thread) {
    event_count = 0;
    thread_of_step = thread;
    is_in_step = true;
    memory->out << "{\"step\":" << ++steps;
}

void write_line(const std::uint32_t *line, std::string_view call, const char *note) {
    Output &out = memory->out;
    out << ",\"line\":";
    if (line == nullptr) {
        out << "null";
    } else {
        out << *line;
    }
    out << ",\"thread\":" << thread_of_step << ",\"call\":";
    quote(out, call);
    out << ",\"note\":";
    if (note == nullptr) {
        out << "null";
    } else {
        quote(out, note);
    }
}

void end_step() {
    is_in_step = false;
    Output &out = memory->out;
    Picture &picture = memory->picture;
    picture.begin(thread_of_step, pieces.all());
    if (drawn.draw != nullptr) drawn.draw(drawn.allocator, picture);
    PictureWriter writer(picture, out);
    out << ",\"events\":[";
    bool is_first = true;
    const auto begin_event = [&](const char *kind) {
        if (!is_first) out << ',';
        is_first = false;
        out << "{\"kind\":\"" << kind << '"';
    };
    for (std::uint32_t i = 0; i < event_count; ++i) write_event(memory->events[i], writer, begin_event);
    writer.write_moves(begin_event);
    out << ']';
    writer.write();
    out << "}\n";
    out.flush();
}

void add(const Event &event) {
    if (!is_in_step) return;
    if (event_count == Memory::kMostEvents) die_of("a call has too many events");
    memory->events[event_count++] = event;
}

// What the command and LD_PRELOAD ask for.
[[gnu::constructor(102)]] void begin_by_environment() {
    const char *const path = platform::variable("GRANARY_LAB_SHOW");
    if (path == nullptr) return pieces.is_over(true);
    constexpr std::uint64_t kCalls = 200;
    most_steps = kCalls;
    if (const char *const calls = platform::variable("GRANARY_LAB_SHOW_CALLS")) {
        const char *const end = calls + std::strlen(calls);
        if (const auto [rest, error] = std::from_chars(calls, end, most_steps); error != std::errc() || rest != end)
            die_of("GRANARY_LAB_SHOW_CALLS is a number of calls");
    }
    if (chosen_allocator.refusal != nullptr) die_of(chosen_allocator.refusal);
    // The programs that this one starts find the file there and record nothing.
    const long file = platform::system_call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file == -EEXIST) return pieces.is_over(true);
    if (file < 0) die_of("cannot create the file that GRANARY_LAB_SHOW names");
    process = platform::process_id();
    static char program[4096];
    platform::command_line(&program[0], sizeof program - 1);
    if (!begin(static_cast<int>(file), nullptr, &program[0])) die_of("no memory for the picture");
}

}  // namespace

void tell_rule(const char *cite, const char *text) { add({Event::Kind::rule, nullptr, cite, text, 0}); }
bool tell_waits(const void *lock) {
    add({Event::Kind::waits, lock, nullptr, nullptr, 0});
    if (!is_in_step || stopped == nullptr) return false;
    stopped();
    return true;
}
void tell_locked(const void *lock) {
    add({Event::Kind::locked, lock, nullptr, nullptr, 0});
    if (!is_in_step || !is_stop_wanted) return;
    is_stop_wanted = false;
    stopped();
}
void tell_unlocked(const void *lock) { add({Event::Kind::unlocked, lock, nullptr, nullptr, 0}); }
void tell_kernel(std::ptrdiff_t bytes) { add({Event::Kind::kernel, nullptr, nullptr, nullptr, bytes}); }

void tell_made(const void *begin, std::size_t bytes, bool is_alone) {
    if (!is_in_child()) pieces.add({begin, bytes, is_alone});
}
void tell_unmade(const void *begin) {
    if (!is_in_child()) pieces.remove(begin);
}

bool enter_call(const DrawnAllocator &allocator, const ProgramCall &call) {
    if (!is_on.load(std::memory_order_acquire)) return false;
    if (process == 0) {
        drawn = allocator;
        return false;
    }
    if (is_in_child()) return false;
    mutex.lock_always(platform::Rank::statistics_call);
    if (steps == most_steps) {
        is_on.store(false, std::memory_order_relaxed);
        mutex.unlock(platform::Rank::statistics_call);
        pieces.is_over(true);
        return false;
    }
    if (own_number == 0) own_number = ++threads;
    drawn = allocator;
    begin_step(own_number);
    TextBuffer<64> text;
    text << call.name;
    if (call.block != nullptr) {
        text << "(b." << PictureWriter(memory->picture, memory->out).number_of_block(call.block) + 1 << ')';
    } else if (call.size != kNoSize) {
        text << '(' << call.size << ')';
    }
    write_line(nullptr, {text.data(), text.size()}, nullptr);
    return true;
}
void leave_call() {
    end_step();
    mutex.unlock(platform::Rank::statistics_call);
}

void gave(const void *block) {
    if (is_in_step && block != nullptr) PictureWriter(memory->picture, memory->out).give(block, thread_of_step);
}
void took_back(const void *block) {
    if (is_in_step) PictureWriter(memory->picture, memory->out).give(block, 0);
}

}  // namespace gr::lab::show

using namespace gr::lab::show;

extern "C" GR_EXPORT constinit const StageFunctions granary_lab_stage_functions{
    [](int file, const char *script, Stopped when_stopped) {
        stopped = when_stopped;
        pieces.is_over(false);
        return begin(file, script, nullptr);
    },
    [](unsigned line, unsigned thread, const char *call, const char *note, bool stops_at_lock) {
        is_stop_wanted = stops_at_lock;
        begin_step(thread);
        write_line(&line, call, note);
    },
    [] {
        is_stop_wanted = false;
        end_step();
    },
    [](const void *block, const char *name) { PictureWriter(memory->picture, memory->out).name(block, name); },
    [](unsigned thread) { memory->picture.thread_ended(thread); },
    &chosen_allocator,
};
