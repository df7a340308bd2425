#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: scripts/setup while another apt holds a lock: it says that it waits, and goes on when the lock is let go.
# Invariant: apt is the system's own, but its lists, cache and state are the test's: nothing is installed or downloaded.
# Must not know: how often setup looks.
"""Usage: setup_test.py SETUP."""

import faulthandler
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

APT_GET = "/usr/bin/apt-get"
SECONDS_TO_SAY = 280  # what it waits for, before ctest ends it
# Leaves out what shall be installed: of the test's lists nothing can be.
WRAPPER = f"""#!/bin/bash
words=()
for word in "$@"; do
    words+=("$word")
    [ "$word" != install ] || break
done
{APT_GET} "${{words[@]}}" || exit
echo "done: ${{words[*]: -1}}"
"""


class Setup(unittest.TestCase):
    def setUp(self):
        if not os.access(APT_GET, os.X_OK):
            self.skipTest("no apt here")
        self.folder = Path(tempfile.mkdtemp(prefix="granary-setup-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("lists", "cache", "dpkg", "bin"):
            (self.folder / name).mkdir()
        (self.folder / "dpkg/status").touch()
        (self.folder / "apt.conf").write_text(
            f'Dir::State "{self.folder}";\nDir::State::lists "{self.folder}/lists";\n'
            f'Dir::State::status "{self.folder}/dpkg/status";\nDir::Cache "{self.folder}/cache";\n'
            'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "/dev/null";\nAPT::Sandbox::User "";\n')
        self.write("apt-get", WRAPPER)
        self.write("dpkg-query", "#!/bin/sh\nexit 1\n")  # nothing is installed
        self.write("sudo", '#!/bin/sh\nshift\nexec "$@"\n')

    def write(self, name, text):
        path = self.folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def start(self):
        environment = {**os.environ, "APT_CONFIG": str(self.folder / "apt.conf"),
                       "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        return subprocess.Popen([SETUP, "build"], env=environment, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def waits_for(self, lock, words_of_waiting):
        """While this process holds the lock setup says so, on a line that apt may end only later; then it ends well."""
        output = ""
        with open(self.folder / lock, "w", encoding="ascii") as held:
            fcntl.lockf(held, fcntl.LOCK_EX)
            with self.start() as setup:
                while piece := os.read(setup.stdout.fileno(), 4096):
                    output += piece.decode(errors="replace")
                    if words_of_waiting in output:
                        fcntl.lockf(held, fcntl.LOCK_UN)
        self.assertEqual(setup.returncode, 0, output)
        self.assertIn(words_of_waiting, output)
        self.assertEqual([line for line in output.splitlines() if line.startswith("done: ")],
                         ["done: update", "done: install"])

    def test_without_a_lock(self):
        with self.start() as setup:
            output = setup.stdout.read()
        self.assertEqual(setup.returncode, 0, output)
        self.assertNotIn("aiting", output)

    def test_waits_for_the_lists(self):
        self.waits_for("lists/lock", "setup: waiting for another apt to end")

    def test_waits_for_dpkg(self):
        self.waits_for("dpkg/lock-frontend", "Waiting for cache lock: ")

    def test_other_errors_are_final(self):
        self.write("apt-get", "#!/bin/sh\necho 'E: Unable to fetch some archives' >&2\nexit 100\n")
        with self.start() as setup:
            output = setup.stdout.read()
        self.assertEqual(setup.returncode, 100, output)
        self.assertEqual(output.count("E: Unable to fetch"), 1, output)


if __name__ == "__main__":
    SETUP = os.path.abspath(sys.argv.pop(1))
    faulthandler.dump_traceback_later(SECONDS_TO_SAY)
    unittest.main()
