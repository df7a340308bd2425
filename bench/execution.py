# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: how does a program run on each allocator, apart from its speed? Latency, throughput, use of the CPUs,
#    context switches and interrupted critical sections, as table 2 of LFMalloc (004, 4.3) has them.
# Invariant: in each round every allocator runs the same program for the same time, in an order that moves. Sections are
#    counted by the counted build in runs of their own.
# Must not know: what an allocator does; the paper's other rows, which need hardware counters.
"""Usage: execution.py [--build build/release] [--counted build/counted] [--with lab:single,lab:hoard] [--threads 64]
                       [--seconds 2] [--rounds 5] [--json FILE]

Prints medians [least greatest]. A pair is one malloc and one free. Its latency is the time in which all CPUs together do
one, times the number of CPUs, as in the paper."""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

from record import Record, environment, print_table
from harness.allocators import GRANARY, Allocator, Missing
from peers import LAB, Peers
from places import ROOT

PROGRAM = Path("bench") / "workloads" / "mmicro"
USUAL = "lab:single,lab:mtmalloc,lab:hoard,lab:lfmalloc,granary"
SECTIONS = "aborted_sequences"
NANOSECONDS = 1e9
PERCENT = 100
ROWS = {"latency": "nanoseconds for a pair", "throughput": "pairs in a second", "use": "use of the CPUs, %",
        "switches": "context switches in a second", "sections": "interrupted sections in a second"}


def run(build: Path, allocator: Allocator, words: list[str], settings: dict[str, str]) -> tuple[dict, str, dict]:
    """The workload's report, what the library says at its end, and what the process used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([build / PROGRAM, *words], capture_output=True, text=True, timeout=600,
                          env=environment(allocator.library, {**allocator.environment, **settings}))
    if done.returncode != 0:
        raise RuntimeError(f"{PROGRAM.name} on {allocator.name}: exit code {done.returncode}: "
                           f"{(done.stderr.strip().splitlines() or [''])[-1]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = {name: getattr(after, name) - getattr(before, name)
            for name in ("ru_utime", "ru_stime", "ru_nvcsw", "ru_nivcsw")}
    return json.loads(done.stdout), done.stderr, used


def figures(report: dict, used: dict, cpus: int) -> dict[str, float]:
    rate = report["operations"] / report["seconds"]
    return {"latency": cpus * NANOSECONDS / rate, "throughput": rate,
            "use": (used["ru_utime"] + used["ru_stime"]) / (cpus * report["seconds"]) * PERCENT,
            "switches": (used["ru_nvcsw"] + used["ru_nivcsw"]) / report["seconds"]}


def sections(build: Path, allocator: Allocator, words: list[str]) -> dict[str, float]:
    """Of an allocator that counts them."""
    report, told, _ = run(build, allocator, words, {"GRANARY_STATS": "json"})
    counted = json.loads(told)
    return {"sections": counted[SECTIONS] / report["seconds"]} if SECTIONS in counted else {}


def shown(values: list[float]) -> str:
    if not values:
        return "-"
    digits = 1 if max(values) < PERCENT else 0
    middle, low, high = (f"{value:,.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} [{low} {high}]"


def found_in(build: Path, names: list[str]) -> list[Allocator]:
    peers = Peers(build.resolve(), ROOT / "build" / "peers" / "peers.json")
    return [peers.get(name) for name in names]


def measure(options: argparse.Namespace, record: Record) -> dict[str, dict[str, list[float]]]:
    names = [name for name in dict.fromkeys(options.allocators.split(",")) if name]
    plain = found_in(options.build, names)
    counted = found_in(options.counted, [name for name in names if name == GRANARY or name.startswith(LAB)])
    words = ["--threads", str(options.threads), "--seconds", str(options.seconds)]
    cpus = len(os.sched_getaffinity(0))
    values: dict[str, dict[str, list[float]]] = {name: {row: [] for row in ROWS} for name in names}
    for number in range(options.rounds):
        for place in range(len(names)):
            allocator = plain[(place + number) % len(plain)]
            print(f"\r\033[K{number + 1} of {options.rounds}: {allocator.name}", end="", file=sys.stderr, flush=True)
            report, _, used = run(options.build, allocator, words, {})
            row = figures(report, used, cpus)
            counting = next((each for each in counted if each.name == allocator.name), None)
            if counting:
                row |= sections(options.build, counting, words)
            record.write({"allocator": allocator.name, **row})
            for name, value in row.items():
                values[allocator.name][name].append(value)
    print("\r\033[K", end="", file=sys.stderr, flush=True)
    return values


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--counted", type=Path, default=ROOT / "build" / "counted")
    parser.add_argument("--with", dest="allocators", default=USUAL, metavar="A,B")
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.threads < 1 or options.rounds < 1 or options.seconds <= 0:
        parser.error("--threads, --rounds and --seconds: must be positive")
    try:
        values = measure(options, Record(options.json))
    except (Missing, RuntimeError, subprocess.TimeoutExpired, ValueError, OSError) as problem:
        print(f"\r\033[Kexecution: {problem}", file=sys.stderr)
        return 2
    print(f"mmicro, {options.threads} threads, blocks of 200 bytes; {len(os.sched_getaffinity(0))} CPUs")
    print_table(("", *values), [[title, *(shown(found[row]) for found in values.values())] for row, title in ROWS.items()])
    return 0


if __name__ == "__main__":
    sys.exit(main())
