# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the table of lab/README.md: each of the lab's allocators over the base case, from a stored run of the bench.
# Invariant: an allocator of lab/allocators has one row, in the order of its paper; what was not measured has a dash.
# Must not know: how anything is measured.
"""usage: lab_table.py RUN.json

A run that has all columns:
  granary bench --with lab:NAME,lab:NAME,... --threads 2 --rounds 5 --json RUN.json
                --only recycle,larson,consume,espresso-like"""

import json
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path

BASE = "lab:single"
ALLOCATORS = Path(__file__).parent.parent / "lab" / "allocators"
# In the order in which the papers build one on the other.
ORDER = """single threads containers owned restricted buffered remote recommended varied lockfree
in_l in_r in_c in_cl in_cr io io_l io_r io_c io_cl io_cr cn_l cn_r coalescing coalescing_cleared_into_buffer
delayed delayed_reused container_remote hoard hoard36 streamflow lfmalloc lfmalloc_mutex_cpu lfmalloc_mutex_hash
jemalloc2006 private ptmalloc_like concurrent_single dlmalloc_like""".split()
TIMES = ("recycle/2", "larson/2", "consume/2", "espresso-like/1")
MEMORY = ("larson/2", "espresso-like/1")


def names() -> list[str]:
    there = {path.stem for path in ALLOCATORS.glob("*.hpp")}
    return [name for name in ORDER if name in there] + sorted(there - set(ORDER))


def about(name: str) -> str:
    text = (ALLOCATORS / f"{name}.hpp").read_text()
    what = re.search(r"^// What: *(.*?)\n// Invariant", text, re.M | re.S)[1]
    return re.sub(r"\n// *", " ", what).rstrip(".")


def medians(run: dict, key: str) -> dict[tuple[str, str], float]:
    found = defaultdict(list)
    for trial in run["trials"]:
        if trial.get(key) is not None and trial["round"] > 0:
            found[trial["case"], trial["allocator"]].append(trial[key])
    return {place: statistics.median(values) for place, values in found.items()}


def ratio(figures: dict[tuple[str, str], float], case: str, allocator: str) -> str:
    ours, base = figures.get((case, allocator)), figures.get((case, BASE))
    return f"{ours / base:.2f}" if ours and base else "-"


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run = json.loads(Path(sys.argv[1]).read_text())
    cost, peak = (medians(run, key) for key in ("cost", "peak_kib"))
    print("| name | what it is | " + " | ".join(f"time, {case}" for case in TIMES) + " | "
          + " | ".join(f"memory, {case}" for case in MEMORY) + " |")
    print("|---|---|" + "--:|" * (len(TIMES) + len(MEMORY)))
    for name in names():
        shown = name.replace("_", "-")
        allocator = f"lab:{shown}"
        cells = [ratio(cost, case, allocator) for case in TIMES] + [ratio(peak, case, allocator) for case in MEMORY]
        print(f"| `{shown}` | {about(name)} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
