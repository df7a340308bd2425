# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: how the page of the papers' tables gets new numbers: which output an interval is from, where it stands
#    there, and what is not decided without a reader.
# Invariant: in made-up outputs no number stands for two things, but where that is the question.
# Must not know: what is measured.
"""Usage: reproduce_test.py BUILD_FOLDER."""

import subprocess
import sys
import unittest
from pathlib import Path

from support import ROOT, main  # finds bench/

import reproduce
from reproduce import PAGE, commands_of, names, places, renewed, with_rounds, words_of

HEAD = "$ granary bench --only NAME --rounds 3\nLoad averages of the machine before: 1.00, 2.00, 3.00\n\n"


def output(first: str, second: str, again: str = "9.00 [8.00 9.90]") -> str:
    return (f"{HEAD}figure 1: over the base\n        lab:a  lab:b\nwork/1  {first}  {second}\nwork/2  {again}  -\n")


OLD = output("1.10 [1.00 1.20]", "2.10 [2.00 2.20]")
NEW = output("1.50 [1.40 1.60]", "2.50 [2.40 2.60]")
OTHER = output("3.10 [3.00 3.20]", "4.10 [4.00 4.20]")
KEPT = {"a": OLD, "b": OTHER}


def row(*cells: str) -> str:
    return "| figure 1 | " + " | ".join(cells) + " |"


class Rows(unittest.TestCase):
    def renewed(self, text: str, name: str = "a", new: str = NEW, kept: dict[str, str] | None = None):
        return renewed(row(text), name, new, kept or KEPT)

    def test_an_interval_becomes_what_stands_in_its_place(self):
        text = "time 1.10 [1.00 1.20], 2.10 [2.00 2.20] (`docs/results/raw/reproduction-a.txt`). As there: 1.00"
        expected = "time 1.50 [1.40 1.60], 2.50 [2.40 2.60] (`docs/results/raw/reproduction-a.txt`). As there: 1.00"
        self.assertEqual(self.renewed(text), (row(expected), []))

    def test_another_output_has_its_own(self):
        text = ("1.10 [1.00 1.20] (`docs/results/raw/reproduction-b.txt`), 1.10 [1.00 1.20] (`docs/results/raw/reproduction-a.txt`); "
                "then 9.00 [8.00 9.90]")
        kept = {"a": OLD, "b": output("1.10 [1.00 1.20]", "4.10 [4.00 4.20]", "7.00 [6.00 8.00]")}
        expected = ("1.10 [1.00 1.20] (`docs/results/raw/reproduction-b.txt`), 1.50 [1.40 1.60] (`docs/results/raw/reproduction-a.txt`); "
                    "then 9.00 [8.00 9.90]")
        self.assertEqual(self.renewed(text, kept=kept), (row(expected), []))

    def test_behind_the_last_name_it_is_of_whoever_has_it(self):
        text = "(`docs/results/raw/reproduction-a.txt`, `docs/results/raw/reproduction-b.txt`) 2.10 [2.00 2.20]"
        self.assertIn("2.50 [2.40 2.60]", self.renewed(text)[0])
        told, left = self.renewed(text.replace("2.10 [2.00 2.20]", "9.00 [8.00 9.90]"))
        self.assertIn("9.00 [8.00 9.90]", told)
        self.assertEqual(left, ["9.00 [8.00 9.90]: the row does not name its output"])

    def test_an_allocator_that_comes_between_moves_nobody(self):
        new = NEW.replace("lab:a  lab:b", "lab:a  lab:new  lab:b").replace("  2.50", "  7.70 [7.00 8.00]  2.50")
        told, left = self.renewed("2.10 [2.00 2.20] (`docs/results/raw/reproduction-a.txt`)", new=new)
        self.assertEqual((told, left), (row("2.50 [2.40 2.60] (`docs/results/raw/reproduction-a.txt`)"), []))

    def test_two_places_that_part_are_told(self):
        both = output("1.10 [1.00 1.20]", "1.10 [1.00 1.20]")
        told, left = self.renewed("1.10 [1.00 1.20] (`docs/results/raw/reproduction-a.txt`)", kept={"a": both})
        self.assertIn("1.10 [1.00 1.20]", told)
        self.assertEqual(left, ["1.10 [1.00 1.20] is now 1.50 [1.40 1.60] or 2.50 [2.40 2.60]"])
        self.assertEqual(self.renewed("1.10 [1.00 1.20] (`docs/results/raw/reproduction-a.txt`)", kept={"a": both},
                                      new=output("1.50 [1.40 1.60]", "1.50 [1.40 1.60]"))[1], [])

    def test_what_is_gone_is_told(self):
        _, left = self.renewed("1.10 [1.00 1.20] (`docs/results/raw/reproduction-a.txt`)", new=HEAD)
        self.assertEqual(left, ["1.10 [1.00 1.20] is now nothing"])

    def test_paragraphs_that_begin_alike_are_told_apart(self):
        twice = "mean  / lab:a\nall  {}\n\nmean  / lab:a\nall  {}\n"
        found = places(twice.format("1.10 [1.00 1.20]", "2.10 [2.00 2.20]"))
        self.assertEqual(list(found.values()), ["1.10 [1.00 1.20]", "2.10 [2.00 2.20]"])


