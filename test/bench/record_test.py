# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the measurements beside the suite: that they run to their end, and what their records hold.
# Invariant: a moment's run each; intervals are tested on values whose answer is known.
# Must not know: what any measurement yields.
"""Usage: record_test.py BUILD_FOLDER."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import BUILD, ROOT, SUITE, main, results, steady

sys.path[:0] = [str(ROOT / "bench")]
import agreement
import counts
import machine
from counts import EVENTS
from granary_results import stored
from record import interval


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = Path(folder.name) / "record.json"

    def run_it(self, script: str, *words, code: int = 0) -> subprocess.CompletedProcess:
        command = [sys.executable, "-B", ROOT / "bench" / script, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def recorded(self) -> list[dict]:
        """The values behind the first line, which must tell how they came about, and not where."""
        text = self.output.read_text()
        self.assertNotIn(f"{ROOT}/", text)
        head, *values = map(json.loads, text.splitlines())
        self.assertRegex(head["command"], r"^bench/\w+\.py .*libgranary\.so")
        self.assertEqual(head["machine"].keys(), machine.facts().keys())
        return values

    def test_small_process(self):
        self.run_it("small_process.py", BUILD / "libgranary.so", "--pairs", "3", "--output", self.output)
        values = self.recorded()
        self.assertLessEqual({"system", "granary"}, {value["cat"] for value in values if "cat" in value})
        starts = {value["true"]: value for value in values if "true" in value}
        self.assertEqual([len(starts["granary"][side]) for side in ("microseconds", "without")], [3, 3])

    def test_mmicro_scaling(self):
        shown = self.run_it("mmicro_scaling.py", BUILD / "libgranary.so", BUILD / "bench" / "workloads" / "mmicro",
                            "--rounds", "1", "--seconds", "0.01", "--output", self.output).stdout
        counts = {value["threads"] for value in self.recorded() if value["allocator"] == "granary without rseq"}
        self.assertEqual(counts, {1, 2, 8, 64, 256})
        self.assertIn("2 threads without rseq: ", shown)

    def test_line_transfers_of_what_does_not_exist(self):
        for words, said in ((("--with", "nothing"), "nothing"),
                            (("--library", "old=/no/such.so"), "/no/such.so: no such file"),
                            (("--with", "system", "--build", self.output.parent), "line-transfer")):
            done = self.run_it("line_transfers.py", *words, code=1 if "--build" in words else 2)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_execution_of_what_does_not_exist(self):
        for words, said in ((("--with", "nothing"), "execution: nothing: "), (("--with", "lab:nobody"), "lab:nobody"),
                            (("--rounds", "0"), "must be positive")):
            done = self.run_it("execution.py", *words, code=2)
            self.assertIn(said, done.stderr)

    def test_execution(self):
        shown = self.run_it("execution.py", "--build", BUILD, "--with", "system", "--threads", "3", "--seconds", "0.1",
                            "--rounds", "2", "--json", self.output).stdout
        for row in ("nanoseconds for a pair", "pairs in a second", "use of the CPUs, %", "context switches in a second"):
            self.assertRegex(shown, re.compile(rf"^{re.escape(row)} +[\d,.]+ \[[\d,.]+ [\d,.]+\]$", re.MULTILINE))
        self.assertRegex(shown, re.compile(r"^interrupted sections in a second +-$", re.MULTILINE))
        _, *rows = [json.loads(line) for line in self.output.read_text().splitlines()]
        self.assertEqual([row["allocator"] for row in rows], ["system", "system"])
        for row in rows:
            self.assertAlmostEqual(row["latency"] * row["throughput"], len(os.sched_getaffinity(0)) * 1e9, places=0)

    def test_counts_of_nothing(self):
        done = self.run_it("counts.py", "--counted", self.output.parent, code=2)
        self.assertIn("run: make counted", done.stderr)
        (self.output.parent / "libgranary.so").touch()
        done = self.run_it("counts.py", "--counted", self.output.parent, "--only", "nothing", code=2)
        self.assertIn("nothing: no such workload", done.stderr)
        for name, words in (("system", "system: counts nothing"), ("lab:single", "lab:single: the lab is not built")):
            done = self.run_it("counts.py", "--counted", self.output.parent, "--with", name, code=2)
            self.assertIn(words, done.stderr)

    def test_the_projection_is_that_of_queues(self):
        row = {"case": "made/2", "seconds_per_operation": 1e-6, "global_locks": 1e6,
               "page_heap_locks": 0, "system_calls": -5, "remote_flushes": 0, "messages": 0}
        self.output.write_text("{}\n" + json.dumps(row) + "\n")
        line = self.run_it("scaling.py", self.output).stdout.splitlines()[1]
        # A fifth of the time under one lock: five CPUs fill it, and more than five times as fast nothing becomes.
        self.assertRegex(line, r" 5\.0 +5\.0  global heap from 5 CPUs$")
        packed = self.output.with_suffix(".json.gz")
        packed.write_bytes(stored.content(self.output.read_text(), packed))
        line = self.run_it("scaling.py", packed, "--parts", "2").stdout.splitlines()[1]
        self.assertRegex(line, r" 10\.0  global heap from 10 CPUs$")

    def test_without_a_library(self):
        done = self.run_it("small_process.py", self.output, code=1)
        self.assertRegex(done.stderr, rf"^{self.output} does not exist.*\n$")


class Lines(unittest.TestCase):
    LINES = ("first", "ächt", "")

    def written(self, name: str) -> bytes:
        """By a process of its own: the end of a compressed file is written when that ends."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            program = ("import sys; sys.path.insert(0, sys.argv[1]); from granary_results import stored; from pathlib import Path\n"
                       "lines = stored.Lines(Path(sys.argv[2]))\n"
                       "for line in sys.argv[3:]: lines.write(line); print(Path(sys.argv[2]).stat().st_size)")
            done = subprocess.run([sys.executable, "-B", "-c", program, SUITE, path, *self.LINES], capture_output=True,
                                  text=True, check=True)
            sizes = [int(size) for size in done.stdout.split()]
            self.assertEqual(sizes, sorted(set(sizes)), "each line is in the file at once")
            self.assertEqual(stored.read(path), "".join(f"{line}\n" for line in self.LINES))
            return path.read_bytes()

    def test_plain_and_compressed(self):
        self.assertFalse(self.written("lines.json").startswith(stored.MAGIC))
        packed = self.written("lines.json.gz")
        self.assertTrue(packed.startswith(stored.MAGIC))
        self.assertEqual(packed, self.written("lines.json.gz"))


