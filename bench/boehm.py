#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the tables of Boehm's paper with today's numbers: programs, allocators, collectors, markers and CPUs, in
#    turns.
# Invariant: a number is the median over the rounds; a ratio is the median of each round's own, its interval the
#    quartiles. A round runs all rows of a table, every other one backwards. On one CPU time is CPU time, on
#    two, and where two CPUs are compared with one, time is elapsed time by the workload's clock.
# Must not know: how an allocator allocates or a collector collects.
"""Usage: boehm.py BUILD [ROUNDS [PART...]]      prints all tables, or those of the PARTs
       boehm.py page OUTPUT PAGE             replaces the tables of PAGE by those of OUTPUT"""

import dataclasses
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 and sys.argv[1] != "page" else ROOT / "build" / "release"
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 5
WORKLOADS, PROGRAMS = BUILD / "bench" / "workloads", BUILD / "bench" / "collector"
LIBGC = next(Path("/usr/lib").glob("*/libgc.so.1"), Path("libgc.so.1"))
CPUS = sorted(os.sched_getaffinity(0))
MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Way:
    """How a program comes by its blocks: what is preloaded, what else its environment says, what it is told."""

    name: str
    library: Path | None
    environment: dict = dataclasses.field(default_factory=dict)
    words: tuple = ()

    def but(self, name, *words, **environment):
        return Way(name, self.library, {**self.environment, **environment}, (*self.words, *words))


NO_MAGAZINES = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
SYSTEM = Way("system malloc", None)
GRANARY = Way("Granary", BUILD / "libgranary.so")
OURS = Way("ours", BUILD / "libgc" / "libgc.so.1", words=("--by", "gc"))
THEIRS = Way("libgc 8.2.2", LIBGC, words=("--by", "gc"))
GC_MALLOC = Way("malloc by collector", BUILD / "libgranary-gcmalloc.so")
IGNORED = GC_MALLOC.but("malloc by collector, free ignored", GRANARY_FREE="ignore")
OBEYED = GC_MALLOC.but("malloc by collector, free obeyed", GRANARY_FREE="now")


@dataclasses.dataclass(frozen=True)
class Case:
    command: tuple
    way: Way
    cpus: int = 1
    told: dict = dataclasses.field(default_factory=dict)  # of a program that does not tell


def collected(way, markers, *words):
    """Without free."""
    return way.but(way.name, "--keep", *words, GC_MARKERS=str(markers))


def run(case):
    """What the program says of itself, its CPU time, and the most that was resident."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("LD_PRELOAD", "GLIBC_TUNABLES") and not name.startswith(("GC_", "GRANARY_"))}
    environment |= case.way.environment | ({"LD_PRELOAD": str(case.way.library)} if case.way.library else {})
    command = [str(word) for word in (*case.command, *case.way.words)]
    pinned = ["taskset", "-c", ",".join(map(str, CPUS[:case.cpus])), *command]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as out:
        began = time.monotonic()
        process = subprocess.Popen(pinned, env=environment, cwd=folder, stdout=out, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        lasted = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"boehm.py: {' '.join(command)} on {case.way.name} ended with {process.returncode}; "
                     "run: make bench")
        out.seek(0)
        text = out.read()
    told = case.told or (json.loads(text) if text.startswith("{") else {"value": float(text), "operations": 1})
    cpu_seconds = usage.ru_utime + usage.ru_stime
    elapsed = told.get("seconds", lasted)
    peak_kib = told.get("processes_peak_kib") or told.get("peak_kib") or usage.ru_maxrss
    return {**told, "cpu": cpu_seconds / told["operations"], "elapsed": elapsed / told["operations"],
            "time": (cpu_seconds if case.cpus == 1 else elapsed) / told["operations"], "mib": peak_kib / 1024}


def in_turns(cases):
    """Of each case its rounds."""
    done = {name: [] for name in cases}
    for turn in range(ROUNDS):
        for name in list(cases) if turn % 2 == 0 else reversed(cases):
            done[name].append(run(cases[name]))
    return done


def median(rounds, figure):
    return statistics.median(of_round[figure] for of_round in rounds)


def ratio(over, under, figure="time", factor=1.0):
    """`over`'s figure over that of `under`, as words."""
    values = [factor * a[figure] / b[figure] for a, b in zip(over, under)]
    if len(values) < 2:
        return f"{values[0]:.2f}"
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.2f} [{low:.2f} {high:.2f}]"


