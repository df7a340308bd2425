# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the papers' figures as pictures: how a kept output is read, what is drawn of it, and that docs/pictures shows
#    what the outputs say now.
# Invariant: in made-up outputs no number stands for two things.
# Must not know: how an allocator fares.
"""Usage: paper_pictures_test.py BUILD_FOLDER."""

import importlib.util
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

from support import main, results, steady  # finds bench/

from box import Box
from fragmentation_parts import Fragmentation
from granary_results.intervals import Interval

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
if HAS_MATPLOTLIB:
    import paper_pictures
    from draw import exhibits, page
    from paper_pictures import (BEGIN, EXAMPLE, FRAGMENTATION, HELD, PARTED, PICTURES, ROOM, SHORT_LIVED, all_compared,
                                cell, compared_of, example, of_today, pictures, short_lived, shown_in, view_of)
    from papers import PAPERS
    from papers.exhibit import EXTERNAL, THROUGHPUT, Exhibit, Number
    from reproduction import Compared, View, in_the_papers_words

VIEW = """figure 3: throughput over lab:single's with one thread
              lab:hoard           granary
larson/1  1.10 [1.00 1.20]  2.10 [2.00 2.20]
larson/2  1.30 [1.25 1.35]                 -"""
OUTPUT = f"""$ granary bench --suite hoard --only larson
Load averages of the machine before: 1.00

figure 3: Speedup (5.2)
The paper: curves.

figure 3: their numbers and ours
                                                        theirs              ours  measured in
throughput, Hoard / Ptmalloc, larson; 14 processors      18.00  0.50 [0.40 0.60]     larson/2
throughput, Hoard / Solaris, larson; 14 processors     a curve      not measured            -

{VIEW}

$ granary bench --only larson

{VIEW}
"""


def known(value: float, low: float, high: float) -> Interval:
    return Interval(value, low, high, True)


@unittest.skipUnless(HAS_MATPLOTLIB, "python3-matplotlib is not installed")
class Outputs(unittest.TestCase):
    def test_a_cell(self):
        self.assertEqual(cell("1.10 [1.00 1.20]"), known(1.1, 1.0, 1.2))
        self.assertEqual(cell("1.10"), Interval(1.1, 1.1, 1.1))
        self.assertEqual(cell("0.10 0.20 0.30 0.40 0.50"), Box(0.1, 0.2, 0.3, 0.4, 0.5))
        self.assertEqual(cell("0.01 [0.00 1.20]"), known(0.01, 0.005, 1.2))
        self.assertIsNone(cell("-"))

    def test_what_a_suite_printed_of_a_figure(self):
        (key, compared), (same, view) = shown_in("reproduction-hoard", OUTPUT)
        self.assertEqual((key, view.names), (("hoard", "figure 3"), ["lab:hoard", "granary"]))
        self.assertEqual(same, key)
        self.assertEqual(compared, [
            Compared("throughput", "Hoard / Ptmalloc, larson", "14 processors", 18.0, known(0.5, 0.4, 0.6), "larson/2"),
            Compared("throughput", "Hoard / Solaris, larson", "14 processors", None, None, "-")])
        self.assertEqual(view.rows, {"larson/1": [known(1.1, 1, 1.2), known(2.1, 2, 2.2)],
                                     "larson/2": [known(1.3, 1.25, 1.35), None]})

    def test_a_line_with_a_cell_too_few_is_no_line(self):
        with self.assertRaisesRegex(ValueError, "larson/2: 1 cells for 2 allocators"):
            view_of("figure 3", VIEW.replace("                 -", "").split("\n")[1:])

    def test_a_row_that_names_no_quantity_is_no_row(self):
        with self.assertRaisesRegex(ValueError, "Hoard: no quantity and allocators"):
            compared_of(["theirs  ours  measured in", "Hoard  1.00  1.00  larson/2"])

    def test_what_one_output_measured_stands_for_those_that_did_not(self):
        rows = [Compared("time", "A / B, work", "", 2.0, ours, "") for ours in (None, known(3, 3, 3), None)]
        self.assertEqual(all_compared([[row] for row in rows]), [rows[1]])

    def test_fragmentation(self):
        text = f"$ python3 bench/fragmentation.py\n\n{HELD}: asked\n      lab:a  lab:b\nwork   1.69   1.47\nmean, all  1.00  1.00\n"
        ((key, view),) = shown_in("reproduction-fragmentation", text)
        self.assertEqual((key, list(view.rows)), (FRAGMENTATION["reproduction-fragmentation"], ["work"]))

    def test_fragmentation_is_parted(self):
        cases = PAPERS["wasik"].exhibits[[exhibit.names()[0] for exhibit in PAPERS["wasik"].exhibits].index("figure 7.10")]
        cases = cases.counted[0].cases
        head = "lab:single  lab:remote  lab:varied"
        room, external = ("\n".join(f"{case}  {row}" for case in cases)
                          for row in ("1.100  1.200  1.300", "0.500  2.000  0.400"))
        text = f"$ python3 bench/fragmentation.py\n\n{ROOM} (internal)\n{head}\n{room}\n\n{EXTERNAL}: held\n{head}\n{external}\n"
        (key, view), (_, compared) = shown_in("reproduction-containers", text)
        self.assertEqual(key, PARTED["reproduction-containers"])
        self.assertEqual([str(parts) for parts in view.rows[cases[0]]], ["0.10 + 0.50", "0.20 + 2.00", "0.30 + 0.40"])
        self.assertEqual([(row.theirs, round(row.ours.value, 4)) for row in compared], [(5.0, 4.0), (0.5, 0.2)])

    def test_the_example_and_the_stretches(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / EXAMPLE).write_text("$ command\n\nhoard, before: found by t1 8, by t2 0, by both 3\n")
            (Path(folder) / SHORT_LIVED).write_text("make: allocated at a call\n1,5 3,70\n")
            (first,), (second,) = example(Path(folder)).panels, short_lived(Path(folder)).panels
        self.assertIn("before: 8 the first thread alone, 0 the second alone, 3 both", first.description)
        self.assertIn("2 blocks; the longest lives 70 calls", second.description)


