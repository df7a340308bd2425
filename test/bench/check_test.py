# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: regressions against a stored result: what is one and what is none.
# Invariant: each is found for its own reason and no other.
# Must not know: where results come from.
"""Usage: check_test.py BUILD_FOLDER."""

import random
import unittest

from support import failed, main, noisy, results, steady

from check import regressions
from granary_results.intervals import ENOUGH_ROUNDS
from granary_results.results import Results

ROUNDS = 6


def run(seed: int, granary: float = 1.0, rounds: int = ROUNDS, machine: float = 1.0, others=("system",)) -> Results:
    """Two cases, "a" in which Granary costs what is said and "b" in which it costs what others do."""
    rng = random.Random(seed)
    return results({case: {"granary": noisy(rng, machine * factor, 0.01, rounds),
                           **{name: noisy(rng, machine, 0.01, rounds) for name in others}}
                    for case, factor in (("a", granary), ("b", 1.0))})


class Regressions(unittest.TestCase):
    def test_found(self):
        found = regressions(run(1, granary=1.1), run(2))
        self.assertEqual([line.split(":")[0] for line in found], ["a"], found)
        self.assertIn("time for an operation against system was 1.0", found[0])

    def test_on_another_machine(self):
        self.assertEqual(regressions(run(1, machine=3), run(2)), [])
        self.assertEqual(len(regressions(run(1, granary=1.1, machine=3), run(2))), 1)

    def test_another_profile_has_other_sizes(self):
        stored = run(2)
        stored.profile = "smoke"
        with self.assertRaisesRegex(ValueError, "of the profile smoke"):
            regressions(run(1), stored)

    def test_improvements_are_none(self):
        self.assertEqual(regressions(run(1, granary=0.8), run(2)), [])

    def test_noise_is_none(self):
        for seed in range(20):
            self.assertEqual(regressions(run(2 * seed), run(2 * seed + 1)), [], seed)

    def test_memory_that_never_varies(self):
        now, stored = run(1), run(2)
        for trial in now.trials:
            trial["peak_kib"] += 100 if trial["allocator"] == "granary" else 0
        found = regressions(now, stored)
        self.assertEqual(len(found), 2, found)
        self.assertIn("a: peak memory against system was 1.00 [1.00 1.00], is 1.10", found[0])

    def test_granary_entered_twice_is_no_yardstick(self):
        others = ("granary+", "system")
        now, stored = run(1, granary=1.1, others=others), run(2, others=others)
        for trial in now.trials:
            trial["cost"] *= 1.1 if trial["allocator"] == "granary+" else 1
        self.assertIn("against system", *regressions(now, stored))

    def test_a_yardstick_that_failed_in_a_case_is_replaced_there(self):
        others = ("jemalloc", "system")
        now, stored = run(1, granary=1.1, others=others), run(2, others=others)
        now.trials = [trial for trial in now.trials if (trial["case"], trial["allocator"]) != ("a", "jemalloc")]
        self.assertIn("against system", *regressions(now, stored))


class Failures(unittest.TestCase):
    def setUp(self):
        self.now, self.stored = run(1), run(2)
        self.crash = failed(1, "b", "granary", "exit code 139; it printed\n    nothing good")

    def test_a_new_one_of_granary(self):
        self.now.trials = [trial for trial in self.now.trials if trial["case"] == "a"] + [self.crash]
        self.assertEqual(regressions(self.now, self.stored), ["b: exit code 139; it printed: nothing good"])

    def test_an_old_one(self):
        self.now.trials.append(self.crash)
        self.stored.trials.append(self.crash)
        self.assertEqual(regressions(self.now, self.stored), [])

    def test_a_peers(self):
        self.now.trials.append({**self.crash, "allocator": "system"})
        self.assertEqual(regressions(self.now, self.stored), [])


class NothingToCompare(unittest.TestCase):
    def assert_refused(self, now, stored, reason="no case has 3 rounds"):
        with self.assertRaisesRegex(ValueError, reason) as caught:
            regressions(now, stored)
        self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_no_allocator_in_common(self):
        self.assert_refused(run(1), run(2, others=("jemalloc",)), "no allocator in common")

    def test_no_case_in_common(self):
        self.assert_refused(run(1), results({"c": {"granary": steady(1, ROUNDS), "system": steady(1, ROUNDS)}}))

    def test_too_few_rounds_are_not_called_free_of_regressions(self):
        for rounds in range(1, ENOUGH_ROUNDS):
            self.assert_refused(run(1, rounds=rounds), run(2))
            self.assert_refused(run(1, granary=5), run(2, rounds=rounds))


if __name__ == "__main__":
    main()
