#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the share of instructions that each workload and program spends in the system's malloc and free, counted by
#    valgrind's callgrind and kept in suite/granary_results/malloc_share.json, where the report finds it.
# Invariant: instructions are counted once, at the outermost entry of the allocator; a compiled workload's start-up is
#    not in its share; entries of cases that were not measured now stay as they are.
# Must not know: what is done with the shares; any allocator but the system's.
"""Counts the share of instructions that is spent in malloc and free, on the system's malloc, and keeps it in
suite/granary_results/malloc_share.json."""

import argparse
import dataclasses
import datetime
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "suite"), str(HERE.parent / "test" / "programs")]
sys.dont_write_bytecode = True

from granary_results.results import one_line
from granary_results.shares import Share, load, save
from harness.allocators import Missing, system
from harness.launcher import Done, Launcher, ProgramFailed
from harness.program import Work
from profiles import PROFILES
from schedule import build_measure
from subjects import CompiledSubject, ProgramSubject, Subject
from workloads import all_subjects

# Smoke's sizes; the operations are what the system's malloc does, not under valgrind, in a moment.
PROFILE = dataclasses.replace(PROFILES["smoke"], seconds=0.05, programs=True, calibrated=True)

VALGRIND = ["valgrind", "--quiet", "--tool=callgrind", "--trace-children=yes", "--demangle=no", "--compress-strings=no"]
HANG_SECONDS = 1800  # a compiler takes minutes here

DAEMONS = ("mariadb", "memcached", "nginx", "redis")  # under valgrind their load would be another

# Of C and of C++; _mid_memalign is what the aligned ones share.
ENTRY = re.compile(r"(__libc_)?(malloc|calloc|c?free|realloc|reallocarray|memalign|p?valloc)"
                   r"|aligned_alloc|posix_memalign|malloc_usable_size|_mid_memalign.*|_Z(n[wa]|d[la])[jmP].*")


@dataclasses.dataclass(frozen=True)
class Count:
    """Instructions: all of them, and those in the allocator."""

    total: int = 0
    allocator: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.total + other.total, self.allocator + other.allocator)

    def __sub__(self, other: "Count") -> "Count":
        return Count(self.total - other.total, self.allocator - other.allocator)

    def share(self) -> float:
        return self.allocator / self.total


def count(profile: str) -> Count:
    """Of a file of callgrind's: what calls from outside into the allocator cost inclusively."""
    total = allocator = 0
    caller = callee = ""
    called = False
    for line in profile.splitlines():
        if called:
            if ENTRY.fullmatch(callee) and not ENTRY.fullmatch(caller):
                allocator += int(line.split()[-1])
            called = False
        elif line.startswith("fn="):
            caller = line[3:]
        elif line.startswith("cfn="):
            callee = line[4:]
        elif line.startswith("calls="):
            called = True
        elif line.startswith("totals:"):
            total += int(line.split()[1])
    return Count(total, allocator)


class CountingLauncher(Launcher):
    """Starts programs under callgrind; `counted` is the sum over all their processes."""

    def __init__(self, preload: Path | None, profiles: Path):
        super().__init__(preload, hang_seconds=HANG_SECONDS)
        self.profiles = profiles
        self.counted = Count()

    def run(self, argv, folder: Path, stdin: Path | None = None, extra: dict[str, str] | None = None) -> Done:
        done = super().run([*VALGRIND, f"--callgrind-out-file={self.profiles}/%p", *argv], folder, stdin, extra)
        for profile in self.profiles.iterdir():
            self.counted += count(profile.read_text(errors="replace"))
            profile.unlink()
        return done


def of_workload(subject: CompiledSubject, work: Work, measure: Path, profiles: Path) -> Share:
    """Twice as many operations cost what they do and no start-up."""
    subject.prepare(work, measure, system())
    once = counted_run(subject, work, profiles)
    words = [subject.binary.name, *subject.command()[1:]]
    subject.operations *= 2
    twice = counted_run(subject, work, profiles)
    return Share((twice - once).share(), " ".join(words), today())


def counted_run(subject: CompiledSubject, work: Work, profiles: Path) -> Count:
    launcher = CountingLauncher(system().library, profiles)
    with work.trial() as folder:
        launcher.run(subject.command(), folder)
    return launcher.counted


def of_program(subject: ProgramSubject, work: Work, profiles: Path) -> Share:
    """The whole run, as in the tests of programs."""
    launcher = CountingLauncher(system().preload_for(subject.program), profiles)
    subject.program.prepare(work)
    subject.program.run(work, launcher)
    return Share(launcher.counted.share(), "the whole run, at the size of test/programs", today())


def today() -> str:
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def measured(subject: Subject) -> Share:
    subject.require()
    with Work("test") as tools, Work("test") as work:
        profiles = tools.root / "profiles"
        profiles.mkdir()
        if isinstance(subject, CompiledSubject):
            return of_workload(subject, work, build_measure(tools.prepared), profiles)
        return of_program(subject, work, profiles)


def chosen_subjects(build: Path, only: list[str]) -> list[Subject]:
    """Each workload with its smallest number of threads, and each program but the daemons."""
    subjects: dict[str, Subject] = {}
    for subject in all_subjects(PROFILE, (1,), build / "bench" / "workloads"):
        if subject.label not in DAEMONS:
            subjects.setdefault(subject.label, subject)
    for name in only:
        if name not in subjects:
            raise Missing(f"{name}: no such workload or program")
    return [subject for name, subject in subjects.items() if not only or name in only]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", metavar="NAME", help="only these workloads and programs")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "release", help="the build folder")
    arguments = parser.parse_args()
    failed = 0
    try:
        if not shutil.which("valgrind"):
            raise Missing("valgrind is not installed; run: apt-get install valgrind")
        subjects = chosen_subjects(arguments.build, arguments.only)
    except Missing as problem:
        print(problem, file=sys.stderr)
        return 2
    for subject in subjects:
        try:
            share = measured(subject)
        except (Missing, ProgramFailed) as problem:
            print(f"{subject.label}: {one_line(problem)}", file=sys.stderr)
            failed = 1
            continue
        print(f"{subject.label:22} {share.share:6.1%}", flush=True)
        save({**load(), subject.label: share})
    return failed


if __name__ == "__main__":
    sys.exit(main())
