# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: that a table of mutants which does not fit its sources is found out, and that a verdict is what the tests of a
#    broken tree said.
# Invariant: nothing is compiled; trees and test programs are made up, so that no change of the sources fails this test.
# Must not know: whether the table fits the sources, and whether a mutant is found; run.py tells, in the soak.
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True

import run
import tree
from mutants import MEND, MUTANTS, Mutant, faults, stale

SOUND = Mutant("one", "a.cpp", "b < c", "b <= c", "heap.a", "something")
STALE = (
    (SOUND._replace(old="b > c"), "one: a.cpp no longer has the line\n    b > c"),
    (SOUND._replace(old="b"), "one: a.cpp has this 2 times, and an entry needs a text that is there once:\n    b"),
    (SOUND._replace(file="gone.cpp"), "one: gone.cpp no longer exists; the entry changes this line of it:\n    b < c"),
    (SOUND._replace(first="heap.a heap.b"), "one: the test program heap.b no longer exists"),
)
SAYS = "printf '[ RUN      ] A.Good\\n[       OK ] A.Good\\n[ RUN      ] A.Bad\\n'; "


class MadeUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Table(MadeUp):
    def setUp(self):
        super().setUp()
        self.write("a.cpp", "if (b < c) b();\n")
        self.write("test/heap/a_test.cpp", "")

    def test_each_entry_has_a_name_and_changes_something(self):
        self.assertEqual(list(faults(MUTANTS)), [])
        self.assertEqual(list(faults((SOUND,))), [])
        self.assertEqual(list(faults((SOUND._replace(new=SOUND.old),))), ["one: it changes nothing"])
        self.assertEqual(list(faults((SOUND, SOUND))), ["one: there are 2 of that name"] * 2)

    def test_one_that_does_not_fit_the_sources_is_found_out(self):
        self.assertEqual(list(stale((SOUND,), self.folder, {"heap.a"})), [])
        for mutant, expected in STALE:
            with self.subTest(expected):
                self.assertEqual(list(stale((mutant,), self.folder, {"heap.a"})), [expected])

    def test_all_that_is_stale_is_told_with_how_to_mend_it(self):
        self.assertEqual(run.check_table((SOUND,), self.folder), "")
        told = run.check_table((SOUND._replace(name="two"), *(mutant for mutant, _ in STALE[:2])), self.folder)
        self.assertTrue(told.startswith("Nothing was built, "))
        for _, expected in STALE[:2]:
            self.assertIn(expected, told)
        self.assertIn(MEND, told)
        self.assertNotIn("two:", told)

    def test_a_stale_entry_ends_the_run_before_anything_is_built(self):
        with mock.patch.object(run, "MUTANTS", (STALE[0][0],)), mock.patch.object(run.Tree, "prepare") as prepare, \
                mock.patch("sys.argv", ["run.py"]), self.assertRaises(SystemExit) as ended:
            run.main()
        self.assertIn("a.cpp no longer exists", ended.exception.code)
        prepare.assert_not_called()


class Verdicts(MadeUp):
    def verdict(self, script: str, limit: float = 60, folder: str = "heap") -> run.Verdict | None:
        program = tree.Program(folder, "a", ("a",))
        self.write(f"test/{folder}/a", f"#!/bin/sh\n{script}\n").chmod(0o755)
        test = run.Test(f"{folder}.a", self.folder, program)
        test.limit = limit
        return test.run()

    def test_who_passes_finds_nothing(self):
        self.assertIsNone(self.verdict(SAYS + "exit 0"))

    def test_who_fails_crashes_or_hangs_is_named(self):
        said = SAYS + "printf '[  FAILED  ] A.Bad (3 ms)\\n'; "
        self.assertEqual(self.verdict(said + "exit 1"), ("heap.a A.Bad", "fails"))
        self.assertEqual(self.verdict(SAYS + "kill -SEGV $$"), ("heap.a A.Bad", "signal 11"))
        self.assertEqual(self.verdict(SAYS + "sleep 60 & wait", limit=3), ("heap.a A.Bad", "hangs"))
        self.assertEqual(self.verdict("exit 2"), ("heap.a at its start", "fails"))

    def test_programs_of_libgc_say_what_is_wrong_in_a_line(self):
        self.assertEqual(self.verdict("echo 'a.c:12: a block is lost' >&2; exit 1", folder="libgc"),
                         ("libgc.a a.c:12: a block is lost", "fails"))
        self.assertIsNone(self.verdict("echo 'not available: a sandbox'; exit 77", folder="libgc"))
        self.assertIsNone(self.verdict("test -z \"$*\" && test -n \"$LIBGC_FOLDER\"", folder="libgc"))


class BrokenTree(MadeUp):
    def test_it_is_whole_again(self):
        source = self.write("tree/a.cpp", "if (b < c) b();\n")
        for build in ("build", "whole"):
            os.utime(self.write(f"{build}/a.o", "object"), ns=(1, 1))
        before = source.stat().st_mtime_ns
        broken = tree.Tree(self.folder)
        with broken.broken_by(SOUND):
            self.assertEqual(source.read_text(), "if (b <= c) b();\n")
            compiled, other = self.write("build/a.o", "broken"), self.write("build/b.o", "new")
        self.assertEqual((source.read_text(), source.stat().st_mtime_ns), ("if (b < c) b();\n", before))
        self.assertEqual((compiled.read_text(), compiled.stat().st_mtime_ns), ("object", 1))
        self.assertFalse(other.exists())


if __name__ == "__main__":
    unittest.main()
