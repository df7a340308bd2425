// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what each step does to the shared state, and the properties that hold after every step and at the end.
// Invariant: a step is atomic; one that writes, locks or unlocks makes its actor's delayed store visible first.
// Must not know: the protocol: which steps are taken, and in which order.
#include "machine.hpp"

#include <utility>

namespace gr::model {
namespace {

using Kind = DelayedStore::Kind;

template <class S>
auto &at(S &state, Node node) {
    return state.superblocks[node.plus_one - 1u];
}
template <class S>
auto &at(S &state, Owner owner) {
    return state.owners[static_cast<std::size_t>(owner)];
}

Blocks bit(std::uint8_t block) { return static_cast<Blocks>(1u << block); }

std::string name(Owner owner) {
    static constexpr std::array<const char *, kOwners> kNames = {"A", "B", "G", "N"};
    return kNames[static_cast<std::size_t>(owner)];
}
std::string name(Node node) { return node == Node{} ? "null" : "s" + std::to_string(node.plus_one - 1); }

void expect(bool holds, const std::string &otherwise) {
    if (!holds) throw Violation(otherwise);
}

bool holds_lock(const State &state, std::size_t actor, Owner owner) {
    return at(state, owner).holder_plus_one == actor + 1;
}

// Only the owner, under its lock, touches `free`.
void expect_ownership(const State &state, std::size_t actor, Owner owner, Node node) {
    expect(holds_lock(state, actor, owner),
           "free bits of " + name(node) + " touched without the lock of " + name(owner));
    expect(at(state, node).owner == owner, "free bits of " + name(node) + " touched by " + name(owner) +
                                               "; its owner is " + name(at(state, node).owner));
}

void move_block(Blocks &from, Blocks &to, Blocks which, const std::string &otherwise) {
    expect((from & which) == which && (to & which) == 0, otherwise);
    from = static_cast<Blocks>(from & ~which);
    to = static_cast<Blocks>(to | which);
}

void set_remote(State &state, Node node, Blocks blocks) {
    SuperblockState &superblock = at(state, node);
    move_block(superblock.live, superblock.remote, blocks, "a block of " + name(node) + " freed that is not live");
}

Answer collect(State &state, std::size_t actor, const Step &step) {
    expect_ownership(state, actor, step.owner, step.node);
    SuperblockState &superblock = at(state, step.node);
    const Blocks collected = superblock.remote & bit(step.value);
    move_block(superblock.remote, superblock.free, collected, "a block of " + name(step.node) + " collected twice");
    return 0;
}

// Guarded: by the giver's lock (rule 1), and by the receiver's, which orders its lists; nobody has none.
Answer store_owner(State &state, std::size_t actor, const Step &step, bool guarded) {
    SuperblockState &superblock = at(state, step.node);
    for (const Owner owner : {superblock.owner, step.owner}) {
        const bool wants_lock = guarded && (owner != Owner::nobody || superblock.owner == Owner::nobody);
        expect(!wants_lock || holds_lock(state, actor, owner),
               "the owner of " + name(step.node) + " changed without the lock of " + name(owner));
    }
    superblock.owner = step.owner;
    return 0;
}

// Those without blocks are not part of the scenario.
Answer find(const State &state, Owner owner) {
    for (std::size_t i = 0; i < kSuperblocks; ++i) {
        const SuperblockState &superblock = state.superblocks[i];
        const bool exists = (superblock.live | superblock.remote | superblock.free) != 0;
        if (exists && superblock.owner == owner) return node_at(i).plus_one;
    }
    return Node{}.plus_one;
}

bool is_on_stack(const State &state, Node which) {
    for (const OwnerState &owner : state.owners) {
        for (Node node = owner.stack; node != Node{}; node = at(state, node).link) {
            if (node == which) return true;
        }
    }
    return false;
}

// The head is read and the link stored in one step: no actor reads the link of what is on no stack.
Answer link_to_head(State &state, const Step &step) {
    expect(!is_on_stack(state, step.node), name(step.node) + " pushed while it lies on a stack");
    at(state, step.node).link = at(state, step.owner).stack;
    return 0;
}

}  // namespace

bool Machine::is_enabled(const State &state, const Step &step) const {
    if (step.does == Does::lock) return at(state, step.owner).holder_plus_one == 0;
    if (step.does == Does::receive) return state.mail != 0;
    return true;
}

// The locks an actor holds, and what only their holder changes.
bool Machine::is_private(const Step &step) const {
    const bool finds_listed = step.does == Does::find && step.owner != Owner::nobody;
    return finds_listed || step.does == Does::holds_lock || step.does == Does::count_free;
}

Answer Machine::take(State &state, std::size_t actor, const Step &step) const {
    switch (step.does) {
        case Does::load_owner:
        case Does::look_at_mark:
        case Does::load_link:
        case Does::look_at_stack:
            return take_load(state, step);
        default:
            write_back(state, actor);
            return take_store(state, actor, step);
    }
}

Answer Machine::take_load(const State &state, const Step &step) const {
    switch (step.does) {
        case Does::load_owner:
            return static_cast<Answer>(at(state, step.node).owner);
        case Does::look_at_mark:
            return at(state, step.node).mark;
        case Does::load_link:
            return at(state, step.node).link.plus_one;
        case Does::look_at_stack:
            return at(state, step.owner).stack != Node{};
        default:
            throw std::logic_error("not a load");
    }
}

Answer Machine::take_store(State &state, std::size_t actor, const Step &step) const {
    OwnerState &owner = at(state, step.owner);
    switch (step.does) {
        case Does::exchange_mark:
            return std::exchange(at(state, step.node).mark, step.value);
        case Does::link_to_head:
            return link_to_head(state, step);
        case Does::swing_head:
            if (owner.stack != at(state, step.node).link) return 0;
            owner.stack = step.node;
            return 1;
        case Does::take_all:
            return std::exchange(owner.stack, Node{}).plus_one;
        case Does::try_lock:
            if (owner.holder_plus_one != 0) return 0;
            owner.holder_plus_one = static_cast<std::uint8_t>(actor + 1);
            return 1;
        case Does::lock:
            owner.holder_plus_one = static_cast<std::uint8_t>(actor + 1);
            return 0;
        case Does::unlock:
            expect(holds_lock(state, actor, step.owner), "lock of " + name(step.owner) + " let go by a stranger");
            state.delayed[actor] = {Kind::unlock, static_cast<std::uint8_t>(step.owner), 0};
            if (!rules_.delays_unlocks) write_back(state, actor);
            return 0;
        case Does::free_remotely:
            state.delayed[actor] = {Kind::remote_block, step.node.plus_one, bit(step.value)};
            if (!rules_.delays_remote_frees) write_back(state, actor);
            return 0;
        case Does::collect:
            return collect(state, actor, step);
        case Does::store_owner:
            return store_owner(state, actor, step, rules_.guards_owner);
        case Does::holds_lock:
            return holds_lock(state, actor, step.owner);
        case Does::find:
            expect(holds_lock(state, actor, step.owner),
                   "superblocks of " + name(step.owner) + " sought without its lock");
            return find(state, step.owner);
        case Does::count_free:
            expect_ownership(state, actor, step.owner, step.node);
            return static_cast<Answer>(__builtin_popcount(at(state, step.node).free));
        case Does::take_block:
            expect_ownership(state, actor, step.owner, step.node);
            move_block(at(state, step.node).free, at(state, step.node).live, bit(step.value), "block given out twice");
            return 0;
        case Does::send:
            state.mail = step.value;
            return 0;
        case Does::receive:
            return state.mail;
        default:
            throw std::logic_error("not a store");
    }
}

void Machine::write_back(State &state, std::size_t actor) const {
    const DelayedStore store = std::exchange(state.delayed[actor], {});
    if (store.kind == Kind::remote_block) set_remote(state, Node{store.what}, store.blocks);
    if (store.kind == Kind::unlock) state.owners[store.what].holder_plus_one = 0;
}

// A superblock lies on one stack at most, once, and only marked.
void Machine::check_always(const State &state) const {
    std::array<int, kSuperblocks> times{};
    for (const OwnerState &owner : state.owners) {
        for (Node node = owner.stack; node != Node{}; node = at(state, node).link) {
            expect(++times[node.plus_one - 1u] == 1, name(node) + " lies on stacks twice");
            expect(at(state, node).mark == 1, name(node) + " lies on a stack unmarked");
        }
    }
}

// All actors are done. A marked superblock lies on the stack of its owner, a heap that drains at its next refill; one
// with remote bits is marked; and no lock is held.
void Machine::check_end(const State &state) const {
    std::array<bool, kSuperblocks> is_waiting{};
    for (const Owner owner : {Owner::heap_a, Owner::heap_b, Owner::global, Owner::nobody}) {
        expect(at(state, owner).holder_plus_one == 0, "the lock of " + name(owner) + " is held for ever");
        for (Node node = at(state, owner).stack; node != Node{}; node = at(state, node).link) {
            expect(!is_passive(owner), name(node) + " forgotten on the stack of " + name(owner));
            expect(at(state, node).owner == owner, name(node) + " forgotten on the stack of " + name(owner) +
                                                       "; its owner is " + name(at(state, node).owner));
            is_waiting[node.plus_one - 1u] = true;
        }
    }
    for (std::size_t i = 0; i < kSuperblocks; ++i) {
        const SuperblockState &superblock = state.superblocks[i];
        expect(superblock.mark == 0 || is_waiting[i], name(node_at(i)) + " marked for ever, and on no stack");
        expect(superblock.remote == 0 || is_waiting[i], "remote bits of " + name(node_at(i)) + " forgotten");
    }
}

std::string Machine::describe(const Step &step, Answer answer) const {
    const std::string owner = name(step.owner);
    const std::string node = name(step.node);
    const std::string value = std::to_string(step.value);
    const std::string got = std::to_string(answer);
    switch (step.does) {
        case Does::load_owner:
            return "owner_of(" + node + ") = " + name(static_cast<Owner>(answer));
        case Does::exchange_mark:
            return "exchange_mark(" + node + ", " + value + ") = " + got;
        case Does::look_at_mark:
            return "look_at_mark(" + node + ") = " + got;
        case Does::link_to_head:
            return "push: link of " + node + " := head of " + owner;
        case Does::swing_head:
            return "push: " + node + " on the stack of " + owner + (answer ? "" : ": lost the race");
        case Does::take_all:
            return "take_all(" + owner + ") = " + name(Node{answer});
        case Does::load_link:
            return "next(" + node + ") = " + name(Node{answer});
        case Does::look_at_stack:
            return "has_pending(" + owner + ") = " + got;
        case Does::try_lock:
            return "try_lock(" + owner + ") = " + got;
        case Does::unlock:
            return "unlock(" + owner + ")";
        case Does::collect:
            return "collect(" + owner + ", " + node + "), block " + value;
        case Does::lock:
            return "lock(" + owner + ")";
        case Does::holds_lock:
            return "holds the lock of " + owner + " = " + got;
        case Does::store_owner:
            return "owner of " + node + " := " + owner;
        case Does::find:
            return "find a superblock of " + owner + " = " + name(Node{answer});
        case Does::count_free:
            return "free blocks of " + node + " = " + got;
        case Does::take_block:
            return "give out block " + value + " of " + node;
        case Does::free_remotely:
            return "set the remote bit of block " + value + " of " + node;
        case Does::send:
            return "send " + value;
        case Does::receive:
            return "receive " + got;
    }
    return "?";
}

}  // namespace gr::model
