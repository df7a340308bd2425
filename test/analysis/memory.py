# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a report of 100 million events takes 1 GiB at most: foretold from two smaller ones, or, in the soak, measured.
# Invariant: what is told of is the most that the kernel saw resident of the command itself.
# Must not know: what the command keeps.
"""Usage: memory.py GRANARY SYNTHETIC_TRACE foretold|measured"""
import os
import subprocess
import sys
import tempfile

GRANARY, SYNTHETIC_TRACE, HOW = sys.argv[1:]
MOST = 1 << 30
GOAL = 100_000_000  # events
SMALL, LARGE = 2_000_000, 6_000_000
THREADS = 16


def resident(folder, events):
    trace = os.path.join(folder, "trace")
    subprocess.run([SYNTHETIC_TRACE, trace, str(events), str(THREADS)], check=True)
    child = subprocess.Popen([GRANARY, "report", trace, "-o", os.path.join(folder, "page.html")])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"granary report: {child.returncode}")
    print(f"{events} events: {usage.ru_maxrss / 1024:.0f} MiB")
    return usage.ru_maxrss * 1024


with tempfile.TemporaryDirectory(prefix="granary-memory-") as folder:
    if HOW == "measured":
        most = resident(folder, GOAL)
    else:
        small, large = resident(folder, SMALL), resident(folder, LARGE)
        most = large + max(0, large - small) * (GOAL - LARGE) / (LARGE - SMALL)
        print(f"{GOAL} events: {most / 2**20:.0f} MiB, if it goes on so")
    if most > MOST:
        sys.exit(f"that is more than {MOST >> 20} MiB")
