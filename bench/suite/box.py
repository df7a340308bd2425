# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what a box plot shows of single runs: the least, the quartiles, the most.
# Invariant: the five numbers ascend; a box of one run has them all alike.
# Must not know: what the runs measure; how a box is drawn.
"""Box plots as numbers."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    least: float
    lower: float
    middle: float
    upper: float
    most: float

    def __str__(self) -> str:
        return " ".join(f"{value:.2f}" for value in (self.least, self.lower, self.middle, self.upper, self.most))


def box_of(values: Sequence[float]) -> Box:
    """Quartiles between the values, as of a whole population."""
    if len(values) == 1:
        return Box(*5 * [values[0]])
    return Box(min(values), *statistics.quantiles(values, n=4, method="inclusive"), max(values))
