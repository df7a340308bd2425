# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the launcher that measures: whose memory it reports, and that a program does not notice it.
# Invariant: this process is made larger than what it measures, so that counting the wrong process shows.
# Must not know: what is measured in the bench.
"""Usage: measure_test.py BUILD_FOLDER."""

import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, WithMeasure, main

from harness.launcher import Launcher, ProgramFailed

MIB = 1024  # in KiB
BALLAST = bytearray(b"x") * (200 << 20)


class Measured(WithMeasure):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_on(self, *command: str, preload: Path | None = None):
        return Launcher(preload, measure=self.measure, hang_seconds=60).run(command, self.folder)

    def python(self, script: str):
        return self.run_on(sys.executable, "-c", script).usage

    def exit_code(self, *command: str) -> int:
        """The launcher's, asked directly."""
        launch = [self.measure, self.folder / "report", "-", *command]
        return subprocess.run(launch, stderr=subprocess.DEVNULL).returncode


class Memory(Measured):
    def test_peak_is_the_programs(self):
        small = self.run_on("/bin/true").usage.peak_kib
        self.assertGreater(small, 0)
        self.assertLess(small, 10 * MIB, "this process or the launcher was counted")
        nothing, touched = (self.python(f"bytearray(b'x') * ({mib} << 20)").peak_kib for mib in (0, 50))
        self.assertGreater(touched, nothing + 49 * MIB)
        self.assertLess(touched, nothing + 60 * MIB)

    def test_peak_of_a_child_counts(self):
        child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', 'bytearray(b\\'x\\') * (80 << 20)'])"
        self.assertGreater(self.python(child).peak_kib, 80 * MIB)

    def test_address_space(self):
        mapped = self.python("import mmap; mmap.mmap(-1, 1 << 30)")
        self.assertGreater(mapped.peak_virtual_kib, 1024 * MIB)
        self.assertLess(mapped.peak_virtual_kib, 1500 * MIB)
        self.assertLess(mapped.peak_kib, 100 * MIB)

    def test_faults_follow_touched_pages(self):
        self.assertGreater(self.python("import mmap; m = mmap.mmap(-1, 1 << 24)\n"
                                       "for at in range(0, 1 << 24, 4096): m[at] = 1").minor_faults, 4096)


class Time(Measured):
    def test_cpu_time_is_the_programs_and_waiting_is_none(self):
        asleep = self.python("import time; time.sleep(0.5)")
        self.assertGreaterEqual(asleep.seconds, 0.5)
        self.assertLess(asleep.cpu_seconds, 0.5)
        busy = self.python("import time\nwhile time.process_time() < 0.3: pass")
        self.assertGreaterEqual(busy.cpu_seconds, 0.3)
        self.assertGreater(asleep.waits, 0)


class Passing(Measured):
    def test_exit_codes(self):
        for code in (0, 1, 42, 125, 255):
            self.assertEqual(self.exit_code("/bin/sh", "-c", f"exit {code}"), code)

    def test_signals(self):
        for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGTERM):
            self.assertEqual(self.exit_code("/bin/sh", "-c", f"ulimit -c 0; kill -{int(number)} $$"), 128 + number)

    def test_a_signal_that_is_caught(self):
        self.assertEqual(self.exit_code("/bin/sh", "-c", "trap 'exit 3' USR1; kill -USR1 $$; exit 4"), 3)

    def test_no_such_program(self):
        self.assertEqual(self.exit_code("/no/such/program"), 125)

    def test_wrong_command_line(self):
        self.assertEqual(subprocess.run([self.measure, "report"], stderr=subprocess.DEVNULL).returncode, 2)

    def test_output_and_arguments(self):
        words = ["", "a b", "-", "--", "ö"]
        self.assertEqual(self.run_on("printf", "<%s>", *words).output, "".join(f"<{word}>" for word in words))

    def test_the_library_is_preloaded_into_the_program(self):
        library = (BUILD / "libgranary.so").resolve()
        shown = self.run_on("/bin/sh", "-c", "echo $LD_PRELOAD; cat /proc/$$/maps", preload=library).output
        self.assertEqual(shown.splitlines()[0], str(library))
        self.assertGreater(shown.count(str(library)), 1)
        self.assertEqual(self.run_on("/bin/sh", "-c", "echo $LD_PRELOAD").output, "\n")

    def test_failures_are_failures(self):
        with self.assertRaisesRegex(ProgramFailed, "^/bin/sh: exit code 3; it printed\n.*last words"):
            self.run_on("/bin/sh", "-c", "echo last words; exit 3")
        with self.assertRaisesRegex(ProgramFailed, "^sleep did not end within"):
            Launcher(None, measure=self.measure, hang_seconds=0.3).run(["sleep", "600"], self.folder)


if __name__ == "__main__":
    main()
