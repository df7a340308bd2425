// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: planner.hpp.
// Invariant: as there. The trace is played twice: first to know where the peak is and what was written to.
// Must not know: which allocator the script will be played on.
#include "commands/replay/planner.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "commands/replay/player/script.hpp"
#include "reading/trace/playback.hpp"

namespace gr::tool {

namespace {

using trace::Block;
using trace::Event;
using trace::number_of;
using trace::Op;

constexpr std::uint64_t kMostMilestones = 1000;
constexpr std::uint64_t kLeastBetween = 1000;  // operations between two milestones
// Turns of one slot between two milestones, so that who waits for a turn sees no earlier one that is written the same.
constexpr std::uint32_t kTurnsBetween = (kMostTurn + 1) / 2;

[[noreturn]] void fail(const char *what) {
    throw Failure(ExitCode::tool_failure, fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

// That programs can have without swapping, as the kernel estimates.
std::uint64_t available_memory() {
    constexpr std::string_view kName = "MemAvailable:";
    constexpr unsigned kKilobyteLog = 10;
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(kName)) return std::strtoull(line.c_str() + kName.size(), nullptr, 10) << kKilobyteLog;
    }
    throw Failure(ExitCode::tool_failure, "/proc/meminfo does not tell how much memory is available");
}

// The first time through: how much was in use, and when it was most.
class Survey : public trace::Listener {
  public:
    void born(const Block &block) override {
        bytes += block.size;
        if (bytes > peak_bytes) {
            peak_bytes = bytes;
            peak_event = events;
        }
    }
    void died(const Block &block, const Event &) override { bytes -= block.size; }
    void vanished(const Block &block, trace::Time) override { bytes -= block.size; }
    void before(const Event &event) override {
        ++events;
        const std::size_t thread = number_of(event.thread);
        if (thread >= last_events.size()) last_events.resize(thread + 1);
        last_events[thread] = events;
    }

    std::vector<std::uint64_t> last_events;  // of each thread: the number of its last event
    std::uint64_t bytes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t events = 0;
    std::uint64_t peak_event = 0;  // of which number it was, from 1
};

// The second time: each event becomes an operation of its thread.
class Scribe : public trace::Listener {
  public:
    Scribe(const Survey &survey, const TouchedPages &touched, std::size_t threads, std::uint64_t step)
        : survey_(survey),
          touched_(touched),
          role_of_thread_(threads, kNoRole),
          between_(std::max(survey.events / kMostMilestones, kLeastBetween)),
          step_(step) {}

    void before(const Event &event) override {
        const std::uint32_t thread = role_of(event.thread);
        // A realloc that was given up is a free, and comes before what this thread does next.
        if (event.op != Op::realloc) settle(thread);
        last_thread_ = thread;
        ++events_;
        if (threads_begun_ > 1 && events_ % between_ == 0 && events_ != survey_.peak_event) add_milestone();
        if (events_ % step_ == 0) points.push_back({written_, bytes_});
    }
    void born(const Block &block) override {
        const std::uint32_t thread = role_of(block.thread);
        // Allocators do not agree on what realloc(p, 0) does: some free p and give no block.
        if (block.size == 0) settle(thread);
        std::optional<Pending> &pending = pending_[thread];
        Operation operation = operation_of(block);
        if (block.op == Op::realloc && pending) {
            operation.action = number_of(Action::realloc) & kMostAction;
            operation.slot = pending->slot;
            pending.reset();
        } else {
            operation.slot = take_slot(thread);
        }
        slots_[block.address] = operation.slot;
        note_pages(operation);
        take_turn(thread, operation);
        bytes_ += block.size;
        if (events_ == survey_.peak_event) {
            peak = milestones;
            add_milestone();
        }
    }
    void died(const Block &block, const Event &event) override {
        const std::uint32_t thread = role_of(event.thread);
        const auto at = slots_.find(block.address);
        const std::uint32_t slot = at->second;
        slots_.erase(at);
        bytes_ -= block.size;
        if (event.op == Op::realloc_free) {
            pending_[thread] = Pending{slot};
        } else {
            free_slot(thread, slot);
        }
    }
    // Its memory was given back, though nobody saw it.
    void vanished(const Block &block, trace::Time) override {
        const auto at = slots_.find(block.address);
        free_slot(last_thread_, at->second);
        slots_.erase(at);
        bytes_ -= block.size;
    }
    void unknown_free(const Event &) override { ++unknown_frees; }

