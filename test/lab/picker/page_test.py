# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: docs/papers/picker.html is what lab/picker makes of the rules, the allocators and the kept runs, and agrees with
#    the table of lab/README.md and the raw counts.
# Invariant: needs no browser.
# Must not know: how the page looks.
"""Usage: page_test.py FEATURES."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FEATURES = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "lab" / "picker"))

import picker  # noqa: E402
from picker import lab_table  # noqa: E402


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = picker.data(FEATURES)
        cls.by_name = {allocator["name"]: allocator for allocator in cls.data["allocators"]}

    def test_the_page_in_the_repository_is_what_its_sources_make(self):
        self.assertTrue(picker.PAGE.read_text() == picker.made(FEATURES),
                        f"{picker.PAGE} is stale: python3 lab/picker/picker.py {FEATURES}")

    def test_every_allocator_is_on_it_with_the_paper_that_its_file_cites(self):
        self.assertEqual(sorted(self.by_name), sorted(name.replace("_", "-") for name in lab_table.names()))
        self.assertEqual([name for name, allocator in self.by_name.items() if not allocator["papers"]], [])
        self.assertEqual(self.by_name["owned"]["papers"], [{"paper": "Wasik's thesis (2008)", "section": "5.4"}])
        self.assertEqual(self.by_name["jemalloc2006"]["papers"],
                         [{"paper": "the first jemalloc (Evans, 2006)", "section": ""}])

    def test_sums_are_sets_of_words_that_no_two_allocators_share_and_no_rule_forbids(self):
        words = [word["name"] for word in self.data["words"]]
        sums = [tuple(allocator["sum"]) for allocator in self.data["allocators"] if allocator["sum"]]
        self.assertEqual(len({frozenset(one) for one in sums}), len(sums))
        for one in sums:
            self.assertLessEqual(set(one), set(words))

    def test_rules_are_those_of_the_header(self):
        header = (ROOT / "lab/parts/stores/features.hpp").read_text()
        written = re.findall(r'\.why =\s+"(.*?)"\}', re.sub(r'"\n\s+"', "", header))
        self.assertEqual([rule["why"] for rule in self.data["rules"]], written)
        self.assertGreater(len(written), 20)

    def test_numbers_are_those_of_the_table_of_the_lab(self):
        rows = [line.strip("|").split(" | ") for line in lab_table.PAGE.read_text().splitlines()]
        cells = {row[0].strip(" `"): [cell.strip() for cell in row[2:]] for row in rows if len(row) == 8}
        cases = [("time", case) for case in lab_table.TIMES] + [("peak memory", case) for case in lab_table.MEMORY]
        for name, allocator in self.by_name.items():
            shown = [allocator["bars"][kind].get(case) for kind, case in cases]
            written = [bar["text"] if bar else "-" for bar in shown]
            self.assertEqual(written, cells[name], name)

    def test_each_count_that_was_kept_is_of_an_allocator(self):
        counted = picker.counts()
        known = {" + ".join(allocator["sum"] or []) for allocator in self.by_name.values()} | set(self.by_name)
        variant = "thread_heaps + containers + ownership + remote_lists + global_remote_list"  # no paper builds it
        self.assertEqual(set(counted) - known, {variant})
        for title in self.data["counted"]:
            self.assertTrue(any(title in allocator["counts"] for allocator in self.by_name.values()), title)
        self.assertEqual(self.by_name["lockfree"]["counts"][self.data["counted"][0]], "0")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
