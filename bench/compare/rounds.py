# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      runs every program on every allocator, round by round, each trial a fresh process.
# Invariant: one warm-up round that does not count; within a round an allocator's turn comes at random, seeded; each
#            allocator is proven to be in use before anything is measured.
# Must not know: what becomes of the numbers.
"""Interleaved trials."""

import contextlib
import dataclasses
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import bindings
from harness.allocators import Allocator
from harness.launcher import Launcher, Usage
from harness.program import Program, Work

SEED = 7
MEASURE_SOURCE = Path(__file__).resolve().parent / "measure.cpp"


def build_measure(folder: Path) -> Path:
    """The launcher, built beside the trials: a second's work, never out of date."""
    binary = folder / "measure"
    subprocess.run(["g++", "-std=c++20", "-O2", "-static", "-o", binary, MEASURE_SOURCE], check=True)
    return binary


def progress(text: str) -> None:
    """One line that is overwritten by the next; nothing where nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def interleaved(rounds: int, subjects: list[str], allocators: list[Allocator]) -> Iterator[tuple[int, str, Allocator]]:
    """(round, subject, allocator); round 0 is the warm-up."""
    rng = random.Random(SEED)
    for number in range(rounds + 1):
        for subject in subjects:
            for allocator in rng.sample(allocators, len(allocators)):
                progress(f"round {number} of {rounds}: {subject} on {allocator.name}")
                yield number, subject, allocator
    progress("")


def trial(program: Program, allocator: Allocator, work: Work, measure: Path) -> Usage:
    return program.run(work, Launcher(allocator.preload_for(program), measure=measure)).usage


def compare(programs: list[Program], allocators: list[Allocator], rounds: int, size: str = "bench",
            seen: Callable[[dict], None] = lambda _: None) -> list[dict]:
    """All trials that count, as flat records. `seen` is told of each at once."""
    by_name = {program.name: program for program in programs}
    records = []
    with contextlib.ExitStack() as stack:
        works = {name: stack.enter_context(Work(size)) for name in by_name}
        tools = stack.enter_context(Work(size))
        measure = build_measure(tools.prepared)
        for program in programs:
            progress(f"preparing {program.name}")
            program.prepare(works[program.name])
            for allocator in allocators:
                bindings.check(program, allocator, tools.prepared)
        for number, name, allocator in interleaved(rounds, list(by_name), allocators):
            usage = trial(by_name[name], allocator, works[name], measure)
            if number > 0:
                records.append({"round": number, "program": name, "allocator": allocator.name,
                                **dataclasses.asdict(usage)})
                seen(records[-1])
    return records