class EmptyPlaces(unittest.TestCase):
    PLACE = "{a: figure 1: over the base // work/1 // lab:b}"

    def test_a_new_output_fills_its_places(self):
        text = row(f"time {self.PLACE} (`docs/results/raw/reproduction-a.txt`)")
        expected = row("time 2.50 [2.40 2.60] (`docs/results/raw/reproduction-a.txt`)")
        self.assertEqual(reproduce.filled(text, "a", NEW), (expected, []))
        self.assertEqual(renewed(expected, "a", NEW, KEPT | {"a": NEW})[0], expected)

    def test_another_output_leaves_them(self):
        self.assertEqual(reproduce.filled(self.PLACE, "b", OTHER), (self.PLACE, []))

    def test_what_the_output_lacks_is_told(self):
        place = self.PLACE.replace("work/1", "work/3")
        self.assertEqual(reproduce.filled(place, "a", NEW), (place, [f"{place}: the output has no such number"]))


class Commands(unittest.TestCase):
    def test_words(self):
        build = Path("/build")
        self.assertEqual(words_of("granary bench --only 'a b'", build), ["/build/granary", "bench", "--only", "a b"])
        self.assertEqual(words_of("python3 bench/counts.py --only a", build)[1:],
                         ["bench/counts.py", "--only", "a", "--build", "/build"])

    def test_a_name_and_a_command_must_be_such(self):
        for words, message in ((("Name", "granary bench"), "Name: not a name of an output"),
                               (("name", "ls"), "name: ls: must begin with 'granary' or 'python3 bench/'")):
            done = subprocess.run([sys.executable, "-B", ROOT / "bench" / "reproduce.py", "build", "--measure", *words],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_rounds(self):
        self.assertEqual(with_rounds("granary bench --rounds 3 --with a", 6), "granary bench --rounds 6 --with a")
        self.assertEqual(with_rounds("granary bench --rounds 3", None), "granary bench --rounds 3")


class ThePage(unittest.TestCase):
    """docs/papers/reproduction.md, as it is now."""

    def test_each_kept_output_has_commands_that_can_be_run_again(self):
        for name in names():
            commands = commands_of(reproduce.file_of(name).read_text())
            self.assertTrue(commands, name)
            for command in commands:
                first, *rest = words_of(command, Path("/build"))
                self.assertTrue(first == "/build/granary" or (ROOT / rest[0]).is_file(), command)

    def test_no_place_is_empty(self):
        self.assertEqual(reproduce.EMPTY.findall(PAGE.read_text()), [])

    def test_each_interval_could_be_found_again(self):
        kept = {name: reproduce.file_of(name).read_text() for name in names()}
        for name in names():
            for line in PAGE.read_text().split("\n"):
                if line.startswith("|"):
                    self.assertEqual(renewed(line, name, kept[name], kept), (line, []), name)


if __name__ == "__main__":
    main()
