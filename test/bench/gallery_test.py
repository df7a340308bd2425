# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the gallery: small pictures look like the large ones, commands can be typed, tables have the report's numbers.
# Invariant: no program is recorded, and no browser runs.
# Must not know: what the gallery shows.
"""Usage: gallery_test.py BUILD_FOLDER."""

import struct
import sys
import unittest
import zlib

from support import ROOT, main

sys.path.append(str(ROOT / "bench"))

from gallery import small_png, thesis
from gallery.recording import shown
from gallery.subjects import PROGRAMS, Subject

WIDTH, HEIGHT = 40, 30


def up_filtered(lines):
    """A PNG whose lines are written as differences to the line above: filter 2."""
    raw, above = b"", bytes(3 * WIDTH)
    for line in lines:
        flat = bytes(part for pixel in line for part in pixel)
        raw += b"\2" + bytes((now - before) & 255 for now, before in zip(flat, above))
        above = flat
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return (small_png.SIGNATURE + small_png.chunk(b"IHDR", head) + small_png.chunk(b"IDAT", zlib.compress(raw))
            + small_png.chunk(b"IEND", b""))


def of_palette(data):
    """The pixels of a picture that small made, whose lines are as they are: filter 0."""
    parts = dict(small_png.chunks(data))
    palette = list(zip(*(iter(parts[b"PLTE"]),) * 3))
    raw = zlib.decompress(parts[b"IDAT"])
    return [[palette[place] for place in raw[row * (WIDTH + 1) + 1:(row + 1) * (WIDTH + 1)]] for row in range(HEIGHT)]


class SmallPictures(unittest.TestCase):
    def test_few_colours_stay(self):
        lines = [[(x * 6, 0, (y % 3) * 100) for x in range(WIDTH)] for y in range(HEIGHT)]
        self.assertEqual(of_palette(small_png.small(up_filtered(lines))), lines)

    def test_many_colours_stay_near_and_common_ones_as_they_are(self):
        ground = (253, 251, 249)
        lines = [[ground if x < 20 else (x * 6, y * 8, 7) for x in range(WIDTH)] for y in range(HEIGHT)]
        shown_lines = of_palette(small_png.small(up_filtered(lines)))
        self.assertTrue(all(pixel == ground for line in shown_lines for pixel in line[:20]))
        near = max(abs(a - b) for line, other in zip(lines, shown_lines) for pixel, seen in zip(line, other)
                   for a, b in zip(pixel, seen))
        self.assertLessEqual(near, small_png.STEPS[-1] // 2)
        self.assertLessEqual(len({pixel for line in shown_lines for pixel in line}), small_png.COLOURS)

    def test_guesses(self):
        self.assertEqual(small_png.paeth(10, 20, 10), 20)
        self.assertEqual(small_png.paeth(20, 10, 10), 20)
        self.assertEqual(small_png.paeth(10, 30, 20), 20)
        self.assertEqual(small_png.unfiltered(3, bytearray([5, 5]), bytes([4, 10]), 1), bytearray([7, 13]))


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
