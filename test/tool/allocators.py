#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: an allocator by name, in granary run, record and replay: which library the program gets, with which
#    options, and what is refused.
# Invariant: whatever the allocator, the program is the process that was started.
# Must not know: what the allocators do.
"""Usage: allocators.py GRANARY LIBRARY FIXTURES."""

import json
import os
import unittest
from pathlib import Path

from support import GRANARY, LIBRARY, ToolTest, fixture, granary, main

LAB = Path(GRANARY).parent / "lab"
IN_LAB = sorted(file.name.removeprefix("liblab-").removesuffix(".so") for file in LAB.glob("liblab-*.so"))


class Allocators(ToolTest):
    def preloaded(self, *arguments):
        result = granary("run", *arguments, "sh", "-c", "echo $LD_PRELOAD")
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout.strip()

    def refused(self, *arguments):
        result = granary("run", *arguments, "echo", "ran")
        self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
        return self.one_line(result.stderr)

    def test_granary_and_the_programs_own(self):
        for arguments in ((), ("--allocator", "granary"), ("--allocator=granary", "--stats=json", "--no-rseq")):
            result = granary("run", *arguments, "sh", "-c", "echo $LD_PRELOAD")
            self.assertEqual(os.path.basename(result.stdout.strip()), "libgranary.so", arguments)
        self.assertEqual(self.preloaded("--allocator", "system"), "")

    def test_a_file(self):
        self.assertEqual(self.preloaded("--allocator", LIBRARY), LIBRARY)

    def test_what_was_preloaded_stays_behind_it(self):
        result = granary("run", "--allocator", LIBRARY, "sh", "-c", "echo $LD_PRELOAD",
                         environment={"LD_PRELOAD": "libm.so.6"})
        self.assertEqual(result.stdout.strip(), f"{LIBRARY}:libm.so.6")

    def test_unknown_ones_are_told_what_there_is(self):
        for name in ("frobnicator", "lab:frobnicator", "lab:"):
            line = self.refused("--allocator", name)
            for known in ("system", "granary", *(f"lab:{name}" for name in IN_LAB)):
                self.assertIn(known, line)

    def test_each_name_is_told_once(self):
        peers = [{"name": name, "library": LIBRARY} for name in ("jemalloc", "mimalloc", "tcmalloc", "jemalloc")]
        os.mkdir(self.path("peers"))
        self.write("peers/peers.json", json.dumps({"peers": [{"name": "system", "library": None}, *peers]}))
        result = granary("run", "--allocator", "nobody", "true", command=self.copy(GRANARY, "build/granary"))
        told = self.one_line(result.stderr)
        names = told[told.index("there are ") + len("there are "):told.index(" and any PATH.so")].split(", ")
        self.assertEqual(sorted(names), ["granary", "jemalloc", "mimalloc", "system", "tcmalloc"])

    def test_what_stands_where_a_name_should_is_told_where_options_belong(self):
        for words in ("K=0", "f=1/8", "hoard:f=1/8"):
            self.assertIn(f"no allocator '{words}'; options follow", self.refused("--allocator", words))

    def test_a_file_may_have_an_equals_sign(self):
        library = self.copy(LIBRARY, "a=b/c.so")
        for words in (library, "a=b/c.so"):
            result = granary("run", "--allocator", words, "sh", "-c", "echo $LD_PRELOAD", cwd=self.folder)
            self.assertEqual((result.stdout.strip(), result.stderr), (library, ""), words)
        self.assertIn("No such file", self.refused("--allocator", "/no/such=file.so"))

    def test_the_help_of_each_command_names_the_same(self):
        for command in ("run", "record", "replay"):
            text = granary(command, "--help").stdout
            self.assertIn(": system, granary, lab:NAME[:OPTION=VALUE], jemalloc, ... (default: ", text, command)

    def test_no_library(self):
        self.assertIn("not a shared library", self.refused("--allocator", fixture("static")))
        self.assertIn("has no malloc", self.refused("--allocator", os.path.join(os.path.dirname(LIBRARY),
                                                                                   "libgranary-gc.so")))
        self.refused("--allocator", "/no/such/file.so")

    def test_what_is_granarys_own_goes_with_no_other(self):
        for option in ("--stats", "--gc", "--gc-malloc", "--quarantine", "--junk", "--no-rseq", f"--library={LIBRARY}"):
            line = self.refused("--allocator", "system", option)
            self.assertIn(option.split("=")[0], line)
            self.assertIn("--allocator 'system'", line)

    def test_a_program_that_cannot_is_told_of_by_the_allocators_name(self):
        result = granary("run", "--allocator", LIBRARY, fixture("static"))
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"not on {LIBRARY}: ", self.one_line(result.stderr))


