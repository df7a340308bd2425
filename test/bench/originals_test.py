# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the papers' own programs in place of the workloads written after them: the table, what a folder has, the
#    count of allocations, the report.
# Invariant: the programs are made up here and allocate a known number of blocks; none of the real ones is needed.
# Must not know: what the real programs do.
"""Usage: originals_test.py BUILD_FOLDER."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, SUITE, main

from granary_results.results import Results
from harness.allocators import Missing
from originals import ORIGINALS, Originals
from profiles import PROFILES
from subjects import CompiledSubject, OriginalSubject
from workloads import all_subjects, in_place

FOLDER = BUILD / "bench" / "workloads"
COUNTER = BUILD / "bench" / "controls" / "libgranary-requested.so"
PAGE = ROOT / "docs" / "papers" / "reproduction.md"
KNOWN = {original.program: original.jobs["smoke"].known for original in ORIGINALS}

# Allocates COUNT blocks; ends with END; reads a number from its input if READS. Prints as little as it can, because
# printing allocates.
PROGRAM = r"""
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    char c;
    if (READS && (read(0, &c, 1) != 1 || c != '7')) return 9;
    for (int i = 0; i < COUNT; ++i) {
        void *volatile block = malloc(16);
        free(block);
    }
    return END;
}
"""


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def program(self, name: str, count: int = 10, end: int = 0, reads: bool = False) -> Path:
        path = self.folder / name
        subprocess.run(["cc", "-O0", "-w", f"-DCOUNT={count}", f"-DEND={end}", f"-DREADS={int(reads)}", "-x", "c", "-",
                        "-o", path], input=PROGRAM, text=True, check=True)
        return path

    def script(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def bench(self, *words, code: int = 0) -> subprocess.CompletedProcess:
        command = [sys.executable, "-B", SUITE, "--build", BUILD, "--peers", self.folder / "peers.json",
                   "--profile", "smoke", "--with", "granary,system", "--originals", self.folder, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done


class Table(unittest.TestCase):
    def test_each_program_replaces_a_workload_of_a_paper_and_has_a_job_for_each_profile(self):
        suites = {subject.label: subject.suites for subject in all_subjects(PROFILES["standard"], (1,), FOLDER)
                  if isinstance(subject, CompiledSubject)}
        for original in ORIGINALS:
            self.assertTrue(suites.get(original.replaces), original.program)
            self.assertEqual(set(original.jobs), set(PROFILES))
        for names in ([original.program for original in ORIGINALS], [original.replaces for original in ORIGINALS]):
            self.assertEqual(len(names), len(set(names)))

    def test_the_page_and_the_manual_name_each_program_its_inputs_and_its_counts(self):
        page = PAGE.read_text()
        for original in ORIGINALS:
            row = re.search(rf"^\| `{original.program}` \| `{original.replaces}`[ ,].*", page, re.MULTILINE)
            self.assertTrue(row, original.program)
            counts = [f"{count:,}" for job in original.jobs.values() for count in job.known]
            for word in (*original.inputs, original.stdin, *counts):
                self.assertIn(word, row[0])
            self.assertIn(f"_{original.program}_", (ROOT / "man" / "granary.1.scd").read_text())

    def test_arguments_are_filled_in(self):
        larson = next(original for original in ORIGINALS if original.program == "larson")
        self.assertEqual(larson.jobs["smoke"].words(8, Path("/f"))[-1], "8")
        espresso = next(original for original in ORIGINALS if original.program == "espresso")
        self.assertEqual(espresso.jobs["paper"].words(1, Path("/f")), ["/f/largest.espresso"])


class Places(WithFolder):
    def subjects(self, originals: Originals, threads: tuple[int, ...] = (1, 2)) -> list:
        return in_place(all_subjects(PROFILES["standard"], threads, FOLDER), originals, COUNTER)

    def test_an_original_takes_the_whole_place_of_its_workload(self):
        self.script("cfrac", "")
        self.script("larson", "")
        before = all_subjects(PROFILES["standard"], (1, 2), FOLDER)
        after = self.subjects(Originals(self.folder))
        self.assertEqual([(each.label, each.threads, each.family, each.suites) for each in after],
                         [(each.label, each.threads, each.family, each.suites) for each in before])
        self.assertEqual([each.name for each in after if isinstance(each, OriginalSubject)],
                         ["larson-original/1", "larson-original/2", "cfrac-original/1"])

    def test_threads_that_the_program_cannot_have_are_left_out(self):
        self.script("larson", "")
        *few, many = (each for each in self.subjects(Originals(self.folder), (100, 101))
                      if isinstance(each, OriginalSubject))
        for subject in few:
            subject.require()
        with self.assertRaisesRegex(Missing, "^larson-original/101: left out; .*100$"):
            many.require()

    def test_without_the_library_that_counts(self):
        self.script("cfrac", "")
        known = all_subjects(PROFILES["smoke"], (1,), FOLDER)
        subjects = in_place(known, Originals(self.folder), self.folder / "gone.so")
        with self.assertRaisesRegex(Missing, "gone.so does not exist; run: make bench"):
            next(each for each in subjects if isinstance(each, OriginalSubject)).require()

    def test_a_folder_without_any_of_them(self):
        (self.folder / "cfrac").write_text("not executable")
        self.script("other", "")
        for folder in (self.folder, self.folder / "absent"):
            with self.assertRaisesRegex(Missing, f"^--originals: no program in {folder} is called cfrac, "):
                Originals(folder)
        done = self.bench("--only", "cfrac-like", code=2)
        self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done.stderr)


class Runs(WithFolder):
    def test_as_many_allocations_as_are_known(self):
        (count, source), = KNOWN["cfrac"].items()
        self.program("cfrac", count)
        run, page = self.folder / "run.json", self.folder / "run.html"
        done = self.bench("--suite", "wasik", "--only", "cfrac-like,espresso-like", "--json", run)
        self.assertEqual(done.stderr, "")
        self.assertIn("4 trials", done.stdout)
        self.assertIn("\ncfrac-original/1 ", done.stdout)
        self.assertIn("\nespresso-like/1 ", done.stdout)
        self.assertNotIn("\ncfrac-like/1 ", done.stdout)
        said = (f"\n  cfrac: in place of cfrac-like; {count:,} allocations, as many as in {source}\n"
                "  espresso: missing, so the bench's own espresso-like runs; public in mimalloc-bench")
        self.assertIn(said, done.stdout)
        self.assertEqual(set(Results.load(run).originals), {"cfrac", "espresso"})
        shown = subprocess.run([sys.executable, "-B", SUITE, "--from", run, "--html", page], capture_output=True,
                               text=True, timeout=100, check=True)
        self.assertEqual(shown.stdout, done.stdout)
        self.assertIn(f"program cfrac: in place of cfrac-like; {count:,} allocations", page.read_text())

    def test_a_count_that_differs_is_one_line_and_is_measured_all_the_same(self):
        self.program("cfrac", 1000)
        done = self.bench("--only", "cfrac-like")
        (line,) = done.stderr.splitlines()
        self.assertRegex(line, r"^bench: cfrac-original/1: 1,000 allocations, but known are 227,092 \(Wasik's table "
                               r"6.1, CFRAC-2\): \S+/cfrac is another version .* compare it with mimalloc-bench, ")
        self.assertIn("2 trials", done.stdout)
        self.assertIn("cfrac: in place of cfrac-like; 1,000 allocations, but known are 227,092", done.stdout)

    def test_a_program_that_fails(self):
        self.program("cfrac", end=3)
        done = self.bench("--only", "cfrac-like,loop-16")
        (line,) = done.stderr.splitlines()
        self.assertRegex(line, r"^bench: cfrac-original/1 on the system's malloc: \S+/cfrac: exit code 3")
        self.assertIn("\nloop-16/1 ", done.stdout)
        self.assertIn("cfrac: in place of cfrac-like; it fails on the system's malloc", done.stdout)

    def test_a_missing_input(self):
        self.program("espresso")
        done = self.bench("--only", "espresso-like")
        (line,) = done.stderr.splitlines()
        self.assertRegex(line, r"^bench: espresso: \S+/largest.espresso does not exist, so the bench's own "
                               r"espresso-like runs; copy it from mimalloc-bench")
        self.assertIn("\nespresso-like/1 ", done.stdout)
        self.assertIn("espresso: its input largest.espresso is missing, so", done.stdout)

    def test_a_program_that_is_not_linked_dynamically_reports_nothing(self):
        subprocess.run(["cc", "-static", "-x", "c", "-", "-o", self.folder / "cfrac"], input="int main(void) {}",
                       text=True, check=True)
        self.assertIn("is it linked statically?", self.bench("--only", "cfrac-like,loop-16").stderr)

    def test_a_program_that_reads_its_input(self):
        self.program("barnes", reads=True)
        (self.folder / "barnes.input").write_text("7")
        done = self.bench("--only", "barnes-hut", "--threads", "1")
        self.assertEqual(done.stderr, "")
        self.assertIn("2 trials", done.stdout)
        self.assertIn("barnes: in place of barnes-hut; no count of its allocations is known", done.stdout)

    def test_a_program_that_runs_against_the_clock(self):
        self.script("larson", 'echo "Throughput =    50000 operations per second, relative time: 1.000s."')
        run = self.folder / "run.json"
        self.bench("--only", "larson", "--json", run)
        self.assertEqual({trial["cost"] for trial in Results.load(run).trials}, {1 / 50000})
        self.script("larson", 'echo "Throughput =    none"')
        done = self.bench("--only", "larson")
        self.assertRegex(done.stdout, r"(?s)Failed:\n.* larson-original/2 on granary: .*no rate")

    def test_a_run_in_pieces_keeps_what_was_counted(self):
        self.program("cfrac", 1000)
        words = ("--only", "cfrac-like", "--json", self.folder / "run.json")
        self.bench(*words)
        self.assertIn("1,000 allocations", self.bench(*words, "--resume").stdout)

    def test_fragmentation_asks_the_original(self):
        self.program("cfrac", 1000)
        command = [sys.executable, "-B", ROOT / "bench" / "fragmentation.py", "--build", BUILD, "--with", "granary",
                   "--only", "cfrac-like", "--rounds", "1", "--originals", self.folder, "--peers", self.folder / "none"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
        self.assertIn("cfrac-like: cfrac 41757646344123832613190542166099121, the paper's own program", done.stdout)
        self.assertRegex(done.stdout, r"\ncfrac-like .* 1,000 +16\.0\n")


if __name__ == "__main__":
    main()
