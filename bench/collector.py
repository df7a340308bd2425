#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What:      the collector beside the installed libgc: marking, binary trees, allocation, guile, memory; in turns.
# Invariant: a ratio is the median over the rounds of ours over theirs, its interval the quartiles; each run of a round is
#            on the same CPUs as its counterpart.
# Must not know: how either collects.
"""Usage: collector.py BUILD [ROUNDS]"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
PROGRAMS = BUILD / "bench" / "collector"
TREES = BUILD / "test" / "libgc" / "libgc_gcbench"
OURS = {"LD_LIBRARY_PATH": str(BUILD / "libgc")}
GRANARY = {"LD_PRELOAD": str(BUILD / "libgranary.so")}
MODULE = "/usr/share/guile/3.0/web/http.scm"
COMPILE = """(begin (use-modules (system base compile))
                    (compile-file (cadr (command-line)) #:output-file (caddr (command-line))))"""


def run(command, environment, cpu=None):
    """What it printed first as a number, CPU seconds, and the most that was resident in MiB."""
    pin = ["taskset", "-c", str(cpu)] if cpu is not None else []
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(pin + [str(word) for word in command], env={**os.environ, **environment}, stdout=out,
                                   stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"collector.py: {command[0]} ended with {process.returncode}: is it built, and libgc installed?")
        out.seek(0)
        words = out.read().split()
    number = float(words[0]) if words else float("nan")
    return number, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def interval(values):
    if len(values) < 2:
        return f"{values[0]:.2f}"
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.2f} [{low:.2f} {high:.2f}]"


def row(name, ratios, note=""):
    print(f"{name:58} {interval(ratios)}  {note}".rstrip(), flush=True)


def in_turns(command, what, one_cpu=True, markers=1):
    """Of each round ours and theirs; what: the number's place in run()'s answer."""
    markers = {"GC_MARKERS": str(markers)}
    pairs = []
    for turn in range(ROUNDS):
        cpu = turn % os.cpu_count() if one_cpu else None
        pairs.append((run(command, {**OURS, **markers}, cpu), run(command, markers, cpu)))
    return [[(a[i], b[i]) for a, b in pairs] for i in what]


def ratios(pairs):
    return [a / b for a, b in pairs]


def middle(pairs, which):
    return statistics.median(pair[which] for pair in pairs)


def marking():
    for order in ("ordered", "shuffled"):
        (times,) = in_turns([PROGRAMS / "mark", order], [0])
        row(f"marking 4 million blocks of 32 bytes, {order}: time", ratios(times),
            f"{middle(times, 0):.1f} ms against {middle(times, 1):.1f}")


def trees():
    times, memory = in_turns([TREES, 18, 1], [0, 2])
    row("binary trees (gcbench 18): time", ratios(times), f"{middle(times, 0):.2f} s against {middle(times, 1):.2f}")
    row("binary trees: most resident", ratios(memory), f"{middle(memory, 0):.1f} MiB against {middle(memory, 1):.1f}")
    alone, together = (in_turns([TREES, 17, threads], [0], one_cpu=False, markers=2)[0] for threads in (1, 2))
    for which, name in enumerate(("ours", "libgc's")):
        row(f"two threads' trees (gcbench 17): {name} speedup", [2 * a[which] / b[which] for a, b in zip(alone, together)])
    row("two threads' trees: time", ratios(together))


def allocation():
    for size in (16, 64, 256, 1024):
        rates = {}
        for threads in (1, 2, 8, 64):
            rates[threads], = in_turns([PROGRAMS / "rate", "forget", size, threads], [0], one_cpu=False, markers=2)
        for threads in (2, 8, 64):
            row(f"GC_malloc({size}), {threads} threads over one", [a[0] / b[0] for a, b in zip(rates[threads], rates[1])],
                f"of libgc {interval([a[1] / b[1] for a, b in zip(rates[threads], rates[1])])}; "
                f"rate over its {middle(rates[threads], 0) / middle(rates[threads], 1):.1f}")
    for size in (16, 64, 256, 1024):
        pairs = []
        for turn in range(ROUNDS):
            cpu = turn % os.cpu_count()
            pairs.append((run([PROGRAMS / "rate", "malloc", size, 1], GRANARY, cpu)[0],
                          run([PROGRAMS / "rate", "free", size, 1], OURS, cpu)[0]))
        row(f"GC_malloc and GC_free({size}) over malloc and free: time", ratios(pairs))


def guile():
    with tempfile.TemporaryDirectory() as folder:
        environment = {"GUILE_AUTO_COMPILE": "0", "HOME": folder, "XDG_CACHE_HOME": folder}
        times, memory = [], []
        for turn in range(ROUNDS):
            cpu = turn % os.cpu_count()
            both = []
            for name, library in (("ours", OURS), ("libgc", {})):
                command = ["guile", "--no-auto-compile", "-c", COMPILE, MODULE, f"{folder}/{name}.go"]
                both.append(run(command, {**environment, **library, "GC_MARKERS": "1"}, cpu))
            times.append((both[0][1], both[1][1]))
            memory.append((both[0][2], both[1][2]))
        same = Path(folder, "ours.go").read_bytes() == Path(folder, "libgc.go").read_bytes()
    row("guile compiles web/http: CPU time", ratios(times), f"{middle(times, 0):.2f} s against {middle(times, 1):.2f}; "
        f"output {'byte-identical' if same else 'DIFFERENT'}")
    row("guile compiles web/http: most resident", ratios(memory),
        f"{middle(memory, 0):.1f} MiB against {middle(memory, 1):.1f}")


def shrinking():
    (needed,) = in_turns([PROGRAMS / "shrink"], [0])
    row("resident over needed, after live data shrank tenfold", [a for a, _ in needed],
        f"libgc's {interval([b for _, b in needed])}")


print(f"{ROUNDS} rounds; median [quartiles] of ours over libgc's, unless the row says what over what")
for part in (marking, trees, allocation, guile, shrinking):
    part()
