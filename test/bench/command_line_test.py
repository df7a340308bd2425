# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the bench's command line: what it lists, what it leaves out and says, how it ends.
# Invariant: real trials, but of a moment; a stored result is made better or worse a hundred times, beyond any noise.
# Must not know: how fast anything is.
"""Usage: command_line_test.py BUILD_FOLDER."""

import hashlib
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import BUILD, ROOT, SUITE, main

from granary_results.results import METRICS, Results
from profiles import PROFILES
from workloads import FAMILIES, SUITES

CRASHING = "#include <stdlib.h>\n__attribute__((constructor)) static void crash(void) { abort(); }\n"
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
QUICK = ("--profile", "smoke", "--only", "loop-16")


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.peers = self.folder / "peers.json"

    def bench(self, *words, code: int = 0) -> subprocess.CompletedProcess:
        command = [sys.executable, "-B", SUITE, "--build", BUILD, "--peers", self.peers, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def refused(self, *words) -> str:
        """The one line that is said when nothing is measured."""
        done = self.bench(*words, code=2)
        self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done.stderr)
        return done.stderr


class Listing(CommandLine):
    def test_everything_is_listed(self):
        self.peers.write_text(json.dumps({"peers": [{"name": "built", "version": "7.7", "library": "/gone"}]}))
        text = self.bench("--list").stdout
        for word in (*FAMILIES, *PROFILES, *SUITES, "loop-16", "mariadb", "granary", "system", "built", "7.7",
                     "bump"):
            self.assertIn(word, text)

    def test_the_manual_has_the_same_options(self):
        manual = (ROOT / "man" / "granary.1.scd").read_text().rpartition("*granary bench* [_OPTIONS_]")[2]
        of_bench = re.split(r"^\*granary ", manual, maxsplit=1, flags=re.MULTILINE)[0]
        described = set(re.findall(r"^\t\*(--[a-z]+)\*", of_bench, re.MULTILINE))
        self.assertEqual(described, set(re.findall(r"^  (--[a-z]+)", self.bench("--help").stdout, re.MULTILINE)))


class LeftOut(CommandLine):
    def test_what_is_unknown_or_gone_is_a_line_and_the_rest_goes_on(self):
        self.peers.write_text(json.dumps({"peers": [{"name": "gone", "version": "1", "library": "/no/such.so"}]}))
        done = self.bench("--profile", "smoke", "--only", "loop-16,nonsense",
                          "--with", "system,system+,nobody,gone,granary,granary+")
        said = done.stderr.splitlines()
        self.assertEqual(len(said), 3, said)
        for line, name in zip(said, ("nonsense", "nobody", "gone")):
            self.assertRegex(line, f"^bench: {name}: ")
        self.assertIn("4 trials", done.stdout)
        self.assertIn("loop-16/1", done.stdout)
        self.assertIn("/ granary+", done.stdout)

    def test_without_built_peers(self):
        self.assertIn("make bench-peers", self.bench(*QUICK, "--with", "system,mimalloc2").stderr)

    def test_nothing_is_left(self):
        self.assertIn("nothing is left", self.bench("--only", "nonsense", code=2).stderr)
        self.assertIn("nothing is left", self.bench(*QUICK, "--with", "nobody", code=2).stderr)
        self.assertIn("nothing is left", self.bench(*QUICK, "--suite", "wasik", code=2).stderr)

    def test_a_peer_that_crashes(self):
        library = self.folder / "crashing.so"
        build = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", library]
        subprocess.run(build, input=CRASHING, text=True, check=True)
        self.peers.write_text(json.dumps({"peers": [{"name": "crashing", "version": "1", "library": str(library)}]}))
        done = self.bench(*QUICK, "--with", "crashing,system,granary")
        self.assertRegex(done.stderr, r"^bench: loop-16/1 on crashing: .*SIGABRT.*\n$")
        self.assertEqual(done.stdout.count("loop-16/1"), 4, "a row for each metric, and the failure")
        self.assertRegex(done.stdout, r"Failed:\n  loop-16/1 on crashing: .*SIGABRT")


class Suites(CommandLine):
    def test_a_paper_is_measured_with_its_own_threads_however_short_the_run(self):
        done = self.bench("--suite", "hoard", "--profile", "smoke", "--only", "larson", "--with", "system")
        self.assertIn("larson/14", done.stdout)


