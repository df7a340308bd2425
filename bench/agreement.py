# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: whether two runs of the same comparison agree: no pair of allocators may differ significantly in opposite
#    directions, and an allocator entered twice may not differ from itself.
# Invariant: every pair of allocators that both runs have is looked at, in every case and every mean, by the intervals
#    that the report prints.
# Must not know: which allocator is ours.
"""Checks whether two results of `granary bench --json` agree."""

import argparse
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import record  # noqa: F401  (finds the suite's modules)
from granary_results.intervals import Interval, ratio
from granary_results.results import METRICS, TWICE, Metric, Results


@dataclass(frozen=True)
class Pair:
    """Two allocators in a case or a mean, in either run."""

    metric: Metric
    where: str
    names: tuple[str, str]
    runs: tuple[Interval, Interval]

    def directions(self) -> set[str]:
        return {run.word("lower", "higher") for run in self.runs}

    def contradicts(self) -> bool:
        return self.directions() == {"lower", "higher"}

    def is_of_one_allocator(self) -> bool:
        return self.names[0].rstrip(TWICE) == self.names[1].rstrip(TWICE)

    def __str__(self) -> str:
        return f"{self.metric.title}, {self.where}: {' / '.join(self.names)} {self.runs[0]}, then {self.runs[1]}"


def pairs(first: Results, second: Results) -> Iterator[Pair]:
    """Those that both runs have values and intervals of."""
    names = [name for name in first.names() if name in second.names()]
    for metric in METRICS:
        before, after = first.samples(metric.key), second.samples(metric.key)
        cases = [case for case in before if case in after]
        groups = {case: [[case]] for case in cases}
        groups |= {f"mean of {family}": [members] for family, members in first.families(cases).items()}
        for where, group in groups.items():
            for ours, theirs in itertools.combinations(names, 2):
                runs = ratio(before, group, ours, theirs), ratio(after, group, ours, theirs)
                if all(run and run.is_known for run in runs):
                    yield Pair(metric, where, (ours, theirs), runs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    options = parser.parse_args()
    try:
        found = list(pairs(Results.load(options.first), Results.load(options.second)))
    except ValueError as problem:
        print(f"agreement: {problem}", file=sys.stderr)
        return 2
    if not found:
        print("agreement: no case has enough rounds of a pair of allocators in both results", file=sys.stderr)
        return 2
    against = [pair for pair in found if pair.contradicts()]
    twice = [pair for pair in found if pair.is_of_one_allocator()]
    same_word = sum(len(pair.directions()) == 1 for pair in found)
    print(f"{len(found)} pairs in cases and means; same verdict in {same_word}, opposite verdicts in {len(against)}")
    for pair in against:
        print(f"  {pair}")
    if twice:
        differ = [pair for pair in twice if pair.directions() in ({"lower"}, {"higher"})]
        print(f"{len(twice)} pairs of an allocator with itself; a difference in both runs in {len(differ)}")
        for pair in differ:
            print(f"  {pair}")
        against += differ
    return 1 if against else 0


if __name__ == "__main__":
    sys.exit(main())
