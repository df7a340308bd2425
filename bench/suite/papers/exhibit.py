# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the form in which a paper is kept: its tables and figures, the numbers that its text carries, and which of our
#    allocators stands for which of the paper's.
# Invariant: data only; what a paper's text does not say is not here.
# Must not know: how anything is measured or shown; any paper.
"""A paper as the bench knows it."""

from dataclasses import dataclass, field, replace

CPUS = 0  # among numbers of threads: as many as this machine has processors, for as many as the paper's had

# What of a trial a number is about.
TIME = "time"
THROUGHPUT = "throughput"
SOLVER_THROUGHPUT = "solver throughput"  # of large-live's last phase
MEMORY = "memory"

# What bench/fragmentation.py counts.
EXTERNAL = "external fragmentation"

# What is shown of an exhibit's cases, all allocators beside each other.
OVER_BASE = "throughput over the base's, with as many threads"
OVER_BASE_ALONE = "throughput over the base's with one thread"
OVER_ITSELF = "throughput over its own with one thread"
TIME_OVER_BASE = "time over the base's, with as many threads"
MEMORY_OVER_BASE = "peak resident memory over the base's"
SOLVER_OVER_BASE_ALONE = "solver throughput over the base's with one thread"
RUNS = "single runs over the base's median with one thread"  # throughput, as a box plot


@dataclass(frozen=True)
class Number:
    """A ratio: `top` over `bottom`, two of the paper's allocators. `theirs` is in the text or follows from two of its
    numbers; None: the text has only the shape of it. `theirs_at` says where, in the paper's words. Here it is measured in
    `cases`, workloads or programs of the catalogue, a workload with `threads`; the geometric mean of several. `alone`:
    the bottom has one thread."""

    cases: tuple[str, ...]
    what: str
    top: str
    bottom: str
    theirs: float | None
    theirs_at: str = ""
    threads: tuple[int, ...] = ()
    alone: bool = False


@dataclass(frozen=True)
class Exhibit:
    """A table or figure, or several that show the same of other machines, named with a comma between. It is measured by
    `cases`, or shown `elsewhere`, or it is said `why_not`; one of the three."""

    name: str
    title: str
    where: str
    says: str = ""
    cases: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    numbers: tuple[Number, ...] = ()
    elsewhere: str = ""
    counted: tuple[Number, ...] = ()  # of an exhibit elsewhere: what bench/fragmentation.py counts, in its cases
    why_not: str = ""
    variants: tuple[str, ...] = ()  # allocators with options that the exhibit shows, besides those of its numbers

    def names(self) -> list[str]:
        return self.name.split(", ")


@dataclass(frozen=True)
class Paper:
    """`base` is the paper's allocator that others are held against. `stands_for`: the paper's allocators to names as
    --with takes them; `stood_for`: the same of older runs, whose stand-in was another; `without`: those for which nobody
    stands, and why. `threads` are measured besides the profile's."""

    suite: str
    title: str
    source: str
    machine: str
    base: str
    stands_for: dict[str, str]
    exhibits: tuple[Exhibit, ...]
    without: dict[str, str]
    stood_for: dict[str, str] = field(default_factory=dict)
    threads: tuple[int, ...] = ()

    def of_run(self, measured: list[str]) -> "Paper":
        """As a run with these allocators shows it: with today's stand-ins, unless only the former was measured."""
        former = {theirs: ours for theirs, ours in self.stood_for.items()
                  if ours in measured and self.stands_for[theirs] not in measured}
        return replace(self, stands_for=self.stands_for | former)

    def allocators(self) -> list[str]:
        """Once each: two of the paper's may have the same stand-in."""
        return list(dict.fromkeys(self.stands_for.values()))