@unittest.skipUnless(IN_LAB, "the lab is not built")
class Lab(ToolTest):
    def test_each_runs_a_program(self):
        for name in IN_LAB:
            result = granary("run", "--allocator", f"lab:{name}", "sh", "-c", "echo $LD_PRELOAD")
            self.assertEqual((result.returncode, result.stderr), (0, ""), name)
            self.assertEqual(result.stdout.strip(), str(LAB / f"liblab-{name}.so"))

    def test_a_name_that_nobody_else_has_needs_no_prefix(self):
        self.assertIn("single", IN_LAB)
        result = granary("run", "--allocator", "single", "sh", "-c", "echo $LD_PRELOAD")
        self.assertEqual(result.stdout.strip(), str(LAB / "liblab-single.so"))


@unittest.skipUnless("hoard" in IN_LAB, "the lab is not built")
class Options(ToolTest):
    """Behind the name of an allocator of the lab."""

    NAMES = {"lab:hoard:f=1/8": "f=1/8", "lab:hoard:f=1/8:K=0": "f=1/8,K=0", "lab:hoard": "outer"}
    REFUSED = {"lab:hoard:f=9/8": "'f=9/8': must be from 1/8 to 7/8 in eighths",
               "lab:hoard:K=0:f=2/7": "'f=2/7': must be from 1/8 to 7/8 in eighths",
               "lab:hoard:g=1": "'g=1': not an option of this allocator; the options are f K S b e",
               "lab:single:f=1/8": "this allocator has no options",
               "lab:jemalloc2006:K": "this allocator has no options"}

    def trace(self):
        done = granary("record", "-q", "-o", self.path("a.trace"), "sh", "-c", ":")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.path("a.trace")

    def test_a_program_gets_them(self):
        for words, options in self.NAMES.items():
            for command in (("run",), ("record", "-q", "-o", self.path("a.trace"))):
                done = granary(*command, "--allocator", words, "sh", "-c", "echo $GRANARY_LAB; echo $LD_PRELOAD",
                               environment={"GRANARY_LAB": "outer"} if options == "outer" else {"GRANARY_LAB": "K=1"})
                told, preloaded = done.stdout.splitlines()
                self.assertEqual((done.returncode, told), (0, options), (command, words, done.stderr))
                self.assertEqual(preloaded.split(":")[-1], str(LAB / "liblab-hoard.so"))

    def test_each_of_a_replay_has_its_own(self):
        trace = self.trace()
        names = ["lab:hoard:f=1/8", "lab:hoard:K=0:b=1.4", "system"]
        for more, said in (([], 0), (["lab:hoard"], 1)):  # which reads an option that the others have not
            done = granary("replay", "--rounds", "1", "--json", "--with", ",".join(names + more), trace,
                           environment={"GRANARY_LAB": "f=9/8"})
            self.assertEqual((done.returncode, done.stderr.count("'f=9/8'")), (0, said), done.stderr)
            self.assertEqual([one["name"] for one in json.loads(done.stdout)["allocators"]], names + more)

    def test_what_the_library_does_not_take_is_refused_in_its_words(self):
        trace = self.trace()
        for words, why in self.REFUSED.items():
            for command in (("run", "--allocator", words, "echo", "ran"),
                            ("record", "-o", self.path("b.trace"), "--allocator", words, "echo", "ran"),
                            ("replay", "--with", f"system,{words}", trace)):
                done = granary(*command)
                self.assertEqual((done.returncode, done.stdout), (2, ""), command)
                self.assertEqual(done.stderr, f"granary: {command[0]}: allocator '{words}': {why}\n")
        self.assertFalse(os.path.exists(self.path("b.trace")))

    def test_a_warning_has_the_whole_name(self):
        done = granary("run", "--allocator", "lab:hoard:f=1/8", fixture("static"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("not on lab:hoard:f=1/8: ", self.one_line(done.stderr))


if __name__ == "__main__":
    main()
