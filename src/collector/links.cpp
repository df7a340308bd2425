// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/links.hpp"

namespace gr {

LinkResult Links::add(void **cell, const void *object) {
    if (Hidden *const known = objects_.find(cell)) {
        *known = Hidden(object);
        return LinkResult::duplicate;
    }
    return objects_.add(cell, Hidden(object)) ? LinkResult::success : LinkResult::no_memory;
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
