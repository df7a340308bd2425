# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a recorder whose program writes over all that both share: it ends when the program has ended, and what it wrote can be read.
# Invariant: a run is its seed, but for the order of threads.
# Must not know: what lies where in the shared memory.
import os
import subprocess
import unittest

from support import CLEAN, GRANARY, RecordTest, program

SEEDS = 4
WORDS = (300, 30000)


class Scribbled(RecordTest):
    def test_the_recorder_ends_and_its_traces_can_be_read(self):
        for seed in range(1, SEEDS + 1):
            for words in WORDS:
                with self.subTest(seed=seed, words=words):
                    child = self.start("-o", "x.trace", program("record_scribbler"), str(seed), str(words))
                    _, said = child.communicate(timeout=60)
                    self.assertGreaterEqual(child.returncode, 0, said)
                    for name in self.files():
                        self.read(name)

    def read(self, name):
        path = os.path.join(self.folder, name)
        done = subprocess.run([GRANARY, "summary", path], env=CLEAN, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), name)
        self.assertNotIn("damaged", done.stdout)
        os.remove(path)


if __name__ == "__main__":
    unittest.main(argv=["scribbled"])
