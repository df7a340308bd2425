#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: compares what libgc.so.1 exports with the tables of docs/design/collector-abi.md: names, functions or variables, the
#    variables' sizes, and what the library needs and keeps.
# Invariant: exactly the documented names without a version; a program was linked with these sizes.
# Must not know: what the symbols do.
"""Usage: symbols.py LIBRARY COLLECTOR_ABI_MD [LIBGCCPP]."""

import re
import subprocess
import sys
import unittest

BY_THE_LINKER = {"_end"}
OF_GCCPP = {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", "_Z18GC_throw_bad_allocv"}
TLS_LIMIT = 64


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def documented():
    """For each name of the tables of section 1 its size if it is a variable, else None."""
    with open(DOCUMENT, encoding="utf-8") as file:
        section = file.read().split("\n## 1. Symbols")[1].split("\n## 2.")[0]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", section, re.MULTILINE)
    sizes = {}
    for name, signature in rows:
        size = re.search(r"(\d+) bytes", signature)
        sizes[name] = int(size.group(1)) if size else None
    return {name: size for name, size in sizes.items() if name not in BY_THE_LINKER}


def exported(library):
    """For each name nm's letter and its size; without the versions' own names and what is ours under one."""
    symbols = {}
    for line in output("nm", "-D", "-S", "--defined-only", "--format=posix", library).splitlines():
        name, letter, *numbers = line.split()
        if letter == "A" or re.fullmatch(r"gr_gc_\w+@@GRANARY_0", name):
            continue
        symbols[name] = (letter, int(numbers[1], 16) if len(numbers) > 1 else 0)
    return symbols


class Symbols(unittest.TestCase):
    def test_the_document_names_293(self):
        self.assertEqual(len(documented()), 293)

    def test_exports_what_is_documented(self):
        self.assertEqual(sorted(set(documented()) - set(exported(LIBRARY))), [], "to be exported")
        self.assertEqual(sorted(set(exported(LIBRARY)) - set(documented())), [], "not to be exported")

    def test_functions_and_variables(self):
        symbols = exported(LIBRARY)
        for name, size in documented().items():
            with self.subTest(name):
                letter, found = symbols[name]
                if size is None:
                    self.assertEqual(letter, "T")
                else:
                    self.assertIn(letter, "BDR")
                    self.assertEqual(found, size)

    def test_no_versions(self):
        self.assertEqual([name for name in exported(LIBRARY) if "@" in name], [])

    def test_needs_only_libc(self):
        dynamic = output("readelf", "-dW", LIBRARY)
        allowed = re.compile(r"libc\.so\.6|ld-linux-.*\.so\.\d|ld-musl-.*")
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        self.assertEqual([name for name in needed if not allowed.fullmatch(name)], [])

    def test_thread_local_storage(self):
        segments = re.findall(r"^\s*TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x\w+)", output("readelf", "-lW", LIBRARY), re.M)
        # A debug build also counts the locks that each thread holds.
        of_debug = re.findall(r"^\s*\d+:\s+\S+\s+(\d+)\s+TLS\s.*held_ranks", output("readelf", "-sW", LIBRARY), re.M)
        size = sum(int(segment, 16) for segment in segments) - sum(map(int, set(of_debug)))
        self.assertLessEqual(size, TLS_LIMIT)

    def test_gccpp(self):
        if GCCPP is None:
            self.skipTest("not named")
        self.assertEqual(set(exported(GCCPP)), OF_GCCPP)


if __name__ == "__main__":
    GCCPP = sys.argv.pop(3) if len(sys.argv) > 3 else None
    DOCUMENT = sys.argv.pop(2)
    LIBRARY = sys.argv.pop(1)
    unittest.main()
