# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the page and the pictures: complete, well-formed, self-contained, and saying what the numbers say.
# Invariant: needs no browser; what needs matplotlib or librsvg is skipped, in so many words, where it is not installed.
# Must not know: how a picture looks.
"""Usage: page_test.py BUILD_FOLDER."""

import functools
import importlib.util
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

from support import ROOT, failed, main, results, steady, told

from comparison import Comparison
from draw import page
from draw.styles import LOOKS, looks_of, roles
from draw.tables import SELECTIONS
from granary_results import intervals, shares
from granary_results.results import ALLOCATING, Results
from granary_results.shares import Share
from summary import EVERYWHERE, findings, remarks

intervals.RESAMPLES = 200  # how finely an interval is computed is not tested here
ROUNDS = 6
THREADS = (1, 2, 8)
MACHINE = {"cpus": 2, "cpu": "a <CPU>", "memory_mib": 1, "kernel": "6", "libc": "libc", "transparent_huge_pages": "no",
           "load_average_before": 0.0, "options": {}}
VOID = {"meta", "br", "link"}
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
KEPT = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
PAINTS = ("fill", "stroke")
DRAWN = {"path", "text", "use", "rect", "line", "circle", "ellipse", "polygon", "polyline"}
REFERRED_TO = {"defs", "clipPath"}
needs_matplotlib = unittest.skipUnless(HAS_MATPLOTLIB, "python3-matplotlib is not installed")


def run(costs, families=None) -> Results:
    made = results(costs, families)
    made.machine = MACHINE
    return made


def sample() -> Results:
    """Granary wins one, loses one; one peer fails; one workload has three numbers of threads, one has latencies."""
    def costs(granary: float, system: float, unknown: float):
        return {name: steady(value, ROUNDS)
                for name, value in (("granary", granary), ("system", system), ("un<known>", unknown))}

    made = run({"loss": costs(3e-8, 2e-8, 4e-8), **{f"win/{threads}": costs(1e-8, 2e-8 * threads, 5e-7)
                                                    for threads in THREADS}}, {"loss": "servers"})
    for threads in THREADS:
        made.cases[f"win/{threads}"].update(label="win", threads=threads)
    made.trials = [trial for trial in made.trials if (trial["case"], trial["allocator"]) != ("loss", "un<known>")]
    made.trials += [failed(number, "loss", "un<known>", "signal 11 & more") for number in (1, 2)]
    for trial in made.trials:
        if trial["case"] == "win/8":
            trial.update(shared_lines=0.25, latency_p50_ns=20.0, latency_p99_ns=90.0, latency_p999_ns=900.0,
                         latency_max_ns=1e5)
    return made


def page_of(made: Results) -> str:
    with tempfile.TemporaryDirectory() as folder, told():
        path = Path(folder) / "new" / "page.html"
        page.write(path, made)
        return path.read_text()


@functools.cache
def sample_page() -> str:
    return page_of(sample())


