# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: git on a generated repository of about two thousand objects.
# Invariant: authors, dates and contents are fixed, so every hash is.
# Must not know: how results are compared.
"""git: many short processes, delta search on two threads, memory in files and in blocks."""

from collections.abc import Iterator

from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work

COMMITS = 650
FILES = 40
FIRST_DATE = 1_600_000_000

FIXED = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "pack.threads", "GIT_CONFIG_VALUE_0": "2",
    "GIT_CONFIG_KEY_1": "gc.autoDetach", "GIT_CONFIG_VALUE_1": "false",
    "GIT_CONFIG_KEY_2": "user.useConfigOnly", "GIT_CONFIG_VALUE_2": "true",
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": f"{FIRST_DATE} +0000",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_COMMITTER_DATE": f"{FIRST_DATE} +0000",
}


def file_text(number: int, version: int) -> str:
    """A file of some hundred lines; each version changes a few of them."""
    lines = [f"line {i} of file {number}: value {(i * 7919 + number * 31) % 1009}" for i in range(120 + number)]
    for step in range(version):
        lines[(step * 37 + number) % len(lines)] = f"value {step} set in version {step} of file {number}"
    return "\n".join(lines) + "\n"


def history() -> Iterator[str]:
    """A stream for git fast-import: one commit after the other, one file changed by each."""
    versions = [0] * FILES
    for commit in range(COMMITS):
        number = commit * 7 % FILES
        versions[number] += 1
        text, message = file_text(number, versions[number]), f"change {commit}: file {number}\n"
        yield f"commit refs/heads/main\ncommitter A <a@example.org> {FIRST_DATE + commit * 60} +0000\n"
        yield f"data {len(message)}\n{message}\n"
        yield f"M 100644 inline file-{number}.txt\ndata {len(text)}\n{text}\n"


def prepare(work: Work) -> None:
    (work.prepared / "history").write_text("".join(history()))


def run(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder:
        done = launcher.run(["/bin/sh", INPUTS / "git.sh"], folder, stdin=work.prepared / "history", extra=FIXED)
        return Outcome(done.output, done.usage)


GIT = Program(
    name="git",
    summary="git: import, clone, gc --aggressive, fsck, log, blame, merge",
    files={"/usr/bin/git": "git"},
    probe=lambda: ["/usr/bin/git", "--version"],
    prepare=prepare,
    run=run,
)
