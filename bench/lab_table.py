# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the table of lab/README.md: each of the lab's allocators over the base case, from stored runs of the bench.
# Invariant: an allocator of lab/allocators has one row, in the order of its paper; what was not measured has a dash. Both
#    allocators of a ratio are of one run.
# Must not know: how anything is measured.
"""usage: lab_table.py [RUN.json...]

Writes the table into lab/README.md. A row is of the first run that has the allocator; without arguments the runs are those
that docs/results/raw keeps. A run that has all columns, with intervals:
  granary bench --with lab:NAME,lab:NAME,... --threads 2 --rounds 5 --json RUN.json
                --only recycle,larson,consume,espresso-like"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / folder) for folder in ("suite", "../test/programs")]

from granary_results.intervals import Samples, ratio
from granary_results.results import Results

BASE = "lab:single"
ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "lab"
RUNS = [ROOT / "docs" / "results" / "raw" / name for name in ("lab.json.gz", "lab-later.json.gz")]
ALLOCATORS, PAGE = LAB / "allocators", LAB / "README.md"
HEAD = "| name | what it is | "
# In the order in which the papers build one on the other.
ORDER = """single threads threads_destroyed containers owned owned_destroyed restricted buffered remote recommended varied lockfree
in_l in_r in_c in_cl in_cr io io_l io_r io_c io_cl io_cr cn_l cn_r coalescing coalescing_cleared_into_buffer
delayed delayed_reused container_remote hoard hoard36 streamflow lfmalloc lfmalloc_quarter lfmalloc_transactional
lfmalloc_mutex_cpu lfmalloc_mutex_hash boehm boehm_global_free jemalloc2006 phkmalloc_like private ptmalloc_like mtmalloc
concurrent_single dlmalloc_like solaris_like""".split()
TIMES = ("recycle/2", "larson/2", "consume/2", "espresso-like/1")
MEMORY = ("larson/2", "espresso-like/1")


def names() -> list[str]:
    there = {path.stem for path in ALLOCATORS.glob("*.hpp")}
    return [name for name in ORDER if name in there] + sorted(there - set(ORDER))


def about(name: str) -> str:
    text = (ALLOCATORS / f"{name}.hpp").read_text()
    what = re.search(r"^// What: *(.*?)\n// Invariant", text, re.M | re.S)[1]
    return re.sub(r"\n// *", " ", what).rstrip(".")


def run_of(runs: Sequence[Results], allocator: str) -> Results:
    """The first that has the allocator; the first of all if none has."""
    return next((run for run in runs if allocator in run.names()), runs[0])


def cell(samples: Samples, case: str, allocator: str) -> str:
    """Over the base case."""
    if not {allocator, BASE} <= samples.get(case, {}).keys():
        return "-"
    return str(ratio(samples, [[case]], allocator, BASE) or "-")


def table(runs: Sequence[Results]) -> str:
    columns = [f"time, {case}" for case in TIMES] + [f"memory, {case}" for case in MEMORY]
    rows = [HEAD + " | ".join(columns) + " |", "|---|---|" + "--:|" * len(columns)]
    for name in names():
        shown = name.replace("_", "-")
        allocator = f"lab:{shown}"
        cost, peak = (run_of(runs, allocator).samples(key) for key in ("cost", "peak_kib"))
        cells = [cell(cost, case, allocator) for case in TIMES] + [cell(peak, case, allocator) for case in MEMORY]
        rows.append(f"| `{shown}` | {about(name)} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def main() -> int:
    if any(argument.startswith("-") for argument in sys.argv[1:]):
        sys.exit(__doc__)
    made = table([Results.load(path) for path in [Path(run) for run in sys.argv[1:]] or RUNS])
    page, times = re.subn(rf"^{re.escape(HEAD)}.*?\n(?!\|)", lambda _: made, PAGE.read_text(), flags=re.M | re.S)
    if times != 1:
        sys.exit(f"{PAGE}: {times} tables begin with {HEAD!r}, expected one")
    PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
