#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary doctor on running processes.
# Invariant: the process goes on as before.
# Must not know: what the library does.
"""Usage: process.py GRANARY LIBRARY FIXTURES."""

import contextlib
import os
import shutil
import subprocess

from support import CLEAN, LIBRARY, ToolTest, fixture, granary, main


@contextlib.contextmanager
def cat(**environment):
    """A process that has started and waits for its standard input."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["cat"], env={**CLEAN, **environment}, **pipes) as process:
        process.stdin.write(b"ready\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.stdin.close()
        assert process.wait() == 0


class Processes(ToolTest):
    def test_the_systems_malloc(self):
        with cat() as process:
            report = self.assert_verdict(str(process.pid), "no", "other-malloc")
            self.assertEqual(report["process"], process.pid)
            self.assertEqual(report["path"], os.path.realpath(shutil.which("cat")))

    def test_granary(self):
        library = self.copy(LIBRARY, "libgranary.so")
        with cat(LD_PRELOAD=library) as process:
            self.assertIn(library, self.assert_verdict(str(process.pid), "yes")["summary"])

    def test_granary_by_the_collector(self):
        library = self.copy(LIBRARY, "libgranary-gcmalloc.so")
        with cat(LD_PRELOAD=library) as process:
            self.assertIn(library, self.assert_verdict(str(process.pid), "yes")["summary"])

    def test_a_collector(self):
        library = self.copy(fixture("libgc.so.1"), "libgranary-gc.so.0")
        with cat(LD_PRELOAD=library) as process:
            self.assertIn(library, self.assert_verdict(str(process.pid), "partly", "other-malloc")["summary"])
        with cat(LD_PRELOAD=f"{library}:{LIBRARY}") as process:
            self.assertIn(library, self.assert_verdict(str(process.pid), "yes")["summary"])

    def test_another_collector(self):
        for preload, verdict in ((fixture("libgc.so.1"), "no"), (f"{LIBRARY}:{fixture('libgc.so.1')}", "yes")):
            with cat(LD_PRELOAD=preload) as process:
                self.assert_verdict(str(process.pid), verdict, "collector")

    def test_another_malloc(self):
        library = self.copy(LIBRARY, "libother.so")
        with cat(LD_PRELOAD=library) as process:
            self.assertIn(library, self.assert_verdict(str(process.pid), "no", "other-malloc")["summary"])

    def test_no_such_process(self):
        with subprocess.Popen(["true"]) as process:
            process.wait()
        for number in (str(process.pid), "0", "99999999999999999999"):
            result = granary("doctor", number)
            self.assertEqual((result.returncode, result.stdout), (127, ""))
            self.one_line(result.stderr)

    def test_a_process_without_memory(self):
        with subprocess.Popen(["true"]) as zombie:
            os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
            result = granary("doctor", str(zombie.pid))
        self.assertEqual((result.returncode, result.stdout), (127, ""))
        self.one_line(result.stderr)

    def test_a_program_with_a_number_for_a_name(self):
        self.copy(shutil.which("cat"), "123")
        self.assert_verdict("./123", "yes", cwd=self.folder)


if __name__ == "__main__":
    main()
