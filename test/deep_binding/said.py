#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the library says of RTLD_DEEPBIND, and that it says so only when asked.
# Invariant: a line names the library that is opened and what came of the flag.
# Must not know: how that is done.
"""Usage: said.py LIBRARY PROGRAM PLUGIN: the program opens the plugin so."""

import os
import subprocess
import sys
import unittest


def said(**options):
    """The lines on stderr that tell of the flag; the program must end well."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GRANARY_")}
    done = subprocess.run([PROGRAM, PLUGIN], env={**clean, "LD_PRELOAD": LIBRARY, **options},
                          stderr=subprocess.PIPE, text=True, check=True)
    return [line for line in done.stderr.splitlines() if "DEEPBIND" in line]


class Said(unittest.TestCase):
    def test_nothing_unless_asked(self):
        for mode in ("mend", "drop", "keep"):
            self.assertEqual(said(GRANARY_DEEPBIND=mode), [])

    def test_what_was_done(self):
        mended = "the library gets this malloc, all other symbols as asked"
        dropped = "the flag is removed, so that the library gets this malloc"
        for options, what in (({}, mended), ({"GRANARY_DEEPBIND": "mend"}, mended), ({"GRANARY_DEEPBIND": "drop"}, dropped)):
            self.assertEqual(said(GRANARY_VERBOSE="1", **options),
                             [f"granary: RTLD_DEEPBIND of {PLUGIN}: {what} (GRANARY_DEEPBIND)"])
        self.assertEqual(said(GRANARY_VERBOSE="1", GRANARY_DEEPBIND="keep"), [])


if __name__ == "__main__":
    PLUGIN = sys.argv.pop(3)
    PROGRAM = sys.argv.pop(2)
    LIBRARY = sys.argv.pop(1)
    unittest.main()
