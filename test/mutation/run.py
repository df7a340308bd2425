# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: breaks the sources by each mutant in turn, runs the test programs until one fails, and prints which did.
# Invariant: the checkout is not written to (but for its build folder); before anything is built, every entry must fit the
#    sources; a mutant counts only when everything passes without it; ends with 1 if an entry is stale, or a
#    mutant survives or does not compile.
# Must not know: what the mutants are.
"""The kill table: each mutant of the sources, and the first test that finds it."""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True

from mutants import MEND, MUTANTS, Mutant, faults, stale
from tree import FOLDERS, ROOT, BuildFailed, Program, Tree, programs

# A test that takes longer than this, and so many times as long as without a mutant, hangs.
LEAST_SECONDS, TIMES = 15, 10
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("GTEST_", "GLIBC_TUNABLES"))}
NOT_AVAILABLE = 77  # what the test needs is not there
SURVIVED, NOT_COMPILED = "SURVIVED", "DOES NOT COMPILE"


class Verdict(NamedTuple):
    by: str  # the test's name, or one of the two above
    how: str  # fails, ends by a signal, hangs; or nothing


class Test:
    """A program of tests: of GoogleTest's, or one that was written for libgc."""

    def __init__(self, name: str, build: Path, program: Program):
        self.name, self.program = name, program
        self.path = build / "test" / program.folder / program.file
        self.environment = ENVIRONMENT | {"LD_LIBRARY_PATH": f"{build / 'libgc'}", "LIBGC_FOLDER": f"{build}"}
        self.limit = float(LEAST_SECONDS * TIMES)

    def run(self) -> Verdict | None:
        """None: it passes."""
        options = () if self.program.folder == "libgc" else ("--gtest_fail_fast", "--gtest_color=no")
        # A session of its own, for death tests fork.
        process = subprocess.Popen([self.path, *self.program.arguments, *options], start_new_session=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", env=self.environment)
        try:
            said, _ = process.communicate(timeout=self.limit)
            if process.returncode in (0, NOT_AVAILABLE):
                return None
            how = "fails" if process.returncode > 0 else f"signal {-process.returncode}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            how = "hangs"
        begun = re.findall(r"^\[ RUN      \] (\S+)", said, re.MULTILINE)
        failed = re.findall(r"^\[  FAILED  \] ([^\s,]+)|^(\w+\.(?:c|cpp|h):\d+: .*)", said, re.MULTILINE)
        where = next(("".join(one) for one in failed), begun[-1] if begun else "at its start")
        return Verdict(f"{self.name} {where}", how)

    def learn_limit(self) -> Verdict | None:
        """It runs on whole sources."""
        began = time.monotonic()
        verdict = self.run()
        self.limit = max(LEAST_SECONDS, TIMES * (time.monotonic() - began))
        return verdict


def verdict_of(mutant: Mutant, tree: Tree, tests: dict[str, Test]) -> Verdict:
    first = [tests[name] for name in mutant.first.split() if name in tests]
    rest = [test for test in tests.values() if test not in first]
    try:
        for together in (*([test] for test in first), rest):
            tree.compile(*(test.program for test in together))
            for test in together:
                if (verdict := test.run()):
                    return verdict
    except BuildFailed as problem:
        print(f"\n{problem}", file=sys.stderr)
        return Verdict(NOT_COMPILED, "")
    return Verdict(SURVIVED, "")


def progress(text: str) -> None:
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def print_head(count: int) -> None:
    compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    print(f"{count} mutants (test/mutation/mutants.py), and the first test that finds each.")
    print(f"Release preset, {compiler}, {time.strftime('%Y-%m-%d')}.\n")
    print(f"$ python3 test/mutation/run.py{''.join(' ' + shlex.quote(word) for word in sys.argv[1:])}\n")


def print_row(mutant: Mutant, verdict: Verdict, seconds: float) -> None:
    print(f"{mutant.name:<24}{mutant.file}: {mutant.breaks}")
    print(f"{'':<24}{verdict.by}{', ' + verdict.how if verdict.how else ''} ({seconds:.0f} s)", flush=True)


def check_table(mutants: Sequence[Mutant], root: Path = ROOT) -> str:
    """What must be mended before a mutant can be built, for a reader; nothing, if all is well."""
    found = [*faults(mutants), *stale(mutants, root, programs(root))]
    if not found:
        return ""
    return "\n\n".join(("Nothing was built, because entries of test/mutation/mutants.py must be mended first:", *found,
                        MEND))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="MUTANT", help="all, if none is named")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--tests", nargs="+", default=FOLDERS, choices=FOLDERS, metavar="FOLDER",
                        help="of test/: all, if none is named")
    parser.add_argument("--check", action="store_true", help="only whether every entry fits the sources")
    options = parser.parse_args()
    if problem := check_table(MUTANTS):
        sys.exit(problem)
    if options.check:
        return 0
    programs_here = {name: program for name, program in programs().items()
                     if program.folder.split("/")[0] in options.tests}
    chosen = [mutant for mutant in MUTANTS if not options.names or mutant.name in options.names]
    if unknown := set(options.names) - {mutant.name for mutant in chosen}:
        parser.error(f"no such mutant: {', '.join(sorted(unknown))}")

    progress("copying and building everything once")
    tree = Tree(options.folder)
    try:
        tree.prepare(programs_here.values())
    except BuildFailed as problem:
        sys.exit(f"\nthe tree does not build without a mutant:\n{problem}")
    tests = {name: Test(name, tree.build, program) for name, program in programs_here.items()}
    for test in tests.values():
        progress(f"without a mutant: {test.name}")
        if (verdict := test.learn_limit()):
            sys.exit(f"\n{verdict.by} {verdict.how} without a mutant: no mutant would tell anything")

    progress("")
    print_head(len(chosen))
    failures = 0
    for number, mutant in enumerate(chosen, 1):
        progress(f"{number} of {len(chosen)}: {mutant.name}")
        began = time.monotonic()
        with tree.broken_by(mutant):
            verdict = verdict_of(mutant, tree, tests)
        progress("")
        print_row(mutant, verdict, time.monotonic() - began)
        failures += verdict.by in (SURVIVED, NOT_COMPILED)
    print(f"\n{len(chosen) - failures} of {len(chosen)} found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
