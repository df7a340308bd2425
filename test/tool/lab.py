#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary lab: what it lists, how it gets a record from a script and from a program, what it puts into the page, and
#    how each mistake ends.
# Invariant: the lab is a folder that the test fills: the stage is a script of this file, the libraries do nothing.
# Must not know: the lab's allocators; how the page draws.
"""Usage: lab.py GRANARY LIBRARY FIXTURES."""

import base64
import gzip
import json
import os
import re

from support import GRANARY, ToolTest, fixture, granary, main

EMPTY = fixture("libgc.so.1")  # a library in which nothing is
HEAD = {"format": "granary-lab-show 1"}

# Plays no script: a record of what it was asked for; or what the script's text asks for.
STAGE = """#!/bin/sh
test "$1 $3 $5" = "--library --script --output" || exit 99
case $(cat "$4") in
    mistake) echo "granary-lab-stage: $4, line 1: no such command" >&2; echo "more" >&2; exit 2 ;;
    crash) echo "free(): invalid pointer" >&2; kill -ABRT $$ ;;
    nothing) echo '{"format":"granary-lab-show 1"}' > "$6" ;;
    *) printf '%s\\n' '{"format":"granary-lab-show 1"}' "{\\"library\\":\\"$2\\",\\"options\\":\\"$GRANARY_LAB\\"}" > "$6" ;;
esac
"""


class LabTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.command = self.copy(GRANARY, "build/granary")

    def build_lab(self, shown=("hoard", "private"), others=()):
        for name in shown:
            self.copy(EMPTY, f"build/lab/shown/liblab-{name}.so")
        for name in others:
            self.copy(EMPTY, f"build/lab/liblab-{name}.so")
        os.makedirs(self.path("build/lab/scripts"))
        self.write("build/lab/granary-lab-stage", STAGE)
        self.write("build/lab/scripts/figure_1.txt", "# Figure 1 of\n# a paper: blowup. Run it.\nthreads 2\n", 0o644)
        self.write("build/lab/scripts/bare.txt", "threads 1\n", 0o644)

    def lab(self, *arguments, **options):
        return granary("lab", *arguments, command=self.command, cwd=self.folder, **options)

    def shown(self, *arguments, **options):
        """The page's name, its title, and each run's name with the lines of its record."""
        result = self.lab("show", *arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        name = re.fullmatch(r"(.*): [0-9.]+ KiB\n", result.stdout).group(1)
        with open(self.path(name), encoding="utf-8") as file:
            page = file.read()
        document = self.document(page)
        self.assertEqual(document["version"], 1)
        records = {run["name"]: [json.loads(line) for line in run["record"].splitlines()] for run in document["runs"]}
        return name, document["title"], records

    @staticmethod
    def document(page):
        packed = re.search(r'<script id="document" type="application/octet-stream;base64">([^<]+)</script>', page).group(1)
        return json.loads(gzip.decompress(base64.b64decode(packed)))

    def refused(self, code, *arguments, **options):
        result = self.lab("show", *arguments, **options)
        self.assertEqual((result.returncode, result.stdout), (code, ""), arguments)
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith((".html", ".part"))], [])
        return self.one_line(result.stderr)


class List(LabTest):
    def test_allocators_and_scripts(self):
        self.build_lab()
        result = self.lab()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        first, *scripts = result.stdout.splitlines()
        self.assertEqual(first, "allocators that can be shown: hoard, private")
        self.assertEqual([line.split(maxsplit=2) for line in scripts], [["script", "bare"], ["script", "figure_1", "Figure 1 of a paper: blowup."]])

    def test_a_lab_that_is_not_built(self):
        for arguments in ((), ("show", "hoard", "figure_1"), ("show", "hoard", "true")):
            result = self.lab(*arguments)
            self.assertEqual((result.returncode, result.stdout), (125, ""), arguments)
            self.assertIn("make lab-show", self.one_line(result.stderr))


