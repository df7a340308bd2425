# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: medians, ratios of medians and geometric means, with 95 % bootstrap intervals.
# Invariant: rounds are resampled whole, for all cases and allocators at once, so a slow moment hurts both sides of a
#    ratio; the random numbers have a fixed seed, so the same data give the same interval, and as many rounds
#    the same draws.
# Must not know: what the numbers measure.
"""Statistics of interleaved rounds."""

import functools
import math
import random
import statistics
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import sub

RESAMPLES = 2000
SEED = 20
ENOUGH_ROUNDS = 3  # with two, every other comparison of equals would claim a difference

KEPT = 4096  # medians of draws: more than what one metric of a large run has, less than 100 MB

# Samples[case][allocator][round]; what failed is not there.
Samples = dict[str, dict[str, dict[int, float]]]
# Families of cases: each family counts the same, each case the same within its family.
Groups = Sequence[Sequence[str]]
# Sets of rounds, each of which is resampled by itself.
Parts = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Interval:
    """A ratio. Too few rounds tell no interval (`is_known`); then nothing may be concluded either."""

    value: float
    low: float
    high: float
    is_known: bool = False

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f} {self.high:.2f}]" if self.is_known else f"{self.value:.2f}"

    def word(self, lower: str, higher: str) -> str:
        """What may be said: nothing, when the interval straddles one."""
        if not self.is_known:
            return ""
        return lower if self.high < 1 else higher if self.low > 1 else "no difference"

    def numbers(self) -> list[float]:
        return [round(x, 4) for x in (self.value, self.low, self.high)]


def rounds_of(samples: Samples, cases: Sequence[str], allocators: Sequence[str]) -> list[int]:
    """The rounds in which every one of these has a value."""
    common: set[int] | None = None
    for case in cases:
        for allocator in allocators:
            here = set(samples[case].get(allocator, {}))
            common = here if common is None else common & here
    return sorted(common or ())


def both_could(samples: Samples, case: str, ours: str, theirs: str) -> bool:
    """An allocator that lacks more than one round could not do the case: after two failures it was not run again."""
    most = max(len(samples[case].get(allocator, ())) for allocator in (ours, theirs))
    return len(rounds_of(samples, [case], [ours, theirs])) >= max(1, most - 1)


def comparable(samples: Samples, groups: Groups, ours: str, theirs: str) -> list[list[str]]:
    """The groups without the cases that one of the two could not do."""
    kept = [[case for case in group if both_could(samples, case, ours, theirs)] for group in groups]
    return [group for group in kept if group]


def log_ratio(samples: Samples, groups: Groups, ours: str, theirs: str, rounds: Sequence[int]) -> float:
    """The mean over groups of the mean over cases of the logarithm of median(ours) / median(theirs)."""
    def of(case: str, allocator: str) -> float:
        return statistics.median(samples[case][allocator][number] for number in rounds)

    return statistics.fmean(statistics.fmean(math.log(of(case, ours) / of(case, theirs)) for case in group)
                            for group in groups)


@functools.cache
def draws(sizes: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each part of so many rounds RESAMPLES draws, with replacement, of places in it. A draw is sorted: its order
    means nothing to a median, and many are then equal."""
    rng = random.Random(SEED)
    drawn = [[tuple(sorted(rng.choices(range(size), k=size))) for size in sizes] for _ in range(RESAMPLES)]
    return tuple(zip(*drawn))


@functools.lru_cache(maxsize=KEPT)
def log_medians(values: tuple[float, ...], sizes: tuple[int, ...], part: int) -> array:
    """The logarithm of the median of the values of a part, in each draw."""
    chosen = draws(sizes)[part]
    known = {places: math.log(statistics.median([values[place] for place in places])) for places in set(chosen)}
    return array("d", map(known.__getitem__, chosen))


def means(vectors: list[Iterable[float]]) -> Iterable[float]:
    """Of the vectors, draw by draw."""
    return vectors[0] if len(vectors) == 1 else [sum(column) / len(column) for column in zip(*vectors)]


def log_ratios(samples: Samples, groups: Groups, ours: str, theirs: str, parts: Parts, part: int = 0
               ) -> Iterable[float]:
    """log_ratio over the rounds of a part, in each draw."""
    sizes = tuple(map(len, parts))

    def of(case: str, allocator: str) -> array:
        values = samples[case][allocator]
        return log_medians(tuple(values[number] for number in parts[part]), sizes, part)

    return means([means([map(sub, of(case, ours), of(case, theirs)) for case in group]) for group in groups])


def bootstrapped(value: float, drawn: Iterable[float], parts: Parts) -> Interval:
    """The interval around a value, all being logarithms."""
    order = sorted(drawn)
    low, high = order[int(0.025 * len(order))], order[int(0.975 * len(order)) - 1]
    return Interval(math.exp(value), math.exp(low), math.exp(high), min(map(len, parts)) >= ENOUGH_ROUNDS)


def median(by_round: dict[int, float]) -> Interval:
    values = tuple(by_round[number] for number in sorted(by_round))
    drawn = log_medians(values, (len(values),), 0)
    return bootstrapped(math.log(statistics.median(values)), drawn, [values])


def ratio(samples: Samples, groups: Groups, ours: str, theirs: str) -> Interval | None:
    """The geometric mean of median(ours) / median(theirs); None: nothing that both could do."""
    groups = comparable(samples, groups, ours, theirs)
    if not groups:
        return None
    rounds = rounds_of(samples, [case for group in groups for case in group], [ours, theirs])
    if not rounds:
        return None
    return bootstrapped(log_ratio(samples, groups, ours, theirs, rounds),
                        log_ratios(samples, groups, ours, theirs, [rounds]), [rounds])