class Pictures(CommandLine):
    """A user without matplotlib learns of it before anything is measured."""

    def setUp(self):
        super().setUp()
        (self.folder / "sitecustomize.py").write_text("import sys\nsys.modules['matplotlib'] = None\n")
        patch = mock.patch.dict("os.environ", {"PYTHONPATH": str(self.folder)})
        patch.start()
        self.addCleanup(patch.stop)

    def test_pictures_cannot_be_had(self):
        said = self.refused(*QUICK, "--with", "system", "--pictures", self.folder / "pictures")
        self.assertEqual(said, "bench: no pictures: python3-matplotlib is not installed; run: scripts/setup bench\n")

    def test_a_page_has_its_tables(self):
        page = self.folder / "page.html"
        done = self.bench(*QUICK, "--with", "system", "--html", page)
        self.assertIn("bench: no pictures: ", done.stderr)
        self.assertIn("None: the library that draws them was not installed", page.read_text())


class Paths(CommandLine):
    def test_a_result_does_not_tell_where_it_was_measured(self):
        library = self.folder / "peer" / "gone.so"
        self.peers.write_text(json.dumps({"peers": [{"name": "here", "library": str(library), "proof": [str(library)],
                                                     "flags": f"-I{ROOT}/include -L{BUILD}/lib"}]}))
        library.parent.mkdir()
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=CRASHING, text=True,
                       check=True)
        run = self.folder / "run.json"
        self.bench(*QUICK, "--with", "here,system", "--json", run)
        text = run.read_text()
        for folder in (ROOT, BUILD, self.folder):
            self.assertNotIn(str(folder), text)
        stored = Results.load(run)
        self.assertEqual(stored.allocators[0]["library"], f"{self.folder.name}/peer/gone.so")
        self.assertIn("SIGABRT", stored.failures()["loop-16/1", "here"])
        self.assertTrue(stored.samples("cost"))


class Pieces(CommandLine):
    def test_a_run_in_pieces_is_the_whole_run(self):
        run = self.folder / "run.json.gz"
        words = (*QUICK, "--rounds", "3", "--with", "granary,system", "--json", run, "--resume")
        ended = self.bench(*words, "--minutes", "0", code=3)
        self.assertIn("continue with --resume", ended.stderr)
        self.assertEqual(Results.load(run).trials, [])
        self.bench(*words)
        whole = Results.load(run)
        self.assertEqual(len(whole.trials), 6)

        broken = Results.load(run)
        del broken.trials[3]
        broken.save(run)
        self.bench(*words)
        again = Results.load(run)
        self.assertEqual(len(again.trials), 6)
        self.assertEqual(again.trials[:2], whole.trials[:2])
        self.assertEqual({trial["round"] for trial in again.trials}, {1, 2, 3})
        self.bench(*words)
        self.assertEqual(Results.load(run).trials, again.trials, "nothing was left")

    def test_all_pieces_do_the_same_work(self):
        run = self.folder / "run.json"
        words = ("--profile", "standard", *QUICK[2:], "--threads", "1", "--rounds", "2", "--with", "granary",
                 "--json", run)
        self.bench(*words)
        broken = Results.load(run)
        first = broken.trials[0]["operations"]
        broken.trials = [trial | {"operations": 12800} for trial in broken.trials[:1]]
        broken.save(run)
        self.bench(*words, "--resume")
        self.assertEqual([trial["operations"] for trial in Results.load(run).trials], [12800, 12800])
        self.assertNotEqual(first, 12800)

    def test_only_the_same_run_is_gone_on_with(self):
        run = self.folder / "run.json"
        words = (*QUICK, "--with", "granary,system", "--json", run)
        self.bench(*words)
        stored = Results.load(run)
        for what, words_then in (("cases", (*QUICK[:2], "--only", "loop-64", *words[4:])),
                                 ("--with", (*QUICK, "--with", "system,granary", "--json", run)),
                                 ("profile", ("--profile", "standard", *words[2:]))):
            with self.subTest(what):
                self.assertIn(what, self.refused(*words_then, "--resume"))
        cpus = stored.machine["cpus"]
        stored.machine["cpus"] = 1000
        stored.save(run)
        self.assertIn("cpus 1000", self.refused(*words, "--resume"))
        stored.machine["cpus"] = cpus
        stored.allocators[0]["library_sha256"] = "another"
        stored.save(run)
        self.assertIn("granary differs from the stored run's", self.refused(*words, "--resume"))
        self.assertIn("add --json FILE", self.bench(*QUICK, "--resume", code=2).stderr)


class Wrong(CommandLine):
    def test_command_lines(self):
        for words in (("--bogus",), ("--suite", "other"), ("--profile", "long"), ("--rounds", "0"), ("--rounds", "x"),
                      ("--threads", "0"), ("--threads", "x"), ("--threads", ","), ("--check",), ("word",)):
            with self.subTest(words):
                self.assertIn("granary bench: error: ", self.bench("--with", "nobody", *words, code=2).stderr)


