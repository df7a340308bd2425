#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary why on memory that is collected: of a program with known objects of several kinds every block must be
#    told, and every byte be accounted for; the same of malloc by the collector, with and without a quarantine.
# Invariant: the process goes on as before.
# Must not know: how the heaps are read.
"""Usage: why_collected.py GRANARY LIBRARY FIXTURES."""

import json
import os
import unittest
import xml.etree.ElementTree

from support import LIBRARY, fixture, main
from why_support import PRELOAD, WITHOUT_RSEQ, WhyTest, running

BY_COLLECTOR = os.path.join(os.path.dirname(LIBRARY), "libgranary-gcmalloc.so")
STRAY = 8  # objects that a word on a stack may have kept, and those of the library's own
SIZES = {
    "pointer-free": 208,
    "scanned": 48,
    "scanned, kept until freed": 112,
    "scanned by each block's own layout": 80,
}
LARGE = 3 << 20


@unittest.skipUnless(os.path.exists(BY_COLLECTOR), "there is no collector in this build")
class CollectedTest(WhyTest):
    def kinds(self, report):
        return {kind["name"]: kind for kind in report["collector"]["kinds"]}

    def assert_kinds_are_the_parts(self, report):
        """What is said of each kind is what the parts say of all."""
        kinds = [kind for kind in report["collector"]["kinds"] if kind["name"] != "malloc"]
        for name in ("magazines", "remote", "free", "tails", "empty"):
            part = next(p for p in report["parts"] if p["name"] == name and p.get("heap") == "collected")
            self.assertEqual(sum(kind["parts"][name]["bytes"] for kind in kinds), part.get("bytes", 0), name)
        for kind in kinds:
            part = next(p for p in report["parts"] if p["name"] == "live" and p.get("heap") == kind["name"])
            self.assertEqual((kind["live_bytes"], kind["parts"]["live"]["resident_bytes"]),
                             (part.get("bytes", 0), part["resident_bytes"]))
            self.assertEqual(sum(c["superblocks"] for c in kind["classes"]), kind["superblocks"])


