# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the measurements beside the suite: that they run to their end, and what their records hold.
# Invariant: a moment's run each; intervals are tested on values whose answer is known.
# Must not know: what any measurement yields.
"""Usage: record_test.py BUILD_FOLDER."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, main

sys.path[:0] = [str(ROOT / "bench")]
import machine
from record import interval


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = Path(folder.name) / "record.json"

    def run_it(self, script: str, *words, code: int = 0) -> subprocess.CompletedProcess:
        command = [sys.executable, "-B", ROOT / "bench" / script, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def recorded(self) -> list[dict]:
        """The values behind the first line, which must tell how they came about, and not where."""
        text = self.output.read_text()
        self.assertNotIn(f"{ROOT}/", text)
        head, *values = map(json.loads, text.splitlines())
        self.assertRegex(head["command"], r"^bench/\w+\.py .*libgranary\.so")
        self.assertEqual(head["machine"].keys(), machine.facts().keys())
        return values

    def test_small_process(self):
        self.run_it("small_process.py", BUILD / "libgranary.so", "--pairs", "3", "--output", self.output)
        values = self.recorded()
        self.assertLessEqual({"system", "granary"}, {value["cat"] for value in values if "cat" in value})
        starts = {value["true"]: value for value in values if "true" in value}
        self.assertEqual([len(starts["granary"][side]) for side in ("microseconds", "without")], [3, 3])

    def test_mmicro_scaling(self):
        shown = self.run_it("mmicro_scaling.py", BUILD / "libgranary.so", BUILD / "bench" / "workloads" / "mmicro",
                            "--rounds", "1", "--seconds", "0.01", "--output", self.output).stdout
        counts = {value["threads"] for value in self.recorded() if value["allocator"] == "granary without rseq"}
        self.assertEqual(counts, {1, 2, 8, 64, 256})
        self.assertIn("2 threads without rseq: ", shown)

    def test_without_a_library(self):
        done = self.run_it("small_process.py", self.output, code=1)
        self.assertRegex(done.stderr, rf"^{self.output} does not exist.*\n$")


class Interval(unittest.TestCase):
    def test_differences_may_be_negative(self):
        self.assertEqual(interval([-3.0] * 5), (-3, -3, -3))
        middle, low, high = interval([-4.0, -1.0, 0.0, 2.0, 50.0] * 4)
        self.assertEqual(middle, 0)
        self.assertLess(-4, low)
        self.assertLess(low, middle)
        self.assertLess(middle, high)
        self.assertLess(high, 50)


if __name__ == "__main__":
    main()
