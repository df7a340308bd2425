# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the tests of granary why share: processes that wait, and their explanation.
# Invariant: a process ends with its test.
# Must not know: what is tested.
"""A process that has said it is ready, and what granary why says of it."""

import contextlib
import json
import re
import subprocess
import time

from support import CLEAN, LIBRARY, ToolTest, granary

PRELOAD = {"LD_PRELOAD": LIBRARY}
WITHOUT_RSEQ = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
ROUNDING = 32  # bytes: each part is rounded to one


def is_asleep(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "S"


@contextlib.contextmanager
def running(*command, environment=PRELOAD, **options):
    """A process that has said it is ready, and waits; gives it and what it said before."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**CLEAN, **environment}, **pipes, **options) as process:
        said = []
        for line in process.stdout:
            if line == "ready\n":
                break
            said.append(line)
        # On its way into the call that waits, the process may touch pages for the first time.
        while process.poll() is None and not is_asleep(process):
            time.sleep(0.001)
        yield process, "".join(said)
        process.stdin.close()
        assert process.wait() == 0


def rss(process):
    with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Rss: +(\d+) kB$", file.read(), re.M).group(1)) * 1024


class WhyTest(ToolTest):
    def why(self, process):
        result = granary("why", "--json", str(process.pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        report = json.loads(result.stdout)
        report["part"] = {part["name"]: part for part in report["parts"]}
        return report

    def text(self, process, *arguments, **options):
        result = granary("why", *arguments, str(process.pid), **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def assert_whole(self, report, process):
        """The parts are what the kernel counts, and looking changes nothing."""
        self.assertAlmostEqual(report["resident_bytes"], rss(process), delta=ROUNDING)
        self.assert_adds_up(report)
        again = self.why(process)
        self.assertEqual(again["resident_bytes"], report["resident_bytes"], "the first reading left pages behind")
        for part in report["parts"]:
            if "bytes" in part:
                self.assertLessEqual(part["resident_bytes"], part["bytes"], part)

    def assert_adds_up(self, report):
        self.assertEqual(sum(part["resident_bytes"] for part in report["parts"]), report["resident_bytes"])

    def resident(self, report, name):
        return report["part"][name]["resident_bytes"] if name in report["part"] else 0

    def bytes(self, report, name):
        return report["part"][name].get("bytes", 0)
