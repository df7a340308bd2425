#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary why: a program with a known heap must be accounted for wholly, and one that cannot be explained gets
#    one line.
# Invariant: the process goes on as before.
# Must not know: how the heap is read.
"""Usage: why.py GRANARY LIBRARY FIXTURES."""

import json
import os
import re
import subprocess
import unittest
import xml.etree.ElementTree
from pathlib import Path

from support import CLEAN, GRANARY, LIBRARY, fixture, granary, main
from why_support import PRELOAD, ROUNDING, WITHOUT_RSEQ, WhyTest, rss, running

NO_RSEQ = {**PRELOAD, **WITHOUT_RSEQ}
PAGE = os.sysconf("SC_PAGE_SIZE")


KEPT = {"GRANARY_RETAIN": "1G"}  # so that free pages are there to be told of


def version_of(tables):
    """Of the tables that this build's command reads."""
    header = Path(__file__).resolve().parents[2] / "include" / "granary" / "wire" / f"{tables}_tables.h"
    return re.search(r"_TABLES_VERSION (\d+)$", header.read_text(), re.M)[1]


def one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Accounted(WhyTest):
    """What the command reads from outside is what the library counts inside, and adds up to what the kernel says."""

    def account(self, *command, **options):
        with running(*command, **options) as (process, said):
            report = self.why(process)
            self.assert_whole(report, process)
        held, statistics = (json.loads(text) for text in said.split("\n", 1))
        for part, field in (("live", "live"), ("free", "free"), ("magazines", "magazine"), ("remote", "remote")):
            self.assertEqual(self.bytes(report, part), statistics[f"{field}_bytes"], part)
        self.assertEqual(self.bytes(report, "tails"), statistics["tail_bytes"])
        self.assertEqual(report["live_blocks"], statistics["live_blocks"])
        self.assertEqual(report["superblocks"], statistics["superblocks"])
        self.assertEqual(report["global_superblocks"], statistics["global_superblocks"])
        self.assertEqual(report["heaps"], statistics["heaps"])
        self.assertLessEqual(self.resident(report, "empty"), statistics["retained_bytes"])
        self.assertLessEqual(self.resident(report, "tables"), statistics["metadata_bytes"])
        return report, held

    def full(self, *command, environment=PRELOAD, **options):
        report, held = self.account(*command, environment={**KEPT, **environment}, **options)
        # Blocks are rounded up to their class or to whole units, and libc holds some of its own.
        self.assertGreaterEqual(report["live_blocks"], held["held_blocks"])
        self.assertLessEqual(report["live_blocks"], held["held_blocks"] + 100)
        live = self.bytes(report, "live")
        self.assertGreaterEqual(live, held["held_bytes"])
        self.assertLessEqual(live, held["held_bytes"] * 9 // 8 + (1 << 20))
        # Of 20000 bytes 6000 were touched, of 40 MiB 11, of 3 MiB 2; zeroes were only read.
        untouched = (30 << 20) + 13334 // 4 * (20000 - 6000 - 2 * PAGE)
        self.assertLessEqual(self.resident(report, "live"), live - untouched)
        self.assertGreater(self.resident(report, "live"), 13 << 20)
        self.assertGreater(self.resident(report, "free"), 40 << 20)
        self.assertGreaterEqual(self.resident(report, "empty"), 2 << 20)
        return report

    def test_full(self):
        report = self.full(fixture("holder"), "full")
        self.assertEqual(report["library"], os.path.realpath(LIBRARY))
        self.assertEqual(report["path"], os.path.realpath(fixture("holder")))

    def test_pages_given_back_under_superblocks_in_use(self):
        report, _ = self.account(fixture("holder"), "full")
        self.assertGreater(self.bytes(report, "free"), 60 << 20)
        self.assertLess(self.resident(report, "free"), 30 << 20)

    def test_full_without_rseq(self):
        self.full(fixture("holder"), "full", environment=NO_RSEQ)

    def test_full_on_one_cpu(self):
        self.full(fixture("holder"), "full", preexec_fn=one_cpu)

    def test_zeroes_that_were_only_read(self):
        report = self.full(fixture("holder"), "full", "zeroes")
        without = self.full(fixture("holder"), "full")
        more = self.resident(report, "live") - self.resident(without, "live")
        self.assertLess(abs(more), 1 << 20)
        self.assertGreaterEqual(self.bytes(report, "live") - self.bytes(without, "live"), 8 << 20)

    def test_pages_shared_with_a_child(self):
        self.full(fixture("holder"), "full", "forked")

    def test_zeroes_and_pages_shared_with_a_child(self):
        # Which shared page is which the kernel does not tell; their sum it does.
        self.account(fixture("holder"), "full", "zeroes", "forked")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_freed_by_a_stranger(self):
        report, _ = self.account(fixture("holder"), "strangers")
        # In remote magazines and messages; or in the owner's own, where the two never ran at once.
        self.assertGreaterEqual(self.bytes(report, "magazines") + self.bytes(report, "remote"), 20 * (9000 + 500))

    def test_empty_memory_that_a_program_keeps_taking_again(self):
        with running(fixture("holder"), "reusing") as (process, said):
            report = self.why(process)
            told = granary("why", str(process.pid)).stdout
        statistics = json.loads(said.split("\n", 1)[1])
        self.assertGreater(statistics["reuse_bytes"], 4 << 20)
        self.assertIn("GRANARY_REUSE", told)
        self.assertGreater(report["reuse_bytes"], 4 << 20)
        self.assertLess(report["reuse_bytes"], report["part"]["empty"]["resident_bytes"])
        self.assertLess(report["reuse_seconds"], 60)

    def test_nothing_of_a_program_that_takes_nothing_again(self):
        report, _ = self.account(fixture("holder"), "full")
        self.assertEqual((report["reuse_bytes"], report["reuse_seconds"]), (0, 0))

    def test_idle(self):
        report, _ = self.account(fixture("holder"))
        self.assertLess(report["live_blocks"], 100)

    def test_linked_in(self):
        report = self.full(fixture("static_holder"), "full", environment={})
        self.assertEqual(report["library"], os.path.realpath(fixture("static_holder")))

    def test_linked_in_and_stripped(self):
        program = self.copy(fixture("static_holder"), "stripped")
        subprocess.run(["strip", program], check=True)
        self.full(program, "full", environment={})

    def test_the_library_was_replaced_since(self):
        library = self.copy(LIBRARY, "libgranary.so")
        with running(fixture("holder"), environment={"LD_PRELOAD": library}) as (process, _):
            os.remove(library)
            report = self.why(process)
            self.assertAlmostEqual(report["resident_bytes"], rss(process), delta=ROUNDING)
            self.assertGreater(self.resident(report, "library"), 0)

    def test_classes_add_up(self):
        with running(fixture("holder"), "full") as (process, _):
            report = self.why(process)
        self.assertEqual(sum(c["superblocks"] for c in report["classes"]), report["superblocks"])
        self.assertEqual(sum(c["free_bytes"] for c in report["classes"]), self.bytes(report, "free"))
        sizes = [c["block_bytes"] for c in report["classes"]]
        self.assertEqual(sizes, sorted(set(sizes)))
        largest = next(c for c in report["classes"] if c["block_bytes"] == 20480)
        self.assertIn(largest["live_blocks"], range(3333, 3336))

    def test_a_heap_that_changes_meanwhile(self):
        with running(fixture("churner")) as (process, _):
            for _ in range(10):
                report = self.why(process)
                self.assert_adds_up(report)
                self.assertGreater(self.resident(report, "live"), 0)


class Sentences(WhyTest):
    def full_text(self, *arguments, **options):
        with running(fixture("holder"), "full", environment={**PRELOAD, **KEPT}) as (process, _):
            return self.text(process, *arguments, **options)

    def test_parts_and_hints(self):
        text = self.full_text()
        self.assertRegex(text, r"\ARSS \d+(\.\d)? MiB: process \d+ \(.*holder\) on Granary\n")
        self.assertRegex(text, r"\n +\d+(\.\d)? MiB  in use: 133\d\d blocks that the program holds")
        self.assertRegex(text, r"\n +\d+(\.\d)? MiB  free blocks in superblocks .* in blocks of 20480")
        self.assertIn("\noutside Granary:\n", text)
        self.assertRegex(text, r"what could be done:\n  most of the free memory lies between blocks of 20480 bytes: 333\d ")
        self.assertNotIn("leak", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100 + len(fixture("holder")))
        self.assertRegex(" ".join(text.split()), r"its last blocks are freed or moved; gr_page_utilization\(3\) tells")

    def test_nothing_stands_out(self):
        with running(fixture("holder")) as (process, _):
            text = granary("why", str(process.pid)).stdout
        self.assertIn("what could be done:\n", text)
        self.assertNotIn("most of the free memory", text)

    def rows(self, text):
        map_only = text.split("the heap by address")[1]
        return [line.split("|", 1)[1] for line in map_only.splitlines() if "|" in line]

    def test_map(self):
        text = self.full_text("--map", environment={"COLUMNS": "100", "LC_ALL": "C"})
        rows = self.rows(text)
        self.assertEqual({len(row) for row in rows[:-1]}, {80})
        self.assertLessEqual(len(rows), 40)
        self.assertLessEqual(set("".join(rows)), set(" .-+x#"))
        # Most superblocks are a third full; the run is full; what was freed last is kept empty.
        self.assertGreater("".join(rows).count("+"), sum(map(len, rows)) * 3 // 4)
        self.assertIn("#", rows[-1] + rows[-2])
        self.assertIn(".", rows[-1] + rows[-2])
        self.assertTrue(all(f"'{letter}'" in text for letter in " .-+x#"), "the legend")

    def test_map_in_unicode_and_narrow(self):
        rows = self.rows(self.full_text("--map", environment={"COLUMNS": "1", "LC_ALL": "C.UTF-8"}))
        self.assertEqual({len(row) for row in rows[:-1]}, {16})
        self.assertLessEqual(set("".join(rows)), set(" ·░▒▓█"))

    def test_picture(self):
        path = self.path("heap.svg")
        self.full_text("--svg", path)
        picture = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual(picture.tag, "{http://www.w3.org/2000/svg}svg")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("href", text, "it stands on its own")
        rectangles = [r for r in picture.iter("{http://www.w3.org/2000/svg}rect") if len(r)]
        self.assertGreater(len(rectangles), 0)
        width, height = (float(picture.get(side)) for side in ("width", "height"))
        for r in rectangles:
            self.assertLessEqual(float(r.get("x")) + float(r.get("width")), width)
            self.assertLessEqual(float(r.get("y")) + float(r.get("height")), height)
        self.assertIn("up to 50 % in use", text)

    def test_colours_of_the_picture_need_no_style_sheet(self):
        path = self.path("heap.svg")
        self.full_text("--svg", path)
        picture = xml.etree.ElementTree.parse(path).getroot()
        kinds = {}
        for element in picture.iter():
            kinds.setdefault(element.tag.partition("}")[2], []).append(element)
            self.assertIsNone(element.get("style"))
        for element in [picture, *kinds["rect"]]:
            self.assertRegex(element.get("fill"), "^(#[0-9a-f]{6}|none)$")
        self.assertEqual({element.get("fill") for element in kinds["text"]}, {None}, "they have the picture's")
        dark = re.findall(r"\.(\w+){fill:#[0-9a-f]{6}}", kinds["style"][0].text)
        used = {element.get("class"): element.get("fill") for element in picture.iter() if element.get("class")}
        self.assertEqual(set(dark), set(used))
        self.assertEqual(len(set(used.values())), len(used), "each class is one colour")


class Refused(WhyTest):
    def refused(self, code, *arguments, **options):
        result = granary("why", *map(str, arguments), **options)
        self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
        return self.one_line(result.stderr)

    def test_without_granary(self):
        with running(fixture("holder"), environment={}) as (process, _):
            self.assertIn("the C library's malloc", self.refused(1, process.pid))

    def test_a_collector_that_tells_nothing(self):
        library = self.copy(fixture("libgc.so.1"), "libgranary-gc.so.0")
        with running(fixture("holder"), environment={"LD_PRELOAD": library}) as (process, _):
            complaint = self.refused(1, process.pid)
        self.assertIn(library, complaint)
        self.assertIn("an old version", complaint)

    def test_no_such_process(self):
        with subprocess.Popen(["true"]) as process:
            process.wait()
        for number in (process.pid, 0, 99999999999999999999):
            self.refused(127, number)

    def test_a_process_that_has_ended(self):
        with subprocess.Popen(["true"]) as process:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            self.refused(127, process.pid)

    def test_a_process_that_ends_meanwhile(self):
        for _ in range(20):
            command = [fixture("holder"), "full"]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "env": {**CLEAN, **PRELOAD}}
            with subprocess.Popen(command, **pipes) as process:
                asked = [GRANARY, "why", "--json", str(process.pid)]
                with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as why:
                    process.kill()
                    _, complaint = why.communicate()
                if why.returncode != 0:
                    # Before it has loaded anything it runs on nothing yet.
                    self.assertIn(why.returncode, (1, 127), complaint)
                    self.one_line(complaint)

    def test_not_a_number(self):
        for subject in ("", "-1", "1x", "sh"):
            self.refused(2, subject)
        self.refused(2)
        self.refused(2, "--json", "--map", os.getpid())

    def test_another_version(self):
        with running(fixture("false_tables"), "newer", environment={}) as (process, _):
            self.assertIn(f"version {version_of('heap')}", self.refused(125, process.pid))

    def test_another_version_of_the_collector(self):
        with running(fixture("false_tables"), "newer collector", environment={}) as (process, _):
            self.assertIn(f"version {version_of('collector')}", self.refused(125, process.pid))

    def test_overwritten_tables(self):
        for kind in ("", "collector", "large bitmaps", "large slabs", "large table"):
            with running(fixture("false_tables"), kind, environment={}) as (process, _):
                self.assertIn("overwritten", self.refused(125, process.pid))

    def test_a_copy_of_the_tables_is_none(self):
        with running(fixture("false_tables"), "copied", environment={}) as (process, _):
            self.refused(1, process.pid)

    @unittest.skipIf(os.getuid() != 0, "needs a second user")
    def test_another_users_process(self):
        command = self.copy(GRANARY, "granary")
        with running(fixture("holder")) as (process, _):
            self.assertIn("root", self.refused(125, process.pid, command=command, user=65534, cwd="/"))

    def test_a_picture_that_cannot_be_written(self):
        with running(fixture("holder")) as (process, _):
            self.refused(125, "--svg", self.path("no/such/folder.svg"), process.pid)


if __name__ == "__main__":
    main()
