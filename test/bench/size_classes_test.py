# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: how requests are recorded, on programs whose requests are known, with threads and forks; tables of size
#    classes and what they cost, on made-up recordings; the constants in a copy of the source; the commands.
# Invariant: no library is built; the table of the constants as they are is that of docs/design/size-classes.md.
# Must not know: which table is the best.
"""Usage: size_classes_test.py BUILD_FOLDER."""

import dataclasses
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, main, told

sys.path.insert(0, str(ROOT / "bench"))

import candidates
from class_table import ClassTable, Constants, Cost, Step, variants
from granary_results import stored
from harness.allocators import Missing
from harness.launcher import ProgramFailed
from record import Record
from recordings import Recording, grouped
from size_classes_measured import buildable, measure_peaks

COUNTER = BUILD / "bench" / "controls" / "libgranary-requested.so"
TODAY = Constants.of(ROOT / "src")

# Of odd sizes that no library requests. With an argument it requests nothing.
KNOWN = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { THREADS = 4, BLOCKS = 20000 };
static void *volatile kept[BLOCKS];
static void keep(int first, int count, int size) {
    for (int i = first; i < first + count; ++i) kept[i] = malloc(size);
}
static void drop(int first, int count) {
    for (int i = first; i < first + count; ++i) free(kept[i]);
}
static void *replace(void *unused) {
    void *volatile mine[8] = {0};
    for (int i = 0; i < BLOCKS; ++i) {
        free(mine[i % 8]);
        mine[i % 8] = malloc(30011 + i % 2);
    }
    for (int i = 0; i < 8; ++i) free(mine[i]);
    return unused;
}
static int peak(void) {
    keep(0, 2000, 3011);
    drop(0, 2000);
    keep(0, 1500, 3511);
    kept[1500] = calloc(1, 70001);
    kept[1501] = realloc(malloc(3013), 3015);
    return 0;
}
static int threads(void) {
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; ++i) pthread_create(&ids[i], NULL, replace, NULL);
    for (int i = 0; i < THREADS; ++i) pthread_join(ids[i], NULL);
    keep(0, 1000, 3011);
    return 0;
}
static int child(void) {
    keep(0, 200, 30015);
    drop(0, 200);
    keep(0, 10, 30011);
    const pid_t child = fork();
    if (child != 0) return waitpid(child, NULL, 0) != child;
    drop(0, 4);
    keep(10, 50, 30013);
    return 0;
}
static int overwrites_its_environment(void) {
    memset(getenv("REQUESTED_FILE"), 'x', 4);
    return child();
}
int main(int words, char **word) {
    if (words == 1) return 0;
    switch (word[1][0]) {
        case 'p': return peak();
        case 't': return threads();
        case 'c': return child();
        default: return overwrites_its_environment();
    }
}
"""


class Counted(unittest.TestCase):
    """The library that counts, on a program whose requests are known."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.program = cls.folder / "known"
        subprocess.run(["cc", "-O0", "-w", "-x", "c", "-", "-o", cls.program], input=KNOWN, text=True, check=True)

    def reports(self, what: str) -> list[dict]:
        """By what was requested of 30013 bytes: the parent first."""
        told = self.folder / "told"
        told.mkdir()
        self.addCleanup(shutil.rmtree, told)
        subprocess.run([self.program, what], check=True, timeout=60,
                       env={"LD_PRELOAD": str(COUNTER), "REQUESTED_FILE": f"{told}/%p.json"})
        reports = [json.loads(file.read_text()) for file in told.glob("*.json")]
        for report in reports:
            report["sizes"] = {size: (requests, live) for size, requests, live in report["sizes"]}
        return sorted(reports, key=lambda report: 30013 in report["sizes"])

    def test_of_each_size_and_what_is_live_at_the_peak(self):
        (report,) = self.reports("peak")
        sizes = report["sizes"]
        self.assertEqual(report["program"], "known")
        self.assertEqual(report["requests"], sum(requests for requests, _ in sizes.values()))
        self.assertEqual([sizes[size][0] for size in (3011, 3511, 3013, 3015)], [2000, 1500, 1, 1])
        self.assertEqual(sizes[65536 + 8192], (1, 0), "beyond 64 KiB in steps of 4 KiB")
        self.assertTrue(2000 * 63 / 64 - 2 < sizes[3011][1] <= 2000, sizes[3011])
        self.assertEqual(sizes[3511][1], 0, "less is live then")

    def test_needs_libc_only(self):
        """Else a program in C would request what another library does at its start."""
        for library in COUNTER.parent.glob("*.so"):
            headers = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
            self.assertEqual(re.findall(r"NEEDED +(\S+)", headers), ["libc.so.6"], library)

    def test_threads_lose_nothing(self):
        (report,) = self.reports("threads")
        self.assertEqual([report["sizes"][size][0] for size in (30011, 30012, 3011)], [40000, 40000, 1000])
        self.assertEqual([report["sizes"][size][1] for size in (30011, 30012)], [0, 0])
        self.assertTrue(950 < report["sizes"][3011][1] <= 1000)

    def check_child(self, what: str) -> None:
        parent, child = self.reports(what)
        self.assertEqual(parent["sizes"][30011], (10, 0), "more was live before")
        self.assertEqual(child["sizes"][30013][0], 50)
        self.assertEqual(child["sizes"][30011], (0, 6), "requested by the parent, and 4 of them freed here")
        self.assertEqual(child["requests"], sum(requests for requests, _ in child["sizes"].values()))
        self.assertLess(child["requests"], 55)
        self.assertLess(child["total_bytes"], 51 * 30013)
        self.assertTrue(50 * 30013 <= child["requested_peak"] - 6 * 30011 < 51 * 30013)

    def test_a_child_tells_its_own(self):
        self.check_child("child")

    def test_a_program_may_write_over_its_environment(self):
        self.check_child("overwrites")


