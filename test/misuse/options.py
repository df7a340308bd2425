#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: options that are unknown or malformed, and some that are right; from the environment, a file and the program.
# Invariant: each wrong one is warned about exactly once, in one line, and the program goes on; right ones say nothing.
# Must not know: how options are parsed.
"""Usage: options.py PROGRAM LIBRARY COMPILED PRELOADED.

PROGRAM and COMPILED are linked with the library, and PRELOADED is not; the last two are compiled with options of their
own.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import unittest


def execute(*command, **options):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GRANARY_")}
    result = subprocess.run(
        command, env={**clean, **options}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True
    )
    return result.stdout, result.stderr.splitlines()


def run(program=None, **options):
    """Returns the program's configuration as a dictionary and its lines on stderr."""
    out, lines = execute(program or PROGRAM, **options)
    return dict(line.split("=", 1) for line in out.splitlines()), lines


def origins(program=None, **options):
    """Returns where each value comes from."""
    rows = json.loads(execute(program or PROGRAM, "json", **options)[0])
    return {row["name"].removeprefix("GRANARY_"): row["origin"] for row in rows}


@contextlib.contextmanager
def options_file(text):
    with tempfile.NamedTemporaryFile(prefix="granary-options-", mode="wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
        file.flush()
        yield file.name


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
        for name, value in (("STATS", "maybe"), ("VERBOSE", "2"), ("RSEQ", "perhaps"), ("RSEQ", ""), ("STATS", "TEXTT"), ("STATS_FILE", "granary.prom"), ("STATS_INTERVAL", "0"), ("STATS_INTERVAL", "1M"),
                            ("STATS_INTERVAL", "86401"), ("STATS_INTERVAL", ""),
                            ("LIMIT", "2G,1G"), ("LIMIT", "most"),
                            ("HUGE_PAGES", "sometimes"), ("HUGE_PAGES", ""), ("BACKGROUND", "1"),
                            ("DEEPBIND", "on"), ("JUNK", "on"), ("ZERO", "1"), ("GC_POLICY", "linear"),
                            ("GC_TRACER", "no")):  # fmt: skip
            lines = run(**{f"GRANARY_{name}": value})[1]
            self.assertEqual(len(lines), 1, f"GRANARY_{name}={value}: {lines}")
            self.assertTrue(lines[0].startswith(f"granary: ignoring GRANARY_{name}={value}: expected "), lines)

    def test_control_characters(self):
        lines = run(GRANARY_X="a\x1b[31mred\x02\x7f\n\u00e9\udcff")[1]
        self.assertEqual(lines, ["granary: ignoring GRANARY_X=a?[31mred???\u00e9?: unknown option; see 'granary options'"])

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
            ("STATS_FILE", "/tmp/granary.%p.prom"), ("STATS_INTERVAL", "60"),
            ("BACKGROUND", "on"), ("DEEPBIND", "drop"), ("DEEPBIND", "keep"),
            ("JUNK", "allocate"), ("JUNK", "free"), ("JUNK", "all"), ("ZERO", "on"), ("GC_POLICY", "growable"), ("GC_POLICY", "square-root"),
            ("GC_TRACER", "off"),
        ):  # fmt: skip
            found, lines = run(**{f"GRANARY_{name}": value})
            self.assertEqual(lines, [], f"GRANARY_{name}={value}")
            if value not in ("0", "off") or name in ("RETAIN", "RSEQ"):
                self.assertNotEqual(found[name], default[name], f"GRANARY_{name}={value} has no effect")

    def test_a_long_path_is_told_whole(self):
        path = "/granary" * 100
        found, lines = run(GRANARY_STATS_FILE=path)
        self.assertEqual((found["STATS_FILE"], lines), (path, []))

    def test_a_file(self):
        with options_file("# comment\n\nRETAIN=3M\n granary_limit = 1G,2G # comment\r\nBREATH=4M") as path:
            found, lines = run(GRANARY_OPTIONS_FILE=path)
            self.assertEqual(lines, [f"granary: {path}:5: GRANARY_BREATH is now called GRANARY_REUSE; the value is used"])
            self.assertEqual((found["RETAIN"], found["LIMIT"]), (str(3 << 20), f"{1 << 30},{2 << 30}"))
            self.assertEqual((found["REUSE"], found["OPTIONS_FILE"]), (str(4 << 20), path))

    def test_faults_in_a_file(self):
        faults = (("RETAIN=abc", "RETAIN=abc: expected bytes, as in 8M"),
                  ("RETAIN", "RETAIN: expected NAME=VALUE, as in RETAIN=8M"),
                  ("FOO=bar", "FOO=bar: unknown option; see 'granary options'"),
                  ("FOO=\x1b[31m\udcff", "FOO=?[31m?: unknown option; see 'granary options'"),
                  ("RETAIN=1M\0", "RETAIN=1M?: expected bytes, as in 8M"),
                  ("OPTIONS_FILE=/tmp/other", "OPTIONS_FILE=/tmp/other: a file cannot name another file"))  # fmt: skip
        text = "\n".join(["DIRECT=8M", *(fault for fault, _ in faults), "MAGAZINE=64K\n"])
        with options_file(text.encode(errors="surrogateescape")) as path:
            found, lines = run(GRANARY_OPTIONS_FILE=path)
            expected = [f"granary: ignoring {path}:{line}: {said}" for line, (_, said) in enumerate(faults, 2)]
            self.assertEqual(lines, expected)
            self.assertEqual((found["DIRECT"], found["MAGAZINE"]), (str(8 << 20), str(64 << 10)))

    def test_files_that_cannot_be_read(self):
        default = run()[0]
        with options_file("RETAIN=3M\n" + "#" * 20000) as long, options_file("") as empty:
            for path, said in (
                (long, f"granary: ignoring {long}: the file has more than 16384 bytes"),
                ("/no/such", "granary: ignoring /no/such: the file cannot be read (error 2)"),
                ("/", "granary: ignoring /: the file cannot be read (error 21)"),
            ):
                found, lines = run(GRANARY_OPTIONS_FILE=path)
                self.assertEqual(lines, [said])
                self.assertEqual({**found, "OPTIONS_FILE": ""}, {**default, "OPTIONS_FILE": ""})
            self.assertEqual(run(GRANARY_OPTIONS_FILE=empty)[1], [])
        lines = run(GRANARY_OPTIONS_FILE="relative")[1]
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].startswith("granary: ignoring GRANARY_OPTIONS_FILE=relative: expected an absolute path"))

    def test_the_usual_file(self):
        """In a namespace of its own, because it must not be changed for others."""
        def in_namespace(script):
            return ("unshare", "-rm", "sh", "-c", f"mount -t tmpfs none /etc && {script}")

        if subprocess.run(in_namespace("true"), capture_output=True).returncode != 0:
            self.skipTest("no namespaces for mounts")
        write = "echo RETAIN=3M > /etc/granary.conf"
        found, lines = execute(*in_namespace(f"{write} && exec {PROGRAM}"))
        self.assertEqual(lines, [])
        self.assertIn(f"RETAIN={3 << 20}\n", found)
        self.assertIn("OPTIONS_FILE=/etc/granary.conf\n", found)
        for other in ("", PROGRAM + "/none"):
            found = execute(*in_namespace(f"{write} && exec {PROGRAM}"), GRANARY_OPTIONS_FILE=other)[0]
            self.assertIn(f"RETAIN={1 << 20}\n", found)
        self.assertEqual(execute(*in_namespace(f"mkdir /etc/granary.conf && exec {PROGRAM}"))[1],
                         ["granary: ignoring /etc/granary.conf: the file cannot be read (error 21)"])

    def test_a_greeting_names_the_file(self):
        with options_file("VERBOSE=1") as path:
            lines = run(GRANARY_OPTIONS_FILE=path)[1]
            self.assertEqual(len(lines), 1)
            self.assertTrue(lines[0].startswith("granary: running, "), lines)
            self.assertTrue(lines[0].endswith(f", options from {path}"), lines)

    def test_a_program_has_options(self):
        warning = "granary: ignoring gr_options: FOO=1: unknown option; see 'granary options'"
        for program, preload in ((COMPILED, {}), (PRELOADED, {"LD_PRELOAD": LIBRARY})):
            found, lines = run(program, **preload)
            self.assertEqual(lines, [warning])
            self.assertEqual((found["RETAIN"], found["LIMIT"]), (str(3 << 20), f"{1 << 30},{2 << 30}"))
            self.assertEqual((found["DIRECT"], found["REUSE"]), (str(8 << 20), str(4 << 20)))

    def test_precedence(self):
        with options_file("LIMIT=3G\nDIRECT=4M\nREUSE=5M\n") as path:
            given = {"GRANARY_OPTIONS_FILE": path, "GRANARY_DIRECT": "6M", "GRANARY_REUSE": "none"}
            found = run(COMPILED, **given)[0]
            self.assertEqual((found["RETAIN"], found["LIMIT"]), (str(3 << 20), f"{3 << 30},0"))
            self.assertEqual((found["DIRECT"], found["REUSE"]), (str(6 << 20), str(5 << 20)))
            where = origins(COMPILED, **given)
            self.assertEqual([where[name] for name in ("RETAIN", "LIMIT", "DIRECT", "REUSE", "RSEQ", "OPTIONS_FILE")],
                             ["program", "file", "environment", "file", "default", "environment"])


if __name__ == "__main__":
    PROGRAM, LIBRARY, COMPILED, PRELOADED = sys.argv[1:5]
    del sys.argv[1:5]
    unittest.main()
