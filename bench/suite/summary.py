# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: says in sentences which allocator is ahead in which cases.
# Invariant: every sentence follows from a verdict; losses come first and at the same length as gains; a single round
#    concludes nothing.
# Must not know: how the page is laid out.
"""The findings of a run in words."""

from collections import Counter
from dataclasses import dataclass

from comparison import NOUNS, Comparison, upper
from granary_results.intervals import ENOUGH_ROUNDS, ratio
from granary_results.results import ALL, ALLOCATING, METRICS, TWICE, Metric
from report import OURS, behind_line, each_best_line, peers_of
from verdict import Verdict

NO_DIFFERENCE = "no difference"

EVERYWHERE = {ALL: "All families that count, weighted equally",
              ALLOCATING: "Of these, the cases that spend at least a tenth of their instructions in malloc and free"}


@dataclass(frozen=True)
class Findings:
    """About one metric: sentences, then titled lists of lines."""

    metric: Metric
    sentences: list[str]
    lists: list[tuple[str, list[str]]]


def cases_of(number: int, total: int) -> str:
    return f"{number} of {total} case{'' if total == 1 else 's'}"


def standing(where: str, verdict: Verdict | None, metric: Metric) -> str:
    """Which allocator is ahead there."""
    if verdict is None:
        return f"{where}: Granary or every peer failed in some case, so no best peer is named."
    peer, interval, noun = verdict.names(), verdict.interval, NOUNS[metric.key]
    word = interval.word(metric.lower, metric.higher)
    if word == metric.lower:
        return f"{where}: Granary is ahead with {interval} of the {noun} of {peer}, the best peer."
    if word == metric.higher:
        return f"{where}: {peer} is ahead; Granary needs {interval} of its {noun}."
    if word:
        return f"{where}: no difference between Granary and {peer}, the best peer: {interval} of its {noun}."
    return f"{where}: Granary needed {interval} of the {noun} of {peer}, the best peer; too few rounds for a verdict."


def lowest(comparison: Comparison, metric: Metric) -> str:
    """How often each allocator has the lowest median."""
    order = comparison.standings[metric.key]
    firsts = Counter(rows[0].allocator for rows in order.values()).most_common()
    (name, number), *others = firsts
    told = [f"{name} in {cases_of(number, len(order))}", *(f"{name} in {number}" for name, number in others)]
    return f"Lowest median: {', '.join(told)}."


def bars(comparison: Comparison, metric: Metric) -> list[str]:
    """What the project promises of each case against its own best peer."""
    results = comparison.results
    if OURS not in results.names() or not peers_of(results):
        return []
    return list(filter(None, (each_best_line(results, metric), behind_line(results, metric))))


def controls(comparison: Comparison, metric: Metric) -> list[str]:
    """The same allocator twice must show no difference."""
    samples, results = comparison.samples[metric.key], comparison.results
    groups = list(results.families(list(samples)).values())
    told = []
    for name in results.names():
        base = name.rstrip(TWICE)
        interval = ratio(samples, groups, base, name) if name != base and base in results.names() else None
        if interval:
            word = interval.word(*["a difference, so differences of this size mean nothing"] * 2)
            told.append(f"Control: {base} against itself as {name}: {interval}{word and ', ' + word}.")
    return told


def case_lists(comparison: Comparison, metric: Metric) -> list[tuple[str, list[str]]]:
    """The cases by verdict, the largest differences first."""
    verdicts = comparison.verdicts[metric.key]
    groups: dict[str, list[tuple[float, str]]] = {metric.higher: [], metric.lower: [], NO_DIFFERENCE: [], "": []}
    for case, verdict in verdicts.items():
        if verdict:
            interval = verdict.interval
            word = interval.word(metric.lower, metric.higher)
            line = f"{case}: {interval} of {verdict.names()}"
            groups[word].append((-interval.value if word != metric.lower else interval.value, line))
    titles = {metric.higher: f"{upper(metric.higher)} than the best peer",
              metric.lower: f"{upper(metric.lower)} than the best peer",
              NO_DIFFERENCE: "No difference from the best peer", "": "Too few rounds for a verdict"}
    total = sum(map(len, groups.values()))
    decided = not groups[""] or len(groups[""]) < total
    return [(f"{titles[word]}: {cases_of(len(lines), total)}", [line for _, line in sorted(lines)])
            for word, lines in groups.items() if lines or (word in (metric.lower, metric.higher) and decided and total)]


def findings(comparison: Comparison) -> list[Findings]:
    """For each metric that was measured."""
    found = []
    for metric in METRICS:
        if not comparison.samples[metric.key]:
            continue
        verdicts = comparison.family_verdicts[metric.key]
        sentences = [standing(where, verdicts[name], metric) for name, where in EVERYWHERE.items() if name in verdicts]
        sentences += [lowest(comparison, metric), *bars(comparison, metric), *controls(comparison, metric)]
        families = [standing(upper(name), verdict, metric) for name, verdict in verdicts.items()
                    if name not in EVERYWHERE]
        lists = [("By family", families)] if families else []
        found.append(Findings(metric, sentences, lists + case_lists(comparison, metric)))
    return found


def remarks(comparison: Comparison) -> list[str]:
    """What a reader must know before the numbers."""
    results = comparison.results
    if not results.trials:
        return ["Nothing was measured: there is no trial in this result."]
    failures = results.failures()
    told = []
    if all("failed" in trial for trial in results.trials):
        told.append("Every trial failed, so there is nothing to compare; the reasons are below.")
    elif failures:
        told.append(f"Failures: {', '.join(f'{name} in {case}' for case, name in failures)}. The reasons are below. A "
                    "peer that failed in a case is not the best peer of its family.")
    if OURS not in results.names():
        told.append("Granary is not among the allocators, so there is no verdict.")
    elif not peers_of(results):
        told.append("There is no allocator to compare Granary with, so there is no verdict.")
    if 0 < len({trial["round"] for trial in results.trials if "failed" not in trial}) < ENOUGH_ROUNDS:
        told.append("There were too few rounds: the ratios have no intervals, and nothing can be concluded from them.")
    return told + [f"The papers' own program {program}: {words}." for program, words in results.originals.items()]
