// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/playback.hpp"

#include <algorithm>

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
        while ((has_next_ = stream_.next(&next_)) && next_.time == together_.front().time) {
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
void Playback::play_together(Listener &listener) {
    while (!together_.empty()) {
        auto chosen = together_.begin();
        for (auto one = together_.begin(); one != together_.end(); ++one) {
            const auto is_its_threads = [&](const Event &other) { return other.thread == one->thread; };
            if (!is_possible(*one) || std::any_of(together_.begin(), one, is_its_threads)) continue;
            chosen = one;
            break;
        }
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