class Check(CommandLine):
    @staticmethod
    def with_granary_at(stored: Results, factor: float, path: Path) -> Path:
        for trial in stored.trials:
            if trial["allocator"] == "granary":
                trial |= {metric.key: trial[metric.key] * factor for metric in METRICS}
        stored.save(path)
        return path

    def test_against_a_stored_result(self):
        first = self.folder / "first.json"
        words = (*QUICK, "--rounds", "3", "--with", "granary,system")
        self.bench(*words, "--json", first)
        stored = Results.load(first)
        self.assertEqual(len(stored.trials), 6)
        self.assertIn("--rounds 3", stored.command)
        self.assertNotIn("--build", stored.command)
        better = self.with_granary_at(Results.load(first), 0.01, self.folder / "better.json")
        worse = self.with_granary_at(Results.load(first), 100, self.folder / "worse.json")
        text = self.bench(*words, "--check", better, code=1).stdout
        self.assertRegex(text, r"\nregression: loop-16/1: time for an operation against system was 0\.0")
        self.assertRegex(text, r"\nregression: loop-16/1: peak memory against system was 0\.0")
        self.assertIn(f"no regression against {worse}", self.bench(*words, "--check", worse).stdout)
        self.assertIn("3 rounds", self.bench(*QUICK, "--with", "granary,system", "--check", better, code=2).stderr)

    def test_a_file_that_is_none_is_refused_before_anything_is_measured(self):
        other = self.folder / "other.json"
        other.write_text("[]")
        for path in (other, self.folder / "absent.json"):
            self.assertIn(str(path), self.refused("--only", "nonsense", "--check", path))

    def test_a_stored_result_is_shown_without_measuring(self):
        run, page, pictures = self.folder / "run.json", self.folder / "run.html", self.folder / "pictures"
        measured = self.bench(*QUICK, "--rounds", "3", "--with", "granary,system", "--json", run).stdout
        before = run.read_bytes()
        drawing = ("--pictures", pictures) if HAS_MATPLOTLIB else ()
        drawn = self.bench("--from", run, "--html", page, *drawing, "--check", run).stdout
        self.assertEqual(drawn, measured + f"\nno regression against {run}\n")
        self.assertIn(Results.load(run).command, page.read_text())
        self.assertEqual((pictures / "standing-time.svg").exists(), HAS_MATPLOTLIB)
        self.assertEqual("<svg" in page.read_text(), HAS_MATPLOTLIB)
        better = self.with_granary_at(Results.load(run), 0.01, self.folder / "better.json")
        self.assertIn("\nregression: loop-16/1: ", self.bench("--from", run, "--check", better, code=1).stdout)
        self.assertEqual(run.read_bytes(), before)

    def test_what_is_stored_is_not_measured(self):
        self.assertIn("absent.json", self.refused("--from", self.folder / "absent.json"))
        for words in (("--rounds", "3"), ("--suite", "all"), ("--profile", "standard"), ("--threads", "1"),
                      ("--only", "loop-16"), ("--with", "system"), ("--json", self.folder / "other.json")):
            with self.subTest(words):
                self.assertIn(words[0], self.refused("--from", self.folder / "absent.json", *words))

    def test_what_was_measured_is_kept_however_it_ends(self):
        spec = importlib.util.spec_from_file_location("bench", SUITE / "__main__.py")
        bench = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(bench)
        run = self.folder / "run.json"

        def ended(schedule) -> None:
            schedule.seen({"round": 1, "case": "loop-16/1", "allocator": "granary", "cost": 1.0})
            sys.exit(143)

        words = [SUITE, "--build", BUILD, "--peers", self.peers, *QUICK, "--with", "granary", "--json", run]
        with mock.patch("sys.argv", list(map(str, words))), \
                mock.patch.object(bench.Schedule, "run", autospec=True, side_effect=ended), \
                self.assertRaises(SystemExit):
            bench.main()
        kept = Results.load(run)
        self.assertEqual([trial["case"] for trial in kept.trials], ["loop-16/1"])
        library = (BUILD / "libgranary.so").read_bytes()
        self.assertEqual(kept.allocators[0]["library_sha256"], hashlib.sha256(library).hexdigest())

    def test_results_that_cannot_be_written_are_not_measured(self):
        self.assertIn(str(self.folder), self.refused(*QUICK, "--with", "system", "--json", self.folder))


if __name__ == "__main__":
    main()
