# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary summary and granary report on the command line: their answers, the page, and files that are no traces.
# Invariant: whatever the file is, there is one line on stderr and the exit code 1, and no page is left behind.
# Must not know: how a trace lies in a file, but for where its version stands.
"""Usage: commands.py GRANARY WRITE_TRACE SYNTHETIC_TRACE"""
import base64
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

GRANARY, WRITE_TRACE, SYNTHETIC_TRACE = (os.path.abspath(path) for path in sys.argv[1:4])
MOST_PAGE_BYTES = 6 << 20
VERSION_AT = 12
SCRIPT = """program /bin/story
event 0 10 malloc 0x1000 24
event 0 20 malloc 0x1020 100
event 0 30 free 0x1000 0
"""
# A library whose functions have no names: one calls two others, and code in no file allocates, too.
UNNAMED = """program /bin/story
stacks all
module 0 0x10000 0x20000 0 /absent/libbare.so
stack 0 0x10010
stack 1 0x10020
stack 1 0x10030
stack 0 0x900000
thread 0 main
event 0 10 malloc 0x1000 1000 2
event 0 20 malloc 0x2000 500 3
event 0 30 malloc 0x3000 100 4
"""
LIBRARY, NO_FILE = "unknown function (libbare.so)", "unknown function (no file)"


def granary(*arguments):
    return subprocess.run([GRANARY, *arguments], capture_output=True, text=True, check=False)


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="granary-analysis-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def trace(self, script=SCRIPT):
        subprocess.run([WRITE_TRACE, self.path("trace")], input=script, text=True, check=True)
        return self.path("trace")

    def bytes_of_trace(self):
        with open(self.trace(), "rb") as file:
            return file.read()

    def file_of(self, content):
        with open(self.path("file"), "wb") as file:
            file.write(content)
        return self.path("file")

    def expect_refusal(self, path, why):
        for command in ("summary", "report"):
            done = granary(command, path)
            self.assertEqual((done.returncode, done.stdout), (1, ""), command)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(why, done.stderr)
            self.assertFalse(os.path.exists(path + ".html"))

    def test_summary_says_what_the_trace_tells(self):
        done = granary("summary", self.trace())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("At most 124 bytes were in use, 2 µs after the start", done.stdout)
        self.assertTrue(all(len(line) <= 140 for line in done.stdout.splitlines()))

    def test_functions_without_names_are_one_of_their_file_and_addresses_when_opened(self):
        trace = self.trace(UNNAMED)
        document = json.loads(granary("summary", "--json", trace).stdout)
        charts = {chart["title"]: chart for section in document["sections"] for chart in section["charts"]}
        for title in ("Memory by function", "In use at the end, by function"):
            table = charts[title]
            self.assertEqual([row[0] for row in table["rows"]], [LIBRARY, NO_FILE], title)
            self.assertEqual([[part[0] for part in parts] for parts in table["parts"]],
                             [["libbare.so+0x20 < libbare.so+0x10", "libbare.so+0x30 < libbare.so+0x10"], ["0x900000"]])
        self.assertEqual([series["name"] for series in charts["Bytes in use over time, by function"]["series"]],
                         [LIBRARY, NO_FILE])
        # One that calls another is one in the graph.
        flame = charts["Call stacks"]
        self.assertEqual([document["frames"][frame]["name"] for frame in flame["frames"][1:]], [LIBRARY, NO_FILE])
        answers = {section["id"]: section["answer"] for section in document["sections"]}
        self.assertIn(f"came from {LIBRARY}.", answers["origins"])
        self.assertIn(f"comes from {LIBRARY}.", answers["leaks"])

    def test_functions_without_names_are_told_apart_by_address_on_request(self):
        trace = self.trace(UNNAMED)
        document = json.loads(granary("summary", "--json", "--addresses", trace).stdout)
        charts = {chart["title"]: chart for section in document["sections"] for chart in section["charts"]}
        self.assertEqual([row[0] for row in charts["Memory by function"]["rows"]],
                         ["libbare.so+0x20", "libbare.so+0x30", "0x900000"])
        self.assertEqual([document["frames"][frame]["name"] for frame in charts["Call stacks"]["frames"][1:]],
                         ["libbare.so+0x10", "libbare.so+0x20", "libbare.so+0x30", "0x900000"])
        self.assertNotIn("unknown function", json.dumps(document))
        os.rename(trace, self.path("before"))
        more = self.trace(UNNAMED.replace("1000 2", "3000 2"))
        self.assertIn("Largest growth: libbare.so+0x20,", granary("diff", "--addresses", self.path("before"), more).stdout)
        self.assertIn(f"Largest growth: {LIBRARY},", granary("diff", self.path("before"), more).stdout)

    def test_json_and_page_hold_the_same_document(self):
        document = json.loads(granary("summary", "--json", self.trace()).stdout)
        done = granary("report", self.path("trace"), "-o", self.path("page.html"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("page.html"), encoding="utf-8") as file:
            packed = re.search(r'<script id="document"[^>]*>([^<]*)</script>', file.read()).group(1)
        self.assertEqual(json.loads(gzip.decompress(base64.b64decode(packed))), document)
        self.assertEqual(document["title"], "story")
        self.assertEqual(len(document["story"]), 3)
        answers = " ".join(section["answer"] for section in document["sections"])
        self.assertTrue(all(sentence.rstrip(".") in answers for sentence in document["story"]))

    def test_a_page_is_small_whatever_the_trace(self):
        subprocess.run([SYNTHETIC_TRACE, self.path("much"), "300000", "3"], check=True)
        self.assertEqual(granary("report", self.path("much")).returncode, 0)
        self.assertLess(os.path.getsize(self.path("much.html")), MOST_PAGE_BYTES)

    def test_what_is_no_trace(self):
        self.expect_refusal(self.path("nowhere"), "nowhere")
        self.expect_refusal(self.file_of(b""), "empty")
        self.expect_refusal(self.file_of(b"#!/bin/sh\n" * 20), "not a trace")

    def test_another_version(self):
        content = bytearray(self.bytes_of_trace())
        content[VERSION_AT] += 1
        self.expect_refusal(self.file_of(bytes(content)), "version")

    def test_a_trace_that_is_cut_off_is_read_up_to_there(self):
        content = self.bytes_of_trace()
        done = granary("summary", self.file_of(content[:-10]))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("note: "), 1)
        self.assertIn("2 allocations and 1 free", done.stdout)

    def test_a_page_that_cannot_be_written(self):
        done = granary("report", self.trace(), "-o", self.path("no/page.html"))
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (125, "", 1))
        done = granary("report", self.path("trace"), "-o", "/dev/full")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (125, "", 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
