// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the shared state of the model: superblocks, owners with a lock and a stack, and the atomic steps on them. A step
//    that only loads may be taken before the last delayed store of the same actor becomes visible (a store buffer of one).
// Invariant: every block is in exactly one state: live, remote or free; and the properties in machine.cpp.
// Must not know: the protocol: which steps are taken, and in which order.
#pragma once

#include "port.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gr::model {

// Heaps A and B are active: they drain at their next refill. An owner that never refills is passive: the
// global heap, and `nobody`, which has the superblocks that were released to the region.
enum class Owner : std::uint8_t { heap_a, heap_b, global, nobody };
inline constexpr std::size_t kOwners = 4;
constexpr bool is_passive(Owner owner) { return owner >= Owner::global; }

// A superblock, or none.
struct Node {
    std::uint8_t plus_one = 0;
    friend bool operator==(Node, Node) = default;
};
constexpr Node node_at(std::size_t index) { return {static_cast<std::uint8_t>(index + 1)}; }

// Every block has a word of its own in the remote bitmap, so that collecting takes a step for each.
using Blocks = std::uint8_t;
inline constexpr std::size_t kBlocksEach = 2;

inline constexpr std::size_t kSuperblocks = 2;
inline constexpr std::size_t kMaxActors = 5;

struct SuperblockState {
    Owner owner = Owner::nobody;
    std::uint8_t mark = 0;
    Node link;
    Blocks live = 0;
    Blocks remote = 0;
    Blocks free = 0;
};

struct OwnerState {
    std::uint8_t holder_plus_one = 0;  // the actor that holds the lock
    Node stack;                        // the first superblock on it
};

// A store its actor has made and the others cannot see yet.
struct DelayedStore {
    enum class Kind : std::uint8_t { none, remote_block, unlock };
    Kind kind = Kind::none;
    std::uint8_t what = 0;  // the superblock's index, or the owner
    Blocks blocks = 0;
};

struct State {
    std::array<SuperblockState, kSuperblocks> superblocks{};
    std::array<OwnerState, kOwners> owners{};
    std::array<DelayedStore, kMaxActors> delayed{};
    std::uint8_t mail = 0;  // from one actor to another; 0 is none
};

enum class Does : std::uint8_t {
    // Of the protocol.
    load_owner,
    exchange_mark,
    look_at_mark,
    link_to_head,
    swing_head,
    take_all,
    load_link,
    look_at_stack,
    try_lock,
    unlock,
    collect,
    // Of the protocol's users.
    lock,
    holds_lock,
    store_owner,
    find,
    count_free,
    take_block,
    free_remotely,
    send,
    receive
};

// Which arguments mean something is the step's affair. An answer that is not used is 0, so that it tells no states
// apart.
struct Step {
    Does does{};
    Owner owner{};
    Node node{};
    std::uint8_t value = 0;  // a mark, a block, or mail
};

// What the machine may do, beyond taking steps in any order.
struct Rules {
    bool delays_remote_frees = true;  // a freer's fetch_or may pass its later loads, as on aarch64
    bool delays_unlocks = false;      // so may an unlock
    bool guards_owner = true;         // the owner changes only under the giver's lock, or it is a violation at once
};

class Machine {
  public:
    using State = model::State;
    using Step = model::Step;
    static constexpr std::size_t kActors = kMaxActors;

    explicit Machine(Rules rules) : rules_(rules) {}

    bool is_enabled(const State &state, const Step &step) const;
    bool is_private(const Step &step) const;
    Answer take(State &state, std::size_t actor, const Step &step) const;
    bool has_delayed(const State &state, std::size_t actor) const {
        return state.delayed[actor].kind != DelayedStore::Kind::none;
    }
    void write_back(State &state, std::size_t actor) const;
    void check_always(const State &state) const;
    void check_end(const State &state) const;
    std::string describe(const Step &step, Answer answer) const;

  private:
    Answer take_load(const State &state, const Step &step) const;
    Answer take_store(State &state, std::size_t actor, const Step &step) const;

    Rules rules_;
};

}  // namespace gr::model
