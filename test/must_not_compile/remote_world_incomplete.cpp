// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the remote protocol runs in a world that has everything the protocol relies on, or not at all.
// Invariant: only the member that CONTROL adds is missing.
// Must not know: anything but the header it includes.
// Expects: template constraint failure|constraints not satisfied
#include "heap/remote_protocol.hpp"

struct World {
    using Node = int;
    using Owner = int;
    Owner owner_of(Node node);
    std::uint32_t exchange_mark(Node node, std::uint32_t mark);
    void push(Owner owner, Node node);
    Node take_all(Owner owner);
    Node next(Node node);
    bool is_null(Node node);
    bool has_pending(Owner owner);
    bool is_passive(Owner owner);
    bool try_lock(Owner owner);
    void unlock(Owner owner);
    void read_inbox(Owner owner);
#ifdef CONTROL
    void collect(Owner owner, Node node);
#endif
};

using Protocol = gr::RemoteProtocol<World>;
