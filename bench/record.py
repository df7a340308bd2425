# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the measurements beside the suite share: the allocators to compare, medians with intervals, the raw
#    record.
# Invariant: a record opens with the command and the machine, named as in the suite's results, and then holds every
#    single value measured.
# Must not know: what is measured.
"""Allocators, intervals and raw records."""

import json
import os
import random
import shlex
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "suite"), str(HERE.parent / "test" / "programs")]
sys.dont_write_bytecode = True

import machine
from granary_results import stored
from harness.allocators import GRANARY, PEERS, SYSTEM, Missing, granary, peer
from places import Places

RESAMPLES = 2000
SEED = 1

# Name to library; None is the system's malloc.
Libraries = dict[str, Path | None]


def allocators(library: Path) -> Libraries:
    """What is not installed is left out, and said; without Granary there is nothing to do."""
    try:
        found: Libraries = {SYSTEM: None, GRANARY: granary(library).library}
    except Missing as problem:
        sys.exit(str(problem))
    for name in PEERS:
        try:
            found[name] = peer(name).library
        except Missing as problem:
            print(f"{name}: not measured: {problem}", file=sys.stderr)
    return found


def environment(library: Path | None, extra: dict[str, str] | None = None) -> dict[str, str]:
    """This process's, without what would change the allocator, plus the library."""
    clean = {name: value for name, value in os.environ.items()
             if name not in ("LD_PRELOAD", "GLIBC_TUNABLES") and not name.startswith("GRANARY_")}
    return clean | ({"LD_PRELOAD": str(library)} if library else {}) | (extra or {})


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median and its 95 % bootstrap interval; unlike the suite's, of values that may be negative too."""
    draw = random.Random(SEED)
    resampled = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return statistics.median(values), resampled[int(0.025 * RESAMPLES)], resampled[int(0.975 * RESAMPLES) - 1]


class Record:
    """Raw values, one JSON line each, behind a first line that says how they came about. A file whose name ends in .gz is
    compressed."""

    def __init__(self, path: Path | None):
        self.file = stored.Lines(path) if path else None
        self.write(Places([]).named({"command": shlex.join(sys.argv), "machine": machine.facts()}))

    def write(self, value: dict) -> None:
        if self.file:
            self.file.write(json.dumps(value))


def print_table(head: Sequence[str], rows: Sequence[Sequence]) -> None:
    cells = [head] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths))))
