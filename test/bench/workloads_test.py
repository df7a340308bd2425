# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the catalogue of the bench against the workloads' sources and programs: names, options, sizes, papers.
# Invariant: each workload is run once as the catalogue says, for a moment, on the system's malloc.
# Must not know: what a workload does.
"""Usage: workloads_test.py BUILD_FOLDER."""

import functools
import re
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from support import BUILD, ROOT, main

from catalogue import PROGRAMS
from granary_results.results import UNCOUNTED
from harness.allocators import system
from harness.program import Work
from profiles import PROFILES
from schedule import build_measure
from subjects import CompiledSubject
from workloads import FAMILIES, MANY, PROGRAMS_OF_PAPERS, SERVERS, SUITES, all_subjects

SOURCES = ROOT / "bench" / "workloads"
PROGRAM_FOLDER = BUILD / "bench" / "workloads"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def compiled(profile: str) -> list[CompiledSubject]:
    subjects = all_subjects(PROFILES[profile], PROFILES[profile].threads, PROGRAM_FOLDER)
    return [subject for subject in subjects if isinstance(subject, CompiledSubject)]


@functools.cache
def options(program: Path) -> set[str]:
    return set(OPTION.findall(subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout))


class Catalogue(unittest.TestCase):
    def test_names_are_unique(self):
        for profile in PROFILES:
            names = Counter(subject.name for subject in all_subjects(PROFILES[profile], (1, 2), PROGRAM_FOLDER))
            self.assertEqual([name for name, times in names.items() if times > 1], [])

    def test_families_and_papers(self):
        subjects = all_subjects(PROFILES["standard"], (1,), PROGRAM_FOLDER)
        self.assertLessEqual({subject.family for subject in subjects}, set(FAMILIES))
        self.assertLessEqual(set(UNCOUNTED), set(FAMILIES))
        self.assertEqual({suite for subject in subjects for suite in subject.suites}, set(SUITES))

    def test_what_goals_count_is_the_list_that_was_agreed_upon(self):
        counted = {subject.label for subject in all_subjects(PROFILES["standard"], (1,), PROGRAM_FOLDER)
                   if subject.family not in UNCOUNTED}
        self.assertEqual(counted, set("""
            threadtest shbench larson larson-memset larson-small larson-wide active-false passive-false recycle consume
            malloc-test linux-scalability mmicro mmicro-64 barnes-hut large-live mt-gcbench
            sh6bench-like gcbench cfrac-like espresso-like roboop-like hypercube-like
            gcc perl perl-hosts gawk gawk-costs make python sqlite ghostscript poppler z3
            rocksdb redis memcached nginx mariadb
            producer-consumer thread-churn free-only burst-idle huge-realloc fragmentation tiny-start
            malloc-large xmalloc-test rptest mstress small-live-set many-sizes alloc-test sh8bench-like
            glibc-thread""".split()))

    def test_what_has_many_threads_has_them_in_the_standard_profile(self):
        def most(profile: str, threads: tuple[int, ...]) -> dict[str, int]:
            found: dict[str, int] = {}
            for subject in all_subjects(PROFILES[profile], threads, PROGRAM_FOLDER):
                if isinstance(subject, CompiledSubject):
                    found[subject.label] = max(subject.threads, found.get(subject.label, 0))
            return found

        few = {name for name, threads in most("standard", PROFILES["standard"].threads).items() if threads < MANY}
        self.assertEqual(few, set("""
            mt-gcbench sh6bench-like gcbench cfrac-like espresso-like roboop-like hypercube-like large-live
            burst-idle burst-idle-older huge-realloc fragmentation tiny-start malloc-large small-live-set many-sizes
            separate-processes malloc-test-consumers pairs latency loop-16 loop-64 loop-200 loop-1024 loop-4096""".split()))
        self.assertEqual(most("standard", (1, MANY))["mt-gcbench"], MANY)  # since it was asked for

    def test_programs_of_papers_are_in_the_catalogue_of_programs(self):
        self.assertLessEqual({*PROGRAMS_OF_PAPERS, *SERVERS},
                             {program.name for program in PROGRAMS.values() if program.in_bench})

    def test_sizes_and_operations_are_of_profiles(self):
        for subject in compiled("standard"):
            self.assertLessEqual({*subject.workload.sizes, *subject.workload.operations}, set(PROFILES), subject.name)


class Programs(unittest.TestCase):
    def test_every_source_is_a_workload_and_every_workload_has_a_source(self):
        sources = {path.stem.replace("_", "-") for path in SOURCES.glob("*.cpp")} - {"workload"}  # the frame
        self.assertEqual({subject.workload.program for subject in compiled("standard")}, sources)

    def test_every_option_is_the_programs(self):
        for profile in PROFILES:
            for subject in compiled(profile):
                used = {word for word in subject.command() if word.startswith("--")}
                self.assertLessEqual(used, options(subject.binary), subject.name)

    def test_each_runs_as_it_is_described_and_reports(self):
        with tempfile.TemporaryDirectory() as tools, Work("bench") as work:
            measure = build_measure(Path(tools))
            for subject in compiled("smoke"):
                subject.operations = subject.operations or subject.threads  # a time might be over before they begin
                with self.subTest(subject.name):
                    figures = subject.trial(work, measure, system())
                    self.assertGreater(figures["operations"], 0)
                    self.assertEqual(figures["threads"], subject.threads)


if __name__ == "__main__":
    main()
