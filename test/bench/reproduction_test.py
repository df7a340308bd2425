# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the papers' tables and figures: what is kept of them, the page that has a row for each, how a run is read as
#    a paper, and how an allocator is given options.
# Invariant: made-up runs have numbers of which each wrong way of dividing shows another one.
# Must not know: how fast anything is.
"""Usage: reproduction_test.py BUILD_FOLDER."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, SUITE, failed, main, results, steady

import machine
import report
from comparison import Comparison
from draw.page import Page, add_paper
from draw.page import text as text_of_page
from granary_results.results import Results
from harness.allocators import Missing
from papers import PAPERS
from papers.exhibit import (CPUS, MEMORY, MEMORY_OVER_BASE, OVER_BASE, OVER_BASE_ALONE, OVER_ITSELF, RUNS,
                            SOLVER_OVER_BASE_ALONE, SOLVER_THROUGHPUT, THROUGHPUT, TIME, TIME_OVER_BASE, Exhibit, Number,
                            Paper)
from peers import LAB, Peers, options_of, without_options
from profiles import PROFILES
from reproduction import KEYS, NOT_MEASURED, VIEWED, Reading
from workloads import SUITES, all_subjects

PAGE = ROOT / "docs" / "papers" / "reproduction.md"
INTERVAL = re.compile(r"\d+\.\d\d \[\d+\.\d\d \d+\.\d\d\]")
OUTPUT = re.compile(r"docs/results/raw/reproduction-[a-z-]+\.txt")
ROUNDS = 4
MACHINE = {"cpus": 2}


class Kept(unittest.TestCase):
    """The data."""

    def setUp(self):
        subjects = all_subjects(PROFILES["paper"], (1,), Path())
        self.suites = {subject.label: subject.suites for subject in subjects}

    def exhibits(self):
        for paper in PAPERS.values():
            for exhibit in paper.exhibits:
                with self.subTest(paper=paper.suite, exhibit=exhibit.name):
                    yield paper, exhibit

    def test_there_is_a_paper_for_each_suite(self):
        self.assertEqual(list(PAPERS), list(SUITES))

    def test_an_exhibit_is_measured_or_elsewhere_or_it_is_said_why_not(self):
        for _, exhibit in self.exhibits():
            self.assertTrue(exhibit.elsewhere or not exhibit.counted)
            self.assertEqual(sum(map(bool, (exhibit.cases, exhibit.elsewhere, exhibit.why_not))), 1)
            self.assertTrue(exhibit.cases or not (exhibit.numbers or exhibit.views))
            self.assertTrue(exhibit.numbers or exhibit.views or not exhibit.cases, "nothing would be shown")
            self.assertLessEqual(set(exhibit.views), set(VIEWED))

    def test_names_are_told_once(self):
        for paper in PAPERS.values():
            names = [name for exhibit in paper.exhibits for name in exhibit.names()]
            self.assertEqual(len(names), len(set(names)), paper.suite)

    def test_the_suite_measures_what_an_exhibit_has(self):
        for paper, exhibit in self.exhibits():
            for case in exhibit.cases:
                self.assertIn(paper.suite, self.suites[case], case)

    def test_numbers_are_of_the_exhibit_and_of_known_allocators(self):
        for paper, exhibit in self.exhibits():
            titles = [Reading(results({}), paper).compared(number).row()[0] for number in exhibit.numbers]
            self.assertEqual(len(titles), len(set(titles)))
            for number in exhibit.numbers:
                self.assertLessEqual(set(number.cases), set(exhibit.cases))
                self.assertLessEqual({number.top, number.bottom}, set(paper.stands_for))
                self.assertIn(number.what, KEYS)
                self.assertTrue(number.theirs is None or number.theirs > 0)

    def test_who_stands_for_somebody_is_in_the_lab(self):
        for paper in PAPERS.values():
            self.assertIn(paper.base, paper.stands_for)
            self.assertLessEqual(set(paper.stood_for), set(paper.stands_for))
            for name in (*paper.allocators(), *paper.stood_for.values()):
                file = f"{without_options(name).removeprefix(LAB).replace('-', '_')}.hpp"
                self.assertTrue((ROOT / "lab" / "allocators" / file).is_file(), name)


class TheirPage(unittest.TestCase):
    """docs/papers/reproduction.md."""

    def rows(self) -> dict[str, dict[str, list[str]]]:
        """Suite to name to the cells of its row; a row may be of several names."""
        found: dict[str, dict[str, list[str]]] = {}
        suite = ""
        for line in PAGE.read_text().splitlines():
            if line.startswith("## "):
                suite = next((name for name in PAPERS if f"`{name}`" in line), "")
            elif suite and re.match(r"\| (table|figure|section)", line):
                names, *cells = line.strip("|").split(" | ")
                for name in names.strip().split(", "):
                    self.assertNotIn(name, found.get(suite, {}))
                    found.setdefault(suite, {})[name] = cells
        return found

    def test_each_table_and_figure_has_its_row_and_the_other_way_round(self):
        rows = self.rows()
        for paper in PAPERS.values():
            self.assertEqual(set(rows[paper.suite]), {name for exhibit in paper.exhibits for name in exhibit.names()},
                             paper.suite)

    def test_a_row_says_what_the_data_say_of_it(self):
        for paper in PAPERS.values():
            for exhibit in paper.exhibits:
                told = " | ".join(self.rows()[paper.suite][exhibit.names()[0]])
                for case in exhibit.cases:
                    self.assertIn(case, told, f"{paper.suite}, {exhibit.name}")
                for number in (*exhibit.numbers, *exhibit.counted):
                    if number.theirs is not None:
                        words = {f"{number.theirs:.2f}", f"{number.theirs:g}"}
                        self.assertTrue(words & set(re.findall(r"\d+(?:\.\d+)?", told)), (exhibit.name, words))

    def test_an_interval_of_ours_stands_in_the_kept_output_that_its_row_names(self):
        seen = 0
        for suite, rows in self.rows().items():
            for name, cells in rows.items():
                told = " | ".join(cells)
                kept = " ".join((ROOT / file).read_text() for file in OUTPUT.findall(told))
                for interval in INTERVAL.findall(told):
                    self.assertTrue(interval in kept, f"{suite}, {name}: {interval}")
                    seen += 1
        self.assertGreater(seen, 0)


def paper(*exhibits: Exhibit, **more) -> Paper:
    return Paper("hoard", "Made up", "nobody", "a machine", "Old", {"Old": "lab:old", "New": "lab:new"}, exhibits,
                 {"Lost": "nobody has it"}, **more)


def run(costs: dict[str, dict[str, float]], memory: dict[str, int] | None = None) -> Results:
    """Cases as workload/threads, or as a program's name."""
    made = results({case: {name: steady(cost, ROUNDS) for name, cost in by.items()} for case, by in costs.items()})
    for case, facts in made.cases.items():
        label, _, threads = case.partition("/")
        facts.update(label=label, threads=int(threads) if threads else None)
    for trial in made.trials:
        trial["peak_kib"] = (memory or {}).get(trial["allocator"], 1000)
    made.machine = MACHINE
    return made


