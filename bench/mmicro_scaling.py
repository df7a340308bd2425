# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: do throughput and memory hold when there are many more threads than CPUs (LFMalloc, section 4,
#    figure 1 and table 2, there up to 256 threads), and is the path without rseq no slower than the system's?
# Invariant: allocators and thread counts are interleaved in every round; only reports, never judges.
# Must not know: any allocator's insides.
"""Usage: mmicro_scaling.py LIBGRANARY MMICRO [--rounds 5] [--seconds 2] [--output FILE]"""

import argparse
import json
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

from record import Record, allocators, environment, interval, print_table

THREADS = (1, 2, 8, 64, 256)
NO_RSEQ = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
STACK_ALLOWANCE_KIB = 16  # for each thread
SCALING_BAR = 0.95
MEMORY_BAR = 1.2

# Allocator and number of threads to what each run reported.
Runs = dict[tuple[str, int], list[dict]]


def measure(program: Path, library: Path | None, threads: int, seconds: float, extra: dict[str, str] | None) -> dict:
    command = [program, "--threads", str(threads), "--seconds", str(seconds)]
    done = subprocess.run(command, env=environment(library, extra), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def collect(options: argparse.Namespace, record: Record) -> tuple[list[str], Runs]:
    """All allocators in every round; their names, and the runs."""
    runs: Runs = defaultdict(list)
    libraries = allocators(options.library)
    sides = [(name, library, None) for name, library in libraries.items()]
    sides.append(("granary without rseq", libraries["granary"], NO_RSEQ))
    for number in range(options.rounds):
        for threads in THREADS:
            for name, library, extra in sides[number % len(sides):] + sides[:number % len(sides)]:
                run = measure(options.mmicro, library, threads, options.seconds, extra)
                record.write({"allocator": name, **run})
                runs[name, threads].append(run)
    return [name for name, _, _ in sides], runs


def median_of(runs: list[dict], field: str) -> float:
    return statistics.median(run[field] for run in runs)


def print_scaling(names: list[str], runs: Runs) -> None:
    print("million pairs/s (medians), and peak memory in KiB")
    print_table(["allocator", *(f"{threads} threads" for threads in THREADS)],
                [[name, *(f"{median_of(runs[name, threads], 'operations_per_second') / 1e6:.1f} "
                          f"({median_of(runs[name, threads], 'peak_kib'):.0f})" for threads in THREADS)]
                 for name in names])


def print_bars(names: list[str], runs: Runs) -> None:
    rows = []
    for name in names:
        few, many = runs[name, 2], runs[name, 256]
        ratios = [after["operations_per_second"] / before["operations_per_second"] for before, after in zip(few, many)]
        ratio, low, high = interval(ratios)
        allowed = MEMORY_BAR * median_of(few, "peak_kib") + STACK_ALLOWANCE_KIB * 256
        rows.append([name, f"{ratio:.3f}", f"{low:.3f} to {high:.3f}", f"{median_of(many, 'peak_kib'):.0f}",
                     f"{allowed:.0f}"])
    print(f"\n256 threads against 2: the bar is {SCALING_BAR} for pairs/s and {MEMORY_BAR} times the memory plus "
          f"{STACK_ALLOWANCE_KIB} KiB a thread")
    print_table(["allocator", "pairs/s ratio", "95 % interval", "peak KiB", "allowed KiB"], rows)


def print_without_rseq(runs: Runs) -> None:
    ratios = [own["operations_per_second"] / system["operations_per_second"]
              for own, system in zip(runs["granary without rseq", 2], runs["system", 2])]
    ratio, low, high = interval(ratios)
    print(f"\n2 threads without rseq: {ratio:.3f} of the system's pairs/s ({low:.3f} to {high:.3f}); the bar is 1")


def main() -> None:
    parser = argparse.ArgumentParser(description="mmicro from 1 to 256 threads.")
    parser.add_argument("library", type=Path, help="libgranary.so")
    parser.add_argument("mmicro", type=Path, help="the mmicro binary")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--output", type=Path, help="write every value to FILE")
    options = parser.parse_args()
    names, runs = collect(options, Record(options.output))
    print_scaling(names, runs)
    print_bars(names, runs)
    print_without_rseq(runs)


if __name__ == "__main__":
    main()