    void finish() {
        for (std::uint32_t thread = 0; thread < pending_.size(); ++thread) settle(thread);
        points.push_back({written_, bytes_});
    }
    [[nodiscard]] const std::vector<std::vector<Operation>> &operations() const { return operations_; }
    [[nodiscard]] const std::vector<std::uint32_t> &expected() const { return expected_; }
    [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(turns_.size()); }
    [[nodiscard]] std::uint64_t written() const { return written_; }
    [[nodiscard]] std::uint32_t threads() const { return threads_begun_; }
    [[nodiscard]] std::uint64_t most_pages() const { return most_pages_; }

    std::vector<LivePoint> points;
    std::uint32_t milestones = 0;
    std::uint32_t peak = UINT32_MAX;
    std::uint64_t unknown_frees = 0;

  private:
    static constexpr std::uint32_t kNoRole = UINT32_MAX;
    struct Pending {
        std::uint32_t slot;
    };

    void write(std::uint32_t thread, const Operation &operation) {
        operations_[thread].push_back(operation);
        ++written_;
    }
    void take_turn(std::uint32_t thread, Operation operation) {
        const std::uint32_t turn = turns_[operation.slot]++;
        operation.turn = turn & kMostTurn;
        write(thread, operation);
        if (threads_begun_ > 1 && turn % kTurnsBetween == kTurnsBetween - 1) add_milestone();
    }
    // Only threads that have events are played, and they are numbered anew, in the order in which they begin. The thread
    // that did something last starts the next.
    std::uint32_t role_of(trace::ThreadNumber thread) {
        std::uint32_t &role = role_of_thread_[number_of(thread)];
        if (role != kNoRole) return role;
        role = threads_begun_++;
        operations_.emplace_back();
        pending_.emplace_back();
        free_slots_.emplace_back();
        has_left_.push_back(false);
        last_events_.push_back(survey_.last_events[number_of(thread)]);
        if (role != 0) write(last_thread_, operation_for(Action::start, role));
        return role;
    }
    // How many pages are written to at one time.
    void note_pages(const Operation &operation) {
        if (pages_of_slot_.size() <= operation.slot) pages_of_slot_.resize(operation.slot + std::size_t{1});
        pages_ += operation.pages;
        pages_ -= pages_of_slot_[operation.slot];
        pages_of_slot_[operation.slot] = operation.pages;
        most_pages_ = std::max(most_pages_, pages_);
    }
    // All come that have begun; who has nothing to do any more comes once.
    void add_milestone() {
        std::uint32_t expected = 0;
        for (std::uint32_t thread = 0; thread < threads_begun_; ++thread) {
            if (has_left_[thread]) continue;
            has_left_[thread] = last_events_[thread] < events_;
            write(thread, operation_for(has_left_[thread] ? Action::leave : Action::milestone, milestones));
            ++expected;
        }
        expected_.push_back(expected);
        ++milestones;
    }
    [[nodiscard]] Operation operation_of(const Block &block) const {
        const auto action = block.log2_alignment != 0 ? Action::aligned
                            : block.op == Op::calloc  ? Action::calloc
                                                      : Action::malloc;
        Operation operation = operation_for(action, 0);
        operation.size = std::min(block.size, kMostSize) & kMostSize;
        operation.log2_alignment = std::min(block.log2_alignment, kMostAlignment) & kMostAlignment;
        operation.pages = touched_.of(block);
        return operation;
    }
    static Operation operation_for(Action action, std::uint32_t number) {
        Operation operation{};
        operation.action = number_of(action) & kMostAction;
        operation.slot = number;
        return operation;
    }
    std::uint32_t take_slot(std::uint32_t thread) {
        std::vector<std::uint32_t> &own = free_slots_[thread];
        if (own.empty()) {
            turns_.push_back(0);
            return static_cast<std::uint32_t>(turns_.size() - 1);
        }
        const std::uint32_t slot = own.back();
        own.pop_back();
        return slot;
    }
    void free_slot(std::uint32_t thread, std::uint32_t slot) {
        const Operation operation = operation_for(Action::free, slot);
        note_pages(operation);
        take_turn(thread, operation);
        free_slots_[thread].push_back(slot);
    }
    void settle(std::uint32_t thread) {
        if (pending_[thread]) free_slot(thread, pending_[thread]->slot);
        pending_[thread].reset();
    }

