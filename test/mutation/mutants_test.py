# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      that the table of mutants fits the sources, that a table which does not is found out, and that a verdict is
#            what the tests of a broken tree said.
# Invariant: nothing is compiled; trees and test programs are made up.
# Must not know: whether a mutant is found; run.py tells, in the soak.
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import run
import tree
from mutants import MUTANTS, Mutant, faults

SOUND = Mutant("one", "a.cpp", "b < c", "b <= c", "heap.a", "something")
TAMPERED = (
    (SOUND._replace(old="b > c"), "a.cpp has its text 0 times"),
    (SOUND._replace(old="b"), "a.cpp has its text 2 times"),
    (SOUND._replace(file="gone.cpp"), "gone.cpp has its text 0 times"),
    (SOUND._replace(new=SOUND.old), "it changes nothing"),
    (SOUND._replace(first="heap.a heap.b"), "there is no test heap.b"),
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
    def test_it_fits_the_sources(self):
        self.assertEqual(list(faults(MUTANTS, tree.ROOT, tree.programs())), [])

    def test_one_that_does_not_fit_is_found_out(self):
        self.write("a.cpp", "if (b < c) b();\n")
        self.assertEqual(list(faults((SOUND,), self.folder, {"heap.a"})), [])
        for mutant, expected in TAMPERED:
            with self.subTest(expected):
                found, = faults((mutant,), self.folder, {"heap.a"})
                self.assertIn(expected, found)
        self.assertEqual(len(list(faults((SOUND, SOUND), self.folder, {"heap.a"}))), 2, "one name for two")


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
