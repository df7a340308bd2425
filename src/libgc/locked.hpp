// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: holds the collector's lock for a scope, and reads or writes one variable under the lock.
// Invariant: the thread that holds the lock may take it again.
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
