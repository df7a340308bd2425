# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the best peer: chosen on one half of the rounds, compared on the other; which allocators may be the best peer at
#    all.
# Invariant: beside each verdict stands what a choice without halves would have said.
# Must not know: where real samples come from.
"""Usage: verdict_test.py BUILD_FOLDER."""

import math
import random
import statistics
import unittest

from support import main, noisy, steady

from granary_results.intervals import ENOUGH_ROUNDS, RESAMPLES, SEED, log_ratio, ratio
from verdict import BEHIND, against_best, against_each_best, behind

ROUNDS = 6
PEERS = [f"peer{number}" for number in range(12)]


class Luck(unittest.TestCase):
    def test_it_does_not_choose_and_judge_in_the_same_rounds(self):
        # Each of these is fast in one half and slow in the other; over all rounds neither is faster than we.
        odd = {number: 0.8 if number % 2 else 1.25 for number in range(1, ROUNDS + 1)}
        even = {number: 1 / value for number, value in odd.items()}
        samples = {"case": {"ours": steady(1, ROUNDS), "steady": steady(1, ROUNDS), "odd": odd, "even": even}}
        verdict = against_best(samples, [["case"]], "ours", ["steady", "odd", "even"])
        self.assertEqual(verdict.peers, ("odd", "even"))
        self.assertEqual(verdict.names(), "odd or even")
        self.assertAlmostEqual(verdict.interval.value, 0.8)
        self.assertAlmostEqual(math.exp(log_ratio(samples, [["case"]], "ours", "odd", [1, 3, 5])), 1.25)

    def test_it_sets_no_bar_among_equals(self):
        rng = random.Random(1)
        fair, naive = [], []
        for _ in range(30):
            samples = {"case": {name: noisy(rng, 1, 0.1, ROUNDS) for name in ("ours", *PEERS)}}
            fair.append(math.log(against_best(samples, [["case"]], "ours", PEERS).interval.value))
            rounds = range(1, ROUNDS + 1)
            naive.append(max(log_ratio(samples, [["case"]], "ours", peer, rounds) for peer in PEERS))
        self.assertGreater(statistics.fmean(naive), 0.04)
        self.assertLess(abs(statistics.fmean(fair)), 0.03)

    def test_the_same_allocator_twice_shows_no_difference(self):
        rng = random.Random(2)
        cases = [f"case{number}" for number in range(10)]
        for _ in range(5):
            samples = {case: {name: noisy(rng, 1, 0.02, ROUNDS) for name in ("ours", "ours again")} for case in cases}
            verdict = against_best(samples, [cases], "ours", ["ours again"])
            self.assertLess(abs(verdict.interval.value - 1), 0.02)
            self.assertEqual(verdict.interval.word("faster", "slower"), "no difference")


