# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the order of trials and what becomes of failures, on made-up subjects.
# Invariant: a made-up subject writes down each time it is asked.
# Must not know: real workloads and allocators.
"""Usage: schedule_test.py BUILD_FOLDER."""

import unittest
from pathlib import Path
from unittest import mock

from support import main, told

from harness.allocators import Allocator, Missing
from harness.launcher import Launcher, ProgramFailed
from schedule import ENOUGH_FAILURES, OutOfTime, Schedule

ALLOCATORS = [Allocator(name, None) for name in ("first", "second", "third")]


class Subject:
    """Does what `acts` says for an allocator, by name: a function that is given the work; else returns a figure."""

    def __init__(self, name: str, acts=None, missing: str = "", unproven: tuple[str, ...] = ()):
        self.name = name
        self.acts = acts or {}
        self.missing = missing
        self.unproven = unproven
        self.asked: list[str] = []

    def require(self) -> None:
        if self.missing:
            raise Missing(self.missing)

    def prepare(self, work, measure, system) -> None:
        self.prepared_on = system.name

    def prove(self, allocator, folder: Path) -> None:
        if list(folder.iterdir()):
            raise ProgramFailed("something is left of another allocator's proof")
        if allocator.name in self.unproven:
            (folder / "bindings").touch()
            raise ProgramFailed("malloc is another's")

    def trial(self, work, measure, allocator) -> dict:
        self.asked.append(allocator.name)
        self.acts.get(allocator.name, lambda _: None)(work)
        return {"cost": 1.0}


def crash(_) -> None:
    raise ProgramFailed("killed by SIGSEGV; it printed\n    last words")


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except FileNotFoundError:
        return False


def run(*subjects, rounds: int = 6, warm_ups: int = 1, **more) -> tuple[list[dict], str]:
    """The records and what was said."""
    with told() as said, mock.patch("schedule.build_measure", lambda folder: folder / "measure"):
        records = Schedule(list(subjects), ALLOCATORS, rounds, warm_ups, "test", **more).run()
    return records, said.getvalue()


class Order(unittest.TestCase):
    def test_every_allocator_once_in_a_round_in_changing_order(self):
        subject = Subject("a")
        run(subject)
        turns = [tuple(subject.asked[first:first + 3]) for first in range(0, len(subject.asked), 3)]
        self.assertEqual(len(turns), 7)
        self.assertEqual({frozenset(turn) for turn in turns}, {frozenset(("first", "second", "third"))})
        self.assertGreater(len(set(turns)), 1)
        again = Subject("a")
        run(again)
        self.assertEqual(again.asked, subject.asked, "the order is seeded")

    def test_a_round_asks_all_subjects_before_the_next_begins(self):
        records, _ = run(Subject("a"), Subject("b"), rounds=3)
        self.assertEqual([(record["round"], record["case"]) for record in records],
                         [(number, case) for number in (1, 2, 3) for case in "ab" for _ in ALLOCATORS])

    def test_warm_ups_do_not_count(self):
        for warm_ups in (0, 1, 3):
            subject = Subject("a")
            records, _ = run(subject, rounds=2, warm_ups=warm_ups)
            self.assertEqual(len(subject.asked), (2 + warm_ups) * 3)
            self.assertEqual([record["round"] for record in records], [1] * 3 + [2] * 3)

    def test_operations_are_fixed_on_the_systems_malloc(self):
        subject = Subject("a")
        run(subject)
        self.assertEqual(subject.prepared_on, "system")


class Pieces(unittest.TestCase):
    def test_a_piece_that_goes_on_warms_up_once_for_all_allocators(self):
        first, second = Subject("a"), Subject("b")
        run(first, second, rounds=2, warm_ups=2, done=frozenset({(1, "a")}))
        self.assertEqual(len(first.asked), 2 + 3)
        self.assertEqual(len(second.asked), 2 + 2 * 3)

    def test_what_is_done_is_not_asked_again(self):
        first, second = Subject("a"), Subject("b")
        done = frozenset({(1, "a"), (2, "a"), (3, "a"), (1, "b")})
        records, _ = run(first, second, rounds=3, done=done)
        self.assertEqual(first.asked, [], "not even in the warm-up")
        self.assertFalse(hasattr(first, "prepared_on"))
        self.assertEqual([(record["round"], record["case"]) for record in records],
                         [(number, "b") for number in (2, 3) for _ in ALLOCATORS])
        self.assertEqual(len(second.asked), 1 + 2 * len(ALLOCATORS), "a warm-up and two rounds")

    def test_what_failed_too_often_is_not_proven_again(self):
        subject = Subject("a", unproven=("second",))
        records, said = run(subject, rounds=2, done=frozenset({(1, "a")}), failures={("a", "second"): ENOUGH_FAILURES})
        self.assertEqual([record["allocator"] for record in records if "failed" in record], [])
        self.assertNotIn("second", subject.asked)
        self.assertEqual(said, "")

    def test_time_ends_between_two_rounds_of_a_case(self):
        subjects = [Subject("a"), Subject("b")]
        clock = iter(range(1000))
        with mock.patch("schedule.time.monotonic", lambda: next(clock)), self.assertRaises(OutOfTime):
            run(*subjects, rounds=1000, seconds=100)
        for subject in subjects:
            self.assertEqual(len(subject.asked) % len(ALLOCATORS), 0)
        self.assertGreater(len(subjects[0].asked), 0)


