// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finalizers.hpp: what is registered, and the queue.
// Invariant: as there.
// Must not know: what is marked.
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
    *taken = {};  // what was called last is kept by nobody's stack
    if (queue_.is_empty()) return false;
    *taken = queue_.take_last();
    publish();
    return true;
}

// Where there is no memory for it, it stays queued.
void Finalizers::register_again(std::size_t i) {
    if (registered_.add(queue_[i].object, queue_[i].finalizer)) queue_.remove(i);
}

}  // namespace gr
