# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: starts picker.mjs on docs/papers/picker.html, with sums that C++ was asked about.
# Invariant: without node, Chromium or the packages the test is skipped, and says why.
# Must not know: what the browser is asked.
"""Usage: browser_test.py FEATURES FOLDER   (FOLDER has playwright-core in node_modules)"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ALLOCATORS = sorted((ROOT / "lab" / "allocators").glob("*.hpp"))
SUMS_OF_EACH = 20  # with one word changed, with two, and with three
SKIPPED = 77
sys.path.insert(0, str(ROOT / "lab" / "picker"))

import picker  # noqa: E402


def skip(reason: str):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def judged(features: Path) -> list[list[str]]:
    """Sums near those of the lab's allocators, each with C++'s judgement."""
    words, _ = picker.words_and_rules(features)
    names = [word["name"] for word in words]
    known = re.findall(r"using Chosen =\s+Composed<(.*?)>;", "".join(path.read_text() for path in ALLOCATORS), re.S)
    rng = random.Random(1)
    sums = [""]
    for written in known:
        own = re.sub(r"\s", "", written)
        sums.append(own)
        for changes in (1, 2, 3) * SUMS_OF_EACH:
            changed = set(own.split("+")) ^ set(rng.sample(names, changes))
            sums.append("+".join(name for name in names if name in changed))
    told = subprocess.run([features, *sums], capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in told.splitlines()]


def main() -> int:
    features, modules = (Path(argument).resolve() for argument in sys.argv[1:3])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        skip("there is no chromium (scripts/setup view)")
    node = shutil.which("node") or skip("there is no node (scripts/setup view)")
    if not (modules / "node_modules/playwright-core").is_dir():
        skip("the packages are not installed (test view.packages)")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "judged.json").write_text(json.dumps(judged(features)))
        environment = {**os.environ, "VIEW_CHROMIUM": chromium, "VIEW_MODULES": str(modules), "VIEW_OUT": folder,
                       "PICKER_PAGE": str(ROOT / "docs/papers/picker.html"), "PICKER_JUDGED": f"{folder}/judged.json"}
        return subprocess.run([node, HERE / "picker.mjs"], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