class Tables(unittest.TestCase):
    def test_the_librarys_table(self):
        """test/base compares the page with the library."""
        page = (ROOT / "docs" / "design" / "size-classes.md").read_text()
        rows = [tuple(map(int, row)) for row in re.findall(r"^\| (\d+) \| (\d+) \| \d+ \| \d+ \| \d+ \|$", page, re.M)]
        self.assertEqual([(size, superblock // 1024) for size, superblock in ClassTable(TODAY).shapes()], rows)

    def test_cost(self):
        table = ClassTable(Constants(16, 64, 2, 256, 12, 2, 8))
        self.assertEqual(table.sizes, [16, 32, 48, 64, 96, 128, 192, 256])
        self.assertEqual([table.units_of(size) for size in (16, 192)], [1, 1])
        # 10 of 20 bytes requested, 4 live; 100 of 200 and all live; a page and a byte, which is beyond the classes
        steps = [Step(20, 10, 200, 4, 80), Step(200, 100, 20000, 100, 20000), Step(4097, 1, 4097, 1, 4097)]
        self.assertEqual(table.cost(steps), Cost(
            by_request=(10 * 32 + 100 * 256) / 20200 - 1, requested=24177, rounded=4 * 32 + 100 * 256 + 8192,
            touched=4096 + 7 * 4096 + 8192, held=4096 + 7 * 4096 + 8192, classes=2))

    def test_superblocks_of_several_units(self):
        table = ClassTable(Constants(16, 1024, 8, 32768, 16, 8, 16))
        self.assertEqual([table.units_of(size) for size in (1024, 24576, 28672)], [1, 2, 4])
        self.assertEqual(table.cost([Step(24576, 5, 5 * 24576, 5, 5 * 24576)]).held, 2 * 65536)
        self.assertEqual(table.cost([Step(24576, 6, 6 * 24576, 6, 6 * 24576)]).held, 4 * 65536)
        two_of_a_class = [Step(23000, 3, 69000, 3, 69000), Step(24000, 3, 72000, 3, 72000)]
        self.assertEqual(table.cost(two_of_a_class).held, 4 * 65536)
        self.assertEqual(table.cost([Step(32768, 1, 32768, 1, 32768)]).classes, 1, "the limit is still a class")
        beyond = table.cost([Step(69632, 1, 69632, 1, 69632)])
        self.assertEqual((beyond.touched, beyond.held, beyond.classes), (69632, 2 * 65536, 0))

    def test_steps_lose_nothing_and_no_candidate_parts_them(self):
        sizes = [[size, 3, 2] for size in range(0, 65537)] + [[65536 + 4096, 1, 1]]
        steps = list(grouped(sizes))
        self.assertEqual(sum(step.requests for step in steps), 3 * 65537 + 1)
        self.assertEqual(sum(step.live_bytes for step in steps), sum(size * live for size, _, live in sizes))
        last = [step.size for step in steps]
        for name, constants in variants(TODAY).items():
            self.assertEqual(set(ClassTable(constants).sizes) - set(last), set(), name)

    def test_of_several_processes_the_one_that_requested_most(self):
        reports = [{"program": name, "total_bytes": total, "sizes": [[16, 1, 1]]}
                   for name, total in (("sort", 10), ("git", 30), ("sh", 20))]
        self.assertEqual(Recording.of(reports), Recording("git", 3, [Step(16, 1, 16, 1, 16)]))

    def test_recordings_come_back_as_they_were_written(self):
        recording = Recording("git", 3, [Step(16, 1, 15, 1, 15), Step(32, 2, 60, 0, 0)])
        self.assertEqual(Recording.read(json.loads(json.dumps(recording.written()))), recording)
        self.assertEqual((recording.requests(), recording.requests(16)), (3, 1))


class Candidates(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "src"
        shutil.copytree(ROOT / "src", self.source)

    def defined(self, name: str) -> str:
        offsets = self.source / "platform" / "rseq" / "offsets.inc"
        return re.search(rf"#define {name} (\d+)", offsets.read_text())[1]

    def test_todays_is_todays(self):
        files = sorted((self.source / "platform" / "rseq").iterdir())
        before = [file.read_text() for file in files]
        candidates.change_constants(self.source, TODAY)
        self.assertEqual(Constants.of(self.source), TODAY)
        self.assertEqual([file.read_text() for file in files], before)

    def test_the_assembly_follows(self):
        wanted = dataclasses.replace(TODAY, coarse_per_doubling=16, unit_shift=15)
        candidates.change_constants(self.source, wanted)
        self.assertEqual(Constants.of(self.source), wanted)
        candidates.write_offsets(self.source, self.source.parent)
        self.assertEqual([self.defined(name) for name in ("UNIT_SHIFT", "SLOT", "REMOTE", "REMOTE_HEADERS")],
                         ["15", "2048", str(254 * 8), str(144 * 8)])

    def test_what_is_no_longer_there_is_told(self):
        config = self.source / "base" / "config.hpp"
        config.write_text(config.read_text().replace("kTailWasteParts", "kTail"))
        with self.assertRaisesRegex(Missing, "kTailWasteParts"):
            candidates.change_constants(self.source, TODAY)
        with self.assertRaisesRegex(Missing, "config.hpp: no line matches kThere"):
            candidates.change(config, "kThere", "")


class Runner:
    """In the place of one that runs programs: what a run needs, by name and library."""

    def __init__(self, needs: dict[tuple[str, str], list]):
        self.needs = needs

    def prepare(self, name: str) -> None:
        if (name, "") in self.needs:
            raise Missing(f"{name}: not installed")

    def peak_kib(self, name: str, library: Path) -> int:
        need = self.needs[name, str(library)].pop()
        if isinstance(need, BaseException):
            raise need
        return need


class Measured(unittest.TestCase):
    LIBRARIES = {"today": Path("a"), "other": Path("b")}

    def peaks(self, needs: dict, names: list[str]) -> dict:
        return measure_peaks(Runner(needs), names, self.LIBRARIES, 3, Record(None))

    def test_the_median_of_the_rounds(self):
        needs = {("sort", "a"): [30, 10, 20], ("sort", "b"): [5, 5, 90]}
        self.assertEqual(self.peaks(needs, ["sort"]), {"sort": {"today": 20, "other": 5}})

    def test_what_fails_or_is_not_there_is_told_and_left_out(self):
        needs = {("tar", ""): [], ("git", "a"): [1, 1, 1], ("git", "b"): [1, ProgramFailed("git: exit code 9"), 1],
                 ("sort", "a"): [1, 1, 1], ("sort", "b"): [2, 2, 2]}
        with told() as text:
            self.assertEqual(self.peaks(needs, ["tar", "git", "sort"]), {"sort": {"today": 1, "other": 2}})
        self.assertIn("tar: not installed", text.getvalue())
        self.assertIn("git: exit code 9", text.getvalue())

    def test_interrupted_it_has_what_it_has(self):
        needs = {("sort", "a"): [1, 1, 1], ("sort", "b"): [2, 2, 2], ("git", "a"): [1, 1, 1],
                 ("git", "b"): [1, 1, KeyboardInterrupt()]}
        with told() as text:
            self.assertEqual(list(self.peaks(needs, ["sort", "git", "tar"])), ["sort"])
        self.assertIn("interrupted in git", text.getvalue())

    def test_only_other_tables_are_built(self):
        names = buildable()
        self.assertIn("today", names)
        self.assertIn("16 a doubling", names)
        self.assertNotIn("8 bytes as well", names)
        tables = [ClassTable(constants).shapes() for name, constants in names.items() if name != "today"]
        self.assertNotIn(ClassTable(TODAY).shapes(), tables)


class Commands(unittest.TestCase):
    def run_it(self, script: str, *words) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-B", ROOT / "bench" / script, "--build", BUILD, *words],
                              capture_output=True, text=True, timeout=200)

    def test_recorded_and_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = Path(folder) / "first.json.gz", Path(folder) / "second.json"
            done = self.run_it("size_classes.py", "--only", "espresso-like,tar", "--json", first)
            again = self.run_it("size_classes.py", "--recordings", first, "--json", second)
            self.assertEqual((done.returncode, done.stderr, again.stderr), (0, "", ""))
            self.assertEqual(done.stdout, again.stdout)
            self.assertEqual(stored.read(first).splitlines()[1:], second.read_text().splitlines()[1:])
        for row in (r"^espresso-like +espresso-like +[\d,]{9}", r"^tar +tar ", r"^4 a doubling +84 "):
            self.assertRegex(done.stdout, re.compile(row, re.M))

    def test_measured_with_libraries_that_are_there(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("today", "today-again", "tail-1-8"):
                (Path(folder) / name).mkdir()
                shutil.copy(BUILD / "libgranary.so", Path(folder) / name / "libgranary.so")
            words = ("--only", "tar,recycle", "--candidates", "tail 1/8", "--rounds", "1", "--libraries", folder)
            done = self.run_it("size_classes_measured.py", *words)
            (Path(folder) / "today-again" / "libgranary.so").write_text("no library")
            again = self.run_it("size_classes_measured.py", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((again.returncode, len(again.stderr.splitlines())), (2, 1))
        self.assertIn("libc.so.6's, not", again.stderr)
        self.assertEqual(len(re.findall(r"^tail 1/8 +\d\.\d{3} +\d", done.stdout, re.M)), 2, done.stdout)
        for row in (r"^tar +\d+\.\d+ +\d+\.\d+ +\d+\.\d+$", r"^recycle +\d+\.\d+ "):
            self.assertRegex(done.stdout, re.compile(row, re.M))

    def test_what_is_not_there(self):
        measured = "size_classes_measured.py"
        for script, words, message in (
                ("size_classes.py", ("--only", "nobody"), "nobody: no such program or workload"),
                ("size_classes.py", ("--recordings", ROOT / "README.md"), "README.md"),
                ("size_classes.py", ("--recordings", "/nowhere"), "/nowhere"),
                (measured, ("--only", "nobody"), "nobody: no such program or workload"),
                (measured, ("--events", "--only", "gcc"), "gcc: no such workload"),
                (measured, ("--candidates", "8 bytes as well"), "8 bytes as well: no such candidate")):
            done = self.run_it(script, *words)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    main()