COSTS = {"work/1": {"lab:new": 3, "lab:old": 6, "granary": 2}, "work/2": {"lab:new": 2, "lab:old": 10, "granary": 1},
         "work/16": {"lab:new": 4, "lab:old": 2}, "job": {"lab:new": 7, "lab:old": 5}}


class Numbers(unittest.TestCase):
    def row(self, number: Number, made: Results | None = None) -> list:
        return Reading(made or run(COSTS), paper()).compared(number).row()[1]

    def of(self, what: str, cases: tuple[str, ...], *threads: int) -> list:
        return self.row(Number(cases, what, "New", "Old", 1.5, "", threads))

    def test_time_is_a_ratio_of_costs_and_throughput_its_inverse(self):
        self.assertEqual(self.of(TIME, ("work",), 1), ["1.50", "0.50 [0.50 0.50]", "work/1"])
        self.assertEqual(self.of(THROUGHPUT, ("work",), 1), ["1.50", "2.00 [2.00 2.00]", "work/1"])

    def test_memory(self):
        made = run(COSTS, {"lab:new": 300, "lab:old": 100})
        self.assertEqual(self.row(Number(("work",), MEMORY, "New", "Old", 1.5, "", (2,)), made)[1], "3.00 [3.00 3.00]")

    def test_as_many_threads_as_there_are_processors(self):
        self.assertEqual(self.of(THROUGHPUT, ("work",), CPUS)[1:], ["5.00 [5.00 5.00]", "work/2"])

    def test_the_bottom_may_have_one_thread(self):
        number = Number(("work",), THROUGHPUT, "New", "Old", 1.5, "", (CPUS,), alone=True)
        self.assertEqual(self.row(number)[1:], ["3.00 [3.00 3.00]", "work/2"])
        made = run({"work/2": COSTS["work/2"]})
        self.assertEqual(self.row(number, made)[1], NOT_MEASURED)

    def test_a_phase_is_measured_by_itself(self):
        made = run(COSTS)
        for trial in made.trials:
            trial["solve_seconds"] = {"lab:new": 2.0, "lab:old": 5.0}.get(trial["allocator"], 1.0)
        number = Number(("work",), SOLVER_THROUGHPUT, "New", "Old", None, "", (2,))
        self.assertEqual(self.row(number, made)[1], "2.50 [2.50 2.50]")
        self.assertEqual(self.row(number)[1], NOT_MEASURED)

    def test_a_program_has_no_threads(self):
        for threads in ((), (1,), (CPUS,)):
            self.assertEqual(self.of(TIME, ("job",), *threads)[1:], ["1.40 [1.40 1.40]", "job"])

    def test_several_are_a_geometric_mean_of_those_that_were_measured(self):
        self.assertEqual(self.of(THROUGHPUT, ("work",), 1, 2, 8)[1:], ["3.16 [3.16 3.16]", "work/1, work/2"])

    def test_what_was_not_measured_is_said(self):
        for number in (Number(("other",), TIME, "New", "Old", 2), Number(("work",), TIME, "New", "Old", 2, "", (64,))):
            self.assertEqual(self.row(number), ["2.00", NOT_MEASURED, None])
        made = run({"work/1": {"lab:new": 3}})
        made.trials += [failed(1, "work/1", "lab:old", "crashed")]
        self.assertEqual(self.row(Number(("work",), TIME, "New", "Old", 2), made)[1], NOT_MEASURED)

    def test_a_number_that_is_lost(self):
        self.assertEqual(self.row(Number(("work",), TIME, "New", "Old", None))[0], "a curve")


