# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the page's tables: every median and ratio with its interval, and the means of families.
# Invariant: a cell without a value says whether the allocator failed or was not measured.
# Must not know: how a number is computed; what else is on the page.
"""Tables in HTML."""

from collections.abc import Iterable, Sequence
from html import escape

import black_box
from comparison import LATENCIES, Comparison, upper
from granary_results.intervals import Interval
from granary_results.results import ALL, ALLOCATING, NANOSECONDS, Metric, Results, in_units
from report import OURS

SELECTIONS = {ALL: "All that count, families weighted equally",
              ALLOCATING: "Of these, at least a tenth of the instructions in malloc and free"}


def table(name: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """Of finished cells; scrolls by itself where the screen is narrow."""
    titles = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = "".join(f'<tr><th scope="row">{row[0]}</th>' + "".join(
        cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in row[1:]) + "</tr>\n" for row in rows)
    return (f'<div class="table" role="region" aria-label="{escape(name)}" tabindex="0"><table class="{kind}">'
            f"<thead><tr>{titles}</tr></thead>\n<tbody>{lines}</tbody></table></div>\n")


def bold(name: str) -> str:
    return f"<b>{escape(name)}</b>" if name == OURS else escape(name)


def prose(text: str) -> str:
    """A cell whose lines may break."""
    return f'<td class="prose">{escape(text)}</td>'


def cell(value: str, note: object = "", best: bool = False) -> str:
    shown = f"<b>{escape(value)}</b>" if best else escape(value)
    return shown + (f"<small>{escape(str(note))}</small>" if note else "")


def of_family(comparison: Comparison, metric: Metric, family: str, cases: list[str]) -> str:
    """Each case with every allocator, and the verdict on Granary."""
    names, failures = comparison.results.names(), comparison.results.failures()
    verdicts = comparison.verdicts[metric.key]

    def row(case: str) -> list[str]:
        by = {standing.allocator: standing for standing in comparison.standings[metric.key][case]}
        best, verdict = next(iter(by)), verdicts.get(case)
        cells = [cell(metric.shown(by[name].median), by[name].ratio, name == best) if name in by
                 else "failed" if (case, name) in failures else "–" for name in names]
        if verdict:
            word = verdict.interval.word(metric.lower, metric.higher)
            cells.append(cell(f"{verdict.interval} {word}".strip(), verdict.names()))
        elif verdicts:
            cells.append("–")
        return [escape(case), *cells]

    head = ["case", *map(bold, names), *([f"{OURS} / best peer"] if verdicts else [])]
    return f"<h3>{escape(upper(family))}</h3>\n" + table(f"{metric.title}: {family}", head, map(row, cases))


def of_means(comparison: Comparison, metric: Metric) -> str:
    means, reference = comparison.means[metric.key], comparison.reference
    others = [name for name in comparison.results.names() if name != reference]
    # Families first.
    rows = [[escape(SELECTIONS.get(name, upper(name))), *(str(means[name][other] or "–") for other in others)]
            for name in sorted(means, key=SELECTIONS.__contains__)]
    head = ["family", *(escape(f"{reference} / {other}") for other in others)]
    return "<h3>Geometric means</h3>\n" + table(f"{metric.title}: geometric means", head, rows) if others else ""


def of_metric(comparison: Comparison, metric: Metric) -> str:
    cases = list(comparison.standings[metric.key])
    if not cases:
        return ""
    return ('<p class="quiet">Medians; under each, its ratio to the lowest median of the case (bold) with the 95 % '
            "interval.</p>\n" + of_means(comparison, metric)
            + "".join(of_family(comparison, metric, family, members)
                      for family, members in comparison.results.families(cases).items()))


def of_time(point: Interval) -> str:
    value, low, high = (in_units(each, NANOSECONDS) for each in (point.value, point.low, point.high))
    return cell(value, f"{low} to {high}" if point.is_known else "")


def of_latencies(comparison: Comparison) -> str:
    def row(case: str, name: str) -> list[str]:
        curve = comparison.latencies[case][name]
        return [f"{escape(case)} on {bold(name)}", *(of_time(curve[words]) if words in curve else "–"
                                                     for words in LATENCIES.values())]

    rows = [row(case, name) for case, by in comparison.latencies.items() for name in by]
    return table("Latency of single calls", ["case", *LATENCIES.values()], rows) if rows else ""


def of_cells(found: black_box.Table, corner: str) -> str:
    rows = ([bold(name), *(escape(said or "–") for said in cells)] for name, cells in found.rows.items())
    return table(found.name, [corner, *map(escape, found.head)], rows)


def of_black_box(results: Results) -> str:
    return "".join(f"<h3>{escape(found.name)}</h3>\n{of_cells(found, 'allocator')}" for found in black_box.tables(results))


def of_failures(comparison: Comparison) -> str:
    rows = [[escape(case), bold(name), prose(why)] for (case, name), why in comparison.results.failures().items()]
    return table("Failures", ["case", "allocator", "reason"], rows, "text") if rows else "<p>None.</p>"
