// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the collector's lock for a scope, and what is only read or written under it.
// Invariant: its holder may take it again.
// Must not know: what it protects.
#pragma once

#include <type_traits>

#include "collector/collector.hpp"

namespace gr {

class [[nodiscard]] Locked {
  public:
    Locked() { collector.lock(); }
    ~Locked() { collector.unlock(); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;
};

template <class T>
T get_locked(const T &variable) {
    const Locked locked;
    return variable;
}
template <class T>
void set_locked(T &variable, std::type_identity_t<T> value) {
    const Locked locked;
    variable = value;
}

}  // namespace gr
