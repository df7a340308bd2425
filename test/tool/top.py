#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary top: a program with known holders is shown as it is, and one that cannot be shown gets one line.
# Invariant: the process goes on as before.
# Must not know: how the profile is taken or read.
"""Usage: top.py GRANARY LIBRARY FIXTURES."""

import json
import os
import pty
import re
import subprocess

from support import CLEAN, GRANARY, LIBRARY, fixture, granary, main
from why_support import PRELOAD, WITHOUT_RSEQ, WhyTest, running

EXACT = {**PRELOAD, "GRANARY_PROFILE": "1"}
# Allocated, live, live at the peak; blocks and bytes of each.
HOLDERS = {
    "keep_small": ((600, 60000), (600, 60000), (0, 0)),
    "keep_large": ((3, 3000000), (2, 2000000), (3, 3000000)),
    "only_pass": ((10000, 20000000), (0, 0), (0, 0)),
}


def sums(part):
    return tuple((part[name]["blocks"], part[name]["bytes"]) for name in ("allocated", "live", "peak"))


class Top(WhyTest):
    def report(self, process, *options):
        result = granary("top", "--json", *options, str(process.pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def holders(self, report):
        by_function = {}
        for holder in report["holders"]:
            if holder["calls"]:
                by_function.setdefault(holder["calls"][0].get("function"), []).append(holder)
        return by_function

    def assert_known(self, report):
        found = self.holders(report)
        for name, wanted in HOLDERS.items():
            self.assertEqual([sums(holder) for holder in found[name]], [wanted], name)
            self.assertEqual(found[name][0]["calls"][0]["module"], os.path.realpath(fixture("profiled")))
            self.assertEqual(found[name][0]["calls"][1]["function"], "main")
        for name in ("allocated", "live", "peak"):
            for unit in ("blocks", "bytes"):
                total = sum(holder[name][unit] for holder in report["holders"])
                self.assertAlmostEqual(total, report[name][unit], delta=2)
        live = [holder["live"]["bytes"] for holder in report["holders"]]
        self.assertEqual(live, sorted(live, reverse=True))

    def test_numbers(self):
        for environment in (EXACT, {**EXACT, **WITHOUT_RSEQ}):
            with running(fixture("profiled"), environment=environment) as (process, _):
                report = self.report(process)
                self.assert_known(report)
                # A vector's memory is its function's, not the standard library's.
                self.assertIn(((1, 800000),) * 3, [sums(holder) for holder in self.holders(report)["main"]])
                self.assertEqual((report["process"], report["sampled_bytes"], report["missed_samples"]),
                                 (process.pid, 1, 0))
                self.assertEqual(report["path"], os.path.realpath(fixture("profiled")))
                self.assertEqual(sums(report), sums(self.report(process)), "looking has changed something")

    def test_a_profile_that_began_later(self):
        with running(fixture("profiled"), "late") as (process, _):
            report = self.report(process)
            self.assert_known(report)
            self.assertEqual((report["sampled_bytes"], report["missed_samples"]), (1, 0))

    def test_what_comes_while_it_is_looked_at(self):
        with running(fixture("profiled"), environment=EXACT) as (process, _):
            self.report(process)
            process.stdin.write("\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "ready\n")
            (small,) = self.holders(self.report(process))["keep_small"]
            self.assertEqual(sums(small)[:2], ((1200, 120000), (1200, 120000)))

    def test_text(self):
        with running(fixture("profiled"), environment=EXACT) as (process, _):
            text = granary("top", str(process.pid))
            self.assertEqual((text.returncode, text.stderr), (0, ""))
            self.assertIn(f"process {process.pid}, {os.path.realpath(fixture('profiled'))}: ", text.stdout)
            self.assertRegex(text.stdout, r"1\.9 MiB +\d+\.\d +2 +2\.9 MiB +2\.9 MiB  keep_large.* < main")
            self.assertNotIn("\033", text.stdout)
            first = granary("top", "--sort", "allocated", "--rows", "1", str(process.pid)).stdout
            self.assertIn("only_pass", first)
            self.assertRegex(first, r"and \d+ more\n$")
            self.assertNotIn("keep_small", first)
            self.assertNotIn("< main", granary("top", "--calls", "1", str(process.pid)).stdout)

    def test_a_program_that_is_gone(self):
        program = self.copy(fixture("profiled"), "copy")
        with running(program, environment=EXACT) as (process, _):
            os.remove(program)
            calls = [call for holder in self.report(process)["holders"] for call in holder["calls"]]
            gone = [call for call in calls if call.get("module", "").startswith(program)]
            self.assertTrue(gone)
            self.assertFalse([call for call in gone if "function" in call])

    def test_a_terminal(self):
        with running(fixture("profiled"), environment=EXACT) as (process, _):
            ours, theirs = pty.openpty()
            with subprocess.Popen([GRANARY, "top", "--interval", "0.1", str(process.pid)], env=CLEAN, stdout=theirs,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as top:
                os.close(theirs)
                shown = ""
                while shown.count("\033[H") < 3:
                    shown += os.read(ours, 4096).decode()
                self.assertIn("keep_large", shown)
                process.stdin.close()
                try:
                    while os.read(ours, 4096):
                        pass
                except OSError:  # the last that had it open is gone
                    pass
                self.assertEqual(top.wait(), 127)
                self.assertIn("has ended", self.one_line(top.stderr.read()))
            os.close(ours)

    def refused(self, code, *words):
        result = granary("top", *words)
        self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
        return self.one_line(result.stderr)

    def test_refusals(self):
        with running(fixture("profiled")) as (process, _):
            line = self.refused(1, str(process.pid))
            self.assertIn("takes no profile", line)
            self.assertIn("GRANARY_PROFILE=on", line)
        with running(fixture("profiled"), environment={}) as (process, _):
            self.assertIn("cannot be examined", self.refused(1, str(process.pid)))
        with subprocess.Popen(["true"]) as process:
            process.wait()
        self.refused(127, str(process.pid))
        self.refused(2, "no-number")
        self.refused(2, "--sort", "size", "1")
        self.refused(2, "--calls", "0", "1")
        self.refused(2)

    def test_the_way_that_the_line_names(self):
        result = granary("run", "--library", LIBRARY, "--quiet", "--set", "PROFILE=on", "env")
        self.assertIn("GRANARY_PROFILE=on", re.split("\n", result.stdout))


if __name__ == "__main__":
    main()
