# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: which peer is the best, and how we stand against it.
# Invariant: the best is chosen on one half of the rounds and compared on the other, both ways, so that luck does not
#    set the bar; halves of too few rounds get no interval.
# Must not know: what the numbers measure.
"""Comparison with the best peer."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from granary_results.intervals import (Groups, Interval, Parts, Samples, bootstrapped, comparable, log_ratio,
                                       log_ratios, means, rounds_of)

BEHIND = 1.05  # beyond it a case is a loss that must be explained


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


@dataclass(frozen=True)
class Judgement:
    """A verdict in logarithms, before its interval is drawn. Without halves there is none to draw."""

    peers: tuple[str, ...]
    value: float
    drawn: list[float]
    halves: Parts

    def interval(self) -> Interval:
        if not self.halves:
            return Interval(*[math.exp(self.value)] * 3)
        return bootstrapped(self.value, self.drawn, self.halves)


def judge(samples: Samples, groups: Groups, ours: str, peers: Sequence[str]) -> Judgement | None:
    """None: we, or all of them, have no values."""
    cases = [case for group in groups for case in group]
    # A peer that failed somewhere is no yardstick for the whole.
    able = [peer for peer in peers if sum(map(len, comparable(samples, groups, ours, peer))) == len(cases)]
    rounds = rounds_of(samples, cases, [ours, *able]) if able else []
    if not rounds:
        return None
    if len(rounds) < 2:
        peer = best(samples, groups, ours, able, rounds)
        return Judgement((peer,), log_ratio(samples, groups, ours, peer, rounds), [], [])
    halves = [rounds[0::2], rounds[1::2]]
    chosen = [best(samples, groups, ours, able, half) for half in halves]
    crossed = [(chosen[0], 1), (chosen[1], 0)]
    value = statistics.fmean(log_ratio(samples, groups, ours, peer, halves[half]) for peer, half in crossed)
    drawn = means([log_ratios(samples, groups, ours, peer, halves, half) for peer, half in crossed])
    return Judgement(tuple(chosen), value, list(drawn), halves)


def against_best(samples: Samples, groups: Groups, ours: str, peers: Sequence[str]) -> Verdict | None:
    """Against the one peer that is best over all the cases."""
    found = judge(samples, groups, ours, peers)
    return found and Verdict(found.peers, found.interval())


def against_each_best(samples: Samples, groups: Groups, ours: str, peers: Sequence[str]) -> Interval | None:
    """The geometric mean against the best peer of each case, with equal weight for each family."""
    judged = [[judge(samples, [[case]], ours, peers) for case in group] for group in groups]
    known = [kept for group in judged if (kept := [each for each in group if each])]
    if not known:
        return None
    value = statistics.fmean(statistics.fmean(each.value for each in group) for group in known)
    halves = [half for group in known for each in group for half in each.halves]
    if not all(each.halves for group in known for each in group):
        return Interval(*[math.exp(value)] * 3)
    return bootstrapped(value, means([means([each.drawn for each in group]) for group in known]), halves)


def behind(samples: Samples, cases: Sequence[str], ours: str, peers: Sequence[str]) -> dict[str, Verdict]:
    """The cases whose interval against their best peer lies wholly above BEHIND, the farthest first."""
    verdicts = {case: against_best(samples, [[case]], ours, peers) for case in cases}
    found = {case: verdict for case, verdict in verdicts.items()
             if verdict and verdict.interval.is_known and verdict.interval.low > BEHIND}
    return dict(sorted(found.items(), key=lambda item: -item[1].interval.value))
