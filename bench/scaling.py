# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the counted events promise for machines this suite never saw: throughput at 16, 64 and 256 CPUs by a
#    closed queueing network, and which lock would be the first to hold it up.
# Invariant: every assumption is an option; nothing is fitted to a measured speedup.
# Must not know: how events are counted.
"""Usage: scaling.py COUNTS.json [--global-ns 200] [--page-heap-ns 300] [--kernel-ns 3000] [--line-ns 300] [--times 1]
                  [--parts 1]

Predicts throughput with many CPUs from the events that counts.py counted. Each CPU works alone for the counted time of
an operation (counting makes this time longer). Then it visits the stations that serve one CPU at a time: the lock of
the global bin (of one size class, divided into --parts), the lock of the page heap, and the kernel's lock of the
address space. Mean value analysis, exact for exponential times, gives the time in queues. A message to another CPU
costs its sender one cache line; no CPU waits for it."""

import argparse
import json
import sys
from pathlib import Path

import record  # noqa: F401  (finds the suite's modules)
from granary_results import stored

CPUS = (1, 16, 64, 256)
MILLION = 1e6


def throughput(think: float, demands: list[float], cpus: int) -> float:
    """Operations a second of `cpus` customers: exact mean value analysis of one delay and single servers."""
    queues = [0.0] * len(demands)
    result = 0.0
    for customers in range(1, cpus + 1):
        waits = [demand * (1 + queue) for demand, queue in zip(demands, queues)]
        result = customers / (think + sum(waits))
        queues = [result * wait for wait in waits]
    return result


def stations(row: dict, options: argparse.Namespace) -> dict[str, float]:
    """Seconds that an operation asks of each; of the global heap, of one of its parts."""
    ns = 1e-9 * options.times / MILLION
    found = {"global heap": row["global_locks"] * options.global_ns * ns / options.parts,
             "page heap": row["page_heap_locks"] * options.page_heap_ns * ns,
             "kernel": row["system_calls"] * options.kernel_ns * ns}
    return {name: max(0.0, seconds) for name, seconds in found.items()}  # a difference of two runs may be negative


def projected(row: dict, options: argparse.Namespace) -> tuple[list[float], str]:
    """Speedups against one CPU alone, and the first bottleneck with the number of CPUs that fill it."""
    demands = stations(row, options)
    visited = [*demands.values(), *[demands["global heap"]] * (options.parts - 1)]
    lines = (row["remote_flushes"] + row["messages"] / 4) * options.line_ns * options.times * 1e-9 / MILLION
    think = max(row["seconds_per_operation"] - sum(visited), 1e-9) + lines
    alone = throughput(think, visited, 1)
    speedups = [throughput(think, visited, cpus) / alone for cpus in CPUS[1:]]
    name, most = max(demands.items(), key=lambda item: item[1])
    full = (think + sum(visited)) / most if most > 0 else float("inf")
    return speedups, f"{name} from {full:,.0f} CPUs" if full < 100_000 else "none"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=Path)
    parser.add_argument("--global-ns", type=float, default=200, help="time for which a visit holds a global bin's lock")
    parser.add_argument("--page-heap-ns", type=float, default=300,
                        help="time for which a visit holds the page heap's lock")
    parser.add_argument("--kernel-ns", type=float, default=3000,
                        help="time for which a system call locks the address space")
    parser.add_argument("--line-ns", type=float, default=300, help="time to fetch a cache line from another socket")
    parser.add_argument("--times", type=float, default=1, help="factor for all of these times")
    parser.add_argument("--parts", type=int, default=1, help="number of parts into which each global bin is divided")
    options = parser.parse_args()
    try:
        _, *rows = map(json.loads, stored.read(options.counts).splitlines())
    except (OSError, ValueError) as problem:
        print(f"scaling: {options.counts}: {problem}", file=sys.stderr)
        return 2
    print(f"{'workload/threads':26}" + "".join(f"{f'{cpus} CPUs':>10}" for cpus in CPUS[1:]) + "  first bottleneck")
    for row in rows:
        speedups, bottleneck = projected(row, options)
        print(f"{row['case']:26}" + "".join(f"{speedup:10.1f}" for speedup in speedups) + f"  {bottleneck}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
