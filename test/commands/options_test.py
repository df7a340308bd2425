# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a tree with its tests and its benchmarks configures whichever of the optional parts are left out.
# Invariant: nothing is built. The parts are read from the root's CMakeLists.txt: the options that are on in a tree of
#    one's own.
# Must not know: what a part is.
"""Usage: options_test.py <cmake> <generator> <new folder> each|all: every part left out alone, and all at once; or
every combination of parts."""

import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = re.findall(r'^option\((GRANARY_\w+) ".*" \$\{PROJECT_IS_TOP_LEVEL\}\)$', (ROOT / "CMakeLists.txt").read_text(),
                   re.MULTILINE)


def left_out(which: str) -> list[tuple[str, ...]]:
    if which == "all":
        return [chosen for count in range(len(PARTS) + 1) for chosen in itertools.combinations(PARTS, count)]
    return [(part,) for part in PARTS] + [tuple(PARTS)]


def main() -> None:
    cmake, generator, folder, which = sys.argv[1:]
    assert len(PARTS) > 1, "CMakeLists.txt has no optional parts"
    shutil.rmtree(folder, ignore_errors=True)
    failed = 0
    for without in left_out(which):
        options = [f"-D{part}={'OFF' if part in without else 'ON'}" for part in PARTS]
        done = subprocess.run([cmake, "-S", ROOT, "-B", folder, "-G", generator, "-DGRANARY_TESTS=ON",
                               "-DGRANARY_BENCH=ON", *options], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"does not configure without {', '.join(without)}:\n{done.stderr}")
            failed += 1
    shutil.rmtree(folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
