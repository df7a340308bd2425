# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the two parts of what an allocator holds beyond a program's requests: internal and external fragmentation.
# Invariant: both are over the requested bytes; with the requests they add up to what is held.
# Must not know: how they were counted; how they are drawn.
"""Internal and external fragmentation."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fragmentation:
    internal: float
    external: float

    def __str__(self) -> str:
        return f"{self.internal:.2f} + {self.external:.2f}"
