# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: how much more memory than a program requests does an allocator take? Fragmentation as Hoard
#    (section 5.4, table 4) and Wasik (7.2) measure it, from within; resident and virtual memory (Wasik 7.3),
#    from without.
# Invariant: the same operations on every allocator; what is counted and what is measured from without are different
#    runs, so that counting costs no allocator memory. Only reports, never judges.
# Must not know: how an allocator is asked; controls/held.cpp does.
"""Usage: fragmentation.py [--build build/release] [--with A,B] [--only CASE,CASE] [--originals DIR] [--rounds 3]
                        [--json FILE]

docs/results/fragmentation.md defines what is printed."""

import argparse
import json
import shlex
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from record import Record, print_table  # finds the suite's modules
from catalogue import scripts
from harness.allocators import Allocator, Missing, shared_library
from harness.launcher import Launcher, ProgramFailed, Usage
from harness.program import INPUTS
from originals import Originals
from peers import LAB, Peers
from places import ROOT
from profiles import STANDARD
from schedule import build_measure

# Where a paper tells it, as many live bytes as there.
CASES = {
    "threadtest": "threadtest --threads 8 --ops 2000000",
    "shbench": "shbench --threads 8 --ops 1000000",
    "larson": "larson --threads 8 --blocks 20000 --ops 2000000",
    "large-live": "large-live --threads 2 --ops 1",
    "barnes-hut": "barnes-hut --threads 2 --ops 2",
    "recycle": "recycle --threads 4 --ops 2000000",
    "consume": "consume --threads 4 --ops 2000000",
    "mt-gcbench": "mt-gcbench --threads 2 --ops 2",
    "producer-consumer": "producer-consumer --threads 2 --ops 200000",
    "thread-churn": "thread-churn --threads 8 --ops 2000",
    "free-only": "free-only --threads 2 --ops 200000",
    "sh6bench-like": "sh6bench-like --ops 2500",
    "gcbench": "gcbench --ops 1",
    "cfrac-like": "cfrac-like --ops 10",
    "espresso-like": "espresso-like --ops 5",
    "ghostscript": "/usr/bin/gs -q -sDEVICE=png16m -r75 -o /dev/null -c '/Pages 6 def' -f {inputs}/job.ps",
    "roboop-like": "roboop-like --ops 20000",
    "hypercube-like": "hypercube-like --ops 200000",
    "burst-idle": "burst-idle --mib 64 --ops 1",
    "burst-idle-older": "burst-idle --mib 64 --survivors older --ops 1",
    "huge-realloc": "huge-realloc --threads 1 --ops 100",
    "fragmentation": "fragmentation --mib 32 --phases 100 --ops 1",
}
# Of Wasik's figures 7.10 to 7.12, which run where they are named: the thesis' programs, and its short forms of two
# workloads (7.2.2) with one, two and four threads or consumers.
THREADS_OF_FIGURES = (1, 2, 4)
OBJECTS_OF_RECYCLE = 100_000
BLOCKS_OF_CONSUME, ROUNDS_OF_CONSUME = 600, 500
OF_FIGURES = {
    "gcc": "/usr/bin/g++ -std=c++20 -O1 -DINSTANTIATIONS=1 -S -o /dev/null {inputs}/large.cpp",
    "gawk": "/usr/bin/gawk -v width=64 -v indent=6 -f {inputs}/paragraphs.awk",
    **{f"recycle-{number}": f"recycle --threads {number} --ops {OBJECTS_OF_RECYCLE}" for number in THREADS_OF_FIGURES},
    **{f"consume-{number}": f"consume --threads {number + 1} --blocks {BLOCKS_OF_CONSUME} "
                            f"--ops {ROUNDS_OF_CONSUME * BLOCKS_OF_CONSUME * number}" for number in THREADS_OF_FIGURES},
}
INPUTS_OF = {"gawk": scripts.text}  # on standard input
ALONE = 1  # thread, of an original
MIB = 1 << 20
LARGE = 4 * MIB  # below it, what a process has anyway is most of its memory
NOTHING = "-"
EXTERNAL = "external fragmentation"


@dataclass(frozen=True)
class Counted:
    """What the library between program and allocator counted; `held` is None where the allocator cannot be asked."""

    requests: int
    total: int
    requested: int
    usable: int
    held: int | None
    asked: str

    def external(self) -> float:
        return ((self.held or 0) - self.usable) / self.requested

    @classmethod
    def of(cls, report: dict) -> "Counted":
        held = report["held_peak"] if report["asked"] else None
        return cls(report["requests"], report["total_bytes"], report["requested_peak"], report["usable_peak"], held,
                   report["asked"])