    const Survey &survey_;
    const TouchedPages &touched_;
    std::vector<std::uint32_t> role_of_thread_;           // by the number in the trace
    std::vector<std::vector<Operation>> operations_;      // of each thread, by its role; so are the next four
    std::vector<std::optional<Pending>> pending_;         // a realloc's old block, until the new one is there
    std::vector<std::vector<std::uint32_t>> free_slots_;  // of who emptied them last, so that he need not wait
    std::vector<bool> has_left_;
    std::vector<std::uint64_t> last_events_;                  // the number of its last
    std::unordered_map<std::uint64_t, std::uint32_t> slots_;  // by address
    std::vector<std::uint32_t> expected_;
    std::uint64_t between_;
    std::uint64_t step_;
    std::uint64_t events_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t pages_ = 0;
    std::uint64_t most_pages_ = 0;
    std::vector<std::uint32_t> pages_of_slot_;
    std::vector<std::uint32_t> turns_;  // of each slot, operations so far
    std::uint32_t threads_begun_ = 0;
    std::uint32_t last_thread_ = 0;
};

TouchedPages survey(const trace::Trace &trace, Touch touch, Survey *survey) {
    TouchedPages touched(touch, trace);
    trace::Playback playback(trace);
    for (const trace::ResidentBlock &block : trace.residents()) {
        playback.play(*survey, trace::Time{block.summary.time});
        try {
            touched.look(trace.resident(block), playback.live());
        } catch (const trace::Damage &) {
            continue;  // one look less
        }
    }
    playback.play(*survey);
    return touched;
}

void write_script(const Scribe &scribe, std::uint64_t page_bytes, Plan *plan) {
    const std::span<const std::vector<Operation>> lists(scribe.operations().data(), scribe.threads());
    ScriptHead head{};
    head.operations = scribe.written();
    head.threads = static_cast<std::uint32_t>(lists.size());
    head.slots = scribe.slots();
    head.milestones = scribe.milestones;
    head.peak = std::min(scribe.peak, scribe.milestones);
    head.page_bytes = page_bytes;
    head.threads_at = sizeof head;
    head.operations_at = head.threads_at + lists.size() * sizeof(ScriptThread);
    head.expected_at = head.operations_at + head.operations * sizeof(Operation);
    head.end = head.expected_at + head.milestones * sizeof(std::uint32_t);
    plan->file = ::memfd_create("granary-script", MFD_CLOEXEC);
    if (plan->file < 0) fail("cannot create the script of calls");
    if (::ftruncate(plan->file, static_cast<off_t>(head.end)) != 0) fail("no room for the script of calls");
    std::uint64_t first = 0;
    const auto write = [&](const void *data, std::size_t bytes, std::uint64_t at) {
        const char *from = static_cast<const char *>(data);
        while (bytes != 0) {
            const ssize_t written = ::pwrite(plan->file, from, bytes, static_cast<off_t>(at));
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) fail("no room for the script of calls");
            from += written;
            at += static_cast<std::uint64_t>(written);
            bytes -= static_cast<std::size_t>(written);
        }
    };
    write(&head, sizeof head, 0);
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const ScriptThread thread{first, lists[i].size()};
        write(&thread, sizeof thread, head.threads_at + i * sizeof thread);
        write(lists[i].data(), lists[i].size() * sizeof(Operation), head.operations_at + first * sizeof(Operation));
        first += lists[i].size();
    }
    write(scribe.expected().data(), scribe.expected().size() * sizeof(std::uint32_t), head.expected_at);
}

// What a trace says that a program wrote to may be more than this machine has.
void refuse_too_much(const trace::Trace &trace, std::uint64_t pages) {
    const std::uint64_t bytes =
        pages > UINT64_MAX / trace.start().page_bytes ? UINT64_MAX : pages * trace.start().page_bytes;
    const std::uint64_t available = available_memory();
    if (bytes <= available) return;
    throw Failure(
        ExitCode::not_runnable,
        fmt::format("{} would have {} written to at one time, but this machine has {} available; '--touch none' "
                    "replays the calls alone",
                    in_quotes(trace.path()), bytes_text(bytes), bytes_text(available)));
}

}  // namespace

Plan::~Plan() {
    if (file >= 0) ::close(file);
}

void plan(const trace::Trace &trace, Touch touch, Plan *plan) {
    const std::string name = in_quotes(trace.path());
    if (trace.lost() != 0) {
        throw Failure(ExitCode::not_runnable,
                      fmt::format("{} lost {} events, so its calls are not known completely; record without --lossy",
                                  name, trace.lost()));
    }
    if (trace.events() == 0) throw Failure(ExitCode::not_runnable, fmt::format("{} has no events to replay", name));
    Survey first;
    const TouchedPages touched = survey(trace, touch, &first);
    Scribe scribe(first, touched, trace.threads().size(), std::max<std::uint64_t>(first.events / kLivePoints, 1));
    trace::Playback playback(trace);
    playback.play(scribe);
    scribe.finish();
    refuse_too_much(trace, scribe.most_pages());
    plan->operations = scribe.written();
    plan->threads = scribe.threads();
    plan->peak_bytes = first.peak_bytes;
    plan->end_bytes = first.bytes;
    plan->unknown_frees = scribe.unknown_frees;
    plan->live = std::move(scribe.points);
    write_script(scribe, trace.start().page_bytes, plan);
}

}  // namespace gr::tool
