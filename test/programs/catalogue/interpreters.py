# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: python3 and perl, each on a script of its own, and python3 on a slice of its own test suite.
# Invariant: Python gets every object from malloc (PYTHONMALLOC=malloc), none from its own pools.
# Must not know: how results are compared.
"""Interpreters: every value is a block."""

import re

from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work

PYTHON3 = "/usr/bin/python3"
EVERY_OBJECT = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}

SUITE = """test_dict test_list test_json test_re test_collections test_heapq test_pickle test_decimal test_zlib
    test_bytes test_memoryview test_struct test_copy test_generators test_functools test_sort test_string test_thread
    test_posix test_mmap""".split()


def run_python(work: Work, launcher: Launcher) -> Outcome:
    rounds = 12 if work.in_bench() else 4
    with work.trial() as folder:
        done = launcher.run([PYTHON3, INPUTS / "job.py", rounds], folder, extra=EVERY_OBJECT)
        return Outcome(done.output, done.usage)


def run_python_suite(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder:
        done = launcher.run([PYTHON3, "-m", "test", "--tempdir", folder, *SUITE], folder, extra=EVERY_OBJECT)
        return Outcome(without_times(done.output), done.usage)


def without_times(report: str) -> str:
    """The suite's report less clock, load and durations."""
    report = re.sub(r"^\d+:\d+:\d+ (load avg: [\d.]+ )?", "", report, flags=re.MULTILINE)
    report = re.sub(r"^Total duration: .*\n", "", report, flags=re.MULTILINE)
    report = re.sub(r"^(\S+) passed in .*", r"\1 passed", report, flags=re.MULTILINE)
    report = re.sub(r" -- \S+ passed in .*", "", report)  # told of a module that took long
    return re.sub(r"^(==|Using random seed).*\n", "", report, flags=re.MULTILINE)


def run_perl(work: Work, launcher: Launcher) -> Outcome:
    rounds = 12 if work.in_bench() else 4
    with work.trial() as folder:
        done = launcher.run(["/usr/bin/perl", INPUTS / "job.pl", rounds], folder, extra={"PERL_HASH_SEED": "0"})
        return Outcome(done.output, done.usage)


PYTHON = Program(
    name="python",
    summary="python3, PYTHONMALLOC=malloc: trees, JSON, pickles, regexes",
    files={PYTHON3: "python3"},
    probe=lambda: [PYTHON3, "-S", "-c", "pass"],
    run=run_python,
)

PYTHON_SUITE = Program(
    name="python-suite",
    summary=f"python3, PYTHONMALLOC=malloc: {len(SUITE)} modules of its own test suite",
    files={PYTHON3: "python3", "/usr/lib/python3.11/test/test_dict.py": "libpython3.11-testsuite"},
    probe=lambda: [PYTHON3, "-S", "-c", "pass"],
    run=run_python_suite,
    in_bench=False,
)

PERL = Program(
    name="perl",
    summary="perl: fills paragraphs, counts words, rewrites by regexes",
    files={"/usr/bin/perl": "perl"},
    probe=lambda: ["/usr/bin/perl", "-e", "1"],
    run=run_perl,
)
