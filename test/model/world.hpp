// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the world in which the protocol of src/heap/remote_protocol.hpp runs here: every operation asks for steps.
// Invariant: keeps no state, so that an act is a function of the answers.
// Must not know: what the steps do, and which other actors take steps.
#pragma once

#include "machine.hpp"

namespace gr::model {

class World {
  public:
    using Node = model::Node;
    using Owner = model::Owner;

    explicit World(Port<Step> &port) : port_(port) {}

    // What the protocol needs.
    Owner owner_of(Node node) { return static_cast<Owner>(ask({Does::load_owner, {}, node})); }
    std::uint32_t exchange_mark(Node node, std::uint32_t mark) {
        return ask({Does::exchange_mark, {}, node, static_cast<std::uint8_t>(mark)});
    }
    void push(Owner owner, Node node) {
        do {
            ask({Does::link_to_head, owner, node});
        } while (ask({Does::swing_head, owner, node}) == 0);
    }
    Node take_all(Owner owner) { return {ask({Does::take_all, owner})}; }
    Node next(Node node) { return {ask({Does::load_link, {}, node})}; }
    bool is_null(Node node) { return node == Node{}; }
    bool has_pending(Owner owner) { return ask({Does::look_at_stack, owner}) != 0; }
    bool is_passive(Owner owner) { return model::is_passive(owner); }
    bool try_lock(Owner owner) { return ask({Does::try_lock, owner}) != 0; }
    void unlock(Owner owner) { ask({Does::unlock, owner}); }
    void read_inbox(Owner) {}  // messages take no part: they are addressed to a heap, not to an owner that may change
    void collect(Owner owner, Node node) {
        for (std::uint8_t block = 0; block < kBlocksEach; ++block) ask({Does::collect, owner, node, block});
    }

    // What the protocol's users do besides.
    void lock(Owner owner) { ask({Does::lock, owner}); }
    bool holds(Owner owner) { return ask({Does::holds_lock, owner}) != 0; }
    void set_owner(Node node, Owner owner) { ask({Does::store_owner, owner, node}); }
    Node find(Owner owner) { return {ask({Does::find, owner})}; }
    bool is_empty(Owner owner, Node node) { return ask({Does::count_free, owner, node}) == kBlocksEach; }
    void take_block(Owner owner, Node node, std::uint8_t block) { ask({Does::take_block, owner, node, block}); }
    void free_remotely(Node node, std::uint8_t block) { ask({Does::free_remotely, {}, node, block}); }
    void send(std::uint8_t mail) { ask({Does::send, {}, {}, mail}); }
    std::uint8_t receive() { return ask({Does::receive}); }

    // What a mutation wants.
    bool look_at_mark(Node node) { return ask({Does::look_at_mark, {}, node}) != 0; }

  private:
    Answer ask(const Step &step) { return port_.ask(step); }

    Port<Step> &port_;
};

}  // namespace gr::model
