// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the production protocol in a world whose collect gives superblocks away, in the middle of a drain, as
//    production does to keep the emptiness invariant; only more often.
// Invariant: keeps no state. A thread that already holds the global heap's lock does not wait for it.
// Must not know: the scenarios.
#pragma once

#include "heap/remote_protocol.hpp"
#include "world.hpp"

namespace gr::model {

// A heap gives whatever it collected from to the global heap; the global heap gives what is empty to nobody.
class GivingWorld : public World {
  public:
    explicit GivingWorld(const World &world) : World(world) {}

    void collect(Owner owner, Node node) {
        World::collect(owner, node);
        if (owner == Owner::global) {
            if (is_empty(owner, node)) set_owner(node, Owner::nobody);
        } else if (owner != Owner::nobody && !holds(Owner::global)) {
            lock(Owner::global);
            set_owner(node, Owner::global);
            RemoteProtocol<GivingWorld>::unlock_and_settle(*this, Owner::global);
        }
    }
};

// For actors that know no world but the plain one.
class GivingProtocol {
  public:
    static void announce(World &world, Node node) {
        GivingWorld giving(world);
        Giving::announce(giving, node);
    }
    static void drain(World &world, Owner owner) {
        GivingWorld giving(world);
        Giving::drain(giving, owner);
    }
    static void unlock_and_settle(World &world, Owner owner) {
        GivingWorld giving(world);
        Giving::unlock_and_settle(giving, owner);
    }

  private:
    using Giving = RemoteProtocol<GivingWorld>;
};

}  // namespace gr::model
