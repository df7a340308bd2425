// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/finalizers.hpp"

#include <utility>

namespace gr {

std::optional<Finalizer> Finalizers::set(const void *object, const Finalizer &finalizer) {
    if (finalizer.procedure == nullptr) {
        const Finalizer *const known = registered_.find(object);
        const Finalizer before = known != nullptr ? *known : Finalizer{};
        registered_.remove(object);
        return before;
    }
    const auto found = registered_.find_or_add(object, finalizer);
    if (found.value == nullptr) return std::nullopt;
    return found.is_new ? Finalizer{} : std::exchange(*found.value, finalizer);
}

std::size_t Finalizers::queue_all() {
    const std::size_t before = queue_.size();
    registered_.remove_if([&](void *object, const Finalizer &finalizer) { return queue_.add({object, finalizer}); });
    publish();
    return queue_.size() - before;
}

bool Finalizers::take(QueuedFinalizer *taken) {
    *taken = {};  // so that no stack keeps the object that was called last
    if (queue_.is_empty()) return false;
    *taken = queue_.take_last();
    publish();
    return true;
}

// The entry came from the table, so there is room. Without room it stays queued.
void Finalizers::register_again(std::size_t i) {
    if (registered_.add(queue_[i].object, queue_[i].finalizer)) queue_.remove(i);
}

}  // namespace gr
