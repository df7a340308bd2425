# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      compares a run with a stored one: has Granary become slower or larger than it was?
# Invariant: what is compared are ratios to an allocator that is in both runs, so another machine's file serves too; a
#            regression is one only where the intervals do not touch and the difference is worth a word.
# Must not know: how results are shown.
"""Regressions against a stored result."""

from collections.abc import Iterator

from intervals import ratio
from report import OURS
from results import METRICS, Results

WORTH_A_WORD = 1.02


def references(now: Results, stored: Results) -> list[str]:
    return [name for name in stored.names() if name != OURS and name in now.names()]


def regressions(now: Results, stored: Results) -> Iterator[str]:
    """One line for each. Raises ValueError when there is nothing to compare with."""
    shared = references(now, stored)
    if not shared:
        raise ValueError("the stored result has no allocator in common with this run but Granary")
    for metric in METRICS:
        before, after = stored.samples(metric.key), now.samples(metric.key)
        for case in after:
            if case not in before:
                continue
            was = ratio(before, [[case]], OURS, shared[0])
            is_now = ratio(after, [[case]], OURS, shared[0])
            if was and is_now and is_now.low > was.high * WORTH_A_WORD:
                yield f"{case}: {metric.title.lower()} against {shared[0]} was {was}, is {is_now}"
