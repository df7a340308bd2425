#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the side-by-side comparison of Granary with the system's malloc and Debian's jemalloc, mimalloc, tcmalloc.
# Invariant: numbers are measured here, in one interleaved run, or not shown; raw trials are kept with their command.
# Must not know: the programs; the catalogue does.
"""Runs real programs on five mallocs, interleaved, and prints ratios of time and peak memory. See README.md."""

import argparse
import datetime
import json
import shlex
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "test" / "programs"))

import loop
import machine
import rounds
from catalogue import PROGRAMS
from harness import allocators
from harness.launcher import ProgramFailed
from intervals import Samples
from report import Metric, Report

PROGRAM_METRICS = (
    Metric("seconds", "Time (wall clock; servers: a fixed number of requests)", "s", 2,
           mean_bar=1.00, program_bar=1.03),
    Metric("cpu_seconds", "CPU time (user and system; servers: the server's)", "s", 2),
    Metric("peak_kib", "Peak memory (largest resident set of a process)", "KiB", 0, mean_bar=1.05),
)
LOOP_METRICS = (Metric("nanoseconds", "Loop (malloc, write the first word, free)", "ns", 2, mean_bar=1.05),)


def samples(records: list[dict], metric: Metric) -> Samples:
    """Records to Samples, in order of rounds."""
    found: Samples = {}
    for record in records:
        found.setdefault(record["program"], {}).setdefault(record["allocator"], []).append(record[metric.key])
    order = [allocators.GRANARY, allocators.SYSTEM, *allocators.PEERS]
    return {program: {name: by[name] for name in order if name in by} for program, by in found.items()}


def save(path: Path, records: list[dict], reports: list[Report], facts: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({
        "command": shlex.join(["python3", *sys.argv]),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": facts,
        "summary": [report.numbers() for report in reports],
        "trials": records,
    }, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, default=Path("build/release/libgranary.so"))
    parser.add_argument("--rounds", type=int, default=7, help="trials of each program on each malloc (default: 7)")
    parser.add_argument("--only", default="", metavar="NAMES", help="comma-separated programs (default: all)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="keep raw trials and summary as JSON")
    parser.add_argument("--loop", action="store_true", help="the malloc/free loop in the place of the programs")
    parser.add_argument("--loop-binary", type=Path, help="default: bench/workloads/loop beside the library")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds: at least 1")
    return arguments


def chosen_programs(names: str) -> list:
    if not names:
        return [program for program in PROGRAMS.values() if program.in_bench]
    unknown = sorted(set(names.split(",")) - set(PROGRAMS))
    if unknown:
        raise allocators.Missing(f"no such program: {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    return [PROGRAMS[name] for name in names.split(",")]


def measured(arguments: argparse.Namespace) -> tuple[list[dict], tuple[Metric, ...]]:
    mallocs = [allocators.granary(arguments.library), allocators.system(), *map(allocators.peer, allocators.PEERS)]
    if arguments.loop:
        binary = arguments.loop_binary or arguments.library.parent / "bench" / "workloads" / "loop"
        return loop.compare(binary, mallocs, arguments.rounds), LOOP_METRICS
    programs = chosen_programs(arguments.only)
    for program in programs:
        program.require()
    return rounds.compare(programs, mallocs, arguments.rounds), PROGRAM_METRICS


def main() -> int:
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that daemons are stopped
    facts = machine.facts()
    try:
        records, metrics = measured(arguments)
    except (allocators.Missing, ProgramFailed) as problem:
        print(f"\ncompare: {problem}", file=sys.stderr)
        return 1
    reports = [Report(metric, samples(records, metric)) for metric in metrics]
    print(f"{arguments.rounds} rounds; {machine.sentence(facts)}\n")
    print("\n\n".join(report.text() for report in reports))
    if arguments.output:
        save(arguments.output, records, reports, facts)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
