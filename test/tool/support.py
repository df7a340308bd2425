# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the tests of the command share: running it, and files made for it.
# Invariant: the command under test never sees GRANARY_* or LD_* variables of the user who runs the tests.
# Must not know: what is tested.
"""Usage of each test: TEST.py GRANARY LIBRARY FIXTURES."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

GRANARY, LIBRARY, FIXTURES = (os.path.abspath(path) for path in sys.argv[1:4])
CLEAN = {
    name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_", "GLIBC_TUNABLES"))
}


def fixture(name):
    return os.path.join(FIXTURES, name)


def granary(*arguments, command=GRANARY, environment=None, **options):
    """Runs the command; returns the finished process with its output as text."""
    return subprocess.run(
        [command, *arguments],
        env={**CLEAN, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="surrogateescape",
        check=False,
        **options,
    )


def run_program(*arguments, **options):
    return granary("run", "--library", LIBRARY, *arguments, **options)


class ToolTest(unittest.TestCase):
    """A test with a folder of its own that every user may enter."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="granary-tool-")
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content, mode=0o755):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, mode)
        return path

    def copy(self, source, name):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(source, path)
        os.chmod(path, 0o755)
        return path

    def one_line(self, text):
        """The text is exactly one line of the command's; returns it."""
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("granary: "), text)
        return text

    def diagnose(self, subject, **options):
        """What doctor says as JSON, after seeing that its text and exit code say the same."""
        text = granary("doctor", subject, **options)
        self.assertEqual(text.stderr, "")
        result = granary("doctor", "--json", subject, **options)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.returncode, text.returncode)
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0 if report["verdict"] == "yes" else 1)
        self.assertTrue(text.stdout.startswith(report["verdict"] + ": "), text.stdout)
        return report

    def assert_verdict(self, subject, verdict, kind=None, **options):
        """The verdict, and the kind of the finding it rests on (or of a note)."""
        report = self.diagnose(subject, **options)
        self.assertEqual(report["verdict"], verdict, report)
        if kind is not None:
            self.assertIn(kind, [finding["kind"] for finding in report["findings"]], report)
        return report


def main():
    unittest.main(argv=sys.argv[:1], verbosity=1)