@unittest.skipUnless(HAS_MATPLOTLIB, "python3-matplotlib is not installed")
class Panels(unittest.TestCase):
    def made(self, rows: dict[str, list]) -> list:
        return list(exhibits.panels(View("figure 1: time over lab:a's", ["lab:a", "lab:b"], rows)))

    def test_threads_make_a_curve_and_one_case_makes_rows(self):
        one, two = known(1, 1, 1), known(2, 1.5, 2.5)
        curve, rows = self.made({"work/1": [one, two], "work/2": [one, None], "work/8": [one, None], "gcc": [one, two]})
        self.assertEqual((curve.title, rows.title), ("work", "gcc"))
        self.assertEqual(curve.description, "Time over lab:a's, by threads. lab:a: 1.00 [1.00 1.00] with 1, "
                                            "1.00 [1.00 1.00] with 2, 1.00 [1.00 1.00] with 8; lab:b: "
                                            "2.00 [1.50 2.50] with 1.")
        self.assertEqual(rows.description, "Time over lab:a's: lab:a 1.00 [1.00 1.00], lab:b 2.00 [1.50 2.50].")
        self.assertEqual([panel.title for panel in self.made({"work/1": [one, two], "work/8": [one, two]})],
                         ["work, 1 thread", "work, 8 threads"])

    def test_single_runs_are_boxes_a_panel_for_each_allocator(self):
        box = Box(0.5, 0.6, 0.7, 0.8, 0.9)
        first, second = self.made({f"work/{threads}": [box, None if threads == 8 else box] for threads in (1, 2, 8)})
        self.assertEqual((first.title, second.title), ("work: lab:a", "work: lab:b"))
        self.assertIn("0.50 0.60 0.70 0.80 0.90 with 8", first.description)
        self.assertNotIn("with 8", second.description)
        (rows,) = self.made({"job": [box, box]})
        self.assertIn("lab:b 0.50 0.60 0.70 0.80 0.90", rows.description)

    def test_fragmentation_is_stacked(self):
        (panel,) = self.made({"work": [Fragmentation(0.1, 0.5), Fragmentation(0.2, 2.0)]})
        self.assertIn("lab:a 0.10 + 0.50, lab:b 0.20 + 2.00", panel.description)

    def test_the_papers_numbers_stand_beside_ours(self):
        rows = [Compared("throughput", "A / B, work", "14 processors", 18.0, known(0.5, 0.4, 0.6), "work/2"),
                Compared("throughput", "A / B, play", "14 processors", None, known(2, 2, 2), "play/2"),
                Compared("throughput", "A / B, idle", "14 processors", None, None, ""),
                Compared("time", "A / B, work", "1 processor", None, known(2, 2, 2), "work/1")]
        (panel,) = exhibits.of_numbers(rows)
        self.assertEqual(panel.title, "The paper's numbers and ours: throughput")
        self.assertEqual(panel.description, "Ratio; hollow: the paper, 14 processors; filled: here. A / B, work: the paper "
                                            "18.00, here 0.50 [0.40 0.60]; A / B, play: the paper a curve, here 2.00 [2.00 2.00].")

    def test_allocators_have_the_papers_names_and_no_variant_that_the_exhibit_has_not(self):
        names, one = ["lab:hoard", "lab:hoard:f=1/8", "lab:single", "granary"], known(1, 1, 1)
        view = View("figure 3: throughput over lab:single's", names, {"larson/2": [one] * len(names)})
        hoard = PAPERS["hoard"]
        plain = in_the_papers_words(view, hoard, Exhibit("figure 3", "Made up", "5"))
        self.assertEqual((plain.title, plain.names), ("figure 3: throughput over Solaris's", ["Hoard", "Solaris", "granary"]))
        self.assertEqual(len(plain.rows["larson/2"]), 3)
        number = Number(("larson",), THROUGHPUT, "Hoard, f = 1/8", "Hoard", 1.0)
        asked = in_the_papers_words(view, hoard, Exhibit("table 5", "Made up", "5", numbers=(number,)))
        self.assertEqual(asked.names, ["Hoard", "Hoard, f = 1/8", "Solaris", "granary"])

    def test_a_row_with_another_place_than_the_papers_numbers_has_says_so(self):
        rows = [Compared("throughput", "A / B, work", "14 processors over 1", 7.75, known(2, 2, 2), "work/2"),
                Compared("throughput", "A / B, work", "14 processors", None, known(3, 3, 3), "work/2")]
        (panel,) = exhibits.of_numbers(rows)
        self.assertIn("A / B, work; 14 processors: the paper a curve, here 3.00 [3.00 3.00]", panel.description)

    def test_what_former_stand_ins_did_is_drawn_where_todays_did_nothing(self):
        former, today = (View("figure 6: throughput over its own", names, {})
                         for names in (["lab:jemalloc2006", "lab:single"], ["lab:jemalloc2006", "lab:phkmalloc-like"]))
        jemalloc = PAPERS["jemalloc"]
        self.assertEqual(of_today([former, today], jemalloc), [today])
        self.assertEqual(of_today([former], jemalloc), [former])

    def test_who_has_no_number_is_not_drawn(self):
        (panel,) = self.made({"work/1": [known(1, 1, 1), None]})
        self.assertNotIn("lab:b", panel.description)


