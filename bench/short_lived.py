# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: which patterns do the lifetimes of short-lived blocks make (Wasik's figure A.9)? Of programs of the
#    gallery: how blocks that were allocated one after the other are freed, which lifetimes repeat, and each block of a
#    short stretch.
# Invariant: time is the number of calls of malloc and free, so that a recording of the same work says the same.
# Must not know: how a trace is written; how the stretch is drawn.
"""Usage: short_lived.py [--build build/release] [--only NAME,NAME] [--calls 400000] [--stretch 600]

Records each program, and looks at its first so many calls; the stretch is in their middle."""

import argparse
import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from record import print_table  # finds the suite's modules
from gallery.recording import record
from gallery.subjects import PROGRAMS
from places import ROOT

sys.path.append(str(ROOT / "tool" / "reading" / "trace"))
from granary_trace import Event, Trace  # noqa: E402

NAMES = ("gcc", "perl", "gawk", "make", "python3", "sqlite3")
FREES = ("free", "realloc_free", "delete", "delete[]")
CALLS = ("malloc", "calloc", "realloc", "aligned_alloc", "new", "new[]", *FREES)
SHORT = 200  # calls: what lives longer is no short-lived block
TOP = 5


class Block(NamedTuple):
    born: int  # the number of the call
    lived: int  # calls


def short_lived(events: Iterable[Event]) -> list[Block]:
    """In the order of their allocation."""
    found, born = [], {}
    calls = (event for event in events if event.op in CALLS)
    for number, event in enumerate(calls):
        if event.op not in FREES:
            born[event.address] = number
        elif (begin := born.pop(event.address, None)) is not None and number - begin <= SHORT:
            found.append(Block(begin, number - begin))
    return sorted(found)


def share(blocks: Sequence[Block], is_pattern) -> float:
    """Of the short-lived blocks that follow each other."""
    pairs = list(zip(blocks, blocks[1:]))
    return sum(map(is_pattern, *zip(*pairs))) / len(pairs) if pairs else 0.0


def freed_next(first: Block, second: Block) -> bool:
    """In the order of their allocation, right after each other: a horizontal line where the allocations are, too."""
    return second.born + second.lived == first.born + first.lived + 1


def freed_before(first: Block, second: Block) -> bool:
    """In the reverse order, right after each other: a steep line."""
    return second.born + second.lived == first.born + first.lived - 1


def repeated(blocks: Sequence[Block]) -> float:
    """Of the commonest lifetimes."""
    return sum(count for _, count in Counter(block.lived for block in blocks).most_common(TOP)) / len(blocks)


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--calls", type=int, default=400_000)
    parser.add_argument("--stretch", type=int, default=600, metavar="CALLS")
    options = parser.parse_args()
    names = options.only.split(",")
    subjects = {subject.name: subject for subject in PROGRAMS if subject.name in names}
    for name in names:
        if name not in NAMES:
            print(f"short_lived: {name}: no such program; choose from {', '.join(NAMES)}", file=sys.stderr)
            return 2
    rows, stretches = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            trace = Path(folder) / f"{name}.trace"
            record(subjects[name], options.build.resolve(), trace)
            blocks = short_lived(itertools.islice(Trace(trace).events(), options.calls))
            trace.unlink()
            middle = (blocks[0].born + blocks[-1].born) // 2
            stretches.append((name, [block for block in blocks if 0 <= block.born - middle < options.stretch], middle))
            rows.append([name, f"{len(blocks):,}", percent(share(blocks, freed_next)), percent(share(blocks, freed_before)),
                         percent(repeated(blocks))])
    print(f"Blocks that live at most {SHORT} calls, among the first {options.calls:,}; %")
    print_table(["", "short-lived", "freed right after the one before", "freed right before it",
                 f"with one of the {TOP} commonest lifetimes"], rows)
    for name, blocks, middle in stretches:
        points = " ".join(f"{block.born - middle},{block.lived}" for block in blocks)
        print(f"\n{name}: allocated at a call of the stretch, calls until it is freed\n{points}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
