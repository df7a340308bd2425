// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how a freed block reaches the owner of its superblock, even if the owner changes meanwhile (LFMalloc 3.2.3,
//    made batched and lock-free): mark, stack, owner, drain. A template over its world, so that a model checker runs
//    this very code.
// Invariant: a superblock with remote bits is, or is about to be, on some owner's stack, and that stack will be
//    drained: bits are never forgotten.
// Must not know: what a superblock, an owner and a lock are made of.
#pragma once

#include <concepts>
#include <cstdint>

namespace gr {

// What the protocol needs. A node is a superblock; an owner has a lock, and a stack of nodes with remote frees waiting.
template <class W>
concept RemoteWorld = requires(W &world, typename W::Node node, typename W::Owner owner, std::uint32_t mark) {
    { world.owner_of(node) } -> std::same_as<typename W::Owner>;         // acquire
    { world.exchange_mark(node, mark) } -> std::same_as<std::uint32_t>;  // acquire and release
    { world.push(owner, node) } -> std::same_as<void>;                   // links node; release
    { world.take_all(owner) } -> std::same_as<typename W::Node>;         // one exchange; acquire
    { world.next(node) } -> std::same_as<typename W::Node>;              // its link
    { world.is_null(node) } -> std::same_as<bool>;
    { world.has_pending(owner) } -> std::same_as<bool>;
    { world.is_passive(owner) } -> std::same_as<bool>;  // never refills: the thread that pushes drains it
    { world.try_lock(owner) } -> std::same_as<bool>;
    { world.unlock(owner) } -> std::same_as<void>;
    { world.read_inbox(owner) } -> std::same_as<void>;     // blocks that came by message; owner's lock held
    { world.collect(owner, node) } -> std::same_as<void>;  // moves the remote bits; owner's lock held
};

template <RemoteWorld World>
class RemoteProtocol {
  public:
    using Node = typename World::Node;
    using Owner = typename World::Owner;

    // Called after remote bits of the node were set: makes sure that the node's owner collects them.
    static void announce(World &world, Node node) {
        // Rule 4: an exchange, with no read before it. A thread that finds 1 knows that a drain has yet to clear the
        // mark. That drain will see the bits that were set before this exchange.
        if (world.exchange_mark(node, 1) == 0) post(world, node);
    }

    // Rule 3: after every unlock, and after posting to an owner that changed or is passive.
    static void settle(World &world, Owner owner) {
        while (world.has_pending(owner) && world.try_lock(owner)) {
            drain(world, owner);
            world.unlock(owner);
        }
    }

    // The owner's lock is held.
    static void drain(World &world, Owner owner) {
        world.read_inbox(owner);
        Node node = world.take_all(owner);
        while (!world.is_null(node)) {
            const Node next = world.next(node);  // rule 5: before the mark is cleared, or the node passed on
            // Rule 1: while this lock is held, a node that has this owner keeps it.
            if (world.owner_of(node) == owner) {
                world.exchange_mark(node, 0);
                world.collect(owner, node);
            } else {
                post(world, node);  // rule 2: passed on, mark untouched
            }
            node = next;
        }
    }

    // A new owner finds a superblock only after this unlock. The caller decides the order of both owners' locks.
    static void unlock_and_settle(World &world, Owner owner) {
        world.unlock(owner);
        settle(world, owner);
    }

  private:
    static void post(World &world, Node node) {
        const Owner owner = world.owner_of(node);
        world.push(owner, node);
        // Rule 3: the owner may have changed between the read and the push, and then no thread may look at this stack
        // again. settle and drain call each other only as deep as there are owners whose superblocks change hands in
        // that moment.
        if (world.owner_of(node) != owner || world.is_passive(owner)) settle(world, owner);
    }
};

}  // namespace gr