@unittest.skipUnless(HAS_MATPLOTLIB, "python3-matplotlib is not installed")
class OfARun(unittest.TestCase):
    def drawn(self, suite: str) -> tuple[set[str], str]:
        made = results({f"threadtest/{threads}": {name: steady(value, 4) for name, value in
                                                  (("lab:single", 4e-8), ("lab:hoard", 2e-8), ("granary", 1e-8))}
                        for threads in (1, 2)})
        for threads in (1, 2):
            made.cases[f"threadtest/{threads}"].update(label="threadtest", threads=threads)
        made.machine, made.suite = {"cpus": 2, "cpu": "", "memory_mib": 1, "kernel": "", "libc": "",
                                    "transparent_huge_pages": "", "load_average_before": 0.0}, suite
        with tempfile.TemporaryDirectory() as folder:
            page.write(Path(folder) / "page.html", made, Path(folder) / "pictures")
            text = (Path(folder) / "page.html").read_text()
            return {path.stem for path in (Path(folder) / "pictures").iterdir()}, text

    def test_a_suites_figures_are_drawn(self):
        files, text = self.drawn("hoard")
        self.assertLess({"table-2", "figure-3"}, files)
        self.assertIn("<svg", text[text.index('id="paper"'):text.index('id="table-cost"')])

    def test_another_run_has_none(self):
        files, text = self.drawn("")
        self.assertFalse({"table-2", "figure-3"} & files)
        self.assertNotIn('id="paper"', text)


@unittest.skipUnless(HAS_MATPLOTLIB, "python3-matplotlib is not installed")
class KeptPictures(unittest.TestCase):
    def test_they_show_what_the_outputs_say(self):
        made = pictures()
        self.assertGreater(len(made), len(paper_pictures.PAPERS), "several of each paper")
        self.assertEqual({path.stem for path in PICTURES.glob(f"{BEGIN}*.svg")}, {picture.name for picture in made},
                         "run bench/paper_pictures.py")
        for picture in made:
            with self.subTest(picture.name):
                told = next(element for element in ET.parse(PICTURES / f"{picture.name}.svg").getroot().iter()
                            if element.tag.endswith("desc")).text
                for panel in picture.panels:
                    self.assertIn(panel.description, told, "run bench/paper_pictures.py")


if __name__ == "__main__":
    main()
