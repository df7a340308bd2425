# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the collector's log has of a counted collection: blocks marked twice, work given away, stacks outgrown.
# Invariant: one marker, so that each count follows from the graph.
# Must not know: how the collector marks.
"""Usage: collector_test.py PROGRAM."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv[1]


def last_collection(graph: str) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        subprocess.run([PROGRAM, graph], check=True,
                       env=os.environ | {"GC_MARKERS": "1", "GRANARY_COLLECTIONS": str(log)})
        return json.loads(log.read_text().splitlines()[-1])


class Marking(unittest.TestCase):
    def test_one_marker_marks_nothing_twice_and_gives_nothing_away(self):
        for graph in ("list", "comb"):
            counted = last_collection(graph)
            self.assertGreater(counted["live_blocks"], 100_000, graph)
            self.assertEqual((counted["blocks_marked_twice"], counted["work_given"]), (0, 0), graph)
            self.assertGreater(counted["locks"], 0)

    def test_a_list_needs_one_segment_and_a_comb_more(self):
        self.assertEqual(last_collection("list")["stacks_outgrown"], 0)
        self.assertGreater(last_collection("comb")["stacks_outgrown"], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
