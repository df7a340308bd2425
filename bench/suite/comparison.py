# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: everything that the page says in numbers, each computed once: medians, ratios to the best, verdicts, means.
# Invariant: the same functions as the report's for the terminal, so the two never disagree.
# Must not know: how it is shown.
"""The statistics of a run."""

import statistics
from dataclasses import dataclass, replace

from granary_results.intervals import Groups, Interval, Samples, median, ratio
from granary_results.results import METRICS, Results
from report import OURS, peers_of
from verdict import Verdict, against_best

NOUNS = {"cost": "time", "cpu_cost": "CPU time", "peak_kib": "peak memory"}
LATENCIES = {"latency_p50_ns": "p50", "latency_p99_ns": "p99", "latency_p999_ns": "p99.9", "latency_max_ns": "max"}


@dataclass(frozen=True)
class Standing:
    """An allocator in a case: its median, and its ratio to the lowest median there, controls left out."""

    allocator: str
    median: float
    ratio: Interval


def upper(text: str) -> str:
    """As at the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def honest(interval: Interval) -> Interval:
    """Without ends where too few rounds tell none, so that none can be drawn."""
    return interval if interval.is_known else replace(interval, low=interval.value, high=interval.value)


def spread(by_round: dict[int, float]) -> Interval:
    """A median with its interval."""
    return honest(median(by_round))


def mean_ratio(samples: Samples, groups: Groups, ours: str, theirs: str) -> Interval | None:
    found = ratio(samples, groups, ours, theirs)
    return found and honest(found)


def judgement(samples: Samples, groups: Groups, peers: list[str]) -> Verdict | None:
    found = against_best(samples, groups, OURS, peers)
    return found and replace(found, interval=honest(found.interval))


def inverse(interval: Interval) -> Interval:
    return Interval(1 / interval.value, 1 / interval.high, 1 / interval.low, interval.is_known)


def latencies(results: Results) -> dict[str, dict[str, dict[str, Interval]]]:
    """Case to allocator to percentile to nanoseconds."""
    found: dict[str, dict[str, dict[str, Interval]]] = {}
    for key, words in LATENCIES.items():
        for case, by in results.samples(key).items():
            for name, by_round in by.items():
                found.setdefault(case, {}).setdefault(name, {})[words] = spread(by_round)
    return found


def standings(samples: Samples, case: str, controls: list[str]) -> list[Standing]:
    """Best first, controls last. What has no round in common with the best has a ratio without an interval."""
    medians = {name: statistics.median(values.values()) for name, values in samples[case].items()}
    order = sorted(medians, key=lambda name: (name in controls, medians[name]))
    best = order[0]

    def against(name: str) -> Interval:
        plain = medians[name] / medians[best]
        return name != best and mean_ratio(samples, [[case]], name, best) or Interval(plain, plain, plain)

    return [Standing(name, medians[name], against(name)) for name in order]


class Comparison:
    """By metric, then by case or family. Without Granary there are no verdicts, and the first allocator stands in for
    it in the means."""

    def __init__(self, results: Results):
        names = results.names()
        peers = peers_of(results)
        self.results = results
        self.reference = OURS if OURS in names else names[0] if names else ""
        self.latencies = latencies(results)
        self.samples: dict[str, Samples] = {}
        self.standings: dict[str, dict[str, list[Standing]]] = {}
        self.verdicts: dict[str, dict[str, Verdict | None]] = {}
        self.family_verdicts: dict[str, dict[str, Verdict | None]] = {}
        self.means: dict[str, dict[str, dict[str, Interval | None]]] = {}
        for metric in METRICS:
            samples = results.samples(metric.key)
            families = results.families(list(samples))
            groups = {**results.selections(metric),
                      **{name: [cases] for name, cases in families.items()}}
            self.samples[metric.key] = samples
            self.standings[metric.key] = {case: standings(samples, case, results.controls()) for case in samples}
            self.means[metric.key] = {name: {other: mean_ratio(samples, group, self.reference, other)
                                                    for other in names if other != self.reference}
                                      for name, group in groups.items()}
            judged = OURS in names and peers
            self.verdicts[metric.key] = {case: judgement(samples, [[case]], peers)
                                         for case in samples} if judged else {}
            self.family_verdicts[metric.key] = {name: judgement(samples, group, peers)
                                                for name, group in groups.items()} if judged else {}
