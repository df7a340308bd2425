# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: which sizes do programs request, and what would other size classes and superblocks make of them?
#    Computed from recordings, for every candidate.
# Invariant: only reports, never judges.
# Must not know: how requests are recorded (recordings.py); what a table costs in truth (size_classes_measured.py).
"""Usage: size_classes.py [--build build/release] [--only NAME,...] [--recordings FILE] [--json FILE]

--recordings FILE: uses the recordings that an earlier run wrote with --json.
docs/design/size-classes.md defines what is printed."""

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from record import Record, print_table  # finds the suite's modules
from granary_results.results import one_line
from harness.allocators import Missing
from harness.launcher import ProgramFailed
from harness.program import Work
from places import ROOT

import recordings
from class_table import ClassTable, Constants, Cost, chosen, ends, variants
from recordings import Recorder, Recording, programs, workloads

TODAY = "today"

Recordings = dict[str, Recording]


def record_all(build: Path, only: list[str], record: Record) -> Recordings:
    of_programs, of_workloads = programs(), workloads(build)
    recorded = {}
    with Work("test") as work:
        recorder = Recorder(build, work)
        for name in only or [*of_programs, *of_workloads]:
            try:
                recorded[name] = (recorder.of_program(of_programs[name]) if name in of_programs
                                  else recorder.of_workload(of_workloads[name]))
            except (Missing, ProgramFailed) as problem:
                say(f"{name}: {one_line(problem)}")
                continue
            record.write({"recorded": name, **recorded[name].written()})
    return recorded


def print_recordings(recorded: Recordings, today: ClassTable) -> None:
    rows = []
    for name, recording in recorded.items():
        cost = today.cost(recording.steps)
        requests = recording.requests()
        beyond = requests - recording.requests(today.constants.fine_limit)
        tiny = sum(step.live_bytes for step in recording.steps if step.size <= 8)
        rows.append([name, recording.program, f"{requests:,}", f"{recording.requests(64) / requests:.0%}",
                     f"{beyond / requests:.1%}", f"{cost.requested:,}", part(tiny, cost.requested), cost.classes,
                     f"{cost.by_request:.1%}", part(cost.rounded - cost.requested, cost.requested),
                     f"{cost.touched / cost.requested:.2f}", f"{cost.held / cost.requested:.2f}"])
    print("Requests of each, and their cost with today's size classes")
    print_table(["", "process", "requests", "to 64", "beyond fine", "live bytes", "of them to 8", "classes",
                 "waste by request", "at the peak", "touched", "held"], rows)


def part(amount: int, whole: int) -> str:
    return f"{amount / max(1, whole):.1%}"


def print_computed(kind: str, recorded: Recordings, tables: dict[str, ClassTable]) -> None:
    base = {name: tables[TODAY].cost(recording.steps) for name, recording in recorded.items()}
    rows = []
    for candidate, table in tables.items():
        costs = {name: table.cost(recording.steps) for name, recording in recorded.items()}
        touched = {name: cost.touched / base[name].touched for name, cost in costs.items()}
        held = [cost.held / base[name].held for name, cost in costs.items()]
        rows.append([candidate, len(table.sizes), f"{mean(costs, lambda cost: cost.classes):.1f}",
                     f"{mean(costs, lambda cost: cost.by_request):.1%}",
                     f"{mean(costs, lambda cost: cost.rounded / cost.requested - 1):.1%}",
                     f"{statistics.geometric_mean(touched.values()):.3f}", *ends(touched),
                     f"{statistics.geometric_mean(held):.3f}"])
    print(f"\nComputed for {len(recorded)} {kind}, each with the same weight; touched and held: over today's")
    print_table(["", "classes", "in use", "waste by request", "at the peak", "touched", "least", "most", "held"], rows)


def mean(costs: dict[str, Cost], value: Callable[[Cost], float]) -> float:
    return statistics.fmean(map(value, costs.values()))


def say(text: str) -> None:
    print(f"size_classes: {text}", file=sys.stderr)


def run(options: argparse.Namespace) -> None:
    build = options.build.resolve()
    only = chosen(options.only, [*programs(), *workloads(build)], "program or workload")
    record = Record(options.json)
    recorded = recordings.read(options.recordings, record) if options.recordings else record_all(build, only, record)
    tables = {name: ClassTable(constants) for name, constants in variants(Constants.of(ROOT / "src")).items()}
    print_recordings(recorded, tables[TODAY])
    of_programs = {name: recording for name, recording in recorded.items() if name in programs()}
    of_workloads = {name: recording for name, recording in recorded.items() if name not in of_programs}
    for kind, group in (("programs", of_programs), ("workloads", of_workloads)):
        if group:
            print_computed(kind, group, tables)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--only", default="", metavar="NAME,...", help="only these programs and workloads")
    parser.add_argument("--recordings", type=Path, metavar="FILE")
    parser.add_argument("--json", type=Path, help="write the recordings to FILE")
    try:
        run(parser.parse_args())
    except (Missing, OSError) as problem:
        say(one_line(problem))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
