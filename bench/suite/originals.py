# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the papers' programs that are public, as a table: what each is called and told, which workload it replaces, how
#    often it allocates; and which of them a user has built in a folder.
# Invariant: data only. No code, no input and no recipe of these programs is part of the project; a count says who
#    counted it.
# Must not know: how a trial is run; which allocators there are.
"""Originals of the workloads that are written anew."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from harness.allocators import Missing

PAGE = "docs/papers/reproduction.md"


@dataclass(frozen=True)
class Job:
    """What the program is told. In `arguments` {threads} stands for a number, {folder} for the user's folder. `known`
    are numbers of allocations of this job, with those who counted them."""

    arguments: tuple[str, ...]
    known: dict[int, str] = field(default_factory=dict)

    def words(self, threads: int, folder: Path) -> list[str]:
        return [word.format(threads=threads, folder=folder) for word in self.arguments]

    def known_words(self) -> str:
        return ", ".join(f"{count:,} ({source})" for count, source in self.known.items())


@dataclass(frozen=True)
class Original:
    """`program` is the name of its file. It runs in place of the workload `replaces`, one `job` for each profile. The
    files `inputs` and `stdin` must lie beside it. `rate` finds the operations in a second in what it prints; without it
    the operation is the whole run. `probe` are arguments with which it does little, `most` its largest number of
    threads."""

    program: str
    replaces: str
    public: str
    jobs: dict[str, Job]
    probe: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    stdin: str = ""
    rate: re.Pattern | None = None
    most: int | None = None

    def is_in(self, folder: Path) -> bool:
        return (folder / self.program).is_file() and os.access(folder / self.program, os.X_OK)

    def absent_inputs(self, folder: Path) -> list[str]:
        return [name for name in (*self.inputs, *filter(None, [self.stdin])) if not (folder / name).is_file()]


def by_profile(smoke: Job, standard: Job, paper: Job | None = None) -> dict[str, Job]:
    return {"smoke": smoke, "standard": standard, "paper": paper or standard}


def larson(seconds: int) -> Job:
    """Blocks and rounds of Wasik's thesis, 6.2.4; Hoard has the same sizes, and 30 seconds."""
    return Job((str(seconds), "10", "100", "10000", "10", "4141", "{threads}"))


def writing(repetitions: int) -> Job:
    """1000 blocks of 8 bytes a thread, each written so often; all threads share the repetitions."""
    return Job(("{threads}", "1000", "8", str(repetitions), "{threads}"))


FACTORED = by_profile(
    Job(("1000000001930000000057",), {227_092: "Wasik's table 6.1, CFRAC-2"}),
    Job(("41757646344123832613190542166099121",), {10_890_124: "Wasik's table 6.1, CFRAC"}))
MINIMISED = Job(("{folder}/largest.espresso",), {1_675_521: "the source of today, not checked here",
                                                 1_675_492: "Wasik's table 6.1", 1_675_493: "Hoard's table 4"})
SIMULATED = Job(())

ORIGINALS = (
    Original("cfrac", "cfrac-like", "mimalloc-bench, folder bench/cfrac", FACTORED,
             probe=("1000000001930000000057",)),
    Original("espresso", "espresso-like", "mimalloc-bench, folder bench/espresso, whose main does the job twenty times",
             by_profile(MINIMISED, MINIMISED), probe=MINIMISED.arguments, inputs=("largest.espresso",)),
    Original("barnes", "barnes-hut", "mimalloc-bench, folder bench/barnes, whose file input is barnes.input here",
             by_profile(SIMULATED, SIMULATED), probe=(), stdin="barnes.input", most=1),
    Original("larson", "larson", "mimalloc-bench, folder bench/larson; Hoard, folder benchmarks/larson",
             by_profile(larson(1), larson(2), larson(30)), probe=("1", "10", "100", "10", "1", "1", "1"),
             rate=re.compile(r"Throughput = +(\d+) operations per second"), most=100),
    Original("cache-thrash", "active-false",
             "mimalloc-bench, folder bench/cache-thrash; Hoard, folder benchmarks/cache-thrash",
             by_profile(writing(10_000), writing(100_000), writing(1_000_000)), probe=("1", "1", "8", "1", "1")),
    Original("cache-scratch", "passive-false",
             "mimalloc-bench, folder bench/cache-scratch; Hoard, folder benchmarks/cache-scratch",
             by_profile(writing(10_000), writing(100_000), writing(1_000_000)), probe=("1", "1", "8", "1", "1")),
)


class Originals:
    """Those in a folder; `complete` with all their inputs, by the workload that each replaces."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.present = [original for original in ORIGINALS if original.is_in(folder)]
        if not self.present:
            names = ", ".join(original.program for original in ORIGINALS)
            raise Missing(f"--originals: no program in {folder} is called {names}; {PAGE} says where they are public")
        self.complete = {original.replaces: original for original in self.present
                         if not original.absent_inputs(folder)}

    def without_inputs(self) -> list[str]:
        """A line for each program that cannot run."""
        return [f"{original.program}: {self.folder / name} does not exist, so the bench's own {original.replaces} "
                f"runs; copy it from {original.public}"
                for original in self.present for name in original.absent_inputs(self.folder)]

    def told(self, workloads: set[str]) -> dict[str, str]:
        """By program, what a reader must know of those that replace one of these workloads."""
        return {original.program: self._told(original) for original in ORIGINALS if original.replaces in workloads}

    def _told(self, original: Original) -> str:
        if original.replaces in self.complete:
            return replacing(original, "its allocations were not counted")
        lacking = ", ".join(original.absent_inputs(self.folder)) if original in self.present else ""
        why = f"its input {lacking} is missing" if lacking else "missing"
        return f"{why}, so the bench's own {original.replaces} runs; public in {original.public}"


def replacing(original: Original, counted: str) -> str:
    return f"in place of {original.replaces}; {counted}"


def counted(job: Job, count: int) -> str:
    if count in job.known:
        return f"{count:,} allocations, as many as in {job.known[count]}"
    return f"{count:,} allocations, but known are {job.known_words()}"
