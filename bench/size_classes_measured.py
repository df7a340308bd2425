# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: how much memory do programs need with other size classes and superblocks, and what do those leave
#    to the slow paths? Measured with the library built so, once for each candidate.
# Invariant: libraries take turns in an order that is drawn each time; today's is there twice, so that one sees what a
#    difference of nothing looks like. Only reports, never judges.
# Must not know: how a library is built (candidates.py).
"""Usage: size_classes_measured.py [--build build/release] [--only NAME,...] [--candidates NAME,...] [--rounds 3]
                                [--libraries FOLDER] [--events] [--json FILE]

--libraries FOLDER: keeps the libraries in FOLDER and does not build existing ones again. --events: counts slow paths
instead of measuring memory. After an interrupt the results so far are shown.
docs/design/size-classes.md defines what is printed."""

import argparse
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from record import Record, environment, print_table  # finds the suite's modules
from granary_results.results import one_line
from harness import bindings
from harness.allocators import Allocator, Missing
from harness.launcher import Launcher, ProgramFailed
from harness.program import Outcome, Program, Work
from places import ROOT
from schedule import build_measure

import candidates
from class_table import KIB, ClassTable, Constants, chosen, ends, variants
from fragmentation import CASES
from recordings import programs

TODAY = "today"
AGAIN = "today again"
SEED = 11
ONE_THREAD = ("gcbench", "cfrac-like", "espresso-like", "sh6bench-like", "fragmentation")  # the same events each time
EVENTS = ("refills", "flushes", "locks", "page_heap_locks", "system_calls")
FAST_PATH = ROOT / "test" / "disassembly" / "fast_path.py"

# By name, then by candidate.
Peaks = dict[str, dict[str, float]]


def buildable() -> dict[str, Constants]:
    """Blocks of 8 bytes would be another fast path; and what has today's table is today's."""
    every = variants(Constants.of(ROOT / "src"))
    today = ClassTable(every[TODAY]).shapes()
    return {name: constants for name, constants in every.items()
            if name == TODAY or (not constants.smallest and ClassTable(constants).shapes() != today)}


def build_all(names: list[str], folder: Path, counting: bool) -> dict[str, Path]:
    """Today's first and, as another file, last."""
    constants = {name: value for name, value in buildable().items() if name == TODAY or name in (names or buildable())}
    libraries = {}
    for name, value in [*constants.items(), (AGAIN, constants[TODAY])]:
        place = folder / (re.sub(r"\W+", "-", name) + ("-counting" if counting else ""))  # the loader splits at spaces
        libraries[name] = place / "libgranary.so"
        if not libraries[name].is_file():
            candidates.build(value, place, counting)
    return libraries


def not_run(*_: object) -> Outcome:
    raise AssertionError("a probe has no run")


class Runner:
    """Runs programs, and workloads as fragmentation.py does."""

    def __init__(self, build: Path, work: Work):
        self.workloads = build / "bench" / "workloads"
        self.work = work
        self.measure = build_measure(work.root)

    def command(self, case: str) -> list[str]:
        program, *words = CASES[case].split()
        return [str(self.workloads / program), *words]

    def prove(self, libraries: dict[str, Path]) -> None:
        """That each serves a program's malloc."""
        probe = Program(ONE_THREAD[0], "", {}, lambda: [*self.command(ONE_THREAD[0])[:1], "--help"], not_run)
        for candidate, library in libraries.items():
            bindings.check(probe, Allocator(candidate, library), self.work.root)

    def prepare(self, name: str) -> None:
        if name not in CASES:
            programs()[name].require()
            programs()[name].prepare(self.work)

    def peak_kib(self, name: str, library: Path) -> int:
        launcher = Launcher(library, {}, self.measure)
        if name not in CASES:
            return programs()[name].run(self.work, launcher).usage.peak_kib
        with self.work.trial() as folder:
            return launcher.run(self.command(name), folder).usage.peak_kib

    def events(self, case: str, library: Path) -> dict[str, int]:
        """With a library that counts them."""
        done = subprocess.run(self.command(case), capture_output=True, text=True, timeout=600,
                              env=environment(library, {"GRANARY_STATS": "json"}))
        if done.returncode != 0:
            raise ProgramFailed(f"{case}: exit code {done.returncode}")
        told = json.loads(done.stderr)
        return {event: told[event] for event in EVENTS}


