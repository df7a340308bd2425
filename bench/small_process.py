# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: what does an allocator cost a program that hardly allocates? Anonymous memory of a waiting cat,
#    and the time from spawn to exit of /bin/true, both against the system's malloc in the same run.
# Invariant: the two sides of a pair run one after the other, in an order that alternates; only reports, never judges.
# Must not know: why a value is what it is.
"""Usage: small_process.py LIBGRANARY [--pairs 400] [--output FILE]"""

import argparse
import os
import platform
import subprocess
import time
from pathlib import Path

from record import Libraries, Record, allocators, environment, interval, print_table

FIELDS = ("RssAnon", "Private_Dirty")
CATS = 9
READ = {"x86_64": "0", "aarch64": "63"}[platform.machine()]  # the number of the system call


def wait_until_it_reads(process: subprocess.Popen) -> None:
    """cat has started when it sleeps in read, its standard input being an empty pipe."""
    while process.poll() is None:
        with open(f"/proc/{process.pid}/syscall", encoding="ascii") as file:
            fields = file.read().split()
        if len(fields) > 1 and fields[0] == READ and int(fields[1], 16) == 0:
            return
        time.sleep(0.001)
    raise RuntimeError(f"cat ended before its memory was read: exit code {process.returncode}")


def memory_of(pid: int) -> dict[str, int]:
    """KiB of each field, from the kernel's own accounts of the process."""
    values = dict.fromkeys(FIELDS, 0)
    for name in ("status", "smaps_rollup"):
        with open(f"/proc/{pid}/{name}", encoding="ascii") as file:
            for line in file:
                field, _, rest = line.partition(":")
                if field in values:
                    values[field] = int(rest.split()[0])
    return values


def measure_cat(library: Path | None) -> dict[str, int]:
    """What it holds when it has copied a line."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          env=environment(library)) as process:
        process.stdin.write(b"a line\n")
        process.stdin.flush()
        wait_until_it_reads(process)
        values = memory_of(process.pid)
        process.stdin.close()
    return values


def measure_true(library: Path | None) -> float:
    """Microseconds from spawn to exit."""
    variables = environment(library)
    start = time.perf_counter_ns()
    process = os.posix_spawn("/bin/true", ["true"], variables)
    _, status = os.waitpid(process, 0)
    end = time.perf_counter_ns()
    if status != 0:
        raise RuntimeError(f"/bin/true on {library}: wait status {status}")
    return (end - start) / 1000


def report_memory(libraries: Libraries, record: Record) -> None:
    rows, system = [], None
    for name, library in libraries.items():
        runs = [measure_cat(library) for _ in range(CATS)]
        record.write({"cat": name, "kib": runs})
        medians = [sorted(run[field] for run in runs)[CATS // 2] for field in FIELDS]
        system = system or medians
        rows.append([name, *medians, *(value - base for value, base in zip(medians, system))])
    print("cat waiting for input, KiB (medians)")
    print_table(["allocator", *FIELDS, *(f"{field} over system" for field in FIELDS)], rows)


def report_start(libraries: Libraries, pairs: int, record: Record) -> None:
    rows = []
    for name, library in libraries.items():
        if library is None:
            continue
        with_library, without = [], []
        for number in range(pairs):
            for side in ((library, None) if number % 2 else (None, library)):
                (with_library if side else without).append(measure_true(side))
        record.write({"true": name, "microseconds": with_library, "without": without})
        differences = [on - off for on, off in zip(with_library, without)]
        median, low, high = interval(differences)
        rows.append([name, f"{interval(without)[0]:.0f}", f"{interval(with_library)[0]:.0f}",
                     f"{median:.0f}", f"{low:.0f} to {high:.0f}"])
    print(f"\n/bin/true, spawn to exit, microseconds, {pairs} interleaved pairs")
    print_table(["allocator", "system", "preloaded", "median difference", "95 % interval"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Costs of an allocator to a program that hardly allocates.")
    parser.add_argument("library", type=Path, help="libgranary.so")
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--output", type=Path, help="write every value to FILE")
    options = parser.parse_args()
    libraries, record = allocators(options.library), Record(options.output)
    report_memory(libraries, record)
    report_start(libraries, options.pairs, record)


if __name__ == "__main__":
    main()