class Kinds(CollectedTest):
    def account(self, *arguments, environment=None, **options):
        command = [fixture("collected"), *arguments]
        with running(*command, environment=environment or {}, **options) as (process, said):
            report = self.why(process)
            self.assert_whole(report, process)
        counted = json.loads(said)
        collector = report["collector"]
        for field in ("collections", "held_bytes", "due_bytes", "beside"):
            self.assertEqual(collector[field], counted[field], field)
        for field in ("live_bytes", "live_blocks", "freed_blocks"):
            self.assertEqual(collector[f"last_{field}"], counted[field], field)
        kinds = self.kinds(report)
        self.assertEqual(sum(kind["left_blocks"] for kind in kinds.values()), counted["live_blocks"])
        self.assertEqual(sum(kind["left_bytes"] for kind in kinds.values()), counted["live_bytes"])
        self.assert_kinds_are_the_parts(report)
        return report, counted, kinds

    def known(self, *arguments, **options):
        report, counted, kinds = self.account(*arguments, **options)
        for name, block_bytes in SIZES.items():
            kind = kinds[name]
            since = 0 if kind["lifetime"] == "until_freed" else counted["since"]
            large = 1 if name == "pointer-free" else 0
            self.assertEqual(kind["live_blocks"], kind["left_blocks"] + since, name)
            self.assertGreaterEqual(kind["left_blocks"], counted["held"] + large, name)
            self.assertLessEqual(kind["left_blocks"], counted["held"] + large + STRAY, name)
            held = next(c for c in kind["classes"] if c["block_bytes"] == block_bytes)
            self.assertGreaterEqual(held["live_blocks"], counted["held"] + since, name)
            self.assertLessEqual(held["live_blocks"], counted["held"] + since + STRAY, name)
            self.assertEqual(kind["live_bytes"] - kind["left_bytes"], since * block_bytes, name)
        grown = sum(SIZES[name] * counted["since"] for name in SIZES if not name.endswith("freed"))
        self.assertEqual(report["collector"]["grown_bytes"], grown)
        # What was dropped is free, or in a cache, or given back to the units.
        for name in ("scanned", "pointer-free"):
            parts = kinds[name]["parts"]
            self.assertGreater(sum(parts[p]["bytes"] for p in ("free", "magazines", "empty")), 10000 * SIZES[name])
        # Of 3 MiB 2 were touched.
        self.assertGreaterEqual(kinds["pointer-free"]["parts"]["live"]["bytes"], LARGE)
        live = kinds["pointer-free"]["parts"]["live"]
        self.assertGreater(live["bytes"] - live["resident_bytes"], (1 << 20) - (1 << 16))
        self.assertGreater(self.resident(report, "marks"), 4 * counted["held"])
        self.assertGreater(self.resident(report, "places"), 0)
        return report, kinds

    def test_known_objects(self):
        report, kinds = self.known()
        self.assertRegex(report["library"], r"libgranary-gc\.so")
        self.assertNotIn("classes", report, "malloc is not Granary's")
        self.assertEqual(kinds["scanned"]["contents"], "any")
        self.assertEqual(kinds["pointer-free"]["contents"], "none")
        self.assertEqual(kinds["scanned by each block's own layout"]["contents"], "per_block")
        self.assertEqual(report["collector"]["last_reason"], "asked")
        self.assertEqual(report["collector"]["disabled"], 1)

    def test_known_objects_without_rseq(self):
        self.known(environment=WITHOUT_RSEQ)

    def test_enabled(self):
        report, _ = self.known("enabled")
        self.assertEqual(report["collector"]["disabled"], 0)
        self.assertEqual(report["collector"]["automatic"], 1)

    def test_beside_the_program(self):
        report, _ = self.known("beside")
        self.assertGreaterEqual(report["collector"]["collections"], 2)

    def test_with_malloc_too(self):
        report, _, _ = self.account(environment=PRELOAD)
        self.assertEqual(report["library"], os.path.realpath(LIBRARY))
        self.assertIn("classes", report)
        of_malloc = [part for part in report["parts"] if part.get("heap") == "malloc"]
        self.assertGreater(sum(part["resident_bytes"] for part in of_malloc), 0)
        self.assertNotIn("malloc", self.kinds(report))

    def test_a_heap_that_changes_meanwhile(self):
        with running(fixture("collected"), "churning", environment={}) as (process, _):
            for _ in range(10):
                report = self.why(process)
                self.assert_adds_up(report)
                self.assertGreaterEqual(self.kinds(report)["scanned"]["live_blocks"], 3000)

    def test_text(self):
        with running(fixture("collected"), "enabled", environment={}) as (process, _):
            text = " ".join(self.text(process).split())
        self.assertIn("on Granary's collector", text)
        self.assertRegex(text, r"in use: 80\d\d blocks \(pointer-free\); another 1(\.\d)? MiB is not resident; the last "
                               r"collection left \d+(\.\d)? MiB in use, and 1015.6 KiB more are in use now, some of which "
                               r"may be garbage")
        self.assertRegex(text, r"in use: 300\d blocks \(scanned, kept until freed\)")
        self.assertRegex(text, r"free blocks in superblocks that also hold blocks in use: .* in blocks of \d+ bytes \(")
        self.assertRegex(text, r"collections: the last of \d+ \(requested by the program\) began .* ago, stopped the program "
                               r"\(0 other threads\) for .* ms, freed \d+ blocks and left .* MiB in use in 120\d\d blocks; "
                               r"the next is due when the units in use reach .* MiB; they are .* MiB now")
        self.assertIn("what could be done: ", text)
        self.assertNotIn("gr_page_utilization", text)

    def test_what_decides_how_much_stays_empty(self):
        for environment, said in (
            ({}, "(as much as may be allocated until the next collection, at least 4M for each kind, unless GRANARY_RETAIN "
                 "is set)"),
            ({"GRANARY_RETAIN": "8M"}, "(GRANARY_RETAIN=8M for each kind, or 1/32 of the memory in use if more)"),
        ):
            with running(fixture("collected"), "emptied", environment=environment) as (process, _):
                self.assertIn("empty, retained for the next request " + said, " ".join(self.text(process).split()))

    def test_disabled(self):
        with running(fixture("collected"), environment={}) as (process, _):
            self.assertIn("collections are disabled", self.text(process))

    def test_map(self):
        with running(fixture("collected"), environment={}) as (process, _):
            text = self.text(process, "--map", environment={"COLUMNS": "100", "LC_ALL": "C"})
        for name in SIZES:
            self.assertIn(f"\nthe heap ({name}) by address: 64 KiB per character", text)
        self.assertEqual(text.count("more in use"), 1, "one legend")

    def test_picture(self):
        path = self.path("heap.svg")
        with running(fixture("collected"), environment={}) as (process, _):
            self.text(process, "--svg", path)
        picture = xml.etree.ElementTree.parse(path).getroot()
        text = "\n".join("".join(element.itertext()) for element in picture)
        for name in SIZES:
            self.assertIn(f"the heap ({name}): ", text)
        width, height = (float(picture.get(side)) for side in ("width", "height"))
        rectangles = [r for r in picture.iter("{http://www.w3.org/2000/svg}rect") if len(r)]
        self.assertGreaterEqual(len(rectangles), len(SIZES))
        for r in rectangles:
            self.assertLessEqual(float(r.get("x")) + float(r.get("width")), width)
            self.assertLessEqual(float(r.get("y")) + float(r.get("height")), height)


