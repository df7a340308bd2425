#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary collections, over what a program and its child wrote that were collected.
# Invariant: what it says agrees with the lines themselves.
# Must not know: how it is collected.
"""Usage: collection_log.py GRANARY LIBRARY FIXTURES."""

import json
import os
import unittest
import xml.etree.ElementTree as xml

from support import LIBRARY, ToolTest, fixture, granary, main, run_program

PARTS = ("stopping_ns", "marking_ns", "sweeping_ns")
IS_COLLECTED = os.path.exists(os.path.join(os.path.dirname(LIBRARY), "libgranary-gcmalloc.so"))


@unittest.skipUnless(IS_COLLECTED, "there is no libgranary-gcmalloc.so in this build")
class Collections(ToolTest):
    def record(self, name="log"):
        path = self.path(name)
        result = run_program("--gc-malloc", "--set", f"COLLECTIONS={path}", fixture("dropper"))
        self.assertEqual(result.returncode, 0, result.stderr)
        return path, result.stderr

    def lines(self, path):
        with open(path, encoding="ascii") as file:
            return [json.loads(line) for line in file]

    def test_each_process_and_each_collection(self):
        path, errors = self.record()
        self.assertEqual(errors, "")
        lines = self.lines(path)
        by_process = {}
        for line in lines:
            by_process.setdefault(line["process"], []).append(line)
            self.assertLessEqual(sum(line[part] for part in PARTS), line["pause_ns"])
            self.assertLessEqual(line["live_bytes"], line["held"])
            self.assertLessEqual(line["held"], line["held_before"])
        self.assertEqual(len(by_process), 2)
        result = granary("collections", "--json", path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        told = {process["process"]: process for process in json.loads(result.stdout)}
        self.assertEqual(list(told), list(by_process))
        for number, own in by_process.items():
            process, pauses = told[number], sorted(line["pause_ns"] for line in own)
            numbers = [line["collection"] for line in own]
            self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(own))), "none is left out")
            self.assertGreater(len(own), 1)
            self.assertEqual(process["collections"], len(own))
            self.assertEqual(sum(process["reasons"].values()), len(own))
            self.assertGreater(process["reasons"]["due"], 0)
            self.assertEqual(process["longest_pause_ns"], pauses[-1])
            self.assertEqual(process["median_pause_ns"], pauses[(len(pauses) + 1) // 2 - 1])
            self.assertAlmostEqual(process["stopped_ns"], sum(pauses), delta=1000)
            self.assertEqual(process["most_held_bytes"], max(line["held_before"] for line in own))
            self.assertEqual(process["live_bytes"], own[-1]["live_bytes"])

    def test_text_and_picture(self):
        path, _ = self.record()
        picture = self.path("picture.svg")
        result = granary("collections", path, "--svg", picture)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = self.lines(path)
        for number in {line["process"] for line in lines}:
            self.assertIn(f"process {number}: ", result.stdout)
        drawn = xml.parse(picture).getroot()
        pauses = drawn.findall("{http://www.w3.org/2000/svg}line")
        self.assertEqual(len(pauses), len(lines), "each pause is drawn")
        self.assertEqual(len(drawn.findall("{http://www.w3.org/2000/svg}polyline")), 4, "two graphs of each heap")

    def test_a_file_is_added_to(self):
        path, _ = self.record()
        before = len(self.lines(path))
        self.record()
        self.assertGreater(len(self.lines(path)), before)

    def test_what_cannot_be_written_is_said_once(self):
        _, errors = self.record("no/such/folder/log")
        self.assertEqual(errors.count("\n"), 1, "not again by the child: " + errors)
        self.assertIn("GRANARY_COLLECTIONS", errors)

    def test_nothing_is_told_unasked(self):
        result = run_program("--gc-malloc", fixture("dropper"), cwd=self.folder)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_is_no_such_file(self):
        path, _ = self.record()
        with open(path, "ab") as file:
            file.write(b'{"process": 7}\n')
        for subject, status in ((self.path("nowhere"), 127), (self.write("empty", ""), 127),
                                (self.write("text", "words\n"), 125), (path, 125)):
            result = granary("collections", subject)
            self.assertEqual((result.returncode, result.stdout), (status, ""), subject)
            self.one_line(result.stderr)
        self.assertEqual(granary("collections").returncode, 2)


main()
