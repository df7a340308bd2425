// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/ephemerons.hpp"

namespace gr {

bool Ephemerons::set(const void *ephemeron, const void *key, const void *value) {
    const Pair pair{Hidden(key), Hidden(value), {}};
    if (Pair *const known = pairs_.find(ephemeron)) {
        *known = pair;
        return true;
    }
    return pairs_.add(ephemeron, pair);
}

void *Ephemerons::key(const void *ephemeron) {
    const Pair *const pair = pairs_.find(ephemeron);
    return pair != nullptr ? pair->key.reveal() : nullptr;
}

void *Ephemerons::value(const void *ephemeron) {
    const Pair *const pair = pairs_.find(ephemeron);
    return pair != nullptr ? pair->value.reveal() : nullptr;
}

}  // namespace gr
