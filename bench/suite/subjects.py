# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what can be measured: a compiled workload with a number of threads, its original, or a real program.
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

from originals import Original, counted, replacing
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


def prove(name: str, probe: list[str], allocator: Allocator, folder: Path) -> None:
    """Raises ProgramFailed unless the malloc of this command is the allocator's."""
    def not_run(*_):
        raise AssertionError("what is only probed is run by trial()")

    bindings.check(Program(name, "", {}, lambda: probe, not_run), allocator, folder)


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
        prove(self.name, [str(self.binary), "--help"], allocator, folder)

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


class OriginalSubject:
    """A paper's own program in place of a workload with a number of threads, which has its label, family and papers."""

    def __init__(self, original: Original, replaced: CompiledSubject, folder: Path, counter: Path):
        """`counter` is the library that counts requests. `told` is for the reader of the results."""
        self.original = original
        self.job = original.jobs[replaced.profile.name]
        self.folder = folder
        self.counter = counter
        self.threads = replaced.threads
        self.name = f"{original.program}-original/{self.threads}"
        self.label = replaced.label
        self.family = replaced.family
        self.summary = f"the paper's own program {original.program}: {replaced.summary}"
        self.suites = replaced.suites
        self.told = ""

    def in_profile(self, profile: Profile) -> bool:
        return True

    def fix_operations(self, known: int | None) -> None:
        """Its arguments fix them, or the clock does."""

    def require(self) -> None:
        if self.original.most and self.threads > self.original.most:
            raise Missing(f"{self.name}: left out; threads that {self.original.program} can have: {self.original.most}")
        if self.job.known and not self.counter.is_file():
            raise Missing(f"{self.name}: {self.counter} does not exist; run: make bench")

    def command(self) -> list[str]:
        return [str(self.folder / self.original.program), *self.job.words(self.threads, self.folder)]

    def input(self) -> Path | None:
        return self.folder / self.original.stdin if self.original.stdin else None

    def prepare(self, work: Work, measure: Path, system: Allocator) -> str | None:
        """Counts its allocations, in a run of its own; what it says is no reason not to measure."""
        if not self.job.known:
            self.told = replacing(self.original, "no count of its allocations is known")
            return None
        try:
            count = self._requests(work)
        except ProgramFailed:
            self.told = replacing(self.original, "it fails on the system's malloc")
            raise
        said = counted(self.job, count)
        self.told = replacing(self.original, said)
        if count in self.job.known:
            return None
        return (f"{self.name}: {said}: {self.folder / self.original.program} is another version or has another input; "
                f"compare it with {self.original.public}")

    def _requests(self, work: Work) -> int:
        with work.trial() as folder:
            report = folder / "requested.json"
            extra = {"LD_PRELOAD": str(self.counter), "REQUESTED_FILE": str(report)}
            Launcher(None, extra).run(self.command(), folder, self.input())
            if not report.is_file():
                raise ProgramFailed(f"{self.original.program} reported no requests; is it linked statically?")
            return json.loads(report.read_text())["requests"]

    def prove(self, allocator: Allocator, folder: Path) -> None:
        probe = [str(self.folder / self.original.program),
                 *(word.format(folder=self.folder) for word in self.original.probe)]
        if self.original.stdin:
            probe = ["/bin/sh", "-c", 'input=$1; shift; exec "$@" < "$input"', "sh", str(self.input()), *probe]
        prove(self.name, probe, allocator, folder)

    def trial(self, work: Work, measure: Path, allocator: Allocator) -> dict:
        launcher = Launcher(allocator.library, allocator.environment, measure)
        with work.trial() as folder:
            done = launcher.run(self.command(), folder, self.input())
        if self.original.rate is None:
            return {**dataclasses.asdict(done.usage), "cost": done.usage.seconds, "cpu_cost": done.usage.cpu_seconds}
        found = self.original.rate.search(done.output)
        if not found or not int(found[1]):
            raise ProgramFailed(f"{self.name}: no rate that can be read, only {done.output[:200]!r}")
        # How many operations there were it does not say, so none has a CPU time.
        return {**dataclasses.asdict(done.usage), "cost": 1 / int(found[1])}


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


Subject = CompiledSubject | OriginalSubject | ProgramSubject