class Structure(HTMLParser):
    """Opened and closed elements, ids and links of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named[key] for key in ("href", "xlink:href", "src") if key in named]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Page(unittest.TestCase):
    def test_everything_is_there(self):
        text = sample_page()
        for words in ("granary", "system", "un&lt;known&gt;", "loss", "win/1", "win/2", "win/8", "a &lt;CPU&gt;",
                      "granary bench", "signal 11 &amp; more", "30.0 ns", "1.50 [1.50 1.50]"):
            self.assertIn(words, text)

    def test_well_formed(self):
        structure = Structure(sample_page())
        self.assertEqual((structure.open, structure.wrong), ([], []))
        self.assertEqual(len(structure.ids), len(set(structure.ids)))
        self.assertLessEqual({link[1:] for link in structure.links}, set(structure.ids))

    def test_refers_to_nothing_outside(self):
        text = re.sub(r'xmlns(:\w+)?="[^"]*"', "", sample_page())
        for word in ("http:", "https:", "//", "<script", "@import", "<img", "src="):
            self.assertNotIn(word, text)
        self.assertEqual([link for link in Structure(text).links if not link.startswith("#")], [])

    def test_black_box_figures(self):
        rows = "".join(f'<tr><th scope="row">{name}</th><td>0.25</td></tr>\n'
                       for name in ("<b>granary</b>", "system", "un&lt;known&gt;"))
        self.assertIn(f'<th scope="col">win/8</th></tr></thead>\n<tbody>{rows}</tbody>', sample_page())
        self.assertIn('<a href="#black-box">', sample_page())

    def test_nothing_measured(self):
        self.assertIn("Nothing was measured", page_of(run({})))

    def test_everything_failed(self):
        made = run({"case": {"granary": {}, "system": {}}})
        made.trials = [failed(1, "case", name, "it crashed") for name in ("granary", "system")]
        text = page_of(made)
        self.assertIn("Every trial failed", text)
        self.assertIn("it crashed", text)

    def test_a_case_without_a_trial_is_named(self):
        made = sample()
        made.cases["never-run"] = {**made.cases["loss"], "label": "never-run"}
        self.assertIn("<li>never-run</li>", page_of(made))


class Summary(unittest.TestCase):
    def told(self, made: Results) -> tuple[list[str], dict[str, list[str]]]:
        first = findings(Comparison(made))[0]
        return first.sentences, dict(first.lists)

    def test_losses_and_gains(self):
        sentences, lists = self.told(sample())
        self.assertEqual(lists["Slower than the best peer: 1 of 4 cases"], ["loss: 1.50 [1.50 1.50] of system"])
        self.assertEqual(lists["Faster than the best peer: 3 of 4 cases"][0], "win/8: 0.06 [0.06 0.06] of system")
        self.assertIn("Servers: system is ahead; Granary needs 1.50 [1.50 1.50] of its time.", lists["By family"])
        self.assertIn("Granary is ahead with", sentences[0])

    def test_cases_that_allocate_much_have_a_sentence_and_a_row(self):
        with mock.patch.object(shares, "load", return_value={"loss": Share(0.5, "", "")}):
            (_, sentence, *_), lists = self.told(sample())
            text = page_of(sample())
        self.assertEqual(sentence, f"{EVERYWHERE[ALLOCATING]}: system is ahead; Granary needs 1.50 [1.50 1.50] of its "
                                   "time.")
        self.assertNotIn(ALLOCATING, str(lists))
        self.assertEqual(text.count(SELECTIONS[ALLOCATING]), 1)

    def test_none_lost_is_said(self):
        _, lists = self.told(run({"a": {"granary": steady(1, ROUNDS), "system": steady(2, ROUNDS)}}))
        self.assertEqual(lists["Slower than the best peer: 0 of 1 case"], [])

    def test_no_difference(self):
        noise = {number: 1 + number % 3 / 10 for number in range(2 * ROUNDS)}
        _, lists = self.told(run({"a": {"granary": noise, "system": {number: noise[2 * ROUNDS - 1 - number]
                                                                     for number in noise}}}))
        self.assertIn("No difference from the best peer: 1 of 1 case", lists)

    def test_one_round_concludes_nothing(self):
        made = run({"a": {"granary": steady(1, 1), "system": steady(2, 1)}})
        _, lists = self.told(made)
        self.assertIn("Too few rounds for a verdict: 1 of 1 case", lists)
        self.assertNotIn("Faster than the best peer: 1 of 1 case", lists)
        self.assertIn("too few rounds", " ".join(remarks(Comparison(made))))

    def test_the_same_twice_is_a_control(self):
        noise = {number: 1 + number % 2 / 10 for number in range(ROUNDS)}
        sentences, _ = self.told(run({"a": {"granary": noise, "granary+": noise, "system": noise}}))
        self.assertIn("Control: granary against itself as granary+: 1.00 [1.00 1.00], no difference.", sentences)

    def test_a_control_is_never_the_lowest(self):
        made = run({"a": {"bump": steady(0.1, ROUNDS), "system": steady(1, ROUNDS), "granary": steady(1.5, ROUNDS)}})
        made.allocators[0]["control"] = True
        sentences, lists = self.told(made)
        self.assertIn("Lowest median: system in 1 of 1 case.", sentences)
        self.assertEqual(lists["Slower than the best peer: 1 of 1 case"], ["a: 1.50 [1.50 1.50] of system"])
        order = Comparison(made).standings["cost"]["a"]
        self.assertEqual([row.allocator for row in order], ["system", "granary", "bump"])
        self.assertAlmostEqual(order[-1].ratio.value, 0.1)

    def test_the_labs_are_peers_only_among_themselves(self):
        lab, slow = {"lab:hoard": steady(0.5, ROUNDS), "granary": steady(1.5, ROUNDS)}, steady(1, ROUNDS)
        _, lists = self.told(run({"a": lab | {"system": slow}}))
        self.assertEqual(lists["Slower than the best peer: 1 of 1 case"], ["a: 1.50 [1.50 1.50] of system"])
        _, lists = self.told(run({"a": lab}))
        self.assertEqual(lists["Slower than the best peer: 1 of 1 case"], ["a: 3.00 [3.00 3.00] of lab:hoard"])

    def test_failures_and_absences(self):
        self.assertIn("un<known> in loss", " ".join(remarks(Comparison(sample()))))
        for only, words in (("system", "not among"), ("granary", "no allocator to compare")):
            self.assertIn(words, " ".join(remarks(Comparison(run({"a": {only: steady(1, ROUNDS)}})))))


class Styles(unittest.TestCase):
    def test_colours_are_told_apart(self):
        shades = [colour.light for colour in roles().values()]
        self.assertEqual(len(shades), len(set(shades)))

    def test_a_look_belongs_to_a_name(self):
        self.assertEqual(looks_of(["system", "new", "granary"])["granary"], looks_of(["granary"])["granary"])
        self.assertEqual(looks_of(["jemalloc+"])["jemalloc+"].colour, LOOKS["jemalloc"].colour)
        self.assertNotIn(looks_of(["new"])["new"].colour, [look.colour for look in LOOKS.values()])


def kind_of(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def drawn_directly(element: ET.Element) -> Iterator[ET.Element]:
    for child in element:
        if kind_of(child) not in REFERRED_TO:
            yield from [child] if kind_of(child) in DRAWN else drawn_directly(child)


class Coloured(unittest.TestCase):
    def assert_coloured(self, root: ET.Element, sheet: str) -> None:
        """Each colour stands where it is used, as a plain attribute that every viewer knows, and is that of a role; its
        class gets another where it is dark."""
        roles_of = {f"{paint}-{role}": colour for role, colour in roles().items() for paint in PAINTS}
        dark = sheet[sheet.index("@media(prefers-color-scheme:dark){"):]
        for element in root.iter():
            self.assertNotRegex(element.get("style", ""), r"(^|;) *(fill|stroke) *:|var\(|#")
            for paint in PAINTS:
                classes = [name for name in element.get("class", "").split() if name.startswith(paint)]
                colour = [value for value in (element.get(paint),) if value not in (None, "none")]
                self.assertEqual([roles_of[name].light for name in classes], colour)
                for name in classes:
                    self.assertIn(f".{name}{{{paint}:{roles_of[name].dark}}}", dark)
        for element in drawn_directly(root):
            self.assertIn("fill", element.attrib, "else it is black")


def shown_by_librsvg(path: Path) -> set[str]:
    """The colours that it draws with."""
    text = subprocess.run(["rsvg-convert", "-f", "svg", path], capture_output=True, text=True, check=True).stdout
    shares = re.findall(r"(?:fill|stroke)(?::|=\")rgb\(([\d.]+)%, ?([\d.]+)%, ?([\d.]+)%\)", text)
    return {"#" + "".join(f"{round(float(share) * 2.55):02x}" for share in each) for each in shares}


class KeptPictures(Coloured):
    def test_colours(self):
        self.assertTrue(KEPT)
        for path in KEPT:
            with self.subTest(path.name):
                self.assert_coloured(ET.parse(path).getroot(), path.read_text())

    @unittest.skipUnless(shutil.which("rsvg-convert"), "librsvg2-bin is not installed")
    def test_a_viewer_without_variables_shows_them(self):
        for path in KEPT:
            with self.subTest(path.name):
                meant = {element.get(paint, "none") for element in ET.parse(path).getroot().iter() for paint in PAINTS}
                self.assertEqual(shown_by_librsvg(path), meant - {"none"})


@needs_matplotlib
class Pictures(Coloured):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        page.write(None, sample(), Path(cls.folder.name))
        cls.files = {path.name: path for path in Path(cls.folder.name).iterdir()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_names_are_stable(self):
        names = {"standing-time", "standing-memory", "time-against-memory", "time-against-memory-by-family", "speedup", "latency", "time-servers",
                 "time-beyond", "memory-servers", "memory-beyond"}
        self.assertEqual(set(self.files), {f"{name}.svg" for name in names})

    def test_the_same_result_gives_the_same_files(self):
        with tempfile.TemporaryDirectory() as folder:
            page.write(None, sample(), Path(folder))
            for name, path in self.files.items():
                self.assertEqual(path.read_bytes(), (Path(folder) / name).read_bytes(), name)

    def svgs(self) -> dict[str, ET.Element]:
        found = {name: ET.parse(path).getroot() for name, path in self.files.items()}
        inside = re.findall(r"<svg.*?</svg>", sample_page(), re.DOTALL)
        self.assertGreater(len(inside), len(found))
        return {**found, **{f"in the page, {number}": ET.fromstring(text) for number, text in enumerate(inside)}}

    def test_each_is_described_and_alone(self):
        for name, root in self.svgs().items():
            with self.subTest(name):
                tags = [kind_of(element) for element in root]
                self.assertEqual(tags[:2], ["title", "desc"])
                self.assertTrue(root[0].text and root[1].text)
                self.assertEqual(root.get("role"), "img")
                ids = [element.get("id") for element in root.iter() if element.get("id")]
                self.assertEqual(len(ids), len(set(ids)))
                self.assertEqual(root.get("aria-labelledby").split(), ids[:2])
                for element in root.iter():
                    self.assertNotIn(kind_of(element), ("image", "script", "foreignObject", "metadata"))
                    for value in (value for key, value in element.attrib.items() if key not in PAINTS):
                        for target in re.findall(r"url\(#([^)]*)\)|^#(.*)$", value):
                            self.assertIn("".join(target), ids)
                        self.assertNotIn("://", value)

    def test_colours(self):
        for name, root in self.svgs().items():
            with self.subTest(name):
                sheet = "".join(element.text for element in root if kind_of(element) == "style")
                self.assert_coloured(root, sheet or sample_page())

    def test_text_is_text(self):
        texts = {"".join(element.itertext()) for element in ET.parse(self.files["time-beyond.svg"]).iter()
                 if element.tag.endswith("}text")}
        self.assertLess({"granary", "system", "un<known>", "win, 8 threads"}, texts)

    def test_every_case_has_its_bars(self):
        text = sample_page()
        for title in ("loss, 1 thread", "win, 1 thread", "win, 2 threads", "win, 8 threads"):
            self.assertEqual(text.count(f">{title}</title>"), 3 if title == "win, 8 threads" else 2, title)

    def test_only_what_failed_is_left_out(self):
        self.assertIn("un&lt;known&gt; failed", sample_page())


class WithoutMatplotlib(unittest.TestCase):
    def test_the_page_says_so(self):
        text = page.text(Comparison(sample()))
        self.assertIn("the library that draws them was not installed", text)
        self.assertIn("1.50 [1.50 1.50]", text)


if __name__ == "__main__":
    main()
