#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the collector beside the installed libgc, or another build of it: marking, binary trees, allocation, other calls,
#    sizes, guile, memory, collections beside the program, generations, real clients; in turns.
# Invariant: a ratio is the median over the rounds of ours over theirs, its interval the quartiles; each run of a round
#    is on the same CPUs as its counterpart.
# Must not know: how either collects.
"""Usage: collector.py [--libgc FOLDER] [--suites FOLDER] BUILD [ROUNDS [PART...]]

Parts: marking trees allocation calls sizes guile shrinking beside generations; all of these by default. clients if it is
named. --libgc: has the libgc.so.1 to compare with. --suites: has the sources of guile-3.0 and ecl, for clients."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import clients as real_clients

parser = argparse.ArgumentParser(description="The collector beside libgc, in turns.")
parser.add_argument("--libgc", type=Path, metavar="FOLDER", help="has the libgc.so.1 to compare with, not the installed one")
parser.add_argument("--suites", type=Path, metavar="FOLDER", help="has the unpacked sources of guile-3.0 and ecl, for clients")
parser.add_argument("build", type=Path)
parser.add_argument("rounds", type=int, nargs="?", default=7)
parser.add_argument("parts", nargs="*", metavar="part")
ARGUMENTS = parser.parse_args()
if ARGUMENTS.libgc and not (ARGUMENTS.libgc / "libgc.so.1").exists():
    parser.error(f"{ARGUMENTS.libgc} has no libgc.so.1; give the folder where it lies")
BUILD = ARGUMENTS.build.resolve()
ROUNDS = ARGUMENTS.rounds
PROGRAMS = BUILD / "bench" / "collector"
TREES = BUILD / "test" / "libgc" / "libgc_gcbench"
OURS = {"LD_LIBRARY_PATH": str(BUILD / "libgc")}
THEIRS = {"LD_LIBRARY_PATH": str(ARGUMENTS.libgc.resolve())} if ARGUMENTS.libgc else {}
GRANARY = {"LD_PRELOAD": str(BUILD / "libgranary.so")}
TREES_OF_A_GIB, STEPS = 21, 30000  # of forest
OLD_TREES, YOUNG_STEPS = 30, 60000  # of young
OLD_BYTES = 470 << 20  # what lives from the first of these steps on
WARM = 5 << 30  # bytes, more than forest ever holds
MODULE = "/usr/share/guile/3.0/web/http.scm"
COMPILE = """(begin (use-modules (system base compile))
                    (compile-file (cadr (command-line)) #:output-file (caddr (command-line))))"""


def run_for_words(command, environment, cpu=None):
    """What it printed, CPU seconds, and the most that was resident in MiB."""
    pin = ["taskset", "-c", str(cpu)] if cpu is not None else []
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(pin + [str(word) for word in command], env={**os.environ, **environment}, stdout=out,
                                   stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"collector.py: {command[0]} ended with {process.returncode}; build it and install libgc")
        out.seek(0)
        return out.read().split(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run(command, environment, cpu=None):
    """As run_for_words, with the first word as a number."""
    words, *used = run_for_words(command, environment, cpu)
    return float(words[0]) if words else float("nan"), *used


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
        pairs.append((run(command, {**OURS, **markers}, cpu), run(command, {**THEIRS, **markers}, cpu)))
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


def calls():
    for name in ("typed", "typed-array", "typed-freed", "kind", "aligned", "text", "chain", "gcj", "disclaimed",
                 "uncollectable", "resized", "finalized", "finalized-again", "linked", "large", "large-freed", "base"):
        (times,) = in_turns([PROGRAMS / "calls", name], [0])
        row(f"{name}: CPU time of a call", ratios(times), f"{middle(times, 0):.1f} ns against {middle(times, 1):.1f}")


def sizes():
    """Counts, the same in each round; of ours and of libgc."""
    for kind in ("scanned", "atomic"):
        for size in [step * 2**shift for shift in range(10, 22) for step in (1, 1.25, 1.5, 1.75)] + [1 << 22]:
            (ours, _, _), (theirs, _, _) = (run_for_words([PROGRAMS / "sizes", kind, int(size)], library)
                                            for library in (OURS, {}))
            print(f"{kind} objects of {int(size):7} bytes, over what was asked for: resident {ours[0]}, libgc "
                  f"{theirs[0]}; heap {ours[1]}, libgc {theirs[1]}", flush=True)


def guile():
    with tempfile.TemporaryDirectory() as folder:
        environment = {"GUILE_AUTO_COMPILE": "0", "HOME": folder, "XDG_CACHE_HOME": folder}
        times, memory = [], []
        for turn in range(ROUNDS):
            cpu = turn % os.cpu_count()
            both = []
            for name, library in (("ours", OURS), ("libgc", THEIRS)):
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


def warm_the_machine():
    """A virtual machine's page that its host has to find takes ten times as long, and those are what holds more meets."""
    fill = f"import mmap; mmap.mmap(-1, {WARM}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)"
    subprocess.run([sys.executable, "-c", fill], check=True)


def forest(environment, reads, log):
    """Seconds of its steps, the longest step in ms, MiB resident; and the collections, if they are told of."""
    log.unlink(missing_ok=True)
    warm_the_machine()
    environment = {**environment, "GC_MARKERS": str(os.cpu_count()), "GRANARY_COLLECTIONS": str(log)}
    (seconds, longest), _, resident = run_for_words([PROGRAMS / "forest", TREES_OF_A_GIB, STEPS, reads], environment)
    told = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return float(seconds), float(longest), resident, [json.loads(line) for line in told]


def stops_of_full_heap(told):
    """In ms: each time that the program stood while most of a GiB lived, for the roots or for the last of a collection."""
    full = [c for c in told if c["live_bytes"] > 0.9 * 2**30]
    return ([c["pause_ns"] / 1e6 for c in full], [ns / 1e6 for c in full for ns in c.get("root_pauses_ns", [])])


def both_ways(library, reads, log, turn):
    """Of one round: beside the program, and stopped; in one order and in the other."""
    ways = [{**library, "GC_ENABLE_INCREMENTAL": "1"}, library]
    if turn % 2 == 0:
        return [forest(way, reads, log) for way in ways]
    return [forest(way, reads, log) for way in reversed(ways)][::-1]


def beside():
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "collections")
        for reads in (1, 8, 16):
            rounds = [both_ways(OURS, reads, log, turn) for turn in range(ROUNDS)]
            name = f"a GiB of trees, {reads} read for one replaced, beside over stopped"
            row(f"{name}: time", [a[0] / b[0] for a, b in rounds], f"{middle([(a[0], b[0]) for a, b in rounds], 0):.2f} s")
            row(f"{name}: most resident", [a[2] / b[2] for a, b in rounds])
            last, roots = (sum((stops_of_full_heap(a[3])[i] for a, _ in rounds), []) for i in (0, 1))
            stopped = sum((stops_of_full_heap(b[3])[0] for _, b in rounds), [])
            print(f"    stops in ms: the last {interval(last)}, longest of {len(last)} {max(last):.2f}; for roots "
                  f"{interval(roots)}, longest of {len(roots)} {max(roots):.2f}; stopped {interval(stopped)}")
            print(f"    the longest step in ms: {interval([a[1] for a, _ in rounds])}; stopped "
                  f"{interval([b[1] for _, b in rounds])}", flush=True)
        theirs = [both_ways(THEIRS, 8, log, turn) for turn in range(ROUNDS)]
        row("the same with libgc and its incremental mode, 8 read: time", [a[0] / b[0] for a, b in theirs],
            f"the longest step {interval([a[1] for a, _ in theirs])} ms; stopped {interval([b[1] for _, b in theirs])}")


def young(environment, writes, log):
    """Seconds of its steps, CPU seconds in collections meanwhile, CPU seconds of all, MiB resident; and the collections after the
    old trees were made."""
    log.unlink(missing_ok=True)
    environment = {**environment, "GRANARY_COLLECTIONS": str(log)}
    command = [PROGRAMS / "young", OLD_TREES, YOUNG_STEPS, writes]
    (seconds, _, collecting), cpu, resident = run_for_words(command, environment)
    told = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return float(seconds), float(collecting), cpu, resident, [c for c in told if c["live_bytes"] > OLD_BYTES]


def generations():
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "collections")
        for writes in (0, 1, 10):
            runs = []
            for turn in range(ROUNDS):
                ways = [{**OURS, "GC_ENABLE_GENERATIONAL": "1"}, OURS]
                both = [young(way, writes, log) for way in (ways if turn % 2 == 0 else reversed(ways))]
                runs.append(both if turn % 2 == 0 else both[::-1])
            minor = [c["pause_ns"] / 1e6 for with_generations, _ in runs for c in with_generations[4]
                     if c["reason"] == "young"]
            row(f"CPU time in collections with generations over without, {writes} old nodes written in a step",
                [a[1] / b[1] for a, b in runs],
                f"{statistics.median(a[1] for a, _ in runs):.2f} s against {statistics.median(b[1] for _, b in runs):.2f}")
            row("    CPU time of the program", [a[2] / b[2] for a, b in runs],
                f"{statistics.median(a[2] for a, _ in runs):.2f} s against {statistics.median(b[2] for _, b in runs):.2f}")
            row("    seconds of the steps", [a[0] / b[0] for a, b in runs],
                f"{statistics.median(a[0] for a, _ in runs):.2f} s against {statistics.median(b[0] for _, b in runs):.2f}")
            row("    most resident", [a[3] / b[3] for a, b in runs], "")
            if minor:
                row("    minor collections, ms", minor, f"{len(minor)} of them, the longest {max(minor):.1f} ms")
            else:
                print("    no minor collection was done")


def clients():
    """Beside the installed libgc, and with --libgc beside that one, too."""
    if ARGUMENTS.suites is None:
        parser.error("clients needs --suites FOLDER; bench/README.md says how to fill it")
    libraries = {"ours": OURS, "the installed libgc": {}}
    if THEIRS:
        libraries["the other libgc"] = THEIRS
    real_clients.show(ARGUMENTS.suites, libraries, ROUNDS, row)


PARTS = {part.__name__: part for part in (marking, trees, allocation, calls, sizes, guile, shrinking, beside, generations)}
NAMED_ONLY = {"clients": clients}
if not set(ARGUMENTS.parts) <= {*PARTS, *NAMED_ONLY}:
    parser.error(f"no such part; choose from {' '.join([*PARTS, *NAMED_ONLY])}")
print(f"{ROUNDS} rounds; median [quartiles] of Granary over libgc, unless the row names another ratio")
for part in ARGUMENTS.parts or PARTS:
    {**PARTS, **NAMED_ONLY}[part]()
