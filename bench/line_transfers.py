# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: what does a workload with threads cost where the CPUs are far from each other? The CPUs of a virtual
#    machine share a cache at one time and not at another; each round first measures how long a cache line takes from
#    one to the other (controls/line_transfer.cpp), and the rounds are reported in two groups by that time.
# Invariant: in each round every allocator runs every case, in an order that moves; only reports, never judges.
# Must not know: what an allocator does with cache lines.
"""Usage: line_transfers.py [--build build/release] [--with A,B] [--library NAME=FILE] [--cases threadtest,shbench]
                         [--threads 2] [--rounds 20] [--seconds 0.5] [--far NANOSECONDS] [--json FILE]

Prints nanoseconds for one operation, median [least greatest], in the near and in the far rounds. The distance is that of
the first two CPUs that the process may use; on a machine with more, choose two with taskset. --library adds a library
by its file, for example an older build; it may be given more than once."""

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

TIMEOUT = 600


def output_of(words: list[str], library: Path | None = None, settings: dict | None = None) -> str:
    done = subprocess.run(words, env=environment(library, settings or {}), capture_output=True, text=True,
                          timeout=TIMEOUT)
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]}: exit code {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}")
    return done.stdout


def nanoseconds(program: Path, options: argparse.Namespace, allocator: Allocator) -> float:
    report = json.loads(output_of([str(program), "--threads", str(options.threads), "--seconds", str(options.seconds)],
                                  allocator.library, allocator.environment))
    return report["seconds"] * 1e9 / report["operations"]


def measure(options: argparse.Namespace, allocators: list[Allocator], record: Record) -> list[dict]:
    rounds = []
    for number in range(options.rounds):
        ways = [float(output_of([str(options.build / "bench/controls/line-transfer")]))]
        taken = {}
        for case in options.cases.split(","):
            for place in range(len(allocators)):
                allocator = allocators[(place + number) % len(allocators)]
                print(f"\r\033[K{number + 1} of {options.rounds}: {case}, {allocator.name}", end="", file=sys.stderr,
                      flush=True)
                taken[case, allocator.name] = nanoseconds(options.build / "bench/workloads" / case, options, allocator)
        ways.append(float(output_of([str(options.build / "bench/controls/line-transfer")])))
        rounds.append({"ways": ways, "taken": taken})
        record.write({"line_transfer": ways,
                      "nanoseconds": [{"case": c, "allocator": a, "value": v} for (c, a), v in taken.items()]})
    print("\r\033[K", end="", file=sys.stderr, flush=True)
    return rounds


def print_groups(options: argparse.Namespace, allocators: list[Allocator], rounds: list[dict]) -> None:
    near = [r for r in rounds if max(r["ways"]) < options.far]
    far = [r for r in rounds if min(r["ways"]) >= options.far]
    for group, name in ((near, "near"), (far, "far")):
        if not group:
            print(f"CPUs {name}: no round")
            continue
        ways = [way for r in group for way in r["ways"]]
        print(f"CPUs {name}: {len(group)} rounds, a line takes {statistics.median(ways):.0f} ns "
              f"[{min(ways):.0f} {max(ways):.0f}]")
        rows = []
        for case in options.cases.split(","):
            for allocator in allocators:
                values = [r["taken"][case, allocator.name] for r in group]
                rows.append([f"{case}/{options.threads}", allocator.name,
                             f"{statistics.median(values):.1f} [{min(values):.1f} {max(values):.1f}]"])
        print_table(["case", "allocator", "ns"], rows)
    between = len(rounds) - len(near) - len(far)
    if between:
        print(f"{between} rounds in which the distance changed are left out")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--peers", type=Path, default=ROOT / "build" / "peers" / "peers.json")
    parser.add_argument("--with", dest="names", default="granary,system")
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--cases", default="threadtest")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--far", type=float, default=80, help="from so many nanoseconds on the CPUs count as far")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: must be at least 1")
    peers = Peers(options.build.resolve(), options.peers)
    try:
        allocators = [peers.get(name) for name in options.names.split(",") if name]
    except Missing as missing:
        print(f"line_transfers: {missing}", file=sys.stderr)
        return 2
    for text in options.library:
        name, _, file = text.partition("=")
        if not Path(file).is_file():
            print(f"line_transfers: --library {text}: no such file", file=sys.stderr)
            return 2
        allocators.append(Allocator(name, Path(file).resolve()))
    try:
        rounds = measure(options, allocators, Record(options.json))
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as problem:
        print(f"\r\033[Kline_transfers: {problem}", file=sys.stderr)
        return 1
    print_groups(options, allocators, rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
