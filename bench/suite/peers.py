# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the allocators that can be compared: Granary, the system's, and the peers that are built or installed.
# Invariant: an Allocator that is returned has a library that exists; which version it is stands in the results.
# Must not know: what is measured.
"""Allocators by name."""

import json
from pathlib import Path

from harness import allocators
from harness.allocators import Allocator, Missing

# What `standard` compares unless told otherwise.
SIX = ("granary", "system", "jemalloc", "mimalloc2", "mimalloc3", "tcmalloc")
TWICE = "+"  # a name may be entered twice as NAME and NAME+: a control


class Peers:
    """All that can be had, from the list that `make bench-peers` leaves."""

    def __init__(self, library: Path, listing: Path):
        self.library = library
        self.listing = listing
        peers = json.loads(listing.read_text())["peers"] if listing.is_file() else []
        self.built = {peer["name"]: peer for peer in peers}

    def names(self) -> list[str]:
        return [allocators.GRANARY, allocators.SYSTEM, *(name for name in self.built if name != allocators.SYSTEM)]

    def facts(self, name: str) -> dict:
        """What the results say of an allocator."""
        return self.built.get(name.rstrip(TWICE), {"name": name})

    def get(self, name: str) -> Allocator:
        """Raises Missing, in one line."""
        base = name.rstrip(TWICE)
        if base == allocators.GRANARY:
            return allocators.granary(self.library).renamed(name)
        if base == allocators.SYSTEM:
            return allocators.system().renamed(name)
        if base not in self.built:
            raise Missing(f"{name}: no such allocator in {self.listing}; there are {', '.join(self.names())}"
                          if self.built else f"{name}: no peers are built; run: make bench-peers")
        peer = self.built[base]
        library = Path(peer["library"])
        if not library.is_file():
            raise Missing(f"{name}: {library} is gone; run: make bench-peers")
        return Allocator(name, library, peer.get("environment") or {})
