# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a compiled workload as a subject: its command line, the operations that are fixed, its report, and for how
#    long it is waited.
# Invariant: made-up workloads are shell scripts that print what they are told.
# Must not know: real workloads; how trials are ordered.
"""Usage: subjects_test.py BUILD_FOLDER."""

import json
import unittest
from pathlib import Path
from unittest import mock

from support import WithMeasure, main

import subjects
from harness.allocators import Missing, system
from harness.launcher import ProgramFailed
from harness.program import Work
from profiles import PROFILES, Profile
from subjects import CompiledSubject, Workload

PROFILE = Profile("made-up", "", seconds=0.01, rounds=1, warm_ups=0, threads=(1,), programs=False, calibrated=True)
REPORT = {"workload": "fake", "threads": 2, "seed": 1, "seconds": 0.01, "operations": 500, "operations_per_second": 50000.0,
          "peak_kib": 7, "shared_lines": 3}


class Fake(WithMeasure):
    def setUp(self):
        self.work = self.enterContext(Work("test"))
        self.folder = self.work.prepared

    def subject(self, script: str, profile: Profile = PROFILE, **more) -> CompiledSubject:
        program = self.folder / "fake"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return CompiledSubject(Workload("fake", "beyond", (), "fake", "", **more), 2, profile, self.folder)

    def reporting(self, **changes) -> CompiledSubject:
        return self.subject(f"echo \"$@\" >> {self.folder}/asked; echo '{json.dumps({**REPORT, **changes})}'")

    def trial(self, subject: CompiledSubject) -> dict:
        return subject.trial(self.work, self.measure, system())

    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().splitlines()


class Command(Fake):
    def test_words(self):
        sizes = {"made-up": ("--mib", "16"), "other": ("--mib", "1")}
        subject = self.subject("", arguments=("--min", "8"), sizes=sizes)
        self.assertEqual(subject.command()[1:], ["--threads", "2", "--seconds", "0.01", "--min", "8", "--mib", "16"])
        subject = self.subject("", operations={"made-up": 40})
        self.assertEqual(subject.command()[1:], ["--threads", "2", "--ops", "40"])

    def test_operations_are_fixed_once_by_the_systems_malloc(self):
        subject = self.reporting()
        subject.prepare(self.work, self.measure, system())
        self.trial(subject)
        self.trial(subject)
        self.assertEqual(self.asked(), ["--threads 2 --seconds 0.01"] + 2 * ["--threads 2 --ops 500"])

    def test_operations_that_are_given_are_not_measured(self):
        self.subject("exit 1", operations={"made-up": 40}).prepare(self.work, self.measure, system())

    def test_without_calibration_each_trial_has_its_time(self):
        subject = self.subject("exit 1", PROFILES["smoke"])
        subject.prepare(self.work, self.measure, system())
        self.assertIn("--seconds", subject.command())

    def test_a_program_that_is_not_built(self):
        subject = self.subject("")
        subject.require()
        subject.binary.unlink()
        with self.assertRaisesRegex(Missing, "^fake/2: .*make bench$"):
            subject.require()


class Report(Fake):
    def test_figures(self):
        figures = self.trial(self.reporting())
        self.assertEqual((figures["cost"], figures["operations"], figures["shared_lines"]), (2e-5, 500, 3))
        self.assertGreater(figures["peak_kib"], REPORT["peak_kib"], "the launcher's figure is meant")
        self.assertNotIn("workload", figures)

    def test_one_operation_that_takes_minutes(self):
        report = self.reporting(seconds=200.0, operations=1, operations_per_second=0.0)
        self.assertAlmostEqual(self.trial(report)["cost"], 200.0)

    def test_memory_of_several_processes_is_their_sum(self):
        self.assertEqual(self.trial(self.reporting(processes_peak_kib=7_000_000))["peak_kib"], 7_000_000)

    def test_anything_else_is_a_failure(self):
        for printed in ("", "hello", "3", "{}", json.dumps({**REPORT, "operations": 0}),
                        json.dumps({**REPORT, "seconds": 0.0}), "a warning\n" + json.dumps(REPORT)):
            with self.subTest(printed), self.assertRaisesRegex(ProgramFailed, "^fake/2: no report") as caught:
                self.trial(self.subject(f"cat << 'end'\n{printed}\nend"))
            self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_a_failing_program(self):
        with self.assertRaisesRegex(ProgramFailed, "exit code 1"):
            self.trial(self.subject(f"echo '{json.dumps(REPORT)}'; exit 1"))


class Patience(Fake):
    def test_it_grows_with_what_a_trial_should_take(self):
        for profile in PROFILES.values():
            with mock.patch("subjects.Launcher", side_effect=ProgramFailed) as launcher:
                self.assertRaises(ProgramFailed, self.trial, self.subject("", profile))
            patience = launcher.call_args.kwargs["hang_seconds"]
            self.assertGreaterEqual(patience, subjects.PATIENCE_FLOOR_SECONDS)
            self.assertGreaterEqual(patience, subjects.PATIENCE * profile.seconds)

    def test_it_ends(self):
        with mock.patch.multiple(subjects, PATIENCE=10, PATIENCE_FLOOR_SECONDS=0.2):
            with self.assertRaisesRegex(ProgramFailed, "did not end within"):
                self.trial(self.subject("exec sleep 600"))


if __name__ == "__main__":
    main()
