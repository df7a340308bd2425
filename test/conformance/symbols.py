#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: compares the shared library's dynamic symbols with symbols.txt, and looks at what it needs and keeps.
# Invariant: the whole family is exported (half a set mixes heaps) and nothing else is.
# Must not know: what the symbols do.
"""Usage: symbols.py LIBRARY SYMBOLS_FILE."""

import re
import subprocess
import sys
import unittest

TLS_LIMIT = 64


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def symbols():
    """What the library defines for others, with nm's letter for the kind; without names of versions."""
    lines = output("nm", "-D", "--defined-only", "--format=posix", LIBRARY).splitlines()
    kinds = {line.split()[0].split("@")[0]: line.split()[1] for line in lines}
    return {name: kind for name, kind in kinds.items() if kind != "A"}


class Symbols(unittest.TestCase):
    def test_exports(self):
        exported = set(symbols())
        with open(EXPECTED, encoding="ascii") as file:
            expected = set(file.read().split())
        self.assertEqual(sorted(expected - exported), [], "symbols that the library must export")
        # glibc's own internal names, for programs that call them.
        extra = {name for name in exported - expected if not name.startswith(("__libc_", "__posix_memalign"))}
        self.assertEqual(sorted(extra), [], "symbols that the library should not export")

    def test_all_are_functions(self):
        self.assertEqual({kind for kind in symbols().values()} - {"T", "W"}, set())

    def test_needs_only_libc(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", LIBRARY))
        allowed = re.compile(r"libc\.so\.6|ld-linux-.*\.so\.\d|ld-musl-.*")
        self.assertEqual([name for name in needed if not allowed.fullmatch(name)], [])

    def test_cannot_be_unloaded(self):
        self.assertIn("NODELETE", output("readelf", "-dW", LIBRARY))

    def test_thread_local_storage(self):
        segments = re.findall(r"^\s*TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x\w+)", output("readelf", "-lW", LIBRARY), re.M)
        self.assertLessEqual(sum(int(size, 16) for size in segments), TLS_LIMIT)
        relocations = output("readelf", "-rW", LIBRARY)
        self.assertNotIn("DTPMOD", relocations, "thread-local storage must be initial-exec")
        self.assertNotIn("TLSDESC", relocations, "thread-local storage must be initial-exec")


if __name__ == "__main__":
    EXPECTED = sys.argv.pop(2)
    LIBRARY = sys.argv.pop(1)
    unittest.main()
