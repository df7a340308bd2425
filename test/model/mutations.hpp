// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the protocol of src/heap/remote_protocol.hpp with one of its rules taken out.
// Invariant: with no rule taken out it asks for the same steps as the original (a test compares the two).
// Must not know: the scenarios that show the harm.
#pragma once

#include "world.hpp"

namespace gr::model {

enum class Mutation : std::uint8_t {
    none,
    drainer_skips_foreign,     // rule 2: a drainer leaves another owner's superblock where it is: on no stack
    drainer_clears_foreign,    // rule 2: it clears the mark instead of passing the superblock on
    no_second_look_at_owner,   // rule 3: after a push, the owner is not read again
    no_settling_of_passive,    // rule 3: after a push to a passive owner, it is not drained
    no_settling_after_unlock,  // rule 3: after an unlock, the stack is not looked at
    look_before_exchange,      // rule 4: a marked superblock is left alone without an exchange
    link_read_late,            // rule 5: the link is read when the mark is cleared already
};

template <Mutation kMutation>
class Mutant {
  public:
    static void announce(World &world, Node node) {
        if constexpr (kMutation == Mutation::look_before_exchange) {
            if (world.look_at_mark(node)) return;
        }
        if (world.exchange_mark(node, 1) == 0) post(world, node);
    }

    static void settle(World &world, Owner owner) {
        while (world.has_pending(owner) && world.try_lock(owner)) {
            drain(world, owner);
            world.unlock(owner);
            if constexpr (kMutation == Mutation::no_settling_after_unlock) return;
        }
    }

    static void drain(World &world, Owner owner) {
        Node node = world.take_all(owner);
        while (!world.is_null(node)) node = drain_one(world, owner, node);
    }

    static void unlock_and_settle(World &world, Owner owner) {
        world.unlock(owner);
        if constexpr (kMutation != Mutation::no_settling_after_unlock) settle(world, owner);
    }

  private:
    // The next one.
    static Node drain_one(World &world, Owner owner, Node node) {
        constexpr bool kIsLate = kMutation == Mutation::link_read_late;
        const Node next = kIsLate ? Node{} : world.next(node);
        if (world.owner_of(node) == owner) {
            world.exchange_mark(node, 0);
            world.collect(owner, node);
        } else if constexpr (kMutation == Mutation::drainer_clears_foreign) {
            world.exchange_mark(node, 0);
        } else if constexpr (kMutation != Mutation::drainer_skips_foreign) {
            post(world, node);
        }
        return kIsLate ? world.next(node) : next;
    }

    static void post(World &world, Node node) {
        const Owner owner = world.owner_of(node);
        world.push(owner, node);
        const bool changed = kMutation != Mutation::no_second_look_at_owner && world.owner_of(node) != owner;
        const bool passive = kMutation != Mutation::no_settling_of_passive && world.is_passive(owner);
        if (changed || passive) settle(world, owner);
    }
};

}  // namespace gr::model
