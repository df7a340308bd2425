# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what a million operations of each multithreaded workload cost Granary in slow paths, messages, locks, waits,
#    atomic operations, aborted sequences and system calls (LFMalloc, table 2, in today's terms); and the lab's
#    allocators, which refill a heap from what is behind it, and send no messages. Of lfmalloc-transactional also how many
#    transactions were interrupted, and how many of those continued, because nobody interfered.
# Invariant: the same work at any speed (--ops); what a program does only once is subtracted, by a run of half as much.
# Must not know: what an event costs; scaling.py assumes that.
"""Usage: counts.py [--build build/release] [--counted build/counted] [--threads 1,2,8] [--only A,B] [--json FILE]
                 [--with granary,lab:NAME] [--rounds 1]

Prints events in a million operations, each the median of the rounds because waits vary from run to run."""

import argparse
import itertools
import json
import resource
import statistics
import subprocess
import sys
from pathlib import Path

from record import Record, environment, print_table
from harness.allocators import GRANARY, Allocator, Missing
from peers import LAB, Peers
from workloads import beyond, multithreaded, own

ROOT = Path(__file__).resolve().parent.parent

EVENTS = ("refills", "flushes", "remote_flushes", "messages", "shared_superblocks", "shared_blocks", "locks",
          "global_locks", "page_heap_locks", "waits", "atomic_operations", "aborted_sequences", "system_calls",
          "interrupted_transactions", "continued_transactions")
SECONDS = 0.3  # of a first run, which tells how many operations the counted ones do
MILLION = 1_000_000


def cpu_seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(program: Path, words: list[str], allocator: Allocator) -> tuple[dict, dict]:
    """The workload's report, with the CPU time that it took, and the library's statistics."""
    before = cpu_seconds_of_children()
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=600,
                          env=environment(allocator.library, {**allocator.environment, "GRANARY_STATS": "json"}))
    if done.returncode != 0:
        raise RuntimeError(f"{program.name}: exit code {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout) | {"cpu_seconds": cpu_seconds_of_children() - before}, json.loads(done.stderr)


def more_by_twice(program: Path, words: list[str], allocator: Allocator, operations: int) -> dict:
    """What as many operations again do, in a million of them, and the CPU time of one: others on the machine do not
    lengthen that."""
    _, once = run(program, [*words, "--ops", str(operations)], allocator)
    report, twice = run(program, [*words, "--ops", str(2 * operations)], allocator)
    more = report["operations"] - operations
    return {"operations": more, "seconds_per_operation": report["cpu_seconds"] / report["operations"],
            **{event: (twice[event] - once[event]) * MILLION / more for event in EVENTS if event in twice}}


def per_million(program: Path, words: list[str], allocator: Allocator, rounds: int) -> dict:
    report, _ = run(program, [*words, "--seconds", str(SECONDS)], allocator)
    operations = max(1000, report["operations"])
    measured = [more_by_twice(program, words, allocator, operations) for _ in range(rounds)]
    return {name: statistics.median(row[name] for row in measured) for name in measured[0]}


HEADS = ("workload/threads", "refills", "flushes", "remote", "messages", "shared", "their blocks", "locks", "global",
         "page heap", "waits", "atomic", "aborts", "syscalls", "interrupted", "continued")


def counted_allocators(options: argparse.Namespace) -> list[Allocator]:
    """Raises Missing, in one line."""
    library = options.counted / "libgranary.so"
    peers = Peers(options.counted.resolve(), Path())
    found = []
    for name in dict.fromkeys(name for name in options.allocators.split(",") if name):
        if name != GRANARY and not name.startswith(LAB):
            raise Missing(f"{name}: counts nothing; choose from {GRANARY} and {', '.join(peers.lab_names())}")
        if name == GRANARY and not library.is_file():
            raise Missing(f"{library} does not exist; run: make counted")
        found.append(peers.get(name))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--counted", type=Path, default=ROOT / "build" / "counted")
    parser.add_argument("--threads", default="1,2,8")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--with", dest="allocators", default=GRANARY, metavar="A,B", help="granary, and lab:NAME")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: must be at least 1")
    try:
        allocators = counted_allocators(options)
    except Missing as problem:
        print(f"counts: {problem}", file=sys.stderr)
        return 2
    # Whose operation is a whole run tells nothing of blocks, and one thread's loop nothing of sharing.
    workloads = {workload.name: workload for workload in (*multithreaded(), *beyond(), *own())
                 if not workload.operations and workload.threads != (1,)}
    chosen = [name for name in options.only.split(",") if name] or list(workloads)
    for name in set(chosen) - set(workloads):
        print(f"counts: {name}: no such workload; choose from {', '.join(workloads)}", file=sys.stderr)
        return 2
    try:
        record = Record(options.json)
    except OSError as problem:
        print(f"counts: {options.json}: {problem.strerror}", file=sys.stderr)
        return 2
    rows = []
    failed = 0
    for workload in map(workloads.get, chosen):
        for threads, allocator in itertools.product(
                workload.threads or [int(n) for n in options.threads.split(",")], allocators):
            name = f"{workload.name}/{threads}" + (f" on {allocator.name}" if len(allocators) > 1 else "")
            print(f"\r\033[K{name}", end="", file=sys.stderr, flush=True)
            words = ["--threads", str(threads), *workload.arguments, *workload.sizes.get("smoke", ())]
            try:
                row = per_million(options.build / "bench" / "workloads" / workload.program, words, allocator,
                                  options.rounds)
            except (RuntimeError, subprocess.TimeoutExpired, ValueError, LookupError, OSError) as problem:
                print(f"\r\033[Kcounts: {name}: {problem}", file=sys.stderr)
                failed += 1
                continue
            record.write({"case": name, **row})
            rows.append([name, *(f"{round(row[event]):,}" if event in row else "-" for event in EVENTS)])
    print("\r\033[K", end="", file=sys.stderr)
    print("Events in a million operations")
    print_table(HEADS, rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
