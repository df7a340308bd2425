// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/playback.hpp"

#include <cstddef>
#include <utility>

namespace gr::trace {

Playback::Playback(const Trace &trace, const Position &position)
    : stream_(trace, Time{position.time().units + 1}),
      live_(position.live()),
      births_(position.births()),
      bytes_born_(position.bytes_born()) {}

void Playback::play(Listener &listener, Time until) {
    while (has_next_ || (has_next_ = stream_.next(&next_))) {
        if (next_.time > until) return;
        together_.assign(1, next_);
        bool one_thread = true;
        while ((has_next_ = stream_.next(&next_)) && next_.time == together_.front().time &&
               together_.size() < kMostTogether) {
            one_thread = one_thread && next_.thread == together_.front().thread;
            together_.push_back(next_);
        }
        if (one_thread) {
            for (const Event &event : together_) apply(event, listener);
        } else {
            play_together(listener);
        }
    }
}

bool Playback::is_possible(const Event &event) const {
    if (is_of_pages(event.op) || event.address == 0) return true;
    return (live_.find(event.address) != nullptr) == frees(event.op);
}

// The first that is possible and none of its thread's comes before; if there is none, the first.
std::size_t Playback::choose() {
    ++choices_;
    for (std::size_t i = 0; i < together_.size(); ++i) {
        const std::size_t thread = number_of(together_[i].thread);
        if (asked_.size() <= thread) asked_.resize(thread + 1);
        if (std::exchange(asked_[thread], choices_) != choices_ && is_possible(together_[i])) return i;
    }
    return 0;
}

void Playback::play_together(Listener &listener) {
    while (!together_.empty()) {
        const auto chosen = together_.begin() + static_cast<std::ptrdiff_t>(choose());
        const Event event = *chosen;
        together_.erase(chosen);
        apply(event, listener);
    }
}

void Playback::apply(const Event &event, Listener &listener) {
    listener.before(event);
    if (is_of_pages(event.op)) return listener.of_pages(event);
    Block block;
    if (frees(event.op)) {
        if (event.address == 0) return;
        return live_.take(event.address, &block) ? listener.died(block, event) : listener.unknown_free(event);
    }
    if (event.address == 0) return listener.failed(event);
    if (live_.take(event.address, &block)) listener.vanished(block, event.time);
    block = {event.address, event.size,  event.time, births_++,           bytes_born_,
             event.thread,  event.stack, event.op,   event.log2_alignment};
    bytes_born_ += event.size;
    live_.add(block);
    listener.born(block);
}

}  // namespace gr::trace
