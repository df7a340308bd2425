# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a run that is measured in pieces: what of a stored piece stays, and what is left to measure.
# Invariant: a case's round is measured whole, all allocators one after the other, in one piece; all pieces have the
#    same cases, allocators and machine.
# Must not know: how a trial is run.
"""Going on with a stored run."""

import time
from collections import Counter
from pathlib import Path

from granary_results.results import Results
from schedule import ENOUGH_FAILURES

# Of the machine: what must be the same, for a reader is told of one.
SAME = ("cpu", "cpus", "memory_mib", "kernel", "libc", "transparent_huge_pages", "options")


SAVED_EVERY = 60  # seconds: so much of a run is lost with the machine


class Saved:
    """Adds records to the results, and keeps these in a file all along."""

    def __init__(self, results: Results, path: Path | None, every: float = SAVED_EVERY):
        self.results, self.path, self.every = results, path, every
        self.save()  # what cannot be written is told now

    def add(self, record: dict) -> None:
        self.results.trials.append(record)
        if time.monotonic() >= self.due:
            self.save()

    def save(self) -> None:
        if self.path:
            self.results.save(self.path)
        self.due = time.monotonic() + self.every


def go_on(stored: Results, planned: Results) -> Results:
    """The stored run without its broken rounds. Raises ValueError when it is not the planned one."""
    for what in ("profile", "suite", "cases"):
        if getattr(stored, what) != getattr(planned, what):
            raise ValueError(f"--resume: the stored run has other {what}; repeat the options of its first command")
    for fact in SAME:
        if stored.machine.get(fact) != planned.machine.get(fact):
            raise ValueError(f"--resume: the stored run has {fact} {stored.machine.get(fact)}, this machine "
                             f"{planned.machine.get(fact)}; start a new run in another file")
    if stored.names() != planned.names():
        raise ValueError(f"--resume: the stored run has the allocators {','.join(stored.names())}; "
                         "name these in --with")
    for there, here in zip(stored.allocators, planned.allocators):
        if there != here:
            raise ValueError(f"--resume: {here['name']} differs from the stored run's; "
                             "start a new run in another file")
    whole = whole_rounds(stored)
    stored.trials = [trial for trial in stored.trials
                     if (trial["round"], trial["case"]) in whole or trial["round"] < 1]
    return stored


def whole_rounds(results: Results) -> frozenset[tuple[int, str]]:
    """Round and case, where each allocator has its trial or is not asked any more."""
    failed = failures(results)
    seen: dict[tuple[int, str], set[str]] = {}
    for trial in results.trials:
        if trial["round"] > 0:
            seen.setdefault((trial["round"], trial["case"]), set()).add(trial["allocator"])
    return frozenset((number, case) for (number, case), names in seen.items()
                     if all(name in names or failed[case, name] >= ENOUGH_FAILURES for name in results.names()))


def failures(results: Results) -> Counter[tuple[str, str]]:
    """Of a case on an allocator, as the schedule counts them."""
    counted: Counter[tuple[str, str]] = Counter()
    for trial in results.trials:
        if "failed" in trial:
            counted[trial["case"], trial["allocator"]] += ENOUGH_FAILURES if trial.get("unproven") else 1
    return counted


def operations(results: Results) -> dict[str, int]:
    """Of a case, as they were fixed when it began."""
    return {trial["case"]: trial["operations"] for trial in results.trials if "operations" in trial}
