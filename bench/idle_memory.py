# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: what does a service keep resident that answered a few large requests and then does nothing, and what
#    do the requests cost? Pauses between the requests and threads vary.
# Invariant: the same program on every allocator, which take turns; memory that the kernel may take at once (LazyFree) is
#    shown apart; only reports, never judges.
# Must not know: how an allocator gives memory back.
"""Usage: idle_memory.py [--build build/release] [--rows 300000] [--rounds 3] [--idle 0,1,10] [--json FILE]"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from record import Record, allocators, environment, print_table
from places import ROOT

KIB = 1024
TIMEOUT = 600
CASES = (("0.5 s between requests", 0.5, 1), ("0.5 s, 4 threads", 0.5, 4), ("0.1 s", 0.1, 1), ("no pause", 0.0, 1),
         ("no pause, 4 threads", 0.0, 4))
# Four requests in each thread: an answer of many rows, thrown away. Then idle, with one thread waiting if there were
# more.
SERVICE = r"""
import json, re, sys, threading, time
gap, threads, rows, idle = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), [float(word) for word in sys.argv[4].split(",")]

def memory():
    text = open("/proc/self/smaps_rollup").read()
    return [int(re.search(name + r":\s+(\d+)", text).group(1)) for name in ("Rss", "LazyFree")]

def serve():
    for _ in range(4):
        answer = [str(i) * 20 + "x" * (1000 + i % 700) for i in range(rows // threads)]
        sum(map(len, answer))
        del answer
        time.sleep(gap)

before, _ = memory()
end = threading.Event()
if threads == 1:
    serve()
else:
    waiting = threading.Thread(target=end.wait)
    workers = [threading.Thread(target=serve) for _ in range(threads)]
    for thread in (waiting, *workers):
        thread.start()
    for thread in workers:
        thread.join()
cpu = time.process_time()
began, seen = time.monotonic(), []
for seconds in idle:
    time.sleep(max(0.0, began + seconds - time.monotonic()))
    seen.append(memory())
print(json.dumps({"before_kib": before, "cpu_seconds": cpu, "idle_kib": seen}))
end.set()
"""


def run(case: tuple, library: Path | None, options: argparse.Namespace) -> dict:
    _, gap, threads = case
    words = ["/usr/bin/python3", "-c", SERVICE, str(gap), str(threads), str(options.rows), options.idle]
    done = subprocess.run(words, env=environment(library, {"PYTHONMALLOC": "malloc"}), capture_output=True, text=True,
                          timeout=TIMEOUT, check=True)
    return json.loads(done.stdout)


def print_case(name: str, reports: dict[str, list[dict]], moments: list[str]) -> None:
    rows = []
    for allocator, runs in reports.items():
        row = [allocator]
        for index in range(len(moments)):
            resident = statistics.median(report["idle_kib"][index][0] for report in runs)
            lazy = statistics.median(report["idle_kib"][index][1] for report in runs)
            row += [f"{resident / KIB:.0f}", f"{(resident - lazy) / KIB:.0f}"]
        rows.append([*row, f"{statistics.median(report['cpu_seconds'] for report in runs):.2f}"])
    print(f"\n{name} (MiB, medians)")
    print_table(["", *(word for moment in moments for word in (f"RSS at {moment} s", "less LazyFree")), "CPU seconds"], rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--rows", type=int, default=300000, help="of an answer; 300000 are 450 MiB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--idle", default="0,1,10", metavar="S,S", help="seconds after the last request")
    parser.add_argument("--json", type=Path, help="write every value to FILE")
    options = parser.parse_args()
    libraries = allocators(options.build.resolve() / "libgranary.so")
    record = Record(options.json)
    for case in CASES:
        reports: dict[str, list[dict]] = {}
        for number in range(options.rounds):
            for name, library in libraries.items():
                print(f"\r\033[K{case[0]}, round {number + 1}, {name}", end="", file=sys.stderr, flush=True)
                report = run(case, library, options)
                reports.setdefault(name, []).append(report)
                record.write({"case": case[0], "allocator": name, **report})
        print("\r\033[K", end="", file=sys.stderr)
        print_case(case[0], reports, options.idle.split(","))
    return 0


if __name__ == "__main__":
    sys.exit(main())
