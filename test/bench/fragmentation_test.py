# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what counts a program's requests, on a program whose requests are known; and the table of fragmentation
#    made of such counts, for one small workload.
# Invariant: no number of an allocator's is expected, but for what holds of every one.
# Must not know: how an allocator is asked.
"""Usage: fragmentation_test.py BUILD_FOLDER."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from support import BUILD, ROOT, main  # finds bench/

import fragmentation
from harness.allocators import system

COUNTER = BUILD / "bench" / "controls" / "libgranary-requested.so"
GRANARY = BUILD / "libgranary.so"
PAGE = os.sysconf("SC_PAGESIZE")

# 1000 + 2000 + 64 + 100 + 10 + 7 bytes and a page are live at most, when the first of two blocks of 3000 has become one
# of 1000; all else is less. What fails is no request. With an argument it requests nothing.
KNOWN = r"""
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
static void *kept[8];
int main(int words, char **unused) {
    if (words > 1) return 0;
    void *volatile a = malloc(3000);
    if ((a = realloc(a, 1000)) == NULL) return 1;
    if (realloc(a, SIZE_MAX / 4) != NULL || reallocarray(a, SIZE_MAX, 2) != NULL) return 2;
    kept[0] = a;
    kept[1] = calloc(20, 100);
    kept[2] = aligned_alloc(64, 64);
    kept[3] = memalign(256, 100);
    if (posix_memalign(&kept[4], 32, 10) != 0) return 3;
    kept[5] = valloc(7);
    kept[6] = pvalloc(1);
    kept[7] = malloc(0);
    if (malloc(SIZE_MAX / 4) != NULL || calloc(SIZE_MAX, 2) != NULL) return 4;
    for (int i = 0; i < 8; ++i) free(kept[i]);
    free(NULL);
    for (int i = 0; i < 1000; ++i) free(malloc(3000));
    return malloc_usable_size(kept[0] = malloc(1)) == 0;
}
"""
LIVE = 1000 + 2000 + 64 + 100 + 10 + 7 + PAGE
TOTAL = LIVE + 3000 + 1000 * 3000 + 1
REQUESTS = 9 + 1000 + 1


class Counting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = Path(folder.name) / "known"
        self.report = Path(folder.name) / "report.json"
        subprocess.run(["cc", "-O0", "-w", "-x", "c", "-", "-o", self.program], input=KNOWN, text=True, check=True)

    def count(self, libraries: list[Path], *words: str) -> dict:
        for library in libraries:
            self.assertTrue(library.exists(), f"{library} is not built; the loader would go on without it")
        environment = {"LD_PRELOAD": ":".join(map(str, libraries)), "REQUESTED_FILE": str(self.report)}
        subprocess.run([self.program, *words], check=True, timeout=60, env=environment)
        return json.loads(self.report.read_text())

    def check_known_requests(self, *libraries: Path) -> dict:
        before = self.count([COUNTER, *libraries], "nothing")  # what libraries request when they are loaded
        counted = self.count([COUNTER, *libraries])
        self.assertEqual([counted[field] - before[field] for field in ("requests", "total_bytes", "requested_peak")],
                         [REQUESTS, TOTAL, LIVE])
        room = counted["usable_peak"] - before["usable_peak"]
        self.assertTrue(LIVE <= room < LIVE + 2 * PAGE, room)
        self.assertGreaterEqual(counted["held_peak"], counted["usable_peak"])
        return counted

    def test_on_the_systems_malloc(self):
        self.assertIn("mallinfo2", self.check_known_requests()["asked"])

    def test_on_granary(self):
        self.assertIn("peak_heap_bytes", self.check_known_requests(GRANARY)["asked"])

    def test_on_the_labs(self):
        for name in ("single", "hoard"):
            with self.subTest(name):
                self.assertIn("mallinfo2", self.check_known_requests(BUILD / "lab" / f"liblab-{name}.so")["asked"])


class Table(unittest.TestCase):
    def run_it(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-B", ROOT / "bench" / "fragmentation.py", "--build", BUILD, *words],
                              capture_output=True, text=True, timeout=200)

    def test_of_one_workload(self):
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder) / "raw.json"
            done = self.run_it("--with", "granary,system", "--only", "hypercube-like", "--rounds", "1", "--json", raw)
            self.assertEqual(done.returncode, 0, done.stderr)
            _, *records = map(json.loads, raw.read_text().splitlines())
        self.assertEqual([record["allocator"] for record in records], ["granary", "system"])
        for record in records:
            counted = record["counted"]
            self.assertLess(200_000, counted["requests"])
            self.assertLess(1_000_000, counted["requested"])
            self.assertLess(counted["requested"], counted["usable"])
            self.assertLess(counted["usable"], counted["held"])
            self.assertLess(counted["usable"], record["usage"][0]["peak_kib"] * 1024)
        own, systems = (record["counted"]["requested"] for record in records)
        self.assertIn(f"{own:,}", done.stdout)
        self.assertLess(abs(own - systems), 1000, "the program requests the same on both")

    def test_the_cases_of_the_thesis_figures_run_where_they_are_named(self):
        done = self.run_it("--with", "system", "--only", "gawk,recycle-2,consume-1", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        external = done.stdout[done.stdout.index("external fragmentation: held"):].split("\n\n")[0].splitlines()[2:]
        self.assertEqual([row.split()[0] for row in external], ["gawk", "recycle-2", "consume-1"])
        for row in external:
            self.assertGreater(float(row.split()[1]), 0)

    def test_of_several_processes_the_one_that_requests_most_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = fragmentation.Bench(BUILD, Path(), Path(folder), None)
            words = {"small": "/bin/true", "large": "/usr/bin/perl -e '@numbers = split //, \"7\" x 100000'"}
            with unittest.mock.patch.dict(fragmentation.OF_FIGURES, words | {
                    "both": f"/bin/sh -c {shlex.quote('; '.join([words['large'], words['small']]))}"}):
                small, large, both = (bench.count(case, system()).requests for case in ("small", "large", "both"))
        self.assertLess(small, large / 10)
        self.assertGreater(both, large / 2)

    def test_what_is_not_there(self):
        for words, message in ((("--only", "nothing"), "nothing: no such case"),
                               (("--with", "nobody"), "nobody: no such allocator"),
                               (("--with", "lab:nobody"), "lab:nobody: no such allocator in the lab")):
            done = self.run_it(*words)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    main()
