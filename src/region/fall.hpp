// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether a quantity is at the end of a fall: the quantity fell by a part of its last height and has not begun to
//    rise again.
// Invariant: low <= high and low <= last. When the quantity has risen by half of the last fall, a new height begins.
// Must not know: what the quantity is.
#pragma once

#include <cstddef>

namespace gr {

// A fall is at least one part in kParts of the height. A rise by at most one part in kRestParts of the fall does not
// end it.
template <std::size_t kParts, std::size_t kRestParts>
class Fall {
  public:
    void note(std::size_t value) {
        last_ = value;
        if (value < low_) low_ = value;
        if (value > high_ || value - low_ > (high_ - low_) / 2) high_ = low_ = value;
    }
    bool is_at_end() const {
        const std::size_t depth = high_ - low_;
        return depth >= high_ / kParts && last_ - low_ <= depth / kRestParts;
    }

  private:
    std::size_t high_ = 0;
    std::size_t low_ = 0;
    std::size_t last_ = 0;
};

}  // namespace gr
