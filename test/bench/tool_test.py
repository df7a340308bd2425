# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary bench: the command hands its words to the bench beside it and ends as that does.
# Invariant: a made-up bench prints what it was given.
# Must not know: the bench's options.
"""Usage: tool_test.py BUILD_FOLDER."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import BUILD, main

SHOW = "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n"


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.command = Path(folder.name) / "granary"
        self.bench = Path(folder.name) / "granary-bench"
        shutil.copy(BUILD / "granary", self.command)

    @staticmethod
    def run_it(command: Path, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([command, "bench", *words], capture_output=True, text=True, timeout=60)

    def test_words_and_exit_code_pass(self):
        self.bench.write_text(SHOW)
        self.bench.chmod(0o755)
        for words in ((), ("--help",), ("--list", "--", "-q", "", "a b", "[x]", "run", "--stats"), ("--version", "-h")):
            done = self.run_it(self.command, *words)
            self.assertEqual((done.returncode, done.stderr), (7, ""))
            self.assertEqual(done.stdout, "".join(f"<{word}>" for word in words) or "<>")

    def assert_fails(self, reason: str):
        done = self.run_it(self.command, "--list")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertRegex(done.stderr, rf"^granary: bench: {reason}.*\n$")

    def test_where_there_is_no_bench(self):
        self.assert_fails("no granary-bench in .*make bench")

    def test_a_bench_that_cannot_be_started(self):
        self.bench.write_text(SHOW)
        self.assert_fails("cannot start .*granary-bench")

    def test_the_one_of_this_build(self):
        done = self.run_it(BUILD / "granary", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("usage: granary bench "), done.stdout)


if __name__ == "__main__":
    main()
