# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the counts of a whole program on allocators of the lab: which ones lock for each call, and which ones never do.
# Invariant: counts, never time.
# Must not know: how an allocator works.
"""Usage: lab_test.py LAB_FOLDER PROGRAM."""

import json
import os
import subprocess
import sys
import unittest

LAB, PROGRAM = sys.argv[1:3]


def events(allocator: str, *words: str) -> dict[str, int]:
    library = os.path.join(LAB, f"liblab-{allocator}.so")
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True,
                          env=os.environ | {"LD_PRELOAD": library, "GRANARY_STATS": "json"})
    return json.loads(done.stderr)


class Events(unittest.TestCase):
    def test_one_heap_locks_for_each_call_of_a_program_with_threads(self):
        count = 100_000
        self.assertLess(events("single", "pairs", str(count))["locks"], count // 100)
        counted = events("single", "handover", str(count))
        self.assertGreaterEqual(counted["locks"], 2 * count)
        self.assertGreaterEqual(counted["atomic_operations"], 2 * counted["locks"], "a lock and its unlock")

    def test_without_locks_there_are_none(self):
        for work in ("pairs", "pile", "handover"):
            counted = events("lockfree", work, "50000")
            self.assertEqual((counted["locks"], counted["waits"]), (0, 0), work)
            self.assertGreater(counted["system_calls"], 0)

    def test_nothing_is_said_unless_it_is_asked_for(self):
        library = os.path.join(LAB, "liblab-single.so")
        done = subprocess.run([PROGRAM, "pairs", "10"], capture_output=True, text=True, check=True,
                              env=os.environ | {"LD_PRELOAD": library})
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