class Views(unittest.TestCase):
    def rows(self, view: str) -> dict[str, dict]:
        (shown,) = [shown for shown in Reading(run(COSTS), paper(Exhibit("figure 1", "Made up", "1", cases=("work",),
                                                                         views=(view,)))).all() if shown.tables]
        (table,) = shown.tables
        return {case: {name: cell and float(cell.split()[0]) for name, cell in zip(table.head, cells)}
                for case, cells in table.rows.items()}

    def test_over_the_base(self):
        self.assertEqual(self.rows(OVER_BASE), {"work/1": {"lab:new": 2, "lab:old": 1, "granary": 3},
                                                "work/2": {"lab:new": 5, "lab:old": 1, "granary": 10},
                                                "work/16": {"lab:new": 0.5, "lab:old": 1, "granary": None}})
        self.assertEqual(self.rows(TIME_OVER_BASE)["work/2"], {"lab:new": 0.2, "lab:old": 1, "granary": 0.1})

    def test_over_the_base_with_one_thread(self):
        self.assertEqual(self.rows(OVER_BASE_ALONE)["work/2"], {"lab:new": 3, "lab:old": 0.6, "granary": 6})

    def test_over_its_own_with_one_thread(self):
        found = self.rows(OVER_ITSELF)
        self.assertEqual(list(found), ["work/2", "work/16"])
        self.assertEqual(found["work/2"], {"lab:new": 1.5, "lab:old": 0.6, "granary": 2})

    def test_single_runs_are_boxes_over_the_bases_median_with_one_thread(self):
        made = run({"work/1": {"lab:new": 3, "lab:old": 6}, "work/2": {"lab:new": 2, "lab:old": 10}})
        for trial in made.trials:
            if (trial["case"], trial["allocator"]) == ("work/2", "lab:new"):
                trial["cost"] = (1, 2, 3, 6)[trial["round"] - 1]
        exhibit = Exhibit("figure 1", "Made up", "1", cases=("work",), views=(RUNS,))
        (shown,) = [shown for shown in Reading(made, paper(exhibit)).all() if shown.tables]
        self.assertEqual(shown.tables[0].name, "figure 1: single runs over lab:old's median with one thread")
        self.assertEqual(shown.tables[0].rows["work/2"], ["1.00 1.75 2.50 3.75 6.00", "0.60 0.60 0.60 0.60 0.60"])

    def test_the_solver_over_the_base_with_one_thread(self):
        made = run({"work/1": {"lab:new": 3, "lab:old": 6}, "work/2": {"lab:new": 2, "lab:old": 10}})
        for trial in made.trials:
            trial["solve_seconds"] = 3 * trial["cost"] if trial["case"] == "work/2" else trial["cost"]
        exhibit = Exhibit("figure 1", "Made up", "1", cases=("work",), views=(SOLVER_OVER_BASE_ALONE,))
        (shown,) = [shown for shown in Reading(made, paper(exhibit)).all() if shown.tables]
        self.assertEqual(shown.tables[0].rows["work/2"], ["1.00 [1.00 1.00]", "0.20 [0.20 0.20]"])

    def test_memory_over_the_base(self):
        self.assertEqual(self.rows(MEMORY_OVER_BASE)["work/1"], {"lab:new": 1, "lab:old": 1, "granary": 1})

    def test_an_older_run_has_who_stood_for_them_then(self):
        for costs, base in (({"lab:jemalloc2006": 1, "lab:single": 2}, "lab:single"),
                            ({"lab:jemalloc2006": 1, "lab:single": 2, "lab:phkmalloc-like": 4}, "lab:phkmalloc-like"),
                            ({"lab:jemalloc2006": 1}, "lab:phkmalloc-like")):
            read = Reading(run({"malloc-test/1": costs}), PAPERS["jemalloc"])
            self.assertEqual(read.base, base)
            self.assertIn(f"phkmalloc = {base}", read.who_stands_for_whom()[1])
            self.assertEqual(read.paper.stands_for["phkmalloc"], base)

    def test_a_run_without_the_later_stand_ins_is_read(self):
        later = {"hoard": ("lab:mtmalloc", "lab:solaris-like"), "wasik": ("lab:solaris-like",),
                 "lfmalloc": ("lab:mtmalloc", "lab:solaris-like"), "jemalloc": ("lab:phkmalloc-like",),
                 "boehm": ("lab:boehm",)}
        for suite, names in later.items():
            kept = PAPERS[suite]
            self.assertLessEqual(set(names), set(kept.allocators()), suite)
            former = {*kept.allocators(), *kept.stood_for.values()} - set(names)
            (case, *_) = next(exhibit.cases for exhibit in kept.exhibits if exhibit.views)
            read = Reading(run({f"{case}/1": dict.fromkeys(sorted(former), 2), f"{case}/2": dict.fromkeys(sorted(former), 4)}),
                           kept)
            self.assertIn(read.base, former)
            self.assertTrue(any(shown.views for shown in read.all()), suite)
            told = read.who_stands_for_whom()[1]
            for name in set(names) & set(read.paper.stands_for.values()):
                self.assertIn(f"{name} ({NOT_MEASURED})", told)

    def test_who_has_no_stand_in_is_said(self):
        told = Reading(run(COSTS), paper()).who_stands_for_whom()
        self.assertIn("No allocator here stands for Lost: nobody has it.", told)

    def test_nothing_was_measured(self):
        exhibit = Exhibit("figure 1", "Made up", "1", cases=("absent",), views=(OVER_BASE,))
        (shown,) = [shown for shown in Reading(run(COSTS), paper(exhibit)).all() if shown.title.startswith("figure")]
        self.assertEqual((shown.sentences, shown.tables), (["Not measured: absent."], []))


