# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the table of shares of malloc and free: complete, read as it was written, and counted as it should be.
# Invariant: counting is tried on a made-up profile, so valgrind is not needed.
# Must not know: how large any workload's share is.
"""Usage: shares_test.py BUILD_FOLDER."""

import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, main

sys.path.append(str(ROOT / "bench"))

from granary_results import shares
from granary_results.shares import Share
from malloc_share import Count, chosen_subjects, count
from profiles import PROFILES
from subjects import CompiledSubject
from workloads import all_subjects

PROFILE = """version: 1
events: Ir
fn=main
0 10
cfn=malloc
calls=2 0
0 100
cfn=_Znwm
calls=1 0
+3 40
cfi=file.c
cfn=free_all
calls=1 0
0 50

fn=_Znwm
0 10
cfn=malloc
calls=1 0
0 30

fn=malloc
0 20
cfn=_int_malloc
calls=3 0
0 110

fn=free_all
0 5
cfn=free
calls=5 0
0 45

totals: 1000
"""


class Table(unittest.TestCase):
    def setUp(self):
        self.subjects = all_subjects(PROFILES["standard"], (1,), BUILD / "bench" / "workloads")

    def test_no_compiled_workload_is_missing(self):
        labels = {subject.label for subject in self.subjects if isinstance(subject, CompiledSubject)}
        self.assertEqual(labels - set(shares.load()), set(), "python3 bench/malloc_share.py NAME adds it")

    def test_it_has_nothing_else(self):
        self.assertLessEqual(set(shares.load()), {subject.label for subject in self.subjects})

    def test_shares_are_shares(self):
        for label, share in shares.load().items():
            self.assertTrue(0 <= share.share <= 1, label)

    def test_it_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.json"
            self.assertEqual(shares.load(path), {})
            table = {"b": Share(0.5, "b --ops 1", "2000-01-01"), "a": Share(0, "the whole run", "2000-01-01")}
            shares.save(table, path)
            self.assertEqual(shares.load(path), table)

    def test_a_tenth_is_enough_and_unknown_is_not(self):
        self.assertTrue(shares.is_enough(Share(0.1, "", "")))
        self.assertFalse(shares.is_enough(Share(0.0999, "", "")))
        self.assertFalse(shares.is_enough(None))


class Counting(unittest.TestCase):
    def test_each_call_from_outside_counts_once_with_all_below_it(self):
        self.assertEqual(count(PROFILE), Count(total=1000, allocator=100 + 40 + 45))

    def test_start_up_goes_with_the_difference(self):
        self.assertAlmostEqual((Count(1900, 1200) - Count(1000, 300 + 450)).share(), 0.5)

    def test_what_can_be_counted(self):
        labels = [subject.label for subject in chosen_subjects(BUILD, [])]
        self.assertEqual(len(labels), len(set(labels)))
        self.assertIn("gcc", labels)
        self.assertNotIn("redis", labels)
        self.assertEqual([subject.threads for subject in chosen_subjects(BUILD, ["larson", "consume"])], [1, 2])


if __name__ == "__main__":
    main()
