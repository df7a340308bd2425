# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what Boehm's tables are measured with: workloads by a collector, the libraries that ask at each malloc, the
#    page that has the tables.
# Invariant: each runs for a moment; the page has what the kept output says, to the letter.
# Must not know: how fast anything is.
"""Usage: boehm_test.py BUILD_FOLDER."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, main

SCRIPT = ROOT / "bench" / "boehm.py"
WORKLOADS = BUILD / "bench" / "workloads"
COLLECTOR = BUILD / "libgranary-gc.so"


def run(preloaded: str, program: str, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([WORKLOADS / program, "--threads", "2", *words], env={"LD_PRELOAD": preloaded},
                          capture_output=True, text=True, timeout=120)


def put(output: str, page: str) -> tuple[int, str]:
    """The exit code, and what became of the page."""
    with tempfile.TemporaryDirectory() as folder:
        (first := Path(folder, "output")).write_text(output)
        (second := Path(folder, "page")).write_text(page)
        done = subprocess.run([sys.executable, "-B", SCRIPT, "page", first, second], capture_output=True)
        return done.returncode, second.read_text()


class ByACollector(unittest.TestCase):
    def test_trees_in_every_form_freed_and_kept(self):
        for form in ("whole", "first", "second"):
            for kept in ((), ("--keep",)):
                with self.subTest(form=form, kept=kept):
                    done = run(COLLECTOR, "mt-gcbench", "--ops", "4", "--depth", "10", "--form", form, "--by", "gc",
                               "--heap-mib", "1", *kept)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertGreaterEqual(json.loads(done.stdout)["heap_bytes"], 2 << 20)

    def test_blocks_that_are_replaced_are_collected(self):
        for by in ("gc", "gc-atomic"):
            done = run(COLLECTOR, "larson", "--ops", "400000", "--memset", "--by", by, "--keep")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(json.loads(done.stdout)["collections"], 0)

    def test_without_a_collector_it_says_so(self):
        done = run("", "mt-gcbench", "--ops", "2", "--by", "gc")
        self.assertEqual((done.returncode, done.stderr), (1, "GC_malloc: no collector is preloaded\n"))

    def test_processes_are_told_more(self):
        done = run("", "separate-processes", "--ops", "2", "--words=--depth 4 --form second")
        self.assertEqual(done.returncode, 0, done.stderr)
        refused = run("", "separate-processes", "--ops", "2", "--words=--depth 3")
        self.assertIn("ended with wait status", refused.stderr)


class Asking(unittest.TestCase):
    def test_a_program_runs_with_each_way(self):
        for way in ("none", "getspecific", "stack-hash", "initial-exec"):
            library = BUILD / "bench" / "identity" / f"libasking-{way}.so"
            done = run(f"{library} {BUILD / 'libgranary.so'}", "larson", "--ops", "20000", "--generation", "1000")
            self.assertEqual((done.returncode, done.stderr), (0, ""), way)


class Page(unittest.TestCase):
    OUTPUT = "$ words\n\nfirst\n\n| a |\n|---|\n| 1 |\n\nsecond\n\n| b |\n|---|\n| 2 |\n"

    def test_tables_go_where_the_page_has_them(self):
        page = "text\n<!-- boehm.py: second -->\n| old |\n|---|\n| 0 |\n\nmore\n<!-- boehm.py: first -->\n"
        self.assertEqual(put(self.OUTPUT, page), (0, "text\n<!-- boehm.py: second -->\n| b |\n|---|\n| 2 |\n\nmore\n"
                                                     "<!-- boehm.py: first -->\n| a |\n|---|\n| 1 |\n"))

    def test_a_table_without_a_place_is_an_error(self):
        page = "<!-- boehm.py: second -->\n"
        self.assertEqual(put(self.OUTPUT, page), (1, page))

    def test_ours_has_what_the_kept_output_says(self):
        page = (ROOT / "docs" / "papers" / "boehm.md").read_text()
        output = (ROOT / "docs" / "results" / "raw" / "boehm.txt").read_text()
        self.assertEqual(put(output, page), (0, page))


if __name__ == "__main__":
    main()