class Malloc(CollectedTest):
    def account(self, *arguments, **environment):
        with running(fixture("holder"), *arguments, environment={"LD_PRELOAD": BY_COLLECTOR, **environment}) as (
            process,
            said,
        ):
            report = self.why(process)
            self.assert_whole(report, process)
            text = " ".join(self.text(process).split())
        held, statistics = (json.loads(line) for line in said.split("\n", 1))
        self.assertEqual(report["live_blocks"] + report["collector"].get("waiting_blocks", 0), statistics["live_blocks"])
        self.assertEqual(report["superblocks"], statistics["superblocks"])
        self.assertEqual(self.bytes(report, "free"), statistics["free_bytes"])
        self.assertEqual(report["library"], os.path.realpath(BY_COLLECTOR))
        self.assertEqual([kind["name"] for kind in report["collector"]["kinds"]], ["malloc"])
        self.assertGreaterEqual(report["live_blocks"], held["held_blocks"])
        self.assertLessEqual(report["live_blocks"], held["held_blocks"] + 100)
        return report, text

    def test_collecting(self):
        report, text = self.account("full")
        kind = report["collector"]["kinds"][0]
        self.assertEqual((kind["contents"], kind["lifetime"]), ("any", "collected"))
        self.assertGreater(report["collector"]["collections"], 0)
        self.assertGreater(self.resident(report, "marks"), 0)
        self.assertNotIn("waiting", report["part"])
        self.assertIn("blocks that the program holds or has lost", text)

    def test_collecting_without_rseq(self):
        self.account("full", **WITHOUT_RSEQ)

    def test_quarantine(self):
        report, text = self.account("full", GRANARY_QUARANTINE="on")
        collector = report["collector"]
        self.assertEqual((collector["kinds"][0]["contents"], collector["kinds"][0]["lifetime"]), ("any", "held_back"))
        # Two of three are freed, and the program still has their addresses.
        self.assertGreaterEqual(collector["waiting_blocks"], 26000)
        self.assertLessEqual(collector["waiting_blocks"], 27000)
        self.assertLessEqual(collector["waiting_bytes"], self.bytes(report, "waiting"))
        self.assertGreater(collector["waiting_bytes"], 26000 // 4 * (24 + 100 + 1500 + 20000) * 9 // 10)
        self.assertGreater(collector["waiting_due_bytes"], 0)
        self.assertGreater(self.resident(report, "waiting"), 26000 * 1500 // 4)
        self.assertGreaterEqual(self.resident(report, "flags"), 26000)
        self.assertRegex(text, r"freed, in quarantine: 26\d\d\d blocks that wait until no pointer to them is left")
        self.assertRegex(text, r"the next comes when .* are in quarantine, where large blocks count one eighth; .* are now")

    def test_leaks(self):
        report, text = self.account("full", GRANARY_LEAKS=self.folder)
        self.assertEqual(report["collector"]["kinds"][0]["lifetime"], "watched")
        self.assertEqual(report["collector"]["automatic"], 0)
        self.assertGreater(self.resident(report, "origins"), 40000 * 4)
        self.assertIn("none so far; the next comes when leaks are requested, and when the program ends", text)


if __name__ == "__main__":
    main()
