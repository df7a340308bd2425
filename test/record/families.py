# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: of many processes: which have a trace, what is said of them in the end, and what their summaries say together.
# Invariant: what programs call is their own affair; only who they are is compared, and whose trace is the largest.
# Must not know: how it is recorded.
import subprocess
import unittest

from support import CLEAN, GRANARY, RecordTest, program

MANY = 40


class Families(RecordTest):
    def summary(self, *words):
        done = subprocess.run([GRANARY, "summary", *words], env=CLEAN, cwd=self.folder, capture_output=True, text=True,
                              check=True)
        return done.stdout

    def many(self, *options):
        churn = program("record_churn")
        return self.record(*options, "-o", "x.trace", "/bin/sh", "-c",
                           f"for i in $(/usr/bin/seq {MANY}); do /bin/echo $i; done; {churn} 5000 >/dev/null; : end")[1]

    def test_small_ones_of_many_are_left_out_and_counted(self):
        said = self.many()
        files = self.files()
        self.assertEqual(len(files), 2, files)
        self.assertIn("x.trace", files)
        self.assertIn("record_churn", files[0])
        self.assertIn(f"{MANY} × echo: ", said)
        self.assertIn("Of more than 16 traces, those of fewer than 1,000 events are left out; --keep-small keeps them.", said)
        lines = said.splitlines()
        root = next(i for i, line in enumerate(lines) if line.endswith(", x.trace"))
        self.assertIn("record_churn", lines[root + 1], "the largest first, below what made it")
        text = " ".join(self.summary("x.trace").split())
        self.assertIn(f"also started {MANY + 1} processes whose traces are not beside this one", text)

    def test_all_are_kept_on_demand(self):
        said = self.many("--keep-small")
        self.assertGreaterEqual(len(self.files()), MANY + 2)
        self.assertNotIn("left out", said)

    def test_a_few_are_all_kept_and_one_is_no_tree(self):
        _, said = self.record("-o", "x.trace", "/bin/sh", "-c", "/bin/echo 1; /bin/echo 2; : end")
        self.assertEqual(len(self.files()), 3)
        self.assertEqual(said.count("echo ("), 2, said)
        _, said = self.record("-o", "one.trace", "/bin/true")
        self.assertEqual(said.count("\n"), 1, said)

    def test_only(self):
        self.record("--only", "echo", "-o", "x.trace", "/bin/sh", "-c", "/bin/echo 1; /bin/ls; exec /bin/true")
        (name,) = self.files()
        self.assertRegex(name, r"^x\.echo\.\d+\.trace$")
        self.assertTrue(self.trace(name).start["program"].endswith("/echo"))
        _, said = self.record("--only", "no-such-program", "-o", "y.trace", "/bin/ls", code=1)
        self.assertIn("no program ran that --only names; these did: ls", said)
        self.assertEqual(self.files(), [name])

    def test_summary_of_many(self):
        for name, blocks in (("small", 1000), ("large", 20000)):
            self.record("-o", name, program("record_churn"), str(blocks))
        text = self.summary("small", "large")
        self.assertIn("2 traces", text.splitlines()[0])
        rows = [line.split()[:2] for line in text.splitlines() if "record_churn" in line]
        self.assertEqual(sorted(rows), [["large", "record_churn"], ["small", "record_churn"]])


if __name__ == "__main__":
    unittest.main(argv=["families"])