class Scripts(LabTest):
    def setUp(self):
        super().setUp()
        self.build_lab(others=("boehm",))

    def test_a_script_of_the_lab(self):
        name, title, records = self.shown("hoard", "figure_1")
        self.assertEqual((name, title, list(records)), ("figure_1.html", "figure_1", ["hoard"]))
        self.assertEqual(records["hoard"], [HEAD, {"library": self.path("build/lab/shown/liblab-hoard.so"), "options": ""}])

    def test_a_script_of_ones_own(self):
        self.write("my own.txt", "threads 2\n", 0o644)
        self.assertEqual(self.shown("hoard", "my own.txt")[:2], ("my own.html", "my own"))

    def test_options_stand_before_and_behind_a_script(self):
        for words in (("-o", "a.html", "hoard", "figure_1"), ("hoard", "figure_1", "-o", "a.html"),
                      ("hoard", "--output=a.html", "figure_1")):
            self.assertEqual(self.shown(*words)[0], "a.html")

    def test_several_side_by_side(self):
        _, _, records = self.shown("private,lab:hoard", "figure_1")
        self.assertEqual(list(records), ["private", "hoard"])
        self.assertEqual([os.path.basename(lines[1]["library"]) for lines in records.values()],
                         ["liblab-private.so", "liblab-hoard.so"])

    def test_what_an_allocator_does_not_take_is_refused(self):
        self.assertIn("this allocator has no options", self.refused(2, "hoard:f=1/8", "figure_1"))

    def test_mistakes(self):
        self.write("wrong.txt", "mistake\n", 0o644)
        self.assertEqual(self.refused(1, "hoard", "wrong.txt"), "granary: lab: hoard: wrong.txt, line 1: no such command\n")
        self.write("crash.txt", "crash\n", 0o644)
        self.assertIn("hoard: the stage ended by Aborted: free(): invalid pointer", self.refused(1, "hoard", "crash.txt"))
        self.write("nothing.txt", "nothing\n", 0o644)
        self.assertIn("makes no step", self.refused(1, "hoard", "nothing.txt"))

    def test_unknown_allocators(self):
        self.assertIn("the lab has no allocator 'frob'; there are hoard, private", self.refused(2, "frob", "figure_1"))
        self.assertIn("the lab cannot show its allocator 'boehm'; there are", self.refused(2, "hoard,boehm", "figure_1"))

    def test_what_is_missing_is_asked_for(self):
        for words in ((), ("hoard",), (",", "figure_1")):
            self.assertIn("'granary lab' lists what there is", self.refused(2, *words))
        self.assertIn("--calls is for a program", self.refused(2, "--calls", "5", "hoard", "figure_1"))

    def test_a_page_that_cannot_be_written(self):
        self.assertIn("cannot write", self.refused(125, "-o", "/no/such/folder/a.html", "hoard", "figure_1"))

    def test_a_stage_that_is_missing(self):
        os.remove(self.path("build/lab/granary-lab-stage"))
        self.assertIn("make lab-show", self.refused(125, "hoard", "figure_1"))


class Programs(LabTest):
    """sh stands for a program whose malloc records."""

    RECORD = 'printf "%s\\n" "{\\"calls\\":$GRANARY_LAB_SHOW_CALLS}" "{\\"argument\\":\\"$1\\"}" > "$GRANARY_LAB_SHOW"'

    def setUp(self):
        super().setUp()
        self.build_lab()

    def test_a_program_with_its_arguments(self):
        name, title, records = self.shown("-o", "a.html", "hoard", "sh", "-c", self.RECORD, "sh", "-o")
        self.assertEqual((name, title), ("a.html", f"sh -c {self.RECORD} sh -o"))
        self.assertEqual(records, {"hoard": [{"calls": 200}, {"argument": "-o"}]})

    def test_its_name_names_the_page(self):
        self.assertEqual(self.shown("hoard", "/bin/sh", "-c", self.RECORD)[0], "sh.html")

    def test_how_many_calls(self):
        _, _, records = self.shown("--calls", "7", "hoard,private", "sh", "-c", self.RECORD)
        self.assertEqual([lines[0] for lines in records.values()], [{"calls": 7}, {"calls": 7}])

    def test_the_library_is_preloaded(self):
        command = f'{self.RECORD}; echo "$LD_PRELOAD"'
        result = self.lab("show", "hoard", "sh", "-c", command, environment={"LD_PRELOAD": "libm.so.6"})
        self.assertEqual(result.stdout.splitlines()[0], f"{self.path('build/lab/shown/liblab-hoard.so')}:libm.so.6")

    def test_a_program_that_is_killed_is_shown_until_then(self):
        command = f'{self.RECORD}; printf "{{half" >> "$GRANARY_LAB_SHOW"; kill -KILL $$'
        result = self.lab("show", "hoard", "sh", "-c", command)
        self.assertEqual((result.returncode, self.one_line(result.stderr)),
                         (0, "granary: lab: hoard: 'sh' ended by Killed; the page shows the steps until then\n"))
        with open(self.path("sh.html"), encoding="utf-8") as file:
            self.assertEqual(self.document(file.read())["runs"][0]["record"].count("\n"), 2)
        os.remove(self.path("sh.html"))
        self.assertIn("'sh' ended by Killed and left no step", self.refused(1, "-o", "b.html", "hoard", "sh", "-c", "kill -KILL $$"))

    def test_two_dashes_make_a_program_of_a_scripts_name(self):
        self.assertIn("'figure_1'", self.refused(127, "hoard", "--", "figure_1"))

    def test_programs_that_are_not_there_or_record_nothing(self):
        self.assertIn("'granary lab' lists the scripts", self.refused(127, "hoard", "figure_2"))
        line = self.refused(1, "hoard", fixture("static"))
        self.assertIn("ended with status 0 and left no step; a program must be dynamically linked", line)


if __name__ == "__main__":
    main()
