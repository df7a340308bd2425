# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the sqlite3 shell on a scripted load.
# Invariant: the script's results are the output.
# Must not know: how results are compared.
"""sqlite3: a page cache of equal blocks, and short-lived ones for rows and expressions."""

from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work

SHELL = "/usr/bin/sqlite3"


def run(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder:
        done = launcher.run([SHELL, "-batch", "load.db"], folder, stdin=INPUTS / "load.sql")
        return Outcome(done.output, done.usage)


SQLITE = Program(
    name="sqlite",
    summary="sqlite3: 100,000 rows, indexes, joins, updates",
    files={SHELL: "sqlite3"},
    probe=lambda: [SHELL, "--version"],
    run=run,
)