class Shown(unittest.TestCase):
    def made(self) -> Results:
        made = run({"threadtest/1": {"lab:hoard": 3, "lab:single": 6, "granary": 1, "system": 2}})
        made.suite = "hoard"
        return made

    def test_the_text_of_a_suite_has_the_paper(self):
        text = report.text(self.made())
        for words in ("Hoard = lab:hoard, Solaris = lab:single, Ptmalloc = lab:ptmalloc-like\n(not measured)",
                      "MTmalloc = lab:mtmalloc (not measured)", "table 2: their numbers and ours",
                      "time, Hoard / Solaris, threadtest",
                      "0.94  0.50 [0.50 0.50]  threadtest/1", "figure 1: The paper: Hoard returns",
                      "figure 3: throughput over lab:single's with one thread"):
            self.assertIn(words, text)

    def test_the_paper_comes_first(self):
        made = self.made()
        made.machine = machine.facts()
        text = report.text(made)
        self.assertLess(text.index("table 2: their numbers and ours"), text.index("medians, ratios of medians"))
        page = text_of_page(Comparison(made))
        self.assertLess(page.index('id="paper"'), page.index('id="summary"'))

    def test_without_granary_it_has_it_too(self):
        made = self.made()
        made.allocators = made.allocators[:2]
        made.trials = [trial for trial in made.trials if trial["allocator"].startswith(LAB)]
        self.assertIn("0.94  0.50 [0.50 0.50]", report.text(made))

    def test_another_run_has_none(self):
        made = self.made()
        made.suite = ""
        self.assertNotIn("theirs", report.text(made))

    def test_the_page(self):
        page = Page()
        add_paper(page, PAPERS["hoard"], self.made())
        text = page.html("made up")
        for words in ('id="paper"', "Hoard = lab:hoard", "0.50 [0.50 0.50]", "<td>0.94</td>"):
            self.assertIn(words, text)


