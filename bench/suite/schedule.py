# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: runs every subject on every allocator, round by round, each trial a fresh process.
# Invariant: within a round an allocator's turn comes at random, seeded; warm-up rounds do not count; what crashes or
#    hangs is recorded with its reason, is not asked a third time, and stops nothing else.
# Must not know: what becomes of the records.
"""Interleaved trials."""

import contextlib
import math
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.allocators import Allocator, Missing, system
from harness.launcher import ProgramFailed
from harness.program import Work

from granary_results.results import one_line
from subjects import Subject

SEED = 7
ENOUGH_FAILURES = 2
MEASURE_SOURCE = Path(__file__).resolve().parent / "measure.cpp"


def build_measure(folder: Path) -> Path:
    """The launcher, built beside the trials: a second's work, never out of date."""
    binary = folder / "measure"
    if subprocess.run(["g++", "-std=c++20", "-O2", "-static", "-o", binary, MEASURE_SOURCE]).returncode != 0:
        raise Missing(f"{MEASURE_SOURCE.name} does not compile; see the compiler output above")
    return binary


class Progress:
    """One line, overwritten, with the time left; nothing if the output is no terminal."""

    def __init__(self, trials: int):
        self.trials = trials
        self.done = 0
        self.began = time.monotonic()

    def show(self, text: str) -> None:
        if not sys.stderr.isatty():
            return
        left = (time.monotonic() - self.began) / self.done * (self.trials - self.done) if self.done else 0
        clock = f", {left / 60:.0f} min left" if left >= 60 else f", {left:.0f} s left" if self.done else ""
        print(f"\r\033[K[{100 * self.done // max(1, self.trials)} %{clock}] {text}", end="", file=sys.stderr,
              flush=True)

    def end(self) -> None:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def tell(problem: object) -> None:
    """One line about something that is left out or went wrong; the rest goes on."""
    clear = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{clear}bench: {one_line(problem)}", file=sys.stderr, flush=True)


class OutOfTime(Exception):
    """Something is left to measure."""


@dataclass
class Schedule:
    """`seen` is told of each record at once. `done` are rounds of cases, by number and name, that an earlier piece of
    the run measured, with so many `failures`. No round of a case is begun after so many `seconds`: OutOfTime."""

    subjects: list[Subject]
    allocators: list[Allocator]
    rounds: int
    warm_ups: int
    size: str = "bench"
    seen: Callable[[dict], None] = lambda _: None
    records: list[dict] = field(default_factory=list)
    failures: dict[tuple[str, str], int] = field(default_factory=dict)
    done: frozenset[tuple[int, str]] = frozenset()
    seconds: float = math.inf

    def run(self) -> list[dict]:
        """All trials that count, and all failures, as flat records."""
        self.ends = time.monotonic() + self.seconds
        left = [subject for subject in self.subjects
                if any((number, subject.name) not in self.done for number in range(1, self.rounds + 1))]
        with contextlib.ExitStack() as stack:
            tools = stack.enter_context(Work(self.size))
            measure = build_measure(tools.prepared)
            works = {subject.name: stack.enter_context(Work(self.size)) for subject in left}
            self._rounds([subject for subject in left
                          if self._prepare(subject, works[subject.name], measure, tools)], works, measure)
        return self.records

    def _prepare(self, subject: Subject, work: Work, measure: Path, tools: Work) -> bool:
        try:
            subject.require()
            remark = subject.prepare(work, measure, system())
        except Missing as problem:
            tell(problem)
            return False
        except ProgramFailed as problem:
            tell(f"{subject.name} on the system's malloc: {problem}")
            return False
        if remark:
            tell(remark)
        for allocator in self.allocators:
            if self.failures.get((subject.name, allocator.name), 0) >= ENOUGH_FAILURES:
                continue
            try:
                with tools.trial() as folder:  # what a crash leaves there must not speak against the next
                    subject.prove(allocator, folder)
            except (Missing, ProgramFailed) as problem:
                self._fail(0, subject, allocator, problem, unproven=True)
        return True

    def _rounds(self, subjects: list[Subject], works: dict[str, Work], measure: Path) -> None:
        rng = random.Random(SEED)
        left = self.rounds * len(subjects) - len(self.done & {
            (number, subject.name) for number in range(1, self.rounds + 1) for subject in subjects})
        # A piece that goes on warms up what is the same for all: files and the program's own pages.
        warming = 1 if self.done else len(self.allocators)
        progress = Progress(left * len(self.allocators) + self.warm_ups * len(subjects) * warming)
        for number in range(1 - self.warm_ups, self.rounds + 1):
            turn = f"round {number}" if number >= 1 else "warm-up"
            for subject in subjects:
                order = rng.sample(self.allocators, len(self.allocators))
                if (number, subject.name) in self.done:
                    continue
                if time.monotonic() >= self.ends:
                    progress.end()
                    raise OutOfTime
                for allocator in order if number >= 1 else order[:warming]:
                    progress.show(f"{turn}: {subject.name} on {allocator.name}")
                    self._trial(number, subject, allocator, works[subject.name], measure)
                    progress.done += 1
        progress.end()

    def _trial(self, number: int, subject: Subject, allocator: Allocator, work: Work, measure: Path) -> None:
        if self.failures.get((subject.name, allocator.name), 0) >= ENOUGH_FAILURES:
            return
        try:
            figures = subject.trial(work, measure, allocator)
        except (Missing, ProgramFailed) as problem:
            self._fail(number, subject, allocator, problem)
        else:
            if number >= 1:
                self._keep(number, subject, allocator, figures)

    def _fail(self, number: int, subject: Subject, allocator: Allocator, problem: Exception,
              unproven: bool = False) -> None:
        tell(f"{subject.name} on {allocator.name}: {problem}")
        key = subject.name, allocator.name
        self.failures[key] = self.failures.get(key, 0) + (ENOUGH_FAILURES if unproven else 1)
        self._keep(number, subject, allocator, {"failed": str(problem), **({"unproven": True} if unproven else {})})

    def _keep(self, number: int, subject: Subject, allocator: Allocator, figures: dict) -> None:
        self.records.append({"round": number, "case": subject.name, "allocator": allocator.name, **figures})
        self.seen(self.records[-1])
