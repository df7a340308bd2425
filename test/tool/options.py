#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary options.
# Invariant: it shows the library's own table, with the values a program started here would get.
# Must not know: how the library parses options.
"""Usage: options.py GRANARY LIBRARY FIXTURES."""

import json
import tempfile

from support import LIBRARY, ToolTest, granary, main

NAMES = ("STATS", "STATS_FILE", "STATS_INTERVAL", "VERBOSE", "OPTIONS_FILE", "RSEQ", "REGION", "RETAIN", "REUSE", "DIRECT",
         "MAGAZINE", "LIMIT", "HUGE_PAGES", "BACKGROUND", "DEEPBIND", "JUNK", "ZERO", "PROFILE", "PROFILE_FOLDER",
         "COLLECTIONS", "GC_POLICY", "GC_TRACER", "FREE", "QUARANTINE", "LEAKS")


class Options(ToolTest):
    def options(self, *arguments, **options):
        result = granary("options", "--library", LIBRARY, *arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def table(self, **environment):
        return {entry["name"]: entry for entry in json.loads(self.options("--json", environment=environment))}

    def test_every_option_in_both_forms(self):
        names = [f"GRANARY_{name}" for name in NAMES]
        self.assertEqual([line.split("=")[0] for line in self.options().splitlines()], names)
        self.assertEqual(list(self.table()), names)

    def test_columns_are_apart(self):
        widest = {"GRANARY_REGION": str(1 << 40), "GRANARY_LIMIT": "1099511627775,1099511627776"}
        for given in ({}, widest):
            rows = self.table(**given)
            for line in self.options(environment=given).splitlines():
                row = rows[line.split("=")[0]]
                words = [f"{row['name']}={row['value']}", row["origin"], "changeable" if row["changeable"] else "fixed",
                         row["unit"], row["meaning"]]
                rest = line
                for word in words[:-1]:
                    self.assertTrue(rest.startswith(word + " "), line)
                    rest = rest[len(word):].lstrip(" ")
                self.assertEqual(rest, words[-1])

    def test_value_and_origin(self):
        before, after = (self.table(**given)["GRANARY_RETAIN"] for given in ({}, {"GRANARY_RETAIN": "3M"}))
        self.assertEqual((before["value"], after["value"]), (str(1 << 20), str(3 << 20)))
        self.assertNotEqual(before["origin"], after["origin"])
        self.assertIn(f"GRANARY_RETAIN={3 << 20} ", self.options(environment={"GRANARY_RETAIN": "3M"}))

    def test_what_can_be_changed(self):
        changeable = [name for name, row in self.table().items() if row["changeable"]]
        self.assertEqual(changeable, [f"GRANARY_{name}" for name in ("STATS", "VERBOSE", "RETAIN", "REUSE", "DIRECT",
                                                                     "MAGAZINE", "LIMIT", "BACKGROUND")])

    def test_a_file(self):
        with tempfile.NamedTemporaryFile(prefix="granary-options-", mode="w") as file:
            file.write("RETAIN=3M\n")
            file.flush()
            rows = self.table(GRANARY_OPTIONS_FILE=file.name)
            self.assertEqual((rows["GRANARY_RETAIN"]["value"], rows["GRANARY_RETAIN"]["origin"]), (str(3 << 20), "file"))
            self.assertEqual(rows["GRANARY_OPTIONS_FILE"]["value"], file.name)

    def test_a_former_name(self):
        result = granary("options", "--json", "--library", LIBRARY, environment={"GRANARY_BREATH": "8M"})
        self.assertEqual(result.returncode, 0)
        line = "granary: GRANARY_BREATH is now called GRANARY_REUSE; the value is used\n"
        self.assertEqual(self.one_line(result.stderr), line)
        rows = {entry["name"]: entry for entry in json.loads(result.stdout)}
        self.assertEqual((rows["GRANARY_REUSE"]["value"], rows["GRANARY_REUSE"]["origin"]),
                         (str(8 << 20), "environment"))
        self.assertNotIn("GRANARY_BREATH", rows)

    def test_the_command_starts_itself_only_once(self):
        self.assertEqual(self.options(), self.options(environment={"LD_PRELOAD": LIBRARY}))

    def test_a_library_that_is_not_granary(self):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            path = next(line.split()[-1] for line in maps if "libc.so" in line)
        result = granary("options", "--library", path)
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.one_line(result.stderr)


if __name__ == "__main__":
    main()
