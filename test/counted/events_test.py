# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the events of a few programs whose work is known: slow paths per block, locks per slow path, messages.
# Invariant: bounds follow from the batch size and the work, never from time; aborts may add some.
# Must not know: how the library counts.
"""Usage: events_test.py LIBRARY PROGRAM."""

import json
import os
import subprocess
import sys
import unittest

LIBRARY, PROGRAM = sys.argv[1:3]
BATCH = 256  # blocks that move at once
START = 400  # what a program does before and after main


def events(*words: str, **environment: str) -> dict[str, int]:
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True,
                          env=os.environ | {"LD_PRELOAD": LIBRARY, "GRANARY_STATS": "json"} | environment)
    return json.loads(done.stderr) | {"seconds": float(done.stdout)}


class Events(unittest.TestCase):
    def assert_coherent(self, counted: dict[str, int]) -> None:
        self.assertGreaterEqual(counted["locks"], counted["global_locks"] + counted["page_heap_locks"])
        self.assertGreaterEqual(counted["atomic_operations"], 2 * counted["locks"] - START, "a lock and its unlock")
        self.assertGreater(counted["system_calls"], 0)

    def test_pairs_never_leave_the_magazine(self):
        counted = events("pairs", "1000000")
        self.assert_coherent(counted)
        if counted["rseq"]:
            self.assertLess(counted["refills"] + counted["flushes"] + counted["locks"],
                            START + 4 * counted["aborted_sequences"])
        self.assertEqual(counted["waits"], 0)
        self.assertEqual(counted["messages"], 0)

    def test_a_pile_takes_a_slow_path_a_batch(self):
        count = 1_000_000
        counted = events("pile", str(count))
        self.assert_coherent(counted)
        slow = counted["refills"] + counted["flushes"]
        self.assertGreater(slow, 2 * count / BATCH / 2)
        if counted["rseq"]:
            self.assertLess(slow, 2 * 1.1 * count / BATCH + START)
        # Hoard 4.2: the global heap is visited once for the blocks that make a superblock cross the threshold.
        self.assertLess(counted["global_locks"], count / 100)

    def test_a_few_large_blocks_take_no_slow_path(self):
        count = 20_000
        counted = events("large", str(count))
        self.assert_coherent(counted)
        if counted["rseq"]:
            self.assertLess(counted["refills"] + counted["flushes"], START + 16 * counted["aborted_sequences"])

    def test_memory_that_is_taken_again_is_returned_in_the_measure_of_time(self):
        count, taken = 200, 8 << 20
        kept, back = events("reuse", str(count)), events("reuse", str(count), GRANARY_REUSE="0")
        # Ten million bytes a second, looked at rarely; one round to learn, and one that is returned at the end.
        self.assertLess(kept["purged_bytes"], 2 * taken + 2 * 10e6 * (kept["seconds"] + 0.1))
        self.assertGreater(back["purged_bytes"], count * taken / 2, "without the price it all goes back each time")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_what_strangers_free_goes_by_letter(self):
        count = 200_000
        counted = events("handover", str(count))
        self.assert_coherent(counted)
        if counted["rseq"]:
            self.assertGreater(counted["messages"], 10)
            self.assertGreater(counted["remote_flushes"], 10)
            self.assertLess(counted["atomic_operations"], count, "fewer than one for a block")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_a_remote_flush_takes_each_global_lock_once(self):
        count = 100_000
        counted = events("handover-in-turn", str(count))
        self.assert_coherent(counted)
        if counted["rseq"]:
            self.assertGreater(counted["messages"], 10, "one half belongs to a heap")
            # Flushes of the heap that allocated, and what the global heap is given and asked for, come to a lock each.
            slow = counted["refills"] + counted["flushes"] + counted["remote_flushes"]
            self.assertLess(counted["global_locks"], slow + START)

    def test_without_rseq_every_call_locks(self):
        counted = events("pairs", "100000", GLIBC_TUNABLES="glibc.pthread.rseq=0")
        self.assertEqual(counted["rseq"], 0)
        self.assertEqual(counted["aborted_sequences"], 0)
        self.assertGreater(counted["locks"], 100000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
