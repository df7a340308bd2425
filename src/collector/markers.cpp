// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/markers.hpp"

#include "platform/process.hpp"
#include "platform/world/tasks.hpp"

namespace gr {

void Markers::ensure_helpers() {
    const unsigned all = most_ == 0 ? platform::usable_cpus() : most_;
    const unsigned wanted = (all < kMostMarkers ? all : kMostMarkers) - 1;
    while (helper_count_ < wanted) {
        const std::uint32_t before = arrived_.load(std::memory_order_relaxed);
        if (platform::start_helper(thread_) != 0) return;
        while (arrived_.load(std::memory_order_acquire) == before) platform::sleep_on(arrived_, before);
        ++helper_count_;
    }
}

void Markers::help() {
    tasks_[helper_count_] = platform::task_of_caller();
    stack_pointers_[helper_count_] = static_cast<const char *>(__builtin_frame_address(0));
    arrived_.fetch_add(1, std::memory_order_release);
    platform::wake_all(arrived_);
    for (;;) {
        worklist_.sleep_until_called();
        if (!worklist_.join()) continue;
        {
            Marker marker(setup(number_, mode_));
            const Marker::Current current(marker);
            do {
                marker.drain();
            } while (worklist_.wait());
            if (marker.failed()) failed_.store(true, std::memory_order_relaxed);
        }
        worklist_.leave();
    }
}

MarkSetup Markers::setup(std::uint8_t number, MarkMode mode) {
    return {field_, procedures_, worklist_, later_, number, mode};
}

void Markers::begin(std::uint8_t number, MarkMode mode) {
    number_ = number;
    mode_ = mode;
    failed_.store(false, std::memory_order_relaxed);
    // In an incremental collection half of the CPUs are the program's.
    const unsigned most = mode == MarkMode::incremental ? (helper_count_ + 1) / 2 : helper_count_ + 1;
    worklist_.begin(most > 1 ? most - 1 : 0);
}

bool Markers::finish(Marker &marker) {
    do {
        marker.drain();
    } while (worklist_.wait());
    worklist_.end();
    return !marker.failed() && !failed_.load(std::memory_order_relaxed) && !worklist_.is_abandoned();
}

void Markers::forget_left() {
    later_.abandon();
    static_cast<void>(later_.take_full());
    later_.begin(0);
}

void Markers::shrink(std::size_t keep) {
    worklist_.shrink(keep);
    later_.shrink(0);
}

void Markers::forget_other_threads() {
    helper_count_ = 0;
    worklist_.forget_others();
    later_.forget_others();
}

}  // namespace gr
