// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which actor does what: freers, heaps that refill, give superblocks away and take them, in small numbers.
// Invariant: the users of the protocol keep its rules as production does: they drain under the lock, store the owner
//    under the giver's lock, and unlock by unlock_and_settle. The protocol itself is a parameter.
// Must not know: how the protocol keeps its promise.
#pragma once

#include "explorer.hpp"
#include "world.hpp"

#include <initializer_list>

namespace gr::model {

struct Scenario {
    State initial;
    std::vector<Actor<Step>> actors;
};

inline constexpr Node kFirst = node_at(0);
inline constexpr Node kSecond = node_at(1);
inline constexpr Blocks kAllBlocks = (1u << kBlocksEach) - 1;

// A superblock whose blocks are live but for those named free.
inline void place(State &state, Node node, Owner owner, Blocks free = 0) {
    SuperblockState &superblock = state.superblocks[node.plus_one - 1u];
    superblock.owner = owner;
    superblock.free = free;
    superblock.live = kAllBlocks & ~free;
}

// What actors are made of. An act ends wherever nothing but locks is carried on, so that the explorer forgets the way.
template <class Protocol>
struct Acts {
    using Sequence = Program<Step>;

    // The bits of some blocks, then one announcement.
    static Sequence free(Node node, std::initializer_list<std::uint8_t> blocks) {
        Sequence acts;
        for (const std::uint8_t block : blocks) {
            acts.push_back(act([=](World &world) { world.free_remotely(node, block); }));
        }
        acts.push_back(act([=](World &world) { Protocol::announce(world, node); }));
        return acts;
    }

    static Sequence refill(Owner heap) { return {lock_and_drain(heap), unlock(heap)}; }

    // What a flusher or a trim does to an idle owner (rule 6).
    static Sequence visit(Owner owner) {
        return {act([=](World &world) {
                    if (world.try_lock(owner)) Protocol::drain(world, owner);
                }),
                unlock(owner)};
    }

    // A refill after which the heap keeps its invariant: the superblock goes to the global heap.
    static Sequence give(Owner heap, Node node) {
        return {lock_and_drain(heap), act([=](World &world) {
                    if (world.owner_of(node) == heap) hand_over(world, node, Owner::global);
                }),
                unlock(Owner::global), unlock(heap)};
    }

    // A refill after which the superblock, if it is wholly empty, goes back to the region. Nobody's lock is not needed.
    static Sequence give_back_if_empty(Owner heap, Node node) {
        return {lock_and_drain(heap), act([=](World &world) {
                    if (world.owner_of(node) == heap && world.is_empty(heap, node)) {
                        world.set_owner(node, Owner::nobody);
                    }
                }),
                unlock(heap)};
    }

    // A refill that finds nothing of its own and takes a superblock of the global heap.
    static Sequence take(Owner heap) {
        return {lock_and_drain(heap), act([=](World &world) { take_from(world, heap, Owner::global); }),
                unlock(Owner::global), unlock(heap)};
    }

    // From the region: a new superblock, whose first block goes to the actor that receives it.
    static Sequence take_anew_and_send(Owner heap) {
        return {lock_and_drain(heap), act([=](World &world) {
                    const Node node = take_from(world, heap, Owner::nobody);
                    if (!world.is_null(node)) world.take_block(heap, node, 0);
                    world.send(world.is_null(node) ? kNothing : kABlock);
                }),
                unlock(Owner::nobody), unlock(heap)};
    }

    static Sequence free_what_is_received() {
        return {act([=](World &world) {
            if (world.receive() == kNothing) return;
            world.free_remotely(kFirst, 0);
            Protocol::announce(world, kFirst);
        })};
    }

    // What a fork does: takes every lock, in order, and lets all go.
    static Sequence stop_all() {
        return {act([=](World &world) {
            for (const Owner owner : kLockOrder) world.lock(owner);
        })};
    }
    static Sequence resume_all() {
        Sequence acts;
        for (const Owner owner : kLockOrder) acts.push_back(unlock(owner));
        return acts;
    }
    // Breaks rule 3: no actor looks at the stacks.
    static Sequence resume_all_without_settling() {
        return {act([=](World &world) {
            for (const Owner owner : kLockOrder) world.unlock(owner);
        })};
    }

    // Breaks rule 1: the giver's lock is not taken.
    static Sequence steal(Owner heap, Node node) {
        return {lock_and_drain(heap), act([=](World &world) { world.set_owner(node, heap); }), unlock(heap)};
    }

  private:
    static constexpr std::array kLockOrder = {Owner::heap_a, Owner::global, Owner::nobody};
    static constexpr std::uint8_t kNothing = 1;
    static constexpr std::uint8_t kABlock = 2;

    template <class Body>
    static Act<Step> act(Body body) {
        return [body](Port<Step> &port) {
            World world(port);
            body(world);
        };
    }

    static Act<Step> lock_and_drain(Owner owner) {
        return act([=](World &world) {
            world.lock(owner);
            Protocol::drain(world, owner);
        });
    }

    static Act<Step> unlock(Owner owner) {
        return act([=](World &world) {
            if (world.holds(owner)) Protocol::unlock_and_settle(world, owner);
        });
    }

    // Under the giver's lock, and the receiver's, which orders its lists.
    static void hand_over(World &world, Node node, Owner to) {
        world.lock(to);
        world.set_owner(node, to);
    }

