# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      which peer is the best, and how we stand against it.
# Invariant: the best is chosen on one half of the rounds and compared on the other, both ways, so that luck does not
#            set the bar; halves of too few rounds get no interval.
# Must not know: what the numbers measure.
"""Comparison with the best peer."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from intervals import Groups, Interval, Samples, bootstrapped, comparable, log_ratio, log_ratios, means, rounds_of


@dataclass(frozen=True)
class Verdict:
    """`peers`: the best on either half; the same one, mostly."""

    peers: tuple[str, ...]
    interval: Interval

    def names(self) -> str:
        return " or ".join(dict.fromkeys(self.peers))


def best(samples: Samples, groups: Groups, ours: str, peers: Sequence[str], chosen: Sequence[int]) -> str:
    """The peer against which we stand worst in the chosen rounds."""
    return max(peers, key=lambda peer: log_ratio(samples, groups, ours, peer, chosen))


def against_best(samples: Samples, groups: Groups, ours: str, peers: Sequence[str]) -> Verdict | None:
    """None: we, or all of them, have no values."""
    cases = [case for group in groups for case in group]
    # A peer that failed somewhere is no yardstick for the whole.
    able = [peer for peer in peers if sum(map(len, comparable(samples, groups, ours, peer))) == len(cases)]
    rounds = rounds_of(samples, cases, [ours, *able]) if able else []
    if not rounds:
        return None
    if len(rounds) < 2:
        peer = best(samples, groups, ours, able, rounds)
        value = math.exp(log_ratio(samples, groups, ours, peer, rounds))
        return Verdict((peer,), Interval(value, value, value))
    halves = [rounds[0::2], rounds[1::2]]
    chosen = [best(samples, groups, ours, able, half) for half in halves]
    crossed = [(chosen[0], 1), (chosen[1], 0)]
    value = statistics.fmean(log_ratio(samples, groups, ours, peer, halves[half]) for peer, half in crossed)
    drawn = means([log_ratios(samples, groups, ours, peer, halves, half) for peer, half in crossed])
    return Verdict(tuple(chosen), bootstrapped(value, drawn, halves))