class Agreement(unittest.TestCase):
    @staticmethod
    def of(first: float, second: float, name: str = "other") -> list[str]:
        """How two runs stand in which an allocator needs so many times of what another does."""
        runs = [results({"case": {"system": steady(1, 6), name: steady(value, 6)}}) for value in (first, second)]
        return [str(pair.where) for pair in agreement.pairs(*runs) if pair.contradicts()]

    def test_opposite_directions_contradict(self):
        self.assertEqual(self.of(0.9, 1.1), ["case", "mean of beyond"])

    def test_the_same_direction_and_no_difference_do_not(self):
        for first, second in ((0.9, 0.5), (0.9, 1), (1, 1.1), (1, 1)):
            self.assertEqual(self.of(first, second), [])

    def test_an_allocator_differs_from_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / f"{number}.json" for number in (1, 2)]
            for file in files:
                results({"case": {"system": steady(1, 6), "system+": steady(1.1, 6)}}).save(file)
            words = ["agreement", *map(str, files)]
            with contextlib.redirect_stdout(io.StringIO()) as text, mock.patch("sys.argv", words):
                self.assertEqual(agreement.main(), 1)
            self.assertIn("a difference in both runs in 2", text.getvalue())


class Counts(unittest.TestCase):
    def test_a_million_operations_cost_the_difference_of_two_runs(self):
        report = {"operations": 2000, "cpu_seconds": 500.0}
        runs = [(report, {}), ({}, dict.fromkeys(EVENTS, 7)),
                (report | {"operations": 4000, "cpu_seconds": 1000.0}, dict.fromkeys(EVENTS, 7) | {"locks": 11, "waits": 6})]
        with mock.patch.object(counts, "run", side_effect=runs):
            row = counts.per_million(Path("workload"), [], Path("library"), rounds=1)
        self.assertEqual({event: row[event] for event in ("locks", "waits", "messages")},
                         {"locks": 2000, "waits": -500, "messages": 0})
        self.assertEqual((row["operations"], row["seconds_per_operation"]), (2000, 0.25))

    def test_of_rounds_the_median_counts(self):
        first = {"operations": 1_000_000, "cpu_seconds": 1.0}
        runs = [(first, {})]
        for waits in (900, 5, 7):
            runs += [({}, dict.fromkeys(EVENTS, 0)),
                     (first | {"operations": 2_000_000}, dict.fromkeys(EVENTS, 3) | {"waits": waits})]
        with mock.patch.object(counts, "run", side_effect=runs):
            row = counts.per_million(Path("workload"), [], Path("library"), rounds=3)
        self.assertEqual((row["waits"], row["locks"]), (7, 3))


class Interval(unittest.TestCase):
    def test_differences_may_be_negative(self):
        self.assertEqual(interval([-3.0] * 5), (-3, -3, -3))
        middle, low, high = interval([-4.0, -1.0, 0.0, 2.0, 50.0] * 4)
        self.assertEqual(middle, 0)
        self.assertLess(-4, low)
        self.assertLess(low, middle)
        self.assertLess(middle, high)
        self.assertLess(high, 50)


if __name__ == "__main__":
    main()