    static Node take_from(World &world, Owner heap, Owner from) {
        world.lock(from);
        const Node node = world.find(from);
        if (!world.is_null(node)) world.set_owner(node, heap);
        return node;
    }
};

// One after the other.
inline Program<Step> operator+(Program<Step> first, const Program<Step> &second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

// Two freers of one superblock; its heap gives it to the global heap.
template <class Protocol>
Scenario give() {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a);
    s.actors = {{"freer 1", A::free(kFirst, {0})},
                {"freer 2", A::free(kFirst, {1})},
                {"heap A", A::give(Owner::heap_a, kFirst)}};
    return s;
}

// And a second heap takes it from there.
template <class Protocol>
Scenario give_and_take() {
    using A = Acts<Protocol>;
    Scenario s = give<Protocol>();
    s.actors.push_back({"heap B", A::take(Owner::heap_b)});
    return s;
}

// And refills once more; one freer, again and again.
template <class Protocol>
Scenario give_take_and_refill() {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a);
    s.actors = {{"freer", A::free(kFirst, {0}) + A::free(kFirst, {1})},
                {"heap A", A::give(Owner::heap_a, kFirst)},
                {"heap B", A::take(Owner::heap_b) + A::refill(Owner::heap_b)}};
    return s;
}

// The superblock comes back to the heap that gave it: the owner a freer read is the owner again, but was not between.
template <class Protocol>
Scenario there_and_back() {
    using A = Acts<Protocol>;
    Scenario s = give<Protocol>();
    s.actors[2].program = A::give(Owner::heap_a, kFirst) + A::take(Owner::heap_a);
    s.actors.push_back({"visitor", A::visit(Owner::heap_a)});
    return s;
}

// Two heaps hand the superblock on through the global heap, and the first takes it last.
template <class Protocol>
Scenario round_trip() {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a, 0b10);
    s.actors = {{"freer", A::free(kFirst, {0})},
                {"heap A", A::give(Owner::heap_a, kFirst) + A::take(Owner::heap_a)},
                {"heap B", A::take(Owner::heap_b) + A::give(Owner::heap_b, kFirst)}};
    return s;
}

// The last block of a superblock is collected, and the superblock given back to the region and taken anew, while its
// freer is still on the way from the bit to the announcement. The new life's block is freed by a stranger as well.
template <class Protocol>
Scenario recycle() {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a, 0b01);
    s.actors = {{"late", A::free(kFirst, {1})},
                {"heap A", A::give_back_if_empty(Owner::heap_a, kFirst)},
                {"heap B", A::take_anew_and_send(Owner::heap_b) + A::refill(Owner::heap_b)},
                {"freer", A::free_what_is_received()}};
    return s;
}

// With two late freers, for a superblock that was full.
template <class Protocol>
Scenario recycle_with_two_late() {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a);
    s.actors = {{"late 1", A::free(kFirst, {0})},
                {"late 2", A::free(kFirst, {1})},
                {"heap A", A::give_back_if_empty(Owner::heap_a, kFirst)},
                {"heap B", A::take_anew_and_send(Owner::heap_b)},
                {"freer", A::free_what_is_received()}};
    return s;
}

// Two superblocks on one heap's stack; one is freed into again while the heap walks the stack.
template <class Protocol>
Scenario two_superblocks() {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a);
    place(s.initial, kSecond, Owner::heap_a);
    s.actors = {{"freer 1", A::free(kFirst, {0}) + A::free(kFirst, {1})},
                {"freer 2", A::free(kSecond, {0, 1})},
                {"heap A", A::refill(Owner::heap_a) + A::refill(Owner::heap_a)}};
    return s;
}

// One superblock is a heap's and goes to the global heap, the other is the global heap's; a heap takes one of them.
template <class Protocol>
Scenario crossing() {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a, 0b10);
    place(s.initial, kSecond, Owner::global, 0b10);
    s.actors = {{"freer", A::free(kFirst, {0}) + A::free(kSecond, {0})},
                {"heap A", A::give(Owner::heap_a, kFirst)},
                {"heap B", A::take(Owner::heap_b)}};
    return s;
}

// Two freers of different superblocks, the first one's on its way to the global heap, the second one's there.
template <class Protocol>
Scenario two_owners() {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a, 0b10);
    place(s.initial, kSecond, Owner::global);
    s.actors = {{"freer 1", A::free(kFirst, {0})},
                {"freer 2", A::free(kSecond, {0, 1})},
                {"heap A", A::give(Owner::heap_a, kFirst)}};
    return s;
}

// All locks are taken and let go while a superblock is freed into and goes to the global heap. Resume: the acts that
// let them go.
template <class Protocol>
Scenario fork(const Program<Step> &resume) {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a, 0b10);
    s.actors = {
        {"freer", A::free(kFirst, {0})}, {"heap A", A::give(Owner::heap_a, kFirst)}, {"fork", A::stop_all() + resume}};
    return s;
}

// A heap takes another's superblock without a word.
template <class Protocol>
Scenario theft() {
    using A = Acts<Protocol>;
    Scenario s;
    place(s.initial, kFirst, Owner::heap_a, 0b10);
    s.actors = {{"freer", A::free(kFirst, {0})},
                {"heap A", A::refill(Owner::heap_a)},
                {"heap B", A::steal(Owner::heap_b, kFirst)}};
    return s;
}

inline Outcome explore(const Scenario &scenario, Rules rules = {}) {
    const Machine machine(rules);
    return Explorer<Machine>(machine, scenario.actors).explore(scenario.initial);
}

}  // namespace gr::model
