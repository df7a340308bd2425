# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: makes every system call that gets or returns memory fail in turn, by strace's fault injection.
# Invariant: the workload ends with status 0 whichever call fails. A failure of the loader's own calls is recognised
#    by the loader's message, or by the library not yet having been opened.
# Must not know: why the library makes a call.
"""Usage: sweep.py WORKLOAD [--before-main | --lasting] [--limit N]; the library is named by GR_TEST_LIBRARY."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass

CALLS = ("mmap", "munmap", "madvise", "mprotect", "mremap")
MARK = "granary: main"
SKIPPED = 77
TRACED = re.compile(r"^(\d+) +(\w+)\(")
LOADER_GAVE_UP = re.compile(r"error while loading shared libraries|cannot be preloaded|cannot allocate|"
                            r"cannot apply additional memory protection|Fatal glibc error|failed to map")


@dataclass
class Run:
    status: int
    errors: str
    trace: list


def strace(workload, arguments, inject=None):
    with tempfile.NamedTemporaryFile(mode="r", suffix=".strace") as log:
        command = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", log.name, "-e", "signal=none",
                   "-e", f"trace=openat,write,{','.join(CALLS)}"]
        if inject:
            command += ["-e", f"inject={inject}"]
        library = os.environ.get("GR_TEST_LIBRARY")
        if library:
            command += ["-E", "GR_TEST_LIBRARY", "-E", f"LD_PRELOAD={library}"]
        done = subprocess.run(command + [workload, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, errors="replace", timeout=100)
        return Run(done.returncode, done.stderr, log.read().splitlines())


def require_strace():
    """Containers often forbid ptrace; then there is nothing to test here."""
    try:
        probe = subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, text=True)
    except FileNotFoundError:
        print("sweep: skipped: strace is not installed; apt-get install strace")
        sys.exit(SKIPPED)
    if probe.returncode != 0:
        print(f"sweep: skipped: strace may not trace here: {probe.stderr.strip()}")
        sys.exit(SKIPPED)


def count_calls(run):
    """Calls of the main thread before its mark, and calls behind it of the thread that makes most."""
    before, behind, marked, main = Counter(), defaultdict(Counter), False, None
    for line in run.trace:
        match = TRACED.match(line)
        if not match:
            continue
        thread, call = match.groups()
        main = main or thread
        if MARK in line:
            marked = True
        elif not marked:
            before[call] += 1
        else:
            behind[call][thread] += 1
    if not marked:
        sys.exit(f"sweep: the workload did not reach main: status {run.status}: {run.errors.strip()}")
    if run.status != 0:
        sys.exit(f"sweep: the workload fails without any injected fault: status {run.status}: {run.errors.strip()}")
    return before, {call: threads[main] for call, threads in behind.items()}


def verdict(run):
    """None when the run is as it should be, else what is wrong with it."""
    if run.status == 0:
        return None
    library = os.environ.get("GR_TEST_LIBRARY")
    if library and not any("openat(" in line and library in line for line in run.trace):
        return None
    reached_main = any(MARK in line for line in run.trace)
    if LOADER_GAVE_UP.search(run.errors) and (not reached_main or "cannot be preloaded" in run.errors):
        return None
    return f"status {run.status}{'' if reached_main else ' before main'}: {run.errors.strip() or 'no message'}"


def spread(first, last, limit):
    """At most limit numbers from first to last, evenly spread, both ends included."""
    numbers = range(first, last + 1)
    if len(numbers) <= limit:
        return list(numbers)
    return sorted({numbers[index * (len(numbers) - 1) // (limit - 1)] for index in range(limit)})


def positions(options, before, behind, call):
    if options.before_main:
        return spread(1, before[call], options.limit)
    return spread(before[call] + 1, before[call] + behind.get(call, 0), options.limit)


def sweep(options, before, behind):
    failures, injected_in_all = [], 0
    arguments = ["--lasting"] if options.lasting else []
    for call in CALLS:
        numbers, injected = positions(options, before, behind, call), 0
        for number in numbers:
            when = f"{number}+" if options.lasting else str(number)
            inject = f"{call}:error=ENOMEM:when={when}"
            run = strace(options.workload, arguments, inject)
            injected += any("(INJECTED)" in line for line in run.trace)
            wrong = verdict(run)
            if wrong:
                failures.append(f"{inject}: {wrong}")
                print(f"sweep: {failures[-1]}", flush=True)
        print(f"sweep: {call}: {before[call]} calls before main, {behind.get(call, 0)} behind; "
              f"{len(numbers)} runs, {injected} with an injected failure", flush=True)
        injected_in_all += injected
    if injected_in_all == 0:
        failures.append("no failure was injected at all")
    return failures


def main():
    parser = argparse.ArgumentParser(description="Makes each memory system call of the workload fail in turn.")
    parser.add_argument("workload")
    parser.add_argument("--before-main", action="store_true", help="fail the calls before main, not those behind")
    parser.add_argument("--lasting", action="store_true", help="from the chosen call on, all fail")
    parser.add_argument("--limit", type=int, default=80, help="at most so many runs for each call")
    options = parser.parse_args()
    require_strace()
    before, behind = count_calls(strace(options.workload, []))
    failures = sweep(options, before, behind)
    if failures:
        sys.exit(f"sweep: {len(failures)} wrong: the first: {failures[0]}")


if __name__ == "__main__":
    main()
