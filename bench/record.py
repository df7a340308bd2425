# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      what the measuring scripts share: the allocators to compare, medians with intervals, the raw record.
# Invariant: a record opens with the command and the machine and then holds every single value measured.
# Must not know: what is measured.
import json
import os
import platform
import random
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

DEBIAN = {"jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2.0", "tcmalloc": "libtcmalloc_minimal.so.4"}
RESAMPLES = 2000


def multiarch_folder():
    return Path("/usr/lib") / f"{platform.machine()}-linux-gnu"


def allocators(granary):
    """Name to library; None is the system's malloc. What is not installed is left out, and said."""
    found = {"system": None, "granary": str(Path(granary).resolve(strict=True))}
    for name, file in DEBIAN.items():
        path = multiarch_folder() / file
        if path.exists():
            found[name] = str(path)
        else:
            print(f"{name}: not measured: {path} is not installed", file=sys.stderr)
    return found


def environment(library, extra=None):
    clean = {name: value for name, value in os.environ.items()
             if name not in ("LD_PRELOAD", "GLIBC_TUNABLES") and not name.startswith("GRANARY_")}
    if library:
        clean["LD_PRELOAD"] = library
    return {**clean, **(extra or {})}


def interval(values, estimate=statistics.median, seed=1):
    """The estimate and its 95 % bootstrap interval."""
    draw = random.Random(seed)
    resampled = sorted(estimate(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return estimate(values), resampled[int(0.025 * RESAMPLES)], resampled[int(0.975 * RESAMPLES) - 1]


def machine():
    text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    model = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    libc = subprocess.run(["getconf", "GNU_LIBC_VERSION"], capture_output=True, text=True).stdout.strip()
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(), "libc": libc,
            "load": os.getloadavg()}


class Record:
    """Raw values, one JSON line each, behind a first line that says how they came about."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8") if path else None
        self.write({"command": shlex.join(sys.argv), "machine": machine()})

    def write(self, value):
        if self.file:
            self.file.write(json.dumps(value) + "\n")
            self.file.flush()


def print_table(head, rows):
    cells = [head] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths))))