class Halves(unittest.TestCase):
    def test_each_is_resampled_by_itself(self):
        rng, rounds = random.Random(4), list(range(1, 8))
        fast = {number: 0.8 if number % 2 else 1.25 for number in rounds}
        samples = {"case": {"ours": noisy(rng, 1, 0.1, 7), "odd": fast, "even": {n: 1 / fast[n] for n in rounds}}}
        verdict = against_best(samples, [["case"]], "ours", ["odd", "even"])
        self.assertEqual(verdict.peers, ("odd", "even"))
        drawn = random.Random(SEED)
        logs = sorted(self.plain(samples, [drawn.choices(half, k=len(half)) for half in (rounds[0::2], rounds[1::2])])
                      for _ in range(RESAMPLES))
        interval = verdict.interval
        self.assertAlmostEqual(math.log(interval.value), self.plain(samples, [rounds[0::2], rounds[1::2]]))
        self.assertAlmostEqual(math.log(interval.low), logs[RESAMPLES * 25 // 1000], places=12)
        self.assertAlmostEqual(math.log(interval.high), logs[RESAMPLES * 975 // 1000 - 1], places=12)

    @staticmethod
    def plain(samples, halves) -> float:
        """Chosen on one half, compared on the other."""
        return statistics.fmean(log_ratio(samples, [["case"]], "ours", peer, half)
                                for peer, half in (("odd", halves[1]), ("even", halves[0])))


class Best(unittest.TestCase):
    def setUp(self):
        rng = random.Random(3)
        self.samples = {case: {"ours": noisy(rng, 1.1, 0.01, ROUNDS), "good": noisy(rng, 1, 0.01, ROUNDS),
                               "bad": noisy(rng, 1.3, 0.01, ROUNDS)} for case in ("a", "b")}
        self.peers = ["bad", "good"]

    def verdict(self):
        return against_best(self.samples, [["a"], ["b"]], "ours", self.peers)

    def test_a_peer_that_is_better_is_found_and_is_the_bar(self):
        self.assertEqual(self.verdict().names(), "good")
        self.assertAlmostEqual(self.verdict().interval.value, 1.1, delta=0.02)
        self.assertEqual(self.verdict().interval.word("faster", "slower"), "slower")

    def test_a_peer_that_failed_somewhere_is_not_it(self):
        for left in (0, 1, ROUNDS - 2):  # two failures, and it was not asked again
            self.samples["b"]["good"] = steady(1, left)
            self.assertEqual(self.verdict().names(), "bad")
            self.assertTrue(self.verdict().interval.is_known, "and its failure must not cost the others their rounds")
            self.assertEqual(ratio(self.samples, [["a"], ["b"]], "ours", "good").word("faster", "slower"), "slower")

    def test_a_peer_that_lacks_the_round_that_was_interrupted_still_is(self):
        del self.samples["b"]["good"][ROUNDS]
        self.assertEqual(self.verdict().names(), "good")

    def test_nobody_did_it_all(self):
        for samples in self.samples.values():
            del samples["good"]
        del self.samples["a"]["bad"]
        self.assertIsNone(self.verdict())

    def test_we_did_not(self):
        del self.samples["a"]["ours"]
        self.assertIsNone(self.verdict())

    def test_small_halves_tell_no_interval(self):
        for rounds in range(1, 2 * ENOUGH_ROUNDS):
            samples = {"a": {"ours": steady(1.1, rounds), "good": steady(1, rounds)}}
            interval = against_best(samples, [["a"]], "ours", ["good"]).interval
            self.assertAlmostEqual(interval.value, 1.1)
            self.assertFalse(interval.is_known)


class EachBest(unittest.TestCase):
    """A peer that is best in one case and bad in the other, and one the other way round."""

    def setUp(self):
        self.samples = {"a": {"ours": steady(1.2, ROUNDS), "one": steady(1, ROUNDS), "two": steady(2, ROUNDS)},
                        "b": {"ours": steady(1.2, ROUNDS), "one": steady(4, ROUNDS), "two": steady(1.5, ROUNDS)}}

    def test_each_case_has_its_own(self):
        found = against_each_best(self.samples, [["a", "b"]], "ours", ["one", "two"])
        self.assertAlmostEqual(found.value, math.sqrt(1.2 * 0.8))
        self.assertTrue(found.is_known)
        self.assertAlmostEqual(against_best(self.samples, [["a", "b"]], "ours", ["one", "two"]).interval.value,
                               math.sqrt(0.6 * 0.8))

    def test_families_count_the_same(self):
        self.samples["c"] = self.samples["b"]
        found = against_each_best(self.samples, [["a"], ["b", "c"]], "ours", ["one", "two"])
        self.assertAlmostEqual(found.value, math.sqrt(1.2 * 0.8))

    def test_what_we_could_not_do_is_left_out(self):
        del self.samples["b"]["ours"]
        self.assertAlmostEqual(against_each_best(self.samples, [["a"], ["b"]], "ours", ["one", "two"]).value, 1.2)
        del self.samples["a"]["ours"]
        self.assertIsNone(against_each_best(self.samples, [["a"], ["b"]], "ours", ["one", "two"]))

    def test_one_round_tells_no_interval(self):
        for by in self.samples.values():
            for values in by.values():
                for number in range(2, ROUNDS + 1):
                    del values[number]
        found = against_each_best(self.samples, [["a", "b"]], "ours", ["one", "two"])
        self.assertAlmostEqual(found.value, math.sqrt(1.2 * 0.8))
        self.assertFalse(found.is_known)

    def test_behind_are_those_wholly_above_the_bar_alone(self):
        rng = random.Random(5)
        self.samples |= {"near": {"ours": steady(BEHIND - 0.01, ROUNDS), "one": steady(1, ROUNDS)},
                         "noise": {"ours": noisy(rng, 1.2, 1, ROUNDS), "one": noisy(rng, 1, 1, ROUNDS)},
                         "far": {"ours": steady(1.5, ROUNDS), "one": steady(1, ROUNDS)},
                         "few": {"ours": steady(3, 2), "one": steady(1, 2)}}
        self.assertEqual(list(behind(self.samples, list(self.samples), "ours", ["one", "two"])), ["far", "a"])


if __name__ == "__main__":
    main()
