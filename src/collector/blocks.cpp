// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/blocks.hpp"

namespace gr {

bool Blocks::is_marked(const void *p) const {
    const Target t = target(p);
    return t.mark != nullptr && t.mark->load(std::memory_order_relaxed) == numbers_.current();
}

void Blocks::set_mark(const void *p, bool marked) const {
    const Target t = target(p);
    if (t.mark != nullptr) t.mark->store(marked ? numbers_.current() : std::uint8_t{0}, std::memory_order_relaxed);
}

}  // namespace gr
