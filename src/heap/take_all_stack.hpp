// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a stack to which many threads push without a lock. Its owner takes all nodes by one exchange, so there is no
//    ABA.
// Invariant: zeroed memory is an empty stack; a node lies on one stack at most, by its member `link`.
// Must not know: what the nodes are.
#pragma once

#include <atomic>

#include "platform/events.hpp"

namespace gr {

template <class Node>
class TakeAllStack {
  public:
    void push(Node *node) { push(node, node); }
    // Pushes a chain that is linked from first to last.
    void push(Node *first, Node *last) {
        Node *head = head_.load(std::memory_order_relaxed);
        do {
            last->link.store(head, std::memory_order_relaxed);
            platform::count(platform::Event::atomic_operation);
            // release: publishes the links; pairs with take_all. seq_cst: see has_any.
        } while (!head_.compare_exchange_weak(head, first, std::memory_order_seq_cst, std::memory_order_relaxed));
    }
    Node *take_all() {
        platform::count(platform::Event::atomic_operation);
        return head_.exchange(nullptr, std::memory_order_acq_rel);
    }
    // seq_cst: pairs with push and with the mutex's try_lock and unlock. After its unlock, a thread sees every push by
    // a thread that found the lock taken.
    bool has_any() const { return head_.load(std::memory_order_seq_cst) != nullptr; }

  private:
    std::atomic<Node *> head_{nullptr};
};

}  // namespace gr
