# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the malloc/free loop of one size on each allocator (bench/workloads/loop.cpp), interleaved.
# Invariant: nanoseconds for a pair; lower is better, as everywhere in the comparison.
# Must not know: the loop's code.
"""The one-size loop: each size is a subject of its own."""

import json
from pathlib import Path

from harness import bindings
from harness.allocators import Allocator, Missing
from harness.launcher import Launcher
from harness.program import Program, Work
from rounds import interleaved

SIZES = (16, 64, 200, 1024, 4096)
SECONDS = 0.4


def program(binary: Path) -> Program:
    """The loop, described so that its bindings can be checked."""
    def not_run(*_):
        raise AssertionError("the loop is run by compare() below")
    return Program("loop", "malloc and free of one size", {}, lambda: command(binary, SIZES[0], 0.01), not_run)


def command(binary: Path, size: int, seconds: float) -> list[str]:
    return [str(binary), "--size", str(size), "--seconds", str(seconds)]


def compare(binary: Path, allocators: list[Allocator], rounds: int) -> list[dict]:
    """All trials that count, as flat records."""
    if not binary.is_file():
        raise Missing(f"{binary} does not exist; run: make bench")
    binary, described = binary.resolve(), program(binary.resolve())
    sizes = {f"{size} bytes": size for size in SIZES}
    records = []
    with Work("bench") as work:
        for allocator in allocators:
            bindings.check(described, allocator, work.prepared)
        for number, name, allocator in interleaved(rounds, list(sizes), allocators):
            launcher = Launcher(allocator.preload_for(described))
            report = json.loads(launcher.run(command(binary, sizes[name], SECONDS), work.prepared).output)
            if number > 0:
                records.append({"round": number, "program": name, "allocator": allocator.name,
                                "nanoseconds": 1e9 / report["operations_per_second"]})
    return records
