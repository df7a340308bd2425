// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: step_stream.hpp.
// Invariant: waiting_, empty_ and the three flags belong to who holds mutex_; playback_ to the maker until it is
//    joined.
// Must not know: what is done with the steps.
#include "reporting/steps/step_stream.hpp"

#include <limits>
#include <utility>

namespace gr::tool {

namespace {

constexpr trace::Time kForever{std::numeric_limits<std::uint64_t>::max()};

}  // namespace

// Turns what the playback tells into steps.
class StepStream::Maker final : public trace::Listener {
  public:
    explicit Maker(StepStream &stream) : stream_(stream), is_in_window_(!stream.scope_.is_window) {
        batch_.reserve(kSteps);
    }

    void before(const trace::Event &event) override {
        event_ = &event;
        if (++passed_ == kSteps) pass();
    }
    void born(const trace::Block &block) override { add(StepKind::born, block); }
    void died(const trace::Block &block, const trace::Event & /*free*/) override { add(StepKind::died, block); }
    void vanished(const trace::Block &block, trace::Time /*time*/) override { add(StepKind::vanished, block); }
    void failed(const trace::Event &event) override { add(StepKind::failed, block_of(event)); }
    void of_pages(const trace::Event &event) override { add(StepKind::of_pages, block_of(event)); }
    void unknown_free(const trace::Event &event) override { add(StepKind::unknown_free, block_of(event)); }

    // What comes now lies in the window.
    void begin_window() {
        is_in_window_ = true;
        trace::Event begin;
        begin.time = stream_.scope_.time.first();
        event_ = &begin;
        stream_.playback_.live().for_each([&](const trace::Block &block) { add(StepKind::alive, block); });
        add(StepKind::begun, {});
        event_ = nullptr;
    }
    void finish() {
        pass();
        if (!batch_.empty()) stream_.hand_over(&batch_);
    }

    struct GivenUp {};

  private:
    static trace::Block block_of(const trace::Event &event) {
        trace::Block block;
        block.address = event.address;
        block.size = event.size;
        return block;
    }
    void pass() {
        if (stream_.way_.course != nullptr) stream_.way_.course->pass(passed_);
        passed_ = 0;
    }
    void add(StepKind kind, const trace::Block &block) {
        if (!is_in_window_) return;
        Step &step = batch_.emplace_back();
        step.block = block;
        step.time = event_->time;
        step.thread = event_->thread;
        step.births = stream_.playback_.births();
        step.bytes_born = stream_.playback_.bytes_born();
        step.nanoseconds = kind == StepKind::vanished ? 0 : event_->nanoseconds;
        step.point = stream_.scope_.time.point_of(event_->time);
        step.op = event_->op;
        step.kind = kind;
        if (batch_.size() == kSteps && !stream_.hand_over(&batch_)) throw GivenUp();
    }

    StepStream &stream_;
    const trace::Event *event_ = nullptr;
    bool is_in_window_;
    std::uint64_t passed_ = 0;  // events since the course was last told
    Batch batch_;
};

StepStream::StepStream(const Scope &scope, Way way)
    : playback_(way.position != nullptr ? trace::Playback(scope.trace, *way.position) : trace::Playback(scope.trace)),
      scope_(scope),
      way_(std::move(way)),
      maker_([this] { make(); }) {}

StepStream::~StepStream() {
    {
        const std::lock_guard lock(mutex_);
        is_given_up_ = true;
    }
    changed_.notify_all();
    if (maker_.joinable()) maker_.join();
}

void StepStream::make() {
    try {
        Maker maker(*this);
        if (scope_.is_window) {
            const trace::Time first = scope_.time.first();
            if (first.units != 0) playback_.play(maker, trace::Time{first.units - 1});
            maker.begin_window();
        }
        for (const Look &look : way_.looks) {
            playback_.play(maker, look.time);
            look.use(playback_);
        }
        playback_.play(maker, scope_.is_window ? scope_.time.last() : kForever);
        maker.finish();
    } catch (const Maker::GivenUp &) {
    } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    is_made_ = true;
    changed_.notify_all();
}

bool StepStream::hand_over(Batch *batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() < kWaiting || is_given_up_; });
    if (is_given_up_) return false;
    waiting_.push_back(std::move(*batch));
    *batch = Batch();
    if (!empty_.empty()) {
        *batch = std::move(empty_.back());
        empty_.pop_back();
    }
    batch->clear();
    batch->reserve(kSteps);
    lock.unlock();
    changed_.notify_all();
    return true;
}

const Batch *StepStream::next() {
    std::unique_lock lock(mutex_);
    if (current_.capacity() != 0) empty_.push_back(std::move(current_));
    current_ = Batch();
    changed_.wait(lock, [&] { return !waiting_.empty() || is_made_; });
    if (waiting_.empty()) {
        lock.unlock();
        if (maker_.joinable()) maker_.join();
        if (failure_) std::rethrow_exception(failure_);
        return nullptr;
    }
    current_ = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    lock.unlock();
    changed_.notify_all();
    return &current_;
}

}  // namespace gr::tool
