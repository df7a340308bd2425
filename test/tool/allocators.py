#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What:      granary run --allocator: which library the program gets, by which name, and what is refused.
# Invariant: whatever the allocator, the program is the process that was started.
# Must not know: what the allocators do.
"""Usage: allocators.py GRANARY LIBRARY FIXTURES."""

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

    def test_no_library(self):
        self.assertIn("not a shared library", self.refused("--allocator", fixture("static")))
        self.assertIn("brings no malloc", self.refused("--allocator", os.path.join(os.path.dirname(LIBRARY),
                                                                                   "libgranary-gc.so")))
        self.refused("--allocator", "/no/such/file.so")

    def test_what_is_granarys_own_goes_with_no_other(self):
        for option in ("--stats", "--gc", "--gc-malloc", "--quarantine", "--no-rseq", f"--library={LIBRARY}"):
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


if __name__ == "__main__":
    main()
