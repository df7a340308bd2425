#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what a profile costs the compiler that runs with it: CPU time and peak memory with a profile over those without,
#    in turns.
# Invariant: all runs do the same on one CPU; the order of the runs changes from round to round. A ratio is the median
#    of the rounds' own, its interval that of 95 % of medians of rounds drawn again.
# Must not know: how the profile is taken.
"""usage: profile.py BUILD [--rounds N] [--classes N] [--profile VALUE...]"""
import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile

from recording import CC1PLUS, source

DRAWS = 2000
SEED = 20


def one_run(command, folder, library, profile):
    """CPU seconds, peak KiB."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRANARY_")}
    given = {"LD_PRELOAD": library, **({"GRANARY_PROFILE": profile} if profile else {})}
    child = subprocess.Popen(command, cwd=folder, env={**kept, **given}, stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        sys.exit(f"{command[0]} failed with status {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def interval(ratios):
    draw = random.Random(SEED)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    return statistics.median(ratios), medians[DRAWS // 40], medians[-DRAWS // 40]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--classes", type=int, default=30)
    parser.add_argument("--profile", nargs="+", default=["512K"])
    options = parser.parse_args()
    library = os.path.join(os.path.abspath(options.build), "libgranary.so")
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout
    command = [compiler.strip(), *CC1PLUS]
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    ways = ["", *options.profile]
    seconds, peaks = ({way: [] for way in ways} for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "big.cpp"), "w", encoding="ascii") as file:
            file.writelines(source(options.classes))
        subprocess.run(["g++", "-E", "big.cpp", "-o", "big.ii"], cwd=folder, check=True)
        one_run(command, folder, library, "")  # files are in memory from here on
        for number in range(options.rounds):
            for way in ways if number % 2 == 0 else reversed(ways):
                used, peak = one_run(command, folder, library, way)
                seconds[way].append(used)
                peaks[way].append(peak)
                print(f"round {number + 1}: {way or 'no profile':10} {used:7.3f} s of CPU time, {peak / 1024:7.1f} MiB",
                      flush=True)
    print(f"\n{'':12}{'CPU s':>8}{'MiB':>8}   time over none         memory over none")
    for way in ways:
        line = f"{way or 'no profile':12}{statistics.median(seconds[way]):8.3f}{statistics.median(peaks[way]) / 1024:8.1f}"
        if way:
            for values in (seconds, peaks):
                middle, low, high = interval([one / other for one, other in zip(values[way], values[""])])
                line += f"   {middle:.4f} [{low:.4f} {high:.4f}]"
        print(line)


if __name__ == "__main__":
    main()
