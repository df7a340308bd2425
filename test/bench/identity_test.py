# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the program that times thread identity: its own checks pass, and its ways differ as their models say.
# Invariant: only instructions are compared, never times.
# Must not know: how a way works.
"""Usage: identity_test.py BUILD_FOLDER."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, main

RISING = ("empty", "tls-local-exec", "tls-initial-exec", "tls-descriptor", "tls-global-dynamic")


class Identity(unittest.TestCase):
    def test_ways_and_table(self):
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder) / "raw.json"
            table = subprocess.run([sys.executable, "-B", ROOT / "bench" / "thread_identity.py", "--build", BUILD,
                                    "--json", raw], capture_output=True, text=True, check=True, timeout=200).stdout
            _, *records = map(json.loads, raw.read_text().splitlines())
        ways = {record["way"]: record for record in records}
        counts = [ways[name]["instructions"] for name in RISING]
        self.assertEqual(counts, sorted(set(counts)), "a model of TLS is not what it is called")
        self.assertLess(ways["stack-hash"]["instructions"], ways["stack-hash-missed"]["instructions"])
        for name, way in ways.items():
            self.assertEqual(len(way["in_a_row"]), len(way["alone"]))
            self.assertTrue(all(time > 0 for time in way["in_a_row"] + way["alone"]))
            if name != "empty":
                self.assertIn(f"\n{name} ", table)
                self.assertIn(f"\n{name}: ", table)


if __name__ == "__main__":
    main()
