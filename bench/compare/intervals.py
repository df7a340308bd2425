# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      medians, ratios of medians and geometric means, with 95 % bootstrap intervals.
# Invariant: rounds are resampled whole, for all programs and allocators at once, so a slow moment hurts both sides of a
#            ratio; the random numbers have a fixed seed, so the same data give the same interval.
# Must not know: what the numbers measure.
"""Statistics of interleaved rounds."""

import math
import random
import statistics
from dataclasses import dataclass

RESAMPLES = 2000
SEED = 20

# Samples[program][allocator] is one value for each round.
Samples = dict[str, dict[str, list[float]]]


@dataclass(frozen=True)
class Interval:
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f} {self.high:.2f}]"


def ratio(samples: Samples, programs: list[str], ours: str, theirs: str) -> Interval:
    """The geometric mean over programs of median(ours) / median(theirs); one program: its plain ratio."""
    rounds = len(samples[programs[0]][ours])

    def of(chosen: list[int]) -> float:
        return math.exp(statistics.fmean(
            math.log(median(samples[name][ours], chosen) / median(samples[name][theirs], chosen)) for name in programs))

    rng = random.Random(SEED)
    resampled = sorted(of(rng.choices(range(rounds), k=rounds)) for _ in range(RESAMPLES))
    return Interval(of(list(range(rounds))), resampled[int(0.025 * RESAMPLES)], resampled[int(0.975 * RESAMPLES) - 1])


def median(values: list[float], chosen: list[int]) -> float:
    return statistics.median(values[index] for index in chosen)


def geometric_mean_of_medians(samples: Samples, allocator: str) -> float:
    return statistics.geometric_mean(statistics.median(by_allocator[allocator]) for by_allocator in samples.values())


def best(samples: Samples, allocators: list[str]) -> str:
    """The allocator with the lowest geometric mean over all programs."""
    return min(allocators, key=lambda name: geometric_mean_of_medians(samples, name))
