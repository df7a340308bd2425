# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      medians, ratios of medians and geometric means, with 95 % bootstrap intervals.
# Invariant: rounds are resampled whole, for all cases and allocators at once, so a slow moment hurts both sides of a
#            ratio; the random numbers have a fixed seed, so the same data give the same interval.
# Must not know: what the numbers measure.
"""Statistics of interleaved rounds."""

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

RESAMPLES = 2000
SEED = 20
ENOUGH_ROUNDS = 3  # with two, every other comparison of equals would claim a difference

# Samples[case][allocator][round]; what failed is not there.
Samples = dict[str, dict[str, dict[int, float]]]
# Families of cases: each family counts the same, each case the same within its family.
Groups = Sequence[Sequence[str]]


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
    """Whoever lacks more than one round could not do it: after two failures it was not asked again."""
    most = max(len(samples[case].get(allocator, ())) for allocator in (ours, theirs))
    return len(rounds_of(samples, [case], [ours, theirs])) >= max(1, most - 1)


def comparable(samples: Samples, groups: Groups, ours: str, theirs: str) -> list[list[str]]:
    """The groups without the cases that one of the two could not do."""
    kept = [[case for case in group if both_could(samples, case, ours, theirs)] for group in groups]
    return [group for group in kept if group]


def log_ratio(samples: Samples, groups: Groups, ours: str, theirs: str, chosen: Sequence[int]) -> float:
    """The mean over groups of the mean over cases of the logarithm of median(ours) / median(theirs)."""
    def of(case: str, allocator: str) -> float:
        values = samples[case][allocator]
        return statistics.median(values[number] for number in chosen if number in values)

    return statistics.fmean(statistics.fmean(math.log(of(case, ours) / of(case, theirs)) for case in group)
                            for group in groups)


def bootstrap(estimate: Callable[[list[list[int]]], float], rounds: list[list[int]]) -> Interval:
    """The estimate over sets of rounds, each resampled by itself; estimate returns a logarithm."""
    rng = random.Random(SEED)
    drawn = sorted(estimate([rng.choices(part, k=len(part)) for part in rounds]) for _ in range(RESAMPLES))
    low, high = drawn[int(0.025 * RESAMPLES)], drawn[int(0.975 * RESAMPLES) - 1]
    return Interval(math.exp(estimate(rounds)), math.exp(low), math.exp(high), min(map(len, rounds)) >= ENOUGH_ROUNDS)


def ratio(samples: Samples, groups: Groups, ours: str, theirs: str) -> Interval | None:
    """The geometric mean of median(ours) / median(theirs); None: nothing that both could do."""
    groups = comparable(samples, groups, ours, theirs)
    if not groups:
        return None
    rounds = rounds_of(samples, [case for group in groups for case in group], [ours, theirs])
    if not rounds:
        return None
    return bootstrap(lambda parts: log_ratio(samples, groups, ours, theirs, parts[0]), [rounds])
