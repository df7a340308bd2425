# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the tests of granary record share: running it, and reading what it wrote.
# Invariant: each test has a folder of its own, in which everything runs and which then goes away.
# Must not know: what is tested.
"""Usage of each test: TEST.py GRANARY PROGRAMS."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

GRANARY, PROGRAMS = (os.path.abspath(path) for path in sys.argv[1:3])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tool", "reading", "trace"))
import granary_trace  # noqa: E402  pylint: disable=wrong-import-position

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_"))}
# What a shell runs in the background ignores it, and hands that on to whatever it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
OP_NUMBERS = {name: number for number, name in granary_trace.OPS.items()}


def program(name):
    return os.path.join(PROGRAMS, name)


class RecordTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="granary-record-")
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, *words, environment=None, **options):
        """Of a process group of its own."""
        child = subprocess.Popen([GRANARY, "record", *words], env={**CLEAN, **(environment or {})}, cwd=self.folder, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True, **options)
        self.addCleanup(self.end, child)
        return child

    @staticmethod
    def end(child):
        if child.poll() is None:
            child.kill()
        child.communicate()

    def record(self, *words, code=0, **options):
        """Returns what the program printed, and what granary said."""
        child = self.start(*words, **options)
        output, said = child.communicate(timeout=100)
        self.assertEqual(child.returncode, code, said)
        return output, said

    def trace(self, name, whole=True):
        trace = granary_trace.Trace(os.path.join(self.folder, name))
        if whole:
            self.assertEqual(trace.damage, "")
            self.assertEqual(trace.end["events"], sum(1 for _ in trace.events()))
        return trace

    def files(self):
        return sorted(os.path.basename(path) for path in glob.glob(os.path.join(self.folder, "*")))
