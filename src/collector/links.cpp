// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/links.hpp"

namespace gr {

LinkResult Links::add(void **cell, const void *object) {
    const auto found = objects_.find_or_add(cell, Hidden(object));
    if (found.value == nullptr) return LinkResult::no_memory;
    if (found.is_new) return LinkResult::success;
    *found.value = Hidden(object);
    return LinkResult::duplicate;
}

LinkResult Links::move(void **cell, void **to) {
    const Hidden *const known = objects_.find(cell);
    if (known == nullptr) return LinkResult::not_found;
    if (cell == to) return LinkResult::success;
    if (objects_.find(to) != nullptr) return LinkResult::duplicate;
    const Hidden object = *known;
    objects_.remove(cell);
    // There is room where the first cell was removed.
    return objects_.add(to, object) ? LinkResult::success : LinkResult::no_memory;
}

}  // namespace gr