class Bench:
    """Runs cases on allocators."""

    def __init__(self, build: Path, measure: Path, folder: Path, originals: Originals | None):
        self.workloads = build / "bench" / "workloads"
        self.counter = build / "bench" / "controls" / "libgranary-requested.so"
        if not self.counter.is_file():
            raise Missing(f"{self.counter} does not exist; run: make bench")
        self.measure = measure
        self.folder = folder
        # What a clock ends does not request the same again.
        self.originals = {case: original for case, original in (originals.complete if originals else {}).items()
                          if original.rate is None}
        self.inputs = originals.folder if originals else Path()

    def command(self, case: str) -> list[str]:
        if original := self.originals.get(case):
            return [str(self.inputs / original.program), *original.jobs[STANDARD].words(ALONE, self.inputs)]
        program, *words = shlex.split((CASES | OF_FIGURES)[case].format(inputs=INPUTS))
        return [str(self.workloads / program), *words]  # which an absolute path is not in

    def input(self, case: str) -> Path | None:
        if lines := INPUTS_OF.get(case):
            made = self.folder / f"{case}.input"
            if not made.is_file():
                made.write_text("\n".join(lines()) + "\n")
            return made
        original = self.originals.get(case)
        return self.inputs / original.stdin if original and original.stdin else None

    def words(self, case: str) -> str:
        """The command without the places of this machine."""
        if original := self.originals.get(case):
            return " ".join([original.program, *original.jobs[STANDARD].words(ALONE, Path())])
        return (CASES | OF_FIGURES)[case]

    def has(self, case: str) -> bool:
        return Path(self.command(case)[0]).is_file()

    def count(self, case: str, allocator: Allocator) -> Counted:
        """Of several processes the one that requests most often."""
        for old in self.folder.glob("requested.*"):
            old.unlink()
        # The operators of libstdc++ call malloc; an allocator's own would not be counted. The originals are in C, and
        # would be counted with what libstdc++ requests when it is loaded.
        operators = [] if case in self.originals else [shared_library("libstdc++.so.6")]
        libraries = [self.counter, *operators, *filter(None, [allocator.library])]
        extra = {"LD_PRELOAD": ":".join(map(str, libraries)), "REQUESTED_FILE": str(self.folder / "requested.%p")}
        Launcher(None, allocator.environment | extra).run(self.command(case), self.folder, self.input(case))
        reports = [json.loads(report.read_text()) for report in self.folder.glob("requested.*")]
        if not reports:
            raise ProgramFailed(f"{case}: no process of it reported its requests")
        return Counted.of(max(reports, key=lambda report: report["requests"]))

    def use(self, case: str, allocator: Allocator) -> Usage:
        return Launcher(allocator.library, allocator.environment, self.measure).run(
            self.command(case), self.folder, self.input(case)).usage


@dataclass
class Result:
    """One case on one allocator."""

    counted: Counted
    usages: list[Usage]

    def resident(self) -> float:
        return statistics.median(usage.peak_kib for usage in self.usages) * 1024

    def virtual(self) -> int:
        return max(usage.peak_virtual_kib for usage in self.usages) * 1024


Results = dict[tuple[str, str], Result]  # by case and allocator


def collect(bench: Bench, cases: list[str], allocators: list[Allocator], rounds: int, record: Record) -> Results:
    results = {}
    for case in cases:
        if not bench.has(case):
            print(f"{case}: {bench.command(case)[0]} does not exist; the case is left out", file=sys.stderr)
            continue
        for allocator in allocators:
            print(f"\r\033[K{case} on {allocator.name}", end="", file=sys.stderr, flush=True)
            try:
                result = Result(bench.count(case, allocator), [bench.use(case, allocator) for _ in range(rounds)])
            except (ProgramFailed, OSError, ValueError, LookupError) as problem:
                print(f"\r\033[K{case} on {allocator.name}: {problem}", file=sys.stderr)
                continue
            results[case, allocator.name] = result
            record.write({"case": case, "command": bench.words(case), "allocator": allocator.name,
                          "counted": vars(result.counted), "usage": [vars(usage) for usage in result.usages]})
    print("\r\033[K", end="", file=sys.stderr)
    return results


