# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the lab's allocators in the bench: their names, what is said of them, that a workload runs on one.
# Invariant: made-up libraries, but for the one that a workload runs on.
# Must not know: how an allocator works.
"""Usage: lab_test.py BUILD_FOLDER."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, main

import lab_table
from granary_results.results import Results
from harness.allocators import Missing
from peers import SIX, Peers

NOBODY = Path("/no/such/list.json")


class MadeUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        (self.build / "lab").mkdir()
        for name in ("single", "made-up"):
            (self.build / "lab" / f"liblab-{name}.so").write_bytes(b"x")
        self.peers = Peers(self.build, NOBODY)

    def test_names(self):
        self.assertEqual(self.peers.lab_names(), ["lab:made-up", "lab:single"])
        self.assertFalse(set(self.peers.lab_names()) & {*self.peers.names(), *SIX}, "measured without being named")

    def test_with_and_without_the_labs_name(self):
        for name in ("lab:single", "single"):
            found = self.peers.get(name)
            self.assertEqual((found.name, found.library), ("lab:single", self.build / "lab" / "liblab-single.so"))
        self.assertEqual(self.peers.get("lab:single+").name, "lab:single+")

    def test_an_unknown_one_is_told_what_there_is(self):
        for name in ("lab:other", "lab:"):
            with self.assertRaisesRegex(Missing, f"^{name}: no such allocator in the lab; .*lab:made-up, lab:single$"):
                self.peers.get(name)

    def test_where_the_lab_is_not_built(self):
        with self.assertRaisesRegex(Missing, "^lab:single: .*make lab$"):
            Peers(self.build / "nowhere", NOBODY).get("lab:single")

    def test_what_is_said_of_one_is_what_its_file_says(self):
        line = (ROOT / "lab" / "allocators" / "single.hpp").read_text().splitlines()[1]
        self.assertTrue(self.peers.facts("lab:single")["version"].startswith(line.removeprefix("// What: ")))
        self.assertIn("lab", self.peers.facts("lab:made-up")["version"])


class Map(unittest.TestCase):
    def test_each_allocator_and_each_part_is_on_it(self):
        page = (ROOT / "lab" / "README.md").read_text()
        names = {path.stem.replace("_", "-") for path in (ROOT / "lab" / "allocators").glob("*.hpp")}
        names |= {path.stem for path in (ROOT / "lab" / "parts").rglob("*.hpp")}
        self.assertEqual(sorted(name for name in names if f"`{name}`" not in page), [])


class Built(unittest.TestCase):
    def bench(self, *words):
        return subprocess.run([sys.executable, ROOT / "bench" / "suite", "--build", BUILD, *words],
                              capture_output=True, text=True, check=True).stdout

    def test_the_list_has_each(self):
        built = Peers(BUILD, NOBODY).lab_names()
        self.assertTrue(built, "run: make lab")
        listed = self.bench("--list")
        for name in built:
            self.assertRegex(listed, rf"(?m)^  {name} +\S")

    def test_a_workload_runs_on_one(self):
        told = self.bench("--profile", "smoke", "--with", "system,lab:single", "--only", "larson", "--threads", "1",
                          "--rounds", "1")
        self.assertIn("lab:single", told)


class Table(unittest.TestCase):
    """Of lab/README.md."""

    def test_it_is_the_kept_runs(self):
        made = lab_table.table([Results.load(run) for run in lab_table.RUNS])
        self.assertIn(f"\n{made}", lab_table.PAGE.read_text())


    def test_a_row_is_of_the_first_run_that_has_the_allocator(self):
        first, later = (Results.load(run) for run in lab_table.RUNS)
        self.assertIs(lab_table.run_of([first, later], "lab:hoard"), first)
        self.assertIs(lab_table.run_of([first, later], "lab:mtmalloc"), later)
        self.assertIs(lab_table.run_of([first, later], "lab:none"), first)


if __name__ == "__main__":
    main()
