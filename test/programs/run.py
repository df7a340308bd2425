#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: runs one real program on the system's malloc and on Granary and compares what they put out.
# Invariant: exit code 0 only if both runs ended well, Granary was in use, and the outputs are the same.
# Must not know: the programs; the catalogue does.
"""One real program, two mallocs, one comparison. See README.md."""

import argparse
import difflib
import os
import signal
import sys
from pathlib import Path

from catalogue import PROGRAMS
from harness import allocators, bindings
from harness.launcher import Launcher, ProgramFailed
from harness.program import Program, Work

VARIANTS = ("plain", "norseq", "onecpu")
WITHOUT_RSEQ = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
DIFFERENCES_SHOWN = 20


def run_on(program: Program, allocator: allocators.Allocator, variant: str, work: Work) -> str:
    extra = WITHOUT_RSEQ if variant == "norseq" else {}
    try:
        return program.run(work, Launcher(allocator.preload_for(program), extra)).output
    except ProgramFailed as problem:
        raise ProgramFailed(f"on {allocator.name}: {problem}") from problem


def compare(program: Program, variant: str, library: Path) -> int:
    program.require()
    system, granary = allocators.system(), allocators.granary(library)
    if variant == "onecpu":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # all children inherit it
    with Work("test") as work:
        bindings.check(program, granary, work.prepared)
        program.prepare(work)
        expected = run_on(program, system, variant, work)
        actual = run_on(program, granary, variant, work)
    if actual == expected:
        print(f"{program.name}: same output on both, {len(expected.splitlines())} lines")
        return 0
    differences = list(difflib.unified_diff(expected.splitlines(), actual.splitlines(), "system", "granary",
                                            lineterm="", n=1))
    print(f"{program.name}: output differs:", *differences[:DIFFERENCES_SHOWN], sep="\n")
    return 1


def check_list(names: list[str]) -> int:
    different = set(names) ^ {program.name for program in PROGRAMS.values() if program.in_tests}
    if different:
        print(f"FAILED: registered as tests or in the catalogue for them, but not both: {' '.join(sorted(different))}")
    return 1 if different else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=PROGRAMS, nargs="?")
    parser.add_argument("--variant", choices=VARIANTS, default="plain")
    parser.add_argument("--library", type=Path, default=os.environ.get("GR_TEST_LIBRARY"),
                        help="libgranary.so (default: the environment's GR_TEST_LIBRARY)")
    parser.add_argument("--check-list", nargs="+", metavar="NAME", help="fail unless these are all the tests")
    arguments = parser.parse_args()
    if arguments.check_list is None and arguments.program is None:
        parser.error("which program?")
    if arguments.check_list is None and arguments.library is None:
        parser.error("no library: set GR_TEST_LIBRARY or give --library")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    if arguments.check_list:
        return check_list(arguments.check_list)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that daemons are stopped
    try:
        return compare(PROGRAMS[arguments.program], arguments.variant, arguments.library)
    except (allocators.Missing, ProgramFailed) as problem:
        print(f"FAILED: {problem}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