class Failures(unittest.TestCase):
    def assert_others_whole(self, records: list[dict], bad: tuple[str, str], rounds: int = 6):
        """All but the bad one have all their figures."""
        for case in {record["case"] for record in records}:
            for allocator in ALLOCATORS:
                if (case, allocator.name) != bad:
                    figures = [record["cost"] for record in records
                               if (record["case"], record["allocator"]) == (case, allocator.name)]
                    self.assertEqual(len(figures), rounds, (case, allocator.name))

    def assert_given_up(self, act, reason: str):
        for warm_ups in (0, 1, 2):
            subject = Subject("a", {"second": act})
            records, said = run(subject, Subject("b"), warm_ups=warm_ups)
            self.assertEqual(subject.asked.count("second"), ENOUGH_FAILURES)
            failures = [record for record in records if "failed" in record]
            self.assertEqual([(record["case"], record["allocator"]) for record in failures], [("a", "second")] * 2)
            self.assertIn(reason, failures[0]["failed"])
            lines = [line for line in said.splitlines() if line.startswith("bench: ")]
            self.assertEqual(len(lines), 2, said)
            self.assertRegex(lines[0], f"^bench: a on second: .*{reason}")
            self.assert_others_whole(records, ("a", "second"))

    def test_a_crash(self):
        self.assert_given_up(crash, "killed by SIGSEGV")

    def test_the_last_words_are_told(self):
        self.assertIn("it printed: last words\n", run(Subject("a", {"first": crash}), rounds=1)[1])

    def test_a_hang(self):
        processes: list[int] = []

        def hang(work):
            """A real process, with a child, that does not end."""
            with work.trial() as folder:
                try:
                    script = "sleep 600 & echo $$ $! > pids; wait"
                    Launcher(None, hang_seconds=0.3).run(["/bin/sh", "-c", script], folder)
                finally:
                    processes.extend(map(int, (folder / "pids").read_text().split()))

        self.assert_given_up(hang, "did not end within")
        self.assertEqual(len(processes), 2 * 2 * 3)
        self.assertEqual([process for process in processes if is_running(process)], [])

    def test_something_missing_in_a_trial(self):
        def lack(_):
            raise Missing("no port is free")

        self.assert_given_up(lack, "no port is free")

    def test_once_is_forgiven(self):
        def crash_once(_):
            if subject.asked.count("second") == 3:
                crash(_)

        subject = Subject("a", {"second": crash_once})
        records, _ = run(subject)
        self.assertEqual(subject.asked.count("second"), 7)
        self.assertEqual([record["round"] for record in records if "failed" in record], [2])

    def test_an_allocator_that_the_program_does_not_run_on(self):
        subject = Subject("a", unproven=("second",))
        records, said = run(subject, Subject("b"))
        self.assertNotIn("second", subject.asked)
        self.assertEqual([record for record in records if "failed" in record],
                         [{"round": 0, "case": "a", "allocator": "second", "failed": "malloc is another's",
                           "unproven": True}])
        self.assertEqual(said, "bench: a on second: malloc is another's\n")
        self.assert_others_whole(records, ("a", "second"))

    def test_a_subject_that_is_missing(self):
        absent = Subject("absent", missing="absent: not installed; run: apt-get install absent")
        records, said = run(absent, Subject("b"))
        self.assertEqual((absent.asked, said), ([], "bench: absent: not installed; run: apt-get install absent\n"))
        self.assertEqual({record["case"] for record in records}, {"b"})

    def test_a_subject_that_cannot_be_prepared(self):
        broken = Subject("broken")
        broken.prepare = lambda *_: crash(_)
        records, said = run(broken, Subject("b"))
        self.assertRegex(said, "^bench: broken on the system's malloc: killed by SIGSEGV")
        self.assertEqual({record["case"] for record in records}, {"b"})


class Interrupt(unittest.TestCase):
    def test_what_was_measured_is_known(self):
        def interrupt(_):
            raise KeyboardInterrupt

        seen: list[dict] = []
        with self.assertRaises(KeyboardInterrupt):
            run(Subject("a"), Subject("b", {"third": interrupt}), warm_ups=0, seen=seen.append)
        self.assertEqual({record["case"] for record in seen} - {"b"}, {"a"})
        self.assertLess(len(seen), 6)


if __name__ == "__main__":
    main()
