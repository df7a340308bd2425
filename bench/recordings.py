# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what programs and workloads request: how many blocks of which size, and how many of them live at the peak.
# Invariant: of all processes that a subject starts one is kept, that which requested the most bytes; sizes are put
#    together only where no candidate has a boundary between them.
# Must not know: how a process counts (controls/requested.cpp), what is made of the counts.
"""Recordings of requests."""

import dataclasses
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from record import Record  # finds the suite's modules
from granary_results import stored
from harness.allocators import Missing, system
from harness.launcher import Launcher, ProgramFailed
from harness.program import Program, Work
from profiles import PROFILES
from subjects import CompiledSubject, ProgramSubject
from workloads import all_subjects

from class_table import KIB, Step, up
from everyday import EVERYDAY

PROFILE = dataclasses.replace(PROFILES["smoke"], seconds=0.5, programs=True)
THREADS = 2
SMALL, LARGE = 64, 64 * KIB  # steps of 8 bytes up to the one, of 16 up to the other


def programs() -> dict[str, Program]:
    """The bench's programs and servers, and the everyday ones."""
    subjects = all_subjects(PROFILE, (THREADS,), Path())
    of_bench = {subject.label: subject.program for subject in subjects if isinstance(subject, ProgramSubject)}
    return of_bench | EVERYDAY


def workloads(build: Path) -> dict[str, CompiledSubject]:
    """The bench's, but for the controls; the first number of threads of each."""
    subjects: dict[str, CompiledSubject] = {}
    for subject in all_subjects(PROFILE, (THREADS,), build / "bench" / "workloads"):
        if isinstance(subject, CompiledSubject) and subject.family != "controls":
            subjects.setdefault(subject.label, subject)
    return subjects


@dataclasses.dataclass(frozen=True)
class Recording:
    """`processes` told what they requested; `program` is the one that is kept."""

    program: str
    processes: int
    steps: list[Step]

    @classmethod
    def of(cls, reports: list[dict]) -> "Recording":
        most = max(reports, key=lambda report: report["total_bytes"])
        return cls(most["program"], len(reports), list(grouped(most["sizes"])))

    @classmethod
    def read(cls, fields: dict) -> "Recording":
        return cls(fields["program"], fields["processes"], [Step(*step) for step in fields["steps"]])

    def written(self) -> dict:
        return {"program": self.program, "processes": self.processes,
                "steps": [dataclasses.astuple(step) for step in self.steps]}

    def requests(self, largest: int | None = None) -> int:
        return sum(step.requests for step in self.steps if largest is None or step.size <= largest)


def grouped(sizes: Iterable[list[int]]) -> Iterable[Step]:
    """Of size, requests and live blocks at the peak."""
    groups: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for size, requests, live in sizes:
        last = up(max(size, 1), 8) if size <= SMALL else up(size, 16) if size <= LARGE else size
        for place, value in enumerate((requests, requests * size, live, live * size)):
            groups[last][place] += value
    return (Step(size, *groups[size]) for size in sorted(groups))


class Recorder:
    """Runs subjects on the system's malloc, with the library that counts before it."""

    def __init__(self, build: Path, work: Work):
        self.counter = build / "bench" / "controls" / "libgranary-requested.so"
        if not self.counter.is_file():
            raise Missing(f"{self.counter} does not exist; run: make bench")
        self.work = work
        self.folder = work.root / "requested"
        self.folder.mkdir()
        self.folder.chmod(0o777)  # for daemons that drop root

    def of_workload(self, subject: CompiledSubject) -> Recording:
        subject.require()
        with self.work.trial() as folder:
            self._launcher().run(subject.command(), folder)
        return self._reported()

    def of_program(self, program: Program) -> Recording:
        program.require()
        program.prepare(self.work)
        program.run(self.work, self._launcher(system().preload_for(program)))
        return self._reported()

    def _launcher(self, below: Path | None = None) -> Launcher:
        libraries = ":".join(map(str, filter(None, (self.counter, below))))
        return Launcher(None, {"LD_PRELOAD": libraries, "REQUESTED_FILE": f"{self.folder}/%p"})

    def _reported(self) -> Recording:
        reports = []
        for file in self.folder.iterdir():
            reports.append(json.loads(file.read_text()))
            file.unlink()
        if not reports:
            raise ProgramFailed("none of its processes reported its requests")
        return Recording.of(reports)


def read(path: Path, record: Record) -> dict[str, Recording]:
    """What an earlier run recorded, written to this one's record, too."""
    recordings = {}
    try:
        lines = stored.read(path).splitlines()
    except ValueError as problem:
        raise Missing(f"{path}: {problem}") from None
    for line in lines:
        try:
            fields = json.loads(line)
        except ValueError:
            raise Missing(f"{path}: a line is not JSON; name a file that size_classes.py --json wrote") from None
        if "recorded" in fields:
            recordings[fields["recorded"]] = Recording.read(fields)
            record.write(fields)
    if not recordings:
        raise Missing(f"{path}: no recordings; name a file that size_classes.py --json wrote")
    return recordings
