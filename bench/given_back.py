# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: what does a process keep of memory that holds nothing: when it goes idle after a burst, and in a
#    long run whose sizes shift? Resident memory against the pages, or the bytes, that are live.
# Invariant: the same operations on every allocator for each seed; only reports, never judges.
# Must not know: how an allocator gives memory back.
"""Usage: given_back.py [--build build/release] [--with A,B] [--mib 2048] [--phases 2000] [--seeds 1,2,3] [--json FILE]

--phases 0 omits the long run, --mib 0 omits the bursts."""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from record import Record, environment, print_table  # finds the suite's modules
from harness.allocators import Allocator, Missing
from peers import Peers
from places import ROOT

KIB = 1024
SLACK_KIB = 8 * KIB
PARTS = 1.10
LONG_RUN_MIB = 200
TIMEOUT = 3600


def run(program: Path, words: list[str], allocator: Allocator) -> dict:
    done = subprocess.run([program, *words], env=environment(allocator.library, allocator.environment),
                          capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {(done.stderr.strip().splitlines() or ['no output'])[-1]}")
    return json.loads(done.stdout)


def measure(workloads: Path, allocators: list[Allocator], options: argparse.Namespace, record: Record) -> dict:
    """The reports of each case and allocator, a seed each; the allocators take turns."""
    cases = {}
    if options.mib:
        cases["random"] = ("burst-idle", ["--ops", "1", "--mib", str(options.mib)])
        cases["older"] = ("burst-idle", ["--ops", "1", "--mib", str(options.mib), "--survivors", "older"])
    if options.phases:
        cases["long run"] = ("fragmentation", ["--ops", "1", "--mib", str(LONG_RUN_MIB), "--phases",
                                               str(options.phases), "--floor"])
    reports: dict[tuple[str, str], list[dict]] = {}
    for case, (program, words) in cases.items():
        for seed in options.seeds.split(","):
            for allocator in allocators:
                print(f"\r\033[K{case}, seed {seed}, {allocator.name}", end="", file=sys.stderr, flush=True)
                try:
                    report = run(workloads / program, [*words, "--seed", seed], allocator)
                except (RuntimeError, subprocess.TimeoutExpired) as problem:
                    print(f"\r\033[K{case} on {allocator.name}: {problem}", file=sys.stderr)
                    continue
                reports.setdefault((case, allocator.name), []).append(report)
                record.write({"case": case, "allocator": allocator.name, **report})
    print("\r\033[K", end="", file=sys.stderr)
    return reports


def print_bursts(reports: dict, case: str, names: list[str]) -> None:
    """Means over the seeds. The program has taken its own arrays off."""
    rows = []
    for name in names:
        seeds = reports.get((case, name), [])
        if not seeds:
            continue
        kept = [report["idle_rss_kib"] for report in seeds]
        floors = [report["floor_kib"] for report in seeds]
        within = sum(idle <= PARTS * floor + SLACK_KIB for idle, floor in zip(kept, floors, strict=True))
        rows.append([name, f"{statistics.fmean(kept) / KIB:.0f}", f"{statistics.fmean(floors) / KIB:.0f}",
                     f"{statistics.fmean(map(lambda idle, floor: idle / floor, kept, floors)):.2f}",
                     f"{max(map(lambda idle, floor: idle / floor, kept, floors)):.2f}", f"{within} of {len(seeds)}",
                     f"{statistics.fmean(report['seconds'] for report in seeds):.1f}"])
    print(f"\nAfter a burst, idle; the survivors: {case} (MiB, means over the seeds)")
    print_table(["", "kept", "floor", "kept / floor", "at most", f"within {PARTS:.2f} floor + {SLACK_KIB // KIB} MiB",
                 "seconds"], rows)


def print_long_run(reports: dict, names: list[str]) -> None:
    rows = []
    for name in names:
        seeds = reports.get(("long run", name), [])
        if seeds:
            values = [report["rss_over_live"] for report in seeds]
            floors = [report["floor_over_live"] for report in seeds]
            rows.append([name, f"{statistics.fmean(values):.3f}", f"{max(values):.3f}",
                         f"{statistics.fmean(floors):.3f}", f"{statistics.fmean(report['seconds'] for report in seeds):.1f}"])
    print("\nA long run whose sizes shift: resident memory, and the pages with a live byte (the floor), over live bytes "
          "at the end (means over the seeds)")
    print_table(["", "RSS / live", "at most", "floor / live", "seconds"], rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--peers", type=Path, default=ROOT / "build" / "peers" / "peers.json")
    parser.add_argument("--with", dest="allocators", default="", metavar="A,B", help="default: all that are built")
    parser.add_argument("--mib", type=int, default=2048, help="size of a burst; 0: no bursts")
    parser.add_argument("--phases", type=int, default=2000, help="phases of the long run; 0: no long run")
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("--json", type=Path, help="write every value to FILE")
    options = parser.parse_args()
    peers = Peers(options.build.resolve(), options.peers)
    names = [word for word in options.allocators.split(",") if word] or peers.names()
    try:
        allocators = [peers.get(name) for name in names]
    except Missing as problem:
        print(f"given_back: {problem}", file=sys.stderr)
        return 2
    reports = measure(options.build / "bench" / "workloads", allocators, options, Record(options.json))
    if options.mib:
        for case in ("random", "older"):
            print_bursts(reports, case, names)
    if options.phases:
        print_long_run(reports, names)
    cases = 2 * bool(options.mib) + bool(options.phases)
    return 0 if sum(map(len, reports.values())) == cases * len(names) * len(options.seeds.split(",")) else 1


if __name__ == "__main__":
    sys.exit(main())