def print_hoard(results: Results, cases: list[str], name: str) -> None:
    """Hoard's table 4, A/U - 1 parted into Wasik's internal and external fragmentation."""
    rows = []
    for case in cases:
        counted = results[case, name].counted if (case, name) in results else None
        if counted is None or counted.held is None:
            continue
        u = counted.requested
        rows.append([case, f"{counted.held / u:.2f}", f"{counted.usable / u - 1:.2f}",
                     f"{counted.external():.2f}", f"{u:,}", f"{counted.held:,}",
                     f"{counted.total:,}", f"{counted.requests:,}", f"{counted.total / counted.requests:.1f}"])
    print(f"\n{name}: fragmentation and what the program requests (as Hoard's table 4; bytes)")
    print_table(["", "A/U", "internal", "external", "in use at most (U)", "held at most (A)", "requested in all",
                 "requests", "mean size"], rows)


def print_matrix(title: str, results: Results, cases: list[str], names: list[str],
                 value: Callable[[str, Result], float], digits: int, mean_of: list[str]) -> None:
    """A value for each case and allocator, and the geometric mean of those cases that are to have one."""
    def cells(case: str) -> list[str]:
        return [f"{value(case, results[case, name]):.{digits}f}" if (case, name) in results else NOTHING
                for name in names]

    def mean(name: str) -> str:
        if any((case, name) not in results for case in mean_of):
            return NOTHING
        return f"{statistics.geometric_mean(value(case, results[case, name]) for case in mean_of):.{digits}f}"

    rows = [[case, *cells(case)] for case in cases]
    if mean_of:
        rows.append([f"mean, U > {LARGE // MIB} MiB", *map(mean, names)])
    print(f"\n{title}")
    print_table(["", *names], rows)


def print_all(results: Results, cases: list[str], names: list[str]) -> None:
    def program_requests(case: str) -> int:
        return results[case, names[0]].counted.requested

    asked = {name: result.counted.asked for (_, name), result in results.items() if result.counted.asked}
    telling = list(asked)
    measured = [case for case in cases if (case, names[0]) in results]
    large = [case for case in measured if program_requests(case) > LARGE]
    for name in telling[:1]:
        print_hoard(results, cases, name)
    print_matrix("A/U, of those that can be asked: " + "; ".join(f"{name}: {what}" for name, what in asked.items()),
                 results, measured, telling, lambda _, result: (result.counted.held or 0) / result.counted.requested,
                 2, large)
    print_matrix(f"{EXTERNAL}: held beyond the room in blocks, over requested bytes, all at most; headers are in it",
                 results, measured, telling, lambda _, result: result.counted.external(), 3, [])
    print_matrix("room in blocks over requested bytes, both at most (internal fragmentation, plus 1; headers apart)",
                 results, measured, names, lambda _, result: result.counted.usable / result.counted.requested, 3, large)
    print_matrix(f"peak resident memory over U as counted on {names[0]}", results, measured, names,
                 lambda case, result: result.resident() / program_requests(case), 2, large)
    print_matrix("peak virtual memory, MiB", results, measured, names,
                 lambda _, result: result.virtual() / MIB, 0, [])


def chosen(words: str, known: list[str], what: str, unasked: list[str] | None = None) -> list[str]:
    """Those that are named, else `unasked` or all."""
    names = [word for word in words.split(",") if word] or unasked or known
    for name in names:
        if name not in known and not name.startswith(LAB):
            raise Missing(f"{name}: no such {what}; choose from {', '.join(known)}")
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--peers", type=Path, default=ROOT / "build" / "peers" / "peers.json")
    parser.add_argument("--with", dest="allocators", default="", metavar="A,B",
                        help="default: all that are built, except those of the lab")
    parser.add_argument("--only", default="", metavar="CASE,CASE")
    parser.add_argument("--originals", type=Path, metavar="DIR",
                        help="as of granary bench: programs in place of the cases written after them")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the measurements from outside")
    parser.add_argument("--json", type=Path, help="write every value to FILE")
    options = parser.parse_args()
    peers = Peers(options.build.resolve(), options.peers)
    try:
        names = chosen(options.allocators, peers.names(), "allocator")
        cases = chosen(options.only, [*CASES, *OF_FIGURES], "case", list(CASES))
        allocators = [peers.get(name) for name in names]
        originals = Originals(options.originals.resolve()) if options.originals else None
        for line in originals.without_inputs() if originals else ():
            print(line, file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            measure = build_measure(Path(folder))
            bench = Bench(options.build.resolve(), measure, Path(folder), originals)
            for case in cases:
                if case in bench.originals:
                    print(f"{case}: {bench.words(case)}, the paper's own program")
            results = collect(bench, cases, allocators, options.rounds, Record(options.json))
    except Missing as problem:
        print(f"fragmentation: {problem}", file=sys.stderr)
        return 2
    print_all(results, cases, names)
    return 0 if len(results) == len(cases) * len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
