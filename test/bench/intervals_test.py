# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: ratios of medians and their intervals, on samples whose answer is known.
# Invariant: what is claimed of noise is counted over many sets of samples, never read from one.
# Must not know: where real samples come from.
"""Usage: intervals_test.py BUILD_FOLDER."""

import math
import random
import statistics
import unittest

from support import main, noisy, steady

from granary_results.intervals import ENOUGH_ROUNDS, RESAMPLES, SEED, median, ratio

ROUNDS = 6
SETS = 100


class Ratio(unittest.TestCase):
    def test_identical_samples(self):
        values = noisy(random.Random(1), 5.0, 0.2, ROUNDS)
        interval = ratio({"case": {"ours": values, "theirs": values}}, [["case"]], "ours", "theirs")
        self.assertEqual((interval.value, interval.low, interval.high), (1, 1, 1))
        self.assertEqual(interval.word("faster", "slower"), "no difference")

    def test_a_slow_moment_hurts_both_sides(self):
        moments = noisy(random.Random(2), 1.0, 1.0, ROUNDS)
        ours = {number: 1.1 * value for number, value in moments.items()}
        interval = ratio({"case": {"ours": ours, "theirs": moments}}, [["case"]], "ours", "theirs")
        for number in (interval.value, interval.low, interval.high):
            self.assertAlmostEqual(number, 1.1)
        self.assertEqual(interval.word("faster", "slower"), "slower")

    def test_the_interval_lies_around_the_value_and_is_repeatable(self):
        rng = random.Random(3)
        samples = {"case": {name: noisy(rng, 1.0, 0.1, 25) for name in ("ours", "theirs")}}
        interval, again = (ratio(samples, [["case"]], "ours", "theirs") for _ in range(2))
        self.assertLess(interval.low, interval.value)
        self.assertLess(interval.value, interval.high)
        self.assertEqual(interval, again)

    def test_values_without_noise_have_an_interval_too(self):
        interval = ratio({"case": {"ours": steady(105, ROUNDS), "theirs": steady(100, ROUNDS)}}, [["case"]],
                         "ours", "theirs")
        self.assertTrue(interval.is_known)
        self.assertEqual(interval.word("smaller", "larger"), "larger")

    def test_too_few_rounds_conclude_nothing(self):
        for rounds in range(1, ENOUGH_ROUNDS):
            values = {"ours": steady(2, rounds), "theirs": steady(1, rounds)}
            interval = ratio({"case": values}, [["case"]], "ours", "theirs")
            self.assertAlmostEqual(interval.value, 2)
            self.assertEqual((str(interval), interval.word("faster", "slower")), ("2.00", ""))


class PlainBootstrap(unittest.TestCase):
    """The draws are shared among all figures; each must be what a bootstrap of its own, draw by draw, gives."""

    def assert_plain(self, interval, estimate, rounds: list[int]):
        rng = random.Random(SEED)
        drawn = sorted(estimate(rng.choices(rounds, k=len(rounds))) for _ in range(RESAMPLES))
        for found, expected in ((interval.value, estimate(rounds)), (interval.low, drawn[RESAMPLES * 25 // 1000]),
                                (interval.high, drawn[RESAMPLES * 975 // 1000 - 1])):
            self.assertAlmostEqual(math.log(found), expected, places=12)

    def test_means_of_ratios(self):
        rng = random.Random(6)
        groups = [["a", "b", "c"], ["d"]]
        for rounds in (5, 6):
            samples = {case: {name: noisy(rng, 1.0, 0.3, rounds) for name in ("ours", "theirs")} for case in "abcd"}

            def estimate(chosen):
                def of(case, name):
                    return math.log(statistics.median(samples[case][name][number] for number in chosen))
                return statistics.fmean(statistics.fmean(of(case, "ours") - of(case, "theirs") for case in group)
                                        for group in groups)

            with self.subTest(rounds):
                self.assert_plain(ratio(samples, groups, "ours", "theirs"), estimate, list(range(1, rounds + 1)))

    def test_medians(self):
        for rounds in ([1, 2, 3, 4, 5, 6], [2, 3, 5], [4]):
            values = noisy(random.Random(7), 20.0, 0.5, 6)
            own = {number: values[number] for number in reversed(rounds)}
            self.assert_plain(median(own), lambda chosen: math.log(statistics.median(own[n] for n in chosen)), rounds)


class Missing(unittest.TestCase):
    def test_a_round_that_one_lacks_counts_for_neither(self):
        rng = random.Random(4)
        ours, theirs = (noisy(rng, 1.0, 0.1, ROUNDS) for _ in range(2))
        del ours[3]
        without = {number: value for number, value in theirs.items() if number != 3}
        expected = ratio({"case": {"ours": ours, "theirs": without}}, [["case"]], "ours", "theirs")
        theirs[3] = 1000.0
        self.assertEqual(ratio({"case": {"ours": ours, "theirs": theirs}}, [["case"]], "ours", "theirs"), expected)

    def test_a_case_that_one_could_not_do_is_left_out(self):
        both = {"ours": steady(2, ROUNDS), "theirs": steady(1, ROUNDS)}
        for theirs in ({}, {"theirs": steady(50, 2)}):  # it never ran, or was given up after two failures
            samples = {"a": both, "b": {"ours": steady(1, ROUNDS), **theirs}}
            self.assertAlmostEqual(ratio(samples, [["a", "b"]], "ours", "theirs").value, 2)
            self.assertIsNone(ratio(samples, [["b"]], "ours", "theirs"))

    def test_an_interrupted_last_round_is_no_failure(self):
        samples = {"case": {"ours": steady(2, ROUNDS), "theirs": steady(1, ROUNDS - 1)}}
        self.assertAlmostEqual(ratio(samples, [["case"]], "ours", "theirs").value, 2)


class Groups(unittest.TestCase):
    def test_each_counts_the_same(self):
        factors = {"alone": 4.0, "a": 1.0, "b": 1.0, "c": 1.0}
        samples = {case: {"ours": steady(factor, ROUNDS), "theirs": steady(1, ROUNDS)}
                   for case, factor in factors.items()}
        self.assertAlmostEqual(ratio(samples, [["alone"], ["a", "b", "c"]], "ours", "theirs").value, 2)


class Noise(unittest.TestCase):
    @staticmethod
    def words(factor: float, noise: float) -> list[str]:
        """What is said of many runs in which ours costs `factor` of theirs."""
        rng = random.Random(5)
        said = []
        for _ in range(SETS):
            samples = {"case": {"ours": noisy(rng, factor, noise, ROUNDS), "theirs": noisy(rng, 1, noise, ROUNDS)}}
            said.append(ratio(samples, [["case"]], "ours", "theirs").word("faster", "slower"))
        return said

    def test_a_true_difference_of_ten_percent_is_found(self):
        self.assertGreaterEqual(self.words(1.1, 0.02).count("slower"), 0.99 * SETS)
        self.assertGreaterEqual(self.words(1 / 1.1, 0.02).count("faster"), 0.99 * SETS)

    def test_the_same_allocator_twice_shows_no_difference(self):
        said = self.words(1, 0.02)
        self.assertGreaterEqual(said.count("no difference"), 0.85 * SETS, said)


if __name__ == "__main__":
    main()