def measure_peaks(runner: Runner, names: list[str], libraries: dict[str, Path], rounds: int, record: Record) -> Peaks:
    """Medians; of what was measured before an interruption."""
    draw = random.Random(SEED)
    peaks: Peaks = {}
    for name in names:
        values: dict[str, list[int]] = defaultdict(list)
        try:
            runner.prepare(name)
            for _ in range(rounds):
                for candidate in draw.sample(list(libraries), len(libraries)):
                    values[candidate].append(runner.peak_kib(name, libraries[candidate]))
        except (Missing, ProgramFailed) as problem:
            say(f"{name}: {one_line(problem)}")
            continue
        except KeyboardInterrupt:
            say(f"interrupted in {name}")
            break
        record.write({"measured": name, "peak_kib": values})
        peaks[name] = {candidate: statistics.median(values[candidate]) for candidate in libraries}
    return peaks


def print_peaks(kind: str, peaks: Peaks, libraries: dict[str, Path]) -> None:
    rows = []
    for candidate in libraries:
        ratios = {name: of_name[candidate] / of_name[TODAY] for name, of_name in peaks.items()}
        rows.append([candidate, f"{statistics.geometric_mean(ratios.values()):.3f}", *ends(ratios)])
    print(f"\nPeak resident memory over today's, {len(peaks)} {kind}")
    print_table(["", "geometric mean", "least", "most"], rows)
    print(f"\nPeak resident memory of {kind}, MiB")
    print_table(["", *libraries], [[name, *(f"{of_name[candidate] / KIB:.2f}" for candidate in libraries)]
                                   for name, of_name in peaks.items()])


def fast_path_instructions(library: Path) -> str:
    """Of malloc and free together, as the test of the disassembly counts them."""
    told = subprocess.run([sys.executable, "-B", FAST_PATH, library], capture_output=True, text=True).stdout
    found = re.search(r"malloc and free: (\d+) instructions", told)
    if found is None:
        raise Missing(f"{FAST_PATH.name} finds no fast path in {library}")
    return found[1]


def print_events(runner: Runner, cases: list[str], libraries: dict[str, Path], record: Record) -> None:
    rows = []
    for candidate, library in libraries.items():
        total = dict.fromkeys(EVENTS, 0)
        for case in cases:
            events = runner.events(case, library)
            record.write({"counted": case, "candidate": candidate, **events})
            total = {event: total[event] + events[event] for event in EVENTS}
        rows.append([candidate, fast_path_instructions(library), *(f"{total[event]:,}" for event in EVENTS)])
    print(f"\nInstructions of malloc's and free's fast paths, and what is left to the slow ones in {', '.join(cases)}")
    print_table(["", "instructions", *EVENTS], rows)


def say(text: str) -> None:
    print(f"size_classes_measured: {text}", file=sys.stderr)


def run(options: argparse.Namespace) -> None:
    known = list(ONE_THREAD) if options.events else [*programs(), *CASES]
    names = chosen(options.only, known, "workload" if options.events else "program or workload") or known
    wanted = chosen(options.candidates, buildable(), "candidate")
    record = Record(options.json)
    with Work("test") as work, tempfile.TemporaryDirectory() as folder:
        runner = Runner(options.build.resolve(), work)
        libraries = build_all(wanted, options.libraries or Path(folder), options.events)
        runner.prove(libraries)
        if options.events:
            print_events(runner, names, libraries, record)
            return
        peaks = measure_peaks(runner, names, libraries, options.rounds, record)
        of_workloads = {name: of_name for name, of_name in peaks.items() if name in CASES}
        of_programs = {name: of_name for name, of_name in peaks.items() if name not in CASES}
        for kind, group in (("programs", of_programs), ("workloads", of_workloads)):
            if group:
                print_peaks(kind, group, libraries)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--only", default="", metavar="NAME,...", help="only these programs and workloads")
    parser.add_argument("--candidates", default="", metavar="NAME,...",
                        help="candidates to measure (default: all that can be built)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--libraries", type=Path, metavar="FOLDER")
    parser.add_argument("--events", action="store_true")
    parser.add_argument("--json", type=Path, help="write every value to FILE")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run(options)
    except (Missing, ProgramFailed, OSError) as problem:
        say(one_line(problem))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