def faster(rounds, reference, figure="time"):
    """As many times the throughput."""
    return ratio(reference, rounds, figure)


def shown(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(name, head, rows):
    print(f"\n{name}\n\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.stdout.flush()


def throughput(name, unit, scale, rows, reference):
    """rows: name to its case on one CPU, or None, and on two; `scale` operations in the unit are one."""
    cases = {(row, cpus): case for row, both in rows.items() for cpus, case in zip((1, 2), both) if case}
    done = in_turns(cases)

    def cells(row, cpus):
        rounds = done.get((row, cpus))
        return [shown(scale / median(rounds, "time")), faster(rounds, done[reference, cpus]),
                f"{median(rounds, 'mib'):.0f}"] if rounds else ["-"] * 3

    def growth(row):
        return faster(done[row, 2], done[row, 1], "elapsed") if {(row, 1), (row, 2)} <= set(done) else "-"

    table(name,
          ["", f"1 CPU, {unit}", f"over {reference}", "MiB", "2 CPUs", f"over {reference}", "MiB", "2 CPUs over 1"],
          [[row, *cells(row, 1), *cells(row, 2), growth(row)] for row in rows])


def trees(threads, *words, program="mt-gcbench", operations=None):
    return (WORKLOADS / program, "--threads", threads, "--ops", operations or threads, *words)


def larson(threads, *words, operations=1_000_000):
    return (WORKLOADS / "larson", "--memset", "--threads", threads, "--ops", operations, *words)


def on_both(command, way):
    """As many threads as CPUs; `way` may be told how many."""
    return [Case(command(cpus), way(cpus) if callable(way) else way, cpus) for cpus in (1, 2)]


def identity():
    names = {"nobody is asked": "none", "pthread_getspecific": "getspecific", "own table": "stack-hash",
             "initial-exec TLS": "initial-exec"}
    ways = {name: Way(name, f"{BUILD}/bench/identity/libasking-{file}.so {GRANARY.library}")
            for name, file in names.items()}
    done = in_turns({(name, cpus): Case(trees(cpus, "--form", "second"), way, cpus)
                     for name, way in ways.items() for cpus in (1, 2)})
    base = next(iter(ways))
    table("table-1", ["", "1 processor, CPU s an iteration", "over nobody", "2 processors", "over nobody"],
          [[name, *(cell for cpus in (1, 2) for cell in (shown(median(done[name, cpus], "cpu")),
                                                         ratio(done[name, cpus], done[base, cpus], "cpu")))]
           for name in ways])


def ghostscript():
    document = ROOT / "test" / "programs" / "inputs" / "job.ps"
    script = (f"gs -q -sDEVICE=pdfwrite -o job.pdf -c '/Pages 10 def' -f {document} && "
              "gs -q -sDEVICE=png16m -r100 -o page-%02d.png job.pdf")
    ways = {"system malloc": SYSTEM, "gc thread: free ignored": IGNORED,
            "gc seq: the same without magazines": IGNORED.but("", **NO_MAGAZINES), "free obeyed": OBEYED,
            "Granary": GRANARY}
    throughput("ghostscript", "a minute", 60,
               {name: [Case(("sh", "-c", script), way, cpus, {"operations": 1}) for cpus in (1, 2)]
                for name, way in ways.items()}, "system malloc")


def mt_gcbench():
    heap = ("--heap-mib", 32)

    def alone(cpus):
        return trees(cpus, "--form", "second")

    together = " ".join(map(str, ("--form", "second", *OURS.words, "--keep", *heap)))
    processes = Way("gc process", OURS.library, {"GC_MARKERS": "1"}, (f"--words={together}",))
    ways = {"gc thread": lambda cpus: collected(OURS, cpus, *heap),
            "gc seq: no magazines, 1 marker": collected(OURS, 1, *heap).but("", **NO_MAGAZINES),
            "libgc 8.2.2": lambda cpus: collected(THEIRS, cpus, *heap),
            "libgc 8.2.2, 1 marker": collected(THEIRS, 1, *heap),
            "malloc by collector, no free": IGNORED.but("", "--keep"),
            "ours, GC_free": OURS, "libgc 8.2.2, GC_free": THEIRS,
            "Granary": GRANARY, "system malloc": SYSTEM}
    throughput("mt-gcbench", "iterations a minute", 60,
               {"gc process": [None, Case(trees(2, program="separate-processes"), processes, 2)],
                **{name: on_both(alone, way) for name, way in ways.items()}}, "system malloc")


def larsons():
    ways = {"gc thread: free ignored": IGNORED, "gc seq: the same without magazines": IGNORED.but("", **NO_MAGAZINES),
            "free obeyed": OBEYED, "ours, GC_malloc, no free": OURS.but("", "--keep"),
            "libgc 8.2.2, no free": THEIRS.but("", "--keep"), "libgc 8.2.2, GC_free": THEIRS, "Granary": GRANARY,
            "system malloc": SYSTEM}
    for name, least, most in (("larson", 10, 100), ("larson-wide", 8, 1000), ("larson-small", 8, 8)):
        throughput(name, "millions a second", 1e-6,
                   {row: on_both(lambda cpus: larson(cpus, "--min", least, "--max", most), way)
                    for row, way in ways.items()}, "system malloc")


def clients():
    counts = [(clients, markers) for clients in (1, 2) for markers in (1, 2)]
    ours, theirs = "ours", "libgc 8.2.2"
    cases = {(name, *count): Case(trees(count[0]), collected(way, count[1]), 2)
             for name, way in ((ours, OURS), (theirs, THEIRS)) for count in counts}
    builds = {"ours, no magazines, 1 marker": collected(OURS, 1).but("", **NO_MAGAZINES), "system malloc": SYSTEM,
              "Granary": GRANARY}
    cases |= {(name, clients, 0): Case(trees(clients), way, 2) for name, way in builds.items() for clients in (1, 2)}
    done = in_turns(cases)

    def seconds(*case):  # not for an operation: of all clients together
        return shown(median(done[case], "seconds"))

    table("clients",
          ["seconds", "1 client, 1 marker", "1 client, 2 markers", "2 clients, 1 marker", "2 clients, 2 markers"],
          [[name, *(seconds(name, *count) for count in counts)] for name in (ours, theirs)])
    table("builds", ["seconds", "1 client", "2 clients"],
          [[name, *(seconds(name, clients, 0) for clients in (1, 2))] for name in builds])
    lines = {"a second marker, 1 client: times as fast": ((1, 1), (1, 2), "seconds", 1),
             "the same, CPU time": ((1, 1), (1, 2), "cpu", 1),
             "a second marker, 2 clients: times as fast": ((2, 1), (2, 2), "seconds", 1),
             "throughput, 2 clients and markers over 1 and 1": ((1, 1), (2, 2), "seconds", 2)}
    follows = [[line, *(ratio(done[(name, *over)], done[(name, *under)], figure, factor) for name in (ours, theirs))]
               for line, (over, under, figure, factor) in lines.items()]
    for line, reference, count, base in (
            ("1 client, 1 marker: without magazines over with them", "ours, no magazines, 1 marker", (1, 1), None),
            ("2 clients: without magazines and 1 marker over both", "ours, no magazines, 1 marker", (2, 2), None),
            ("1 client, 1 marker, over the system's malloc", "system malloc", (1, 1), 1),
            ("2 clients, 2 markers, over the system's malloc", "system malloc", (2, 2), 1),
            ("2 clients, 2 markers, over Granary with free", "Granary", (2, 2), 1)):
        other = done[reference, count[0], 0]
        follows.append([line] + ([ratio(done[(name, *count)], other, "seconds") for name in (ours, theirs)] if base else
                                 [ratio(other, done[(ours, *count)], "seconds"), "-"]))
    table("follows", ["", ours, theirs], follows)


def heaps():
    sizes = (16, 32, 64, 128)
    cases = {"system": Case(trees(1, "--form", "second"), SYSTEM)}
    cases |= {(name, mib): Case(trees(1, "--form", "second"), collected(way, 1, "--heap-mib", mib))
              for name, way in (("ours", OURS), ("libgc", THEIRS)) for mib in sizes}
    done = in_turns(cases)
    head = ["MiB a client"]
    for name in ("ours", "libgc 8.2.2"):
        head += [f"{name}, throughput over system malloc", "collections", "MiB"]
    table("heaps", head, [[str(mib), *(cell for name in ("ours", "libgc") for cell in (
        faster(done[name, mib], done["system"]), f"{median(done[name, mib], 'collections'):.0f}",
        f"{median(done[name, mib], 'mib'):.0f}"))] for mib in sizes])


def depths():
    rows = {8: 400, 12: 25, 16: 1, 17: 1}
    ways = {"system": SYSTEM, "Granary": GRANARY, "ours": collected(OURS, 1), "libgc": collected(THEIRS, 1)}
    done = in_turns({(name, depth): Case(trees(1, "--form", "second", "--depth", depth, operations=operations), way)
                     for depth, operations in rows.items() for name, way in ways.items()})
    table("depths", ["depth", "ours, throughput over system malloc", "over Granary", "libgc 8.2.2 over system malloc",
                     "MiB: ours, libgc, system"],
          [[str(depth), faster(done["ours", depth], done["system", depth]),
            faster(done["ours", depth], done["Granary", depth]), faster(done["libgc", depth], done["system", depth]),
            ", ".join(f"{median(done[name, depth], 'mib'):.0f}" for name in ("ours", "libgc", "system"))]
           for depth in rows])


def sizes():
    rows = {8: 1_000_000, 64: 1_000_000, 512: 500_000, 4096: 200_000}
    ways = {"ignored": IGNORED, "system": SYSTEM, "Granary": GRANARY}
    done = in_turns({(name, size): Case(larson(1, "--min", size, "--max", size, operations=operations), way)
                     for size, operations in rows.items() for name, way in ways.items()})
    table("sizes", ["bytes", "free ignored, ns a byte", "system malloc, ns a byte", "throughput over system malloc",
                    "over Granary"],
          [[str(size), *(shown(median(done[name, size], "time") / size * 1e9) for name in ("ignored", "system")),
            faster(done["ignored", size], done["system", size]), faster(done["ignored", size], done["Granary", size])]
           for size in rows])


def clearing():
    rows = {"8": (8, 8), "10 to 100": (10, 100), "1000": (1000, 1000)}
    libraries = {"ours": OURS.library, "libgc 8.2.2": LIBGC}
    ways = {(name, by): Way(name, library, {"GC_MARKERS": "1"}, ("--by", by, "--keep"))
            for name, library in libraries.items() for by in ("gc", "gc-atomic")}
    done = in_turns({(row, *way): Case(larson(1, "--min", least, "--max", most, operations=500_000), ways[way])
                     for row, (least, most) in rows.items() for way in ways})
    table("clearing", ["bytes", *(f"{name}: GC_malloc over GC_malloc_atomic, time" for name in libraries)],
          [[row, *(ratio(done[row, name, "gc"], done[row, name, "gc-atomic"]) for name in libraries)] for row in rows])


def threads():
    counts = (1, 2, 8, 64)

    def small(number):
        return larson(number, "--min", 8, "--max", 8)

    def nodes(number):
        return trees(number, "--form", "second", "--depth", 12, operations=64)

    rows = {("MT_GCBench", "gc thread"): (nodes, collected(OURS, 2)),
            ("MT_GCBench", "libgc 8.2.2"): (nodes, collected(THEIRS, 2)),
            ("MT_GCBench", "Granary"): (nodes, GRANARY), ("MT_GCBench", "system malloc"): (nodes, SYSTEM),
            ("Larson-small", "gc thread: free ignored"): (small, IGNORED),
            ("Larson-small", "libgc 8.2.2, no free"): (small, collected(THEIRS, 2)),
            ("Larson-small", "Granary"): (small, GRANARY), ("Larson-small", "system malloc"): (small, SYSTEM)}
    done = in_turns({(row, number): Case(command(number), way, 2)
                     for row, (command, way) in rows.items() for number in counts})
    table("threads", ["throughput on 2 CPUs", "2 threads over 1", "8 over 1", "64 over 1"],
          [[": ".join(row), *(faster(done[row, number], done[row, 1], "elapsed") for number in counts[1:])]
           for row in rows])


def graphs():
    blocks = 2_000_000
    shapes = [(shape, order) for shape in ("tree", "list", "array") for order in ("ordered", "shuffled")]
    libraries = {"ours": {"LD_LIBRARY_PATH": str(OURS.library.parent)}, "libgc": {}}
    done = in_turns({(name, *graph, markers): Case((PROGRAMS / "mark", graph[1], blocks, graph[0]),
                                                   Way(name, None, {**environment, "GC_MARKERS": str(markers)}), 2)
                     for graph in shapes for name, environment in libraries.items() for markers in (1, 2)})

    def cells(name, graph):
        one, two = done[(name, *graph, 1)], done[(name, *graph, 2)]
        return [*(shown(median(rounds, "value") * 1e6 / blocks) for rounds in (one, two)), ratio(one, two, "value")]

    table("graphs", ["ns a block", "ours, 1 marker", "2 markers", "times as fast", "libgc 8.2.2, 1 marker", "2 markers",
                     "times as fast"],
          [[", ".join(graph), *cells("ours", graph), *cells("libgc", graph)] for graph in shapes])


def instructions(way):
    """Of marking one block."""
    blocks = 100_000
    if not shutil.which("valgrind"):
        return "-"
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=by_*",
             PROGRAMS / "marks", way, "shuffled", "1", str(blocks)]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    return f"{int(re.search(r'Collected : ([0-9]+)', told).group(1)) / blocks:.1f}"


def marks():
    rows = {"byte, plain store": "byte", "bit, plain store": "plain", "bit, compare-and-swap": "swap",
            "bit, fetch-or": "or"}
    orders = [(order, number) for order in ("ordered", "shuffled") for number in (1, 2)]
    done = in_turns({(way, *order): Case((PROGRAMS / "marks", way, *order), Way(way, None), order[1])
                     for way in rows.values() for order in orders if (way, order[1]) != ("plain", 2)})
    head = [f"{order}, {number} thread{'s' * (number > 1)}" for order, number in orders]
    table("marks", ["CPU ns a mark", "instructions", *head],
          [[name, instructions(way), *(shown(median(done[way, *order], "value")) if (way, *order) in done else "-"
                                       for order in orders)] for name, way in rows.items()])


def memory():
    ways = {way.name: way for way in (IGNORED, OBEYED, GRANARY, SYSTEM)}
    churn = (WORKLOADS / "thread-churn", "--threads", 64, "--ops", 20_000)
    done = in_turns({(name, "churn"): Case(churn, way, 2) for name, way in ways.items()}
                    | {(name, cpus): Case((WORKLOADS / "large-blocks", "--threads", cpus, "--ops", 20_000), way, cpus)
                       for name, way in ways.items() for cpus in (1, 2)})
    table("memory", ["", "thread-churn, 64 threads: MiB", "large-blocks, 1 thread: throughput over system malloc",
                     "2 threads over 1"],
          [[name, f"{median(done[name, 'churn'], 'mib'):.1f}", faster(done[name, 1], done["system malloc", 1]),
            faster(done[name, 2], done[name, 1], "elapsed")] for name in ways])


def pauses():
    rows = {}
    for markers in (1, 2):
        stops, seconds = [], 0.0
        for _ in range(ROUNDS):
            with tempfile.NamedTemporaryFile("w+") as log:
                way = collected(OURS, markers).but("", GRANARY_COLLECTIONS=log.name)
                seconds += run(Case(trees(2, "--form", "second"), way, 2))["seconds"]
                stops += [json.loads(line)["pause_ns"] * 1e-6 for line in Path(log.name).read_text().splitlines()]
        low, middle, high = statistics.quantiles(stops, n=4)
        rows[markers] = [str(markers), f"{len(stops) / ROUNDS:.0f}", f"{middle:.1f} [{low:.1f} {high:.1f}]",
                         f"{max(stops):.1f}", f"{sum(stops) / seconds / 10:.0f} %"]
    table("pauses", ["markers", "collections", "a stop, ms", "the longest", "of all time"], list(rows.values()))


NODES = 14_809_575  # of an iteration of MT_GCBench's second form


def locks():
    """Of explicit free, by the build that counts; what the start costs is taken off."""
    library = BUILD.parent / "counted" / "libgranary.so"
    if not library.is_file():
        print("\nlocks: left out, make counted builds what counts them")
        return

    def told(threads, iterations):
        command = [str(word) for word in trees(threads, "--form", "second", operations=iterations)]
        return json.loads(subprocess.run(command, env={"LD_PRELOAD": str(library), "GRANARY_STATS": "json"},
                                         capture_output=True, check=True).stderr)

    counted = [(told(threads, 2), told(threads, 4)) for threads in (1, 2)]
    table("locks", ["events in a million nodes", "1 thread", "2 threads"],
          [[event.replace("_", " "), *(f"{max(0, twice[event] - once[event]) / (2 * NODES) * 1e6:,.0f}"
                                       for once, twice in counted)]
           for event in ("refills", "flushes", "locks", "page_heap_locks", "waits", "atomic_operations", "system_calls")])


def marking():
    """By the build that counts: what markers do twice, give away, and have no room for on one segment of a stack."""
    library = BUILD.parent / "counted" / "libgc" / "libgc.so.1"
    if not library.is_file():
        print("\nmarking: left out, make counted builds what counts it")
        return
    ours = Way("ours, counted", library, words=OURS.words)
    cases = {("MT_GCBench, 2 clients", markers): Case(trees(2, "--form", "second"), collected(ours, markers), 2)
             for markers in (1, 2)}
    marked = Way("ours, counted", None, {"LD_LIBRARY_PATH": str(library.parent)})
    cases |= {(f"{shape}, shuffled", markers): Case((PROGRAMS / "mark", "shuffled", 1_000_000, shape),
                                                    marked.but("", GC_MARKERS=str(markers)), 2)
              for shape in ("tree", "list", "array") for markers in (1, 2)}

    def counted(case):
        with tempfile.NamedTemporaryFile("w+") as log:
            run(dataclasses.replace(case, way=case.way.but("", GRANARY_COLLECTIONS=log.name)))
            collections = [json.loads(line) for line in Path(log.name).read_text().splitlines()]
        # The last has the events of all.
        return collections[-1] | {"collections": len(collections),
                                  "blocks": sum(each["live_blocks"] for each in collections)}

    def cells(case):
        rounds = [counted(case) for _ in range(ROUNDS)]
        blocks = median(rounds, "blocks")
        return [f"{median(rounds, 'collections'):.0f}", f"{blocks:,.0f}",
                *(f"{median(rounds, event) / blocks * 1e6:,.1f}" for event in
                  ("blocks_marked_twice", "work_given", "stacks_outgrown"))]

    table("marking", ["in a million blocks marked", "markers", "collections", "blocks marked", "marked twice",
                      "segments given to other markers", "segments that a marker's own stack filled"],
          [[name, str(markers), *cells(case)] for (name, markers), case in cases.items()])

    def growth(clients):
        once, twice = (counted(Case(trees(clients, "--form", "second", operations=iterations), collected(ours, clients), 2))
                       for iterations in (2, 4))
        return {event: (twice[event] - once[event]) / (2 * NODES) * 1e6 for event in ("locks", "waits")}

    grown = [growth(clients) for clients in (1, 2)]
    table("collector-locks", ["events in a million nodes, until the last collection", "1 client", "2 clients"],
          [[event, *(f"{max(0, by_clients[event]):,.0f}" for by_clients in grown)] for event in ("locks", "waits")])


def put_into(output, page):
    """Under each `<!-- boehm.py: NAME -->` of the page, the table of that name."""
    tables = dict(re.findall(r"^([a-z0-9-]+)\n\n((?:\|.*\n)+)", output.read_text(encoding="utf-8"), re.MULTILINE))
    text = page.read_text(encoding="utf-8")
    for name, rows in tables.items():
        opening = f"<!-- boehm.py: {name} -->\n"
        text, times = re.subn(re.escape(opening) + r"(?:\|.*\n)*", lambda _: opening + rows, text)
        if times != 1:
            sys.exit(f"boehm.py: {page} has {times} places for the table {name}, expected one")
    page.write_text(text, encoding="utf-8")


PARTS = {part.__name__.replace("_", "-"): part for part in (
    identity, ghostscript, mt_gcbench, larsons, clients, heaps, depths, sizes, clearing, threads, graphs, marks, memory,
    pauses, locks, marking)}

if sys.argv[1:2] == ["page"] and len(sys.argv) == 4:
    put_into(Path(sys.argv[2]), Path(sys.argv[3]))
    sys.exit()
wanted = sys.argv[3:] or list(PARTS)
if len(sys.argv) < 2 or sys.argv[1].startswith("-") or not set(wanted) <= set(PARTS):
    sys.exit(f"{__doc__}\nparts: {' '.join(PARTS)}")
print(f"$ python3 bench/boehm.py {' '.join(sys.argv[1:])}\n{time.strftime('%F')}, Linux {platform.release().partition('-')[0]}, {len(CPUS)} CPUs, "
      f"load {os.getloadavg()[0]:.1f}; {ROUNDS} rounds; medians, ratios with their quartiles")
for part in wanted:
    PARTS[part]()
