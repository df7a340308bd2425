# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: functions of programs that different linkers made have their own names, however the linker lays out segments.
# Invariant: GNU ld is always there; gold, lld and mold are tried where they are installed.
# Must not know: how names are found.
import os
import shutil
import subprocess
import sys
import unittest

from support import GRANARY, RecordTest

SOURCE = """
#include <stdlib.h>
__attribute__((noinline)) void *innermost(int i) { return malloc(100 + i); }
__attribute__((noinline)) void *middle(int i) { void *p = innermost(i); *(volatile char *)p = 1; return p; }
int main(void) { for (int i = 0; i < 64; ++i) free(middle(i)); return 0; }
"""
LAYOUTS = [[], ["-no-pie"]]
PAGES = [["-Wl,-z,separate-code"], ["-Wl,-z,noseparate-code"]]  # gold does not know them


class Linkers(RecordTest):
    def check(self, linker):
        if shutil.which(f"ld.{linker}") is None:
            self.skipTest(f"there is no ld.{linker}")
        source = os.path.join(self.folder, "program.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(SOURCE)
        for layout in LAYOUTS + (PAGES if linker != "gold" else []):
            program = os.path.join(self.folder, "program")
            subprocess.run(["gcc", "-O1", "-fno-optimize-sibling-calls", f"-fuse-ld={linker}", *layout, source, "-o", program],
                           check=True, capture_output=True)
            self.record("-q", "--stacks", "all", "-o", "trace", program)
            stacks = subprocess.run([GRANARY, "export", "trace", "--folded"], cwd=self.folder, check=True,
                                    capture_output=True, text=True)
            self.assertRegex(stacks.stdout, r"(?m)main;middle;innermost[; ]", f"{linker} {layout}")

    def test_bfd(self):
        self.check("bfd")

    def test_gold(self):
        self.check("gold")

    def test_lld(self):
        self.check("lld")

    def test_mold(self):
        self.check("mold")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
