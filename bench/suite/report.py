# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: results as text: a row for each case, the best peer beside it, means by family against every allocator.
# Invariant: a ratio below 1 means that Granary needs less; where the interval straddles one, no difference is claimed.
# Must not know: how the samples came about.
"""Tables for the terminal."""

import statistics
import textwrap

import black_box
import reproduction
from granary_results.intervals import ratio
from granary_results.results import ALL, METRICS, Metric, Results, one_line
from papers import PAPERS
from peers import LAB
from verdict import BEHIND, against_best, against_each_best, behind

OURS = "granary"
WIDTH = 120  # of sentences


def aligned(rows: list[list[str]]) -> list[str]:
    """Columns of equal width, the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
            for row in rows]


def peers_of(results: Results) -> list[str]:
    """The peers of Granary; allocators of the lab, which are the papers' and not today's, only if there is no other."""
    others = [name for name in results.names() if not name.startswith(OURS) and name not in results.controls()]
    return [name for name in others if not name.startswith(LAB)] or others


def case_rows(results: Results, metric: Metric) -> list[list[str]]:
    """Each case: our median, the best peer, how we stand against it."""
    samples = results.samples(metric.key)
    rows = [["", OURS, "best peer", "ratio to it", ""]]
    for case, by in samples.items():
        if OURS not in by:
            continue
        median = statistics.median(by[OURS].values())
        verdict = against_best(samples, [[case]], OURS, peers_of(results))
        told = [verdict.names(), str(verdict.interval), verdict.interval.word(metric.lower, metric.higher)] \
            if verdict else ["", "", ""]
        rows.append([case, metric.shown(median), *told])
    return rows


def mean_rows(results: Results, metric: Metric) -> list[list[str]]:
    """Each family, and each selection with families weighted equally: the geometric mean against each allocator."""
    samples = results.samples(metric.key)
    families = {name: [cases] for name, cases in results.families(list(samples)).items()}
    others = [name for name in results.names() if name != OURS]
    rows = [["geometric mean", *(f"/ {name}" for name in others)]]
    for name, groups in (families | results.selections(metric)).items():
        found = [ratio(samples, groups, OURS, other) for other in others]
        rows.append([name, *(str(interval) if interval else "-" for interval in found)])
    return rows


def verdict_line(results: Results, metric: Metric, selection: str = ALL) -> str:
    """About the best single peer over all cases of the selection."""
    samples = results.samples(metric.key)
    groups = results.selections(metric).get(selection)
    where = "" if selection == ALL else f" where {selection}"
    if not groups:
        return "No goal counts these families, so no best peer is named."
    if not all(OURS in samples[case] for group in groups for case in group):
        return f"{OURS} did not complete every case{where}, so it is not compared."
    verdict = against_best(samples, groups, OURS, peers_of(results))
    if verdict is None:
        return f"No peer completed every case{where}, so no best peer is named."
    told = ", ".join(filter(None, (str(verdict.interval), verdict.interval.word(metric.lower, metric.higher))))
    return f"Against the best single peer{where}, {verdict.names()}: {told}."


def each_best_line(results: Results, metric: Metric) -> str:
    """About the best peers of all cases that count, each case having its own."""
    samples = results.samples(metric.key)
    interval = against_each_best(samples, results.counted(list(samples)), OURS, peers_of(results))
    return f"Against the best peer of each case: {interval}." if interval else ""


def behind_line(results: Results, metric: Metric) -> str:
    """Which cases that count are surely behind their best peer, by more than may pass."""
    samples = results.samples(metric.key)
    cases = [case for group in results.counted(list(samples)) for case in group if OURS in samples[case]]
    found = behind(samples, cases, OURS, peers_of(results))
    told = ", ".join(f"{case} {verdict.interval}" for case, verdict in found.items())
    return f"Cases above {BEHIND} of their best peer by the whole interval: {told or 'none'}."


def text(results: Results) -> str:
    if OURS not in results.names() or len(results.names()) < 2:
        return medians_only(results)
    blocks = []
    for metric in METRICS:
        if not results.samples(metric.key):
            continue
        blocks.append("\n".join([f"{metric.title}: medians, ratios of medians, 95 % intervals",
                                 *aligned(case_rows(results, metric)), "",
                                 *aligned(mean_rows(results, metric)),
                                 *(verdict_line(results, metric, selection)
                                   for selection in results.selections(metric) or (ALL,)),
                                 *filter(None, [each_best_line(results, metric), behind_line(results, metric)])]))
    return "\n\n".join(paper_blocks(results) + blocks + more_blocks(results))


def medians_only(results: Results) -> str:
    """Without Granary, or without another allocator to compare it with."""
    blocks = []
    for metric in METRICS:
        rows = [["", *results.names()]]
        for case, by in results.samples(metric.key).items():
            rows.append([case, *(metric.shown(statistics.median(by[name].values())) if name in by else "-"
                                 for name in results.names())])
        blocks.append("\n".join([f"{metric.title}: medians", *aligned(rows)]))
    return "\n\n".join(paper_blocks(results) + blocks + more_blocks(results))


def more_blocks(results: Results) -> list[str]:
    """What follows the metrics."""
    return black_box_blocks(results) + original_lines(results) + failure_lines(results)


def in_lines(table: black_box.Table) -> list[str]:
    return [table.name, *aligned([["", *table.head], *([name, *(cell or "-" for cell in cells)]
                                                       for name, cells in table.rows.items())])]


def black_box_blocks(results: Results) -> list[str]:
    return ["\n".join(in_lines(table)) for table in black_box.tables(results)]


def paper_blocks(results: Results) -> list[str]:
    """The tables and figures of the paper whose suite it was."""
    if results.suite not in PAPERS:
        return []
    return ["\n".join([shown.title, *(line for sentence in shown.sentences for line in textwrap.wrap(sentence, WIDTH)),
                       *(line for table in shown.tables for line in ["", *in_lines(table)])])
            for shown in reproduction.Reading(results, PAPERS[results.suite]).all()]


def original_lines(results: Results) -> list[str]:
    if not results.originals:
        return []
    return ["\n".join(["The papers' own programs:", *(f"  {program}: {told}"
                                                       for program, told in results.originals.items())])]


def failure_lines(results: Results) -> list[str]:
    failures = results.failures()
    if not failures:
        return []
    return ["Failed:\n" + "\n".join(f"  {case} on {name}: {one_line(why)}" for (case, name), why in failures.items())]
