#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what granary record costs a Python program whose stacks are deep, and what memray costs it with the same stacks.
# Invariant: the ways take turns; times are CPU times of a command and all that it started, and medians.
# Must not know: how either takes stacks.
"""usage: python_stacks.py GRANARY [--rounds N] [--depths N,N,...]"""
import argparse
import importlib.util
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCKS = 200_000
PROGRAM = f"""import sys
sys.setrecursionlimit(10000)
def down(calls):
    if calls == 0:
        return [bytes(600 + i % 100) for i in range({BLOCKS})]
    return down(calls - 1)
down(int(sys.argv[1]))
"""


def cpu_of(words, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=f"CPU seconds of a Python program that makes {BLOCKS:,} blocks at the end "
                                                 "of a recursion; memray runs if this Python has it.")
    parser.add_argument("granary", type=Path, help="the command")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each way (default: 5)")
    parser.add_argument("--depths", default="5,40,100,200,900", help="calls of the recursion (default: 5,40,100,200,900)")
    options = parser.parse_args()
    record = [options.granary.resolve(), "record", "-q", "-o", "x.trace"]
    ways = {"plain": [], "granary": record, "granary, all stacks": [*record, "--stacks", "all"]}
    if importlib.util.find_spec("memray") is not None:
        ways["memray, native"] = [sys.executable, "-m", "memray", "run", "-q", "-f", "--native", "-o", "x.memray"]
    print(f"{'calls':>6}" + "".join(f"{way:>22}" for way in ways) + f"{'all stacks / memray':>22}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "deep.py").write_text(PROGRAM, encoding="ascii")
        for depth in options.depths.split(","):
            seconds = {way: [] for way in ways}
            for _ in range(options.rounds):
                for way, words in ways.items():
                    python = [] if way.startswith("memray") else [sys.executable]
                    seconds[way].append(cpu_of([*words, *python, "deep.py", depth], folder))
            median = {way: statistics.median(times) for way, times in seconds.items()}
            line = f"{depth:>6}" + "".join(f"{median[way]:22.2f}" for way in ways)
            if "memray, native" in ways:
                added = median["granary, all stacks"] - median["plain"]
                line += f"{added / (median['memray, native'] - median['plain']):22.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
