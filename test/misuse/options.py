#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What:      options that are unknown or malformed, and some that are right.
# Invariant: each wrong one is warned about exactly once, in one line, and the program goes on; right ones say nothing.
# Must not know: how options are parsed.
"""Usage: options.py PROGRAM (linked with the library)."""

import os
import subprocess
import sys
import unittest


def run(**options):
    """Returns the program's configuration as a dictionary and its lines on stderr."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GRANARY_")}
    result = subprocess.run(
        [PROGRAM], env={**clean, **options}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True
    )
    return dict(line.split("=", 1) for line in result.stdout.splitlines()), result.stderr.splitlines()


class Options(unittest.TestCase):
    def test_nothing_said_by_default(self):
        self.assertEqual(run()[1], [])

    def test_unknown(self):
        self.assertEqual(
            run(GRANARY_FOO="bar")[1], ["granary: ignoring GRANARY_FOO=bar: unknown option; see 'granary options'"]
        )

    def test_unknown_lookalikes(self):
        for name in ("GRANARY_", "GRANARY_RETAINS", "GRANARY_RETAI"):
            lines = run(**{name: "8M"})[1]
            self.assertEqual(len(lines), 1, f"{name}: {lines}")
            self.assertTrue(lines[0].startswith(f"granary: ignoring {name}=8M: unknown option"), lines)

    def test_malformed_bytes(self):
        self.assertEqual(
            run(GRANARY_RETAIN="abc")[1], ["granary: ignoring GRANARY_RETAIN=abc: expected bytes, as in 8M"]
        )
        default = run()[0]
        for name in ("REGION", "RETAIN", "REUSE", "DIRECT", "MAGAZINE"):
            for value in ("", "abc", "-1", "8Q", "8MM", "1.5M", "0x10", "99999999999999999999", "99999999999T", "8M "):
                found, lines = run(**{f"GRANARY_{name}": value})
                self.assertEqual(len(lines), 1, f"GRANARY_{name}={value}: {lines}")
                self.assertTrue(lines[0].startswith(f"granary: ignoring GRANARY_{name}={value}: "), lines)
                self.assertEqual(found[name], default[name], "an ignored option keeps its default")

    def test_malformed_words(self):
        for name, value in (("STATS", "maybe"), ("VERBOSE", "2"), ("RSEQ", "perhaps"), ("RSEQ", ""), ("STATS", "TEXTT"),
                            ("LIMIT", "2G,1G"), ("LIMIT", "most"),
                            ("HUGE_PAGES", "sometimes"), ("HUGE_PAGES", ""), ("BACKGROUND", "1"),
                            ("DEEPBIND", "on")):  # fmt: skip
            lines = run(**{f"GRANARY_{name}": value})[1]
            self.assertEqual(len(lines), 1, f"GRANARY_{name}={value}: {lines}")
            self.assertTrue(lines[0].startswith(f"granary: ignoring GRANARY_{name}={value}: expected "), lines)

    def test_very_long(self):
        lines = run(GRANARY_FOO="x" * 100000, **{"GRANARY_" + "Y" * 5000: "1"})[1]
        self.assertEqual(len(lines), 2)

    def test_several_wrong_ones(self):
        lines = run(GRANARY_FOO="1", GRANARY_BAR="2", GRANARY_DIRECT="none", GRANARY_RETAIN="4M")[1]
        self.assertEqual(len(lines), 3, lines)
        self.assertEqual(len(set(lines)), 3, lines)

    def test_a_former_name(self):
        found, lines = run(GRANARY_BREATH="4M")
        self.assertEqual(lines, ["granary: GRANARY_BREATH is now called GRANARY_REUSE; the value is used"])
        self.assertEqual(found["REUSE"], str(4 << 20))

    def test_right_ones(self):
        default = run()[0]
        for name, value in (
            ("RETAIN", "3M"), ("RETAIN", "0"), ("RETAIN", "65536"), ("REUSE", "4M"), ("REGION", "1G"), ("DIRECT", "512K"),
            ("MAGAZINE", "64K"), ("LIMIT", "1G,2G"), ("HUGE_PAGES", "never"),
            ("HUGE_PAGES", "always"), ("RSEQ", "off"), ("VERBOSE", "0"), ("STATS", "off"),
            ("BACKGROUND", "on"), ("DEEPBIND", "drop"), ("DEEPBIND", "keep"),
        ):  # fmt: skip
            found, lines = run(**{f"GRANARY_{name}": value})
            self.assertEqual(lines, [], f"GRANARY_{name}={value}")
            if value not in ("0", "off") or name in ("RETAIN", "RSEQ"):
                self.assertNotEqual(found[name], default[name], f"GRANARY_{name}={value} has no effect")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
