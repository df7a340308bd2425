# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: compares a run with a stored one: has Granary become slower or larger than it was?
# Invariant: what is compared are ratios to an allocator that is in both runs, so another machine's file serves too; a
#    regression is one only where the intervals do not touch and the difference is worth a word, or where
#    Granary fails and did not.
# Must not know: how results are shown.
"""Regressions against a stored result."""

from collections.abc import Iterator
from dataclasses import dataclass

from granary_results.intervals import ENOUGH_ROUNDS, Interval, Samples, ratio
from granary_results.results import METRICS, Results, one_line
from report import OURS, peers_of

WORTH_A_WORD = 1.02


@dataclass(frozen=True)
class Change:
    """A case's ratio to an allocator in the stored result and now."""

    case: str
    reference: str
    was: Interval
    is_now: Interval

    def is_worse(self) -> bool:
        return self.is_now.low > self.was.high * WORTH_A_WORD


def changes(before: Samples, after: Samples, references: list[str]) -> Iterator[Change]:
    """One for each case with intervals in both, against the first allocator that has them."""
    for case in after:
        for reference in references if case in before else ():
            was, is_now = (ratio(samples, [[case]], OURS, reference) for samples in (before, after))
            if was and is_now and was.is_known and is_now.is_known:
                yield Change(case, reference, was, is_now)
                break


def new_failures(now: Results, stored: Results) -> list[str]:
    known = stored.failures()
    return [f"{case}: {one_line(why)}" for (case, name), why in now.failures().items()
            if name == OURS and (case, name) not in known]


def regressions(now: Results, stored: Results) -> list[str]:
    """One line for each. Raises ValueError when nothing can be compared."""
    if now.profile != stored.profile:
        raise ValueError(f"the stored result is of the profile {stored.profile}, this run is of {now.profile}; "
                         f"measure with --profile {stored.profile}")
    shared = [name for name in peers_of(stored) if name in now.names()]
    if not shared:
        raise ValueError("the stored result has no allocator in common with this run except Granary; see --with")
    found = {metric: list(changes(stored.samples(metric.key), now.samples(metric.key), shared)) for metric in METRICS}
    failures = new_failures(now, stored)
    if not failures and not any(found.values()):
        raise ValueError(f"no case has {ENOUGH_ROUNDS} rounds in both the stored result and this run; see --rounds")
    return failures + [f"{change.case}: {metric.title.lower()} against {change.reference} was {change.was}, is "
                       f"{change.is_now}" for metric in METRICS for change in found[metric] if change.is_worse()]
