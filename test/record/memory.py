# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what granary record says of the resident memory of a program that has a known part of each kind.
# Invariant: sizes are compared as they are when the program ends, which waits for the recorder to look.
# Must not know: how the recorder looks.
import subprocess
import unittest

from support import CLEAN, GRANARY, RecordTest, program

MEBIBYTE = 1 << 20
SLACK = MEBIBYTE  # what libc and the loader have besides


class Memory(RecordTest):
    def resident(self, trace):
        """By kind, at the last look."""
        sums = {}
        for part in trace.memory[-1][2]:
            sums[part.kind] = sums.get(part.kind, 0) + part.resident
        return sums

    def check(self, sums, stack):
        self.assertEqual(sums["own"], (11 + 1) * MEBIBYTE)
        self.assertEqual(sums["shared"], 2 * MEBIBYTE)
        self.assertGreater(sums["heap"], 8_000_000)
        self.assertLess(sums["heap"], 8_000_000 + SLACK)
        self.assertGreater(sums["stack"], stack * MEBIBYTE)
        self.assertLess(sums["stack"], stack * MEBIBYTE + SLACK)
        self.assertGreater(sums["code"], 0)
        self.assertGreater(sums["data"], 0)
        self.assertGreater(sums["recorder"], 0)
        self.assertLess(sums.get("not_known", 0), 0.05 * sum(sums.values()))

    def test_kinds(self):
        for allocator in ("system", "granary", "jemalloc"):
            with self.subTest(allocator=allocator):
                child = self.start("--allocator", allocator, "-o", "x.trace", program("record_mapper"))
                _, said = child.communicate(timeout=100)
                if child.returncode != 0 and f"no {allocator}" in said:
                    continue
                self.assertEqual(child.returncode, 0, said)
                trace = self.trace("x.trace")
                self.check(self.resident(trace), 2)
                own = [part for part in trace.memory[-1][2] if part.kind == "own"]
                self.assertEqual(len(own), 2)
                self.assertTrue(all(part.stack for part in own))

    def test_child_of_fork(self):
        self.record("-o", "x.trace", program("record_mapper"), "fork")
        (name,) = (name for name in self.files() if name != "x.trace")
        sums = self.resident(self.trace(name))
        self.assertEqual(sums["own"], 12 * MEBIBYTE)
        self.assertGreater(sums["heap"], 8_000_000)

    def test_summary_says_it(self):
        self.record("-o", "x.trace", program("record_mapper"))
        said = subprocess.run([GRANARY, "summary", "x.trace"], env=CLEAN, cwd=self.folder, capture_output=True, text=True,
                              check=True).stdout
        self.assertIn("What is the resident memory made of?", said)
        self.assertIn("mapped by the program or its libraries without malloc", " ".join(said.split()))
        self.assertIn("map_own", said)


if __name__ == "__main__":
    unittest.main(argv=["memory"])
