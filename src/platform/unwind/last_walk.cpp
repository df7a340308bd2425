// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "platform/unwind/last_walk.hpp"

#include <algorithm>

namespace gr::platform {

// The steps that were repeated since both walks joined are as good as made: the walks may join again further out.
void LastWalk::Walk::part() {
    for (std::uint32_t place = joined_; place != at_; ++place) add(last_.at(place));
    is_joined_ = false;
}

void LastWalk::Walk::end(const Frame &frame) {
    if (!is_joined_) {
        add({frame, {}});
        joined_ = last_.end_ = made_;
    }
    last_.begin_ = joined_ - made_;
    for (std::uint32_t i = 0; i < made_; ++i) last_.at(last_.begin_ + i) = last_.made_[i];
    // Where steps had no room, those behind them do not follow: they are beyond this end.
    last_.end_ = last_.begin_ + std::min(last_.end_ - last_.begin_, kFrames);
}

}  // namespace gr::platform
