# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the gallery: commands can be typed, tables have the report's numbers.
# Invariant: no program is recorded, and no browser runs.
# Must not know: what the gallery shows.
"""Usage: gallery_test.py BUILD_FOLDER."""

import sys
import unittest

from support import ROOT, main

sys.path.append(str(ROOT / "bench"))

from gallery import thesis
from gallery.recording import shown
from gallery.subjects import PROGRAMS, Subject


class Commands(unittest.TestCase):
    def test_all_places_are_named(self):
        for subject in PROGRAMS:
            self.assertNotIn("{", "".join(shown(subject)), subject.name)

    def test_a_server_runs_beside_its_load(self):
        lines = shown(Subject("one", "", "serve {folder}", {"A": "1"}, "--timed 0", ("ask", "stop")))
        self.assertEqual(lines, ["A=1 granary record --timed 0 -o one.trace -- serve $PWD &", "ask", "stop"])

    def test_what_the_gallery_shows_has_a_chart(self):
        self.assertTrue(all(subject.chart and subject.section for subject in PROGRAMS if subject.in_gallery))


class Numbers(unittest.TestCase):
    def test_shares_of_bins_below_a_limit(self):
        bars = [(0, 1e-6, 3), (1e-6, 9.6e-6, 1), (9.6e-6, 1e-3, 4)]
        self.assertEqual(thesis.share_below(bars, thesis.AGES[0]), 3 / 8)
        self.assertEqual(thesis.share_below(bars, thesis.CLOSE), 4 / 8)

    def test_bars_are_summed_over_slices(self):
        chart = {"title": "bars", "edges": [0, 1, 2], "series": [{"name": "blocks", "slices": [[1, 2], [10, 20]]}]}
        report = thesis.Report({"sections": [{"id": "one", "charts": [chart]}]})
        self.assertEqual(report.bars("one", "bars", "blocks"), [(0, 1, 11), (1, 2, 22)])

    def test_numbers_as_text(self):
        self.assertEqual([thesis.number(value) for value in (1234567, 1234.5, 12.34, 1.234, 0, "16 - 2.0")],
                         ["1,234,567", "1,234", "12.3", "1.23", "0", "16 - 2.0"])


if __name__ == "__main__":
    main()
