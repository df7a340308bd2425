# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: results: to a file and back, what is no such file, what counts as a sample, how figures are shown.
# Invariant: whatever is wrong with a file is one line that names it.
# Must not know: how trials are run.
"""Usage: results_test.py BUILD_FOLDER."""

import gzip
import json
import tempfile
import unittest
from pathlib import Path

from support import failed, main, results, steady

from granary_results import stored
from granary_results.results import FORMAT, METRICS, Results, one_line
from pieces import Saved


class File(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "below" / "run.json"

    def test_round_trip(self):
        run = results({"a": {"granary": steady(1.5, 2), "system": steady(2, 2)}}, {"a": "own"})
        run.trials.append(failed(3, "a", "system", "crashed\n    said “no”"))
        run.save(self.path)
        self.assertEqual(Results.load(self.path), run)
        self.assertEqual(json.loads(self.path.read_text())["format"], FORMAT)

    def test_a_name_that_ends_in_gz_is_compressed(self):
        run = results({"a": {"granary": steady(1.5, 20)}})
        run.save(self.path)
        packed = self.path.with_name("run.json.gz")
        run.save(packed)
        self.assertLess(packed.stat().st_size * 2, self.path.stat().st_size)
        self.assertEqual(gzip.decompress(packed.read_bytes()), self.path.read_bytes())
        self.assertEqual(Results.load(packed), run)
        before = packed.read_bytes()
        self.assertEqual(before[4:8], bytes(4), "a time")
        Results.load(packed).save(packed)
        self.assertEqual(packed.read_bytes(), before)
        packed.rename(self.path)
        self.assertEqual(Results.load(self.path), run, "the content tells, not the name")

    def test_a_damaged_compressed_file(self):
        whole = stored.content("{}" * 1000, Path("x.gz"))
        self.path.parent.mkdir()
        for content in (whole[:5], whole[:-1], whole[:-8] + bytes(8), whole[:12] + b"odd" + whole[15:], whole + b"more",
                        stored.content("[]", Path("x.gz"))):
            with self.subTest(content):
                self.path.write_bytes(content)
                self.assert_refused()

    def test_nothing_measured(self):
        run = results({})
        run.save(self.path)
        self.assertEqual(Results.load(self.path), run)

    def test_what_a_link_leads_to_is_written(self):
        self.path.parent.mkdir(parents=True)
        link = self.path.with_name("link")
        link.symlink_to(self.path)
        run = results({"a": {"granary": steady(1.5, 2)}})
        run.save(link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(Results.load(self.path), run)

    def test_a_run_is_in_its_file_before_it_is_over(self):
        run = results({"a": {"granary": steady(1.5, 2)}})
        records, run.trials = run.trials, []
        saved = Saved(run, self.path, every=0)
        for count, record in enumerate(records, 1):
            saved.add(record)
            self.assertEqual(len(Results.load(self.path).trials), count)
        Saved(run, None, every=0).add(records[0])

    def assert_refused(self):
        with self.assertRaises(ValueError) as caught:
            Results.load(self.path)
        self.assertIn(str(self.path), str(caught.exception))
        self.assertEqual(len(str(caught.exception).splitlines()), 1, caught.exception)

    def test_foreign_files(self):
        self.assert_refused()
        self.path.parent.mkdir()
        for content in (b"", b"hello\n", b"[]", b"3", b"{}", b'{"format": "other 1"}', b"\xff\xfe",
                        json.dumps({"format": FORMAT}).encode(), json.dumps({"format": FORMAT, "odd": 1}).encode()):
            with self.subTest(content):
                self.path.write_bytes(content)
                self.assert_refused()

    def test_trials_that_fit_nothing(self):
        whole = {"case": "a", "allocator": "system", "round": 1}
        for change in ({"case": "b"}, {"allocator": "granary"}, {"round": "1"}, None):
            with self.subTest(change):
                run = results({"a": {"system": steady(1, 1)}})
                run.trials.append({**whole, **change} if change else {})
                run.save(self.path)
                self.assert_refused()

    def test_a_folder(self):
        self.path.mkdir(parents=True)
        self.assert_refused()


class Samples(unittest.TestCase):
    def test_what_failed_or_was_not_told_is_left_out(self):
        run = results({"a": {"granary": steady(1, 2)}, "b": {"granary": steady(1, 1)}})
        run.trials += [failed(3, "a", "granary", "hung"), failed(1, "b", "system", "crashed")]
        run.trials[0]["peak_kib"] = 0
        self.assertEqual(run.samples("cost"), {"a": {"granary": {1: 1, 2: 1}}, "b": {"granary": {1: 1}}})
        self.assertEqual(run.samples("peak_kib")["a"], {"granary": {2: 1000}})
        self.assertEqual(run.samples("cpu_cost"), {})
        self.assertEqual(run.failures(), {("a", "granary"): "hung", ("b", "system"): "crashed"})

    def test_families(self):
        run = results({case: {} for case in "abcd"}, {"a": "servers", "b": "own", "c": "servers", "d": "controls"})
        self.assertEqual(run.families(list("abcd")), {"servers": ["a", "c"], "own": ["b"], "controls": ["d"]})
        self.assertEqual(run.counted(list("abcd")), [["a", "c"]])


class Shown(unittest.TestCase):
    def test_units(self):
        time, _, memory = METRICS
        for metric, value, text in ((time, 2.5, "2.5 s"), (time, 0.0025, "2.5 ms"), (time, 2.5e-8, "25.0 ns"),
                                    (time, 2e-10, "0.2 ns"), (memory, 512, "512.0 KiB"), (memory, 1536, "1.5 MiB"),
                                    (memory, 3 << 20, "3.0 GiB")):
            self.assertEqual(metric.shown(value), text)

    def test_a_failure_in_one_line(self):
        for text, line in (("hung", "hung"), ("it printed\n    first\n    last", "it printed: last"), ("odd\n", "odd"),
                           ("", "")):
            self.assertEqual(one_line(text), line)


if __name__ == "__main__":
    main()
