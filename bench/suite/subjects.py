# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what can be measured: a compiled workload with a number of threads, or a real program.
# Invariant: a trial is a fresh process; what it returns is a flat record of figures, `cost` is the time for an
#    operation, `cpu_cost` the CPU time for one, all threads' and the start's together: lower is better.
# Must not know: which allocators there are; how often it is run; what becomes of the records.
"""Subjects of measurement."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from harness import bindings
from harness.allocators import Allocator, Missing
from harness.launcher import Launcher, ProgramFailed
from harness.program import Program, Work

from profiles import Profile

# A trial that takes this many times what it should hangs.
PATIENCE = 40
PATIENCE_FLOOR_SECONDS = 60


@dataclass(frozen=True)
class Workload:
    """A compiled workload as the suite runs it. `sizes` are the arguments for each profile, behind `arguments`."""

    name: str
    family: str
    suites: tuple[str, ...]
    program: str
    summary: str
    arguments: tuple[str, ...] = ()
    sizes: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    threads: tuple[int, ...] | None = None  # None: the profile's
    sweeps: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)  # in a profile, instead of `threads`
    most: dict[str, int] = dataclasses.field(default_factory=dict)  # threads, where more of the profile's say nothing
    operations: dict[str, int] = dataclasses.field(default_factory=dict)  # fixed, where time cannot choose them


class CompiledSubject:
    """A workload with a number of threads."""

    def __init__(self, workload: Workload, threads: int, profile: Profile, folder: Path):
        self.workload = workload
        self.threads = threads
        self.profile = profile
        self.binary = folder / workload.program
        self.operations = workload.operations.get(profile.name)
        self.name = f"{workload.name}/{threads}"
        self.label = workload.name
        self.family = workload.family
        self.summary = workload.summary
        self.suites = workload.suites

    def in_profile(self, profile: Profile) -> bool:
        return True

    def require(self) -> None:
        if not self.binary.is_file():
            raise Missing(f"{self.name}: {self.binary} does not exist; run: make bench")

    def command(self) -> list[str]:
        amount = ["--ops", str(self.operations)] if self.operations else ["--seconds", str(self.profile.seconds)]
        own = [*self.workload.arguments, *self.workload.sizes.get(self.profile.name, ())]
        return [str(self.binary), "--threads", str(self.threads), *amount, *own]

    def fix_operations(self, known: int | None) -> None:
        """Those of an earlier piece of the run, if there are any."""
        if self.profile.calibrated and known:
            self.operations = known

    def prepare(self, work: Work, measure: Path, system: Allocator) -> None:
        """Fixes the operations, once, as what the system's malloc does in the profile's time."""
        if self.operations is None and self.profile.calibrated:
            self.operations = max(1, self.trial(work, measure, system)["operations"])

    def prove(self, allocator: Allocator, folder: Path) -> None:
        described = Program(self.name, self.summary, {}, lambda: [str(self.binary), "--help"], self._not_run)
        bindings.check(described, allocator, folder)

    @staticmethod
    def _not_run(*_):
        raise AssertionError("a compiled workload is run by trial()")

    def trial(self, work: Work, measure: Path, allocator: Allocator) -> dict:
        launcher = Launcher(allocator.library, allocator.environment, measure,
                            hang_seconds=PATIENCE_FLOOR_SECONDS + PATIENCE * self.profile.seconds)
        with work.trial() as folder:
            done = launcher.run(self.command(), folder)
        try:
            report = json.loads(done.output)
            cost = 1 / (report["operations"] / report["seconds"])
            cpu_cost = done.usage.cpu_seconds / report["operations"]
        except (ValueError, TypeError, LookupError, ZeroDivisionError):
            raise ProgramFailed(f"{self.name}: no report that can be read, only {done.output[:200]!r}") from None
        own = {key: value for key, value in report.items() if key not in ("workload", "peak_kib", "seconds", "seed")}
        # The launcher knows only the largest of several processes.
        memory = {"peak_kib": report["processes_peak_kib"]} if "processes_peak_kib" in report else {}
        return {**dataclasses.asdict(done.usage), **own, **memory, "cost": cost, "cpu_cost": cpu_cost}


class ProgramSubject:
    """A real program or a server under load; its operation is the whole run."""

    threads = None

    def __init__(self, program: Program, family: str, suites: tuple[str, ...]):
        self.program = program
        self.name = self.label = program.name
        self.family = family
        self.summary = program.summary
        self.suites = suites

    def in_profile(self, profile: Profile) -> bool:
        return profile.programs

    def fix_operations(self, known: int | None) -> None:
        """The whole run is one."""

    def require(self) -> None:
        self.program.require()

    def prepare(self, work: Work, measure: Path, system: Allocator) -> None:
        self.program.prepare(work)

    def prove(self, allocator: Allocator, folder: Path) -> None:
        bindings.check(self.program, allocator, folder)

    def trial(self, work: Work, measure: Path, allocator: Allocator) -> dict:
        launcher = Launcher(allocator.preload_for(self.program), allocator.environment, measure)
        usage = self.program.run(work, launcher).usage
        return {**dataclasses.asdict(usage), "cost": usage.seconds, "cpu_cost": usage.cpu_seconds}


Subject = CompiledSubject | ProgramSubject
