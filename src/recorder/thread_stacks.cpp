// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/thread_stacks.hpp"

#include <array>

#include "platform/memory.hpp"
#include "recorder/writer.hpp"

namespace gr {
namespace {

// Thread-local memory is no place for them: libraries that are loaded late get few bytes of it. A thread whose ring is beyond
// these remembers nothing.
constexpr std::size_t kRings = 4096;
constinit std::array<std::atomic<ThreadStacks *>, kRings> of_rings{};

ThreadStacks *find(std::uint32_t ring) {
    std::atomic<ThreadStacks *> &place = of_rings[ring];
    // Acquire: pairs with the release of the thread that made it.
    ThreadStacks *known = place.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    void *const memory = platform::map(sizeof(ThreadStacks), 1);
    if (memory == nullptr) return nullptr;
    auto *const made = static_cast<ThreadStacks *>(memory);  // all zeroes, as the constructor would leave it
    if (place.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
    platform::unmap(memory, sizeof(ThreadStacks));
    return known;
}

}  // namespace

const void *ThreadStacks::own_mark() { return &own_writer; }

ThreadStacks *ThreadStacks::begin(std::uint32_t ring) {
    ThreadStacks *const found = ring < kRings ? find(ring) : nullptr;
    // Acquire: pairs with the release of whoever changed it before.
    if (found == nullptr || found->is_used_.exchange(true, std::memory_order_acquire)) return nullptr;
    found->owner_ = own_mark();
    found->walk.forget();
    found->settle(false);
    return found;
}

}  // namespace gr