class Options(unittest.TestCase):
    """An allocator of the lab with options behind its name."""

    def test_words(self):
        self.assertEqual(options_of("lab:hoard:f=1/8:K=0"), "f=1/8,K=0")
        self.assertEqual((options_of("lab:hoard"), without_options("lab:hoard:f=1/8")), ("", "lab:hoard"))

    def test_they_are_given_and_told(self):
        peers = Peers(BUILD, Path("/no/such/list.json"))
        found = peers.get("lab:hoard:f=1/8:K=0")
        self.assertEqual((found.name, found.environment), ("lab:hoard:f=1/8:K=0", {"GRANARY_LAB": "f=1/8,K=0"}))
        self.assertEqual(found.library, peers.get("lab:hoard").library)
        self.assertEqual(peers.facts(found.name)["environment"], found.environment)
        self.assertEqual(peers.facts(found.name)["version"], peers.facts("lab:hoard")["version"])
        self.assertEqual(peers.get("lab:hoard:f=1/8+").environment, {"GRANARY_LAB": "f=1/8"})

    def test_what_is_out_of_range_or_no_option_is_one_line(self):
        peers = Peers(BUILD, Path("/no/such/list.json"))
        told = {"lab:hoard:f=9/8": "not measured: 'f=9/8': must be from 1/8 to 7/8 in eighths",
                "lab:hoard:g=1": "not measured: 'g=1': not an option of this allocator; the options are f K S b e",
                "lab:hoard:K=0:f=2/7": "not measured: 'f=2/7': must be from 1/8 to 7/8 in eighths",
                "lab:single:f=1/8": "not measured: this allocator has no options"}
        for name, words in told.items():
            with self.subTest(name), self.assertRaises(Missing) as caught:
                peers.get(name)
            self.assertEqual(str(caught.exception), f"{name}: {words}")
        with self.assertRaisesRegex(Missing, "^lab:nobody:f=1: no such allocator in the lab; .*$"):
            peers.get("lab:nobody:f=1")

    def test_what_follows_a_comma_or_another_name_is_told_where_options_belong(self):
        for name in ("K=0", "f=1/8", "hoard:f=1/8"):
            with self.subTest(name), self.assertRaisesRegex(Missing, f"^{name}: .*, as in lab:hoard:f=1/8:K=0$"):
                Peers(BUILD, Path("/no/such/list.json")).get(name)


class Command(unittest.TestCase):
    def bench(self, *words) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([sys.executable, "-B", SUITE, "--build", BUILD, "--peers", Path(folder) / "none.json",
                                   "--profile", "smoke", *words], capture_output=True, text=True, timeout=200)

    def test_a_suite_has_the_papers_allocators_and_says_who_is_missing(self):
        done = self.bench("--suite", "lfmalloc", "--only", "mmicro-64", "--threads", "1,16")
        self.assertEqual(done.returncode, 0, done.stderr)
        missing = [line.split(": ")[1] for line in done.stderr.splitlines() if line.startswith("bench: ")]
        for name in PAPERS["lfmalloc"].allocators():
            self.assertNotEqual(name in missing, re.search(rf"(?m)^ .* {name} ", done.stdout) is not None, name)
        self.assertIn("table 3: their numbers and ours", done.stdout)
        self.assertIn("2.94", done.stdout)

    def test_a_case_that_is_not_there_leaves_the_rest(self):
        done = self.bench("--suite", "boehm", "--only", "larson-small,nonsense", "--threads", "2", "--with",
                          "system,granary,lab:nobody")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = done.stderr.splitlines()
        self.assertEqual([line.split(": ")[1] for line in said], ["nonsense", "lab:nobody"], said)
        self.assertIn("figure of Larson-small", done.stdout)
        self.assertIn("Not measured: ghostscript.", done.stdout)


if __name__ == "__main__":
    main()
