# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: pictures by case: every allocator against the best, and Granary against the best peer.
# Invariant: all panels of a metric have the same axis; what lies outside it shows an arrow at the edge and its number.
# Must not know: how a panel becomes a file or a page.
"""Time and memory, case by case."""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes

from comparison import NOUNS, Comparison, Standing, upper
from draw.axes import FARTHEST, PITCH, Limits, around_one, beside, ratio_axis, rows_axis, title_of, widest
from draw.canvas import SMALL, WIDTH, Margins, Panel, Picture, width_of
from draw.labels import GAP, weight
from draw.styles import INK, MUTED, PAPER, Look, looks_of
from granary_results.intervals import Interval
from granary_results.results import Metric
from report import OURS

FILES = {"cost": "time", "peak_kib": "memory"}
NEAREST = 0.8  # but for controls, a ratio to the best is below 1 at the end of an interval only
PEER_ROOM = 78.0


def arrows(axes: Axes, row: int, interval: Interval, limits: Limits, colour: str) -> None:
    """At the edges beyond which an interval goes on."""
    edges = [("<", limits[0])] * (interval.low < limits[0]) + [(">", limits[1])] * (interval.high > limits[1])
    for shape, edge in edges:
        axes.plot([edge], [row], shape, color=colour, markersize=4.5, clip_on=False)


def bar(axes: Axes, row: int, standing: Standing, look: Look, limits: Limits) -> None:
    """From 1 to the ratio; the interval as a thin line through its end; an arrow where it goes on beyond the axis."""
    ratio, name = standing.ratio, standing.allocator
    end, far = min(ratio.value, limits[1]), min(max(ratio.high, ratio.value), limits[1])
    begin = min(max(ratio.low, limits[0]), end)
    axes.hlines(row, begin, far, color=INK.light, linewidth=1)
    axes.hlines(row, min(1, end), max(1, end), color=look.colour.light, linewidth=8 if name == OURS else 6)
    axes.hlines(row, min(max(begin, 1), end), end, color=PAPER.light, linewidth=1)
    arrows(axes, row, ratio, limits, look.colour.light if ratio.value > limits[1] else INK.light)


def panel(comparison: Comparison, metric: Metric, case: str, limits: Limits) -> Panel:
    rows = comparison.standings[metric.key][case]
    seen = {row.allocator for row in rows}
    failed = [name for where, name in comparison.results.failures() if where == case and name not in seen]
    number, names = len(rows) + len(failed), comparison.results.names()
    looks = looks_of(names)
    margins = Margins(left=widest(names), right=42, top=24)
    best = f"1 = {metric.shown(rows[0].median)}"

    def draw(axes: Axes) -> None:
        ratio_axis(axes, "x", limits, WIDTH - margins.left - margins.right)
        rows_axis(axes, number)
        for place, row in enumerate(rows):
            bar(axes, place, row, looks[row.allocator], limits)
            if place:
                beside(axes, f"{row.ratio.value:.2f}", place, right=True, weight=weight(row.allocator))
        for place, name in enumerate([*(row.allocator for row in rows), *failed]):
            beside(axes, name, place, weight=weight(name))
        remarks = [(0, best, INK), *((place, "failed", MUTED) for place in range(len(rows), number))]
        for place, words, colour in remarks:
            axes.annotate(words, (1, place), xytext=(GAP, 0), textcoords="offset points", va="center", size=SMALL,
                          color=colour.light)

    told = [f"{row.allocator} {row.ratio}" for row in rows] + [f"{name} failed" for name in failed]
    return Panel(title_of(comparison, case), "",
                 f"{upper(NOUNS[metric.key])} relative to the best, {best}: {', '.join(told)}.",
                 margins.top + margins.bottom + PITCH * number, margins, draw)


def families(comparison: Comparison, metric: Metric) -> Iterator[Picture]:
    """A picture for each family, all with one axis."""
    by_case = comparison.standings[metric.key]
    low, high = around_one([row.ratio for rows in by_case.values() for row in rows], FARTHEST)
    for family, cases in comparison.results.families(list(by_case)).items():
        yield Picture(f"{FILES[metric.key]}-{family}", f"{upper(NOUNS[metric.key])}, case by case",
                      f"{metric.title}, relative to the lowest median of the case; shorter is better. The thin line is "
                      "the 95 % interval of the ratio.",
                      [panel(comparison, metric, case, (max(low, NEAREST), high)) for case in cases], family)


def fitting(names: Sequence[str]) -> str:
    """All the names, or the first and dots where there is no room for more."""
    together = " or ".join(names)
    return together if len(names) == 1 or width_of(together, SMALL) <= PEER_ROOM else f"{names[0]} …"


def standing_panel(comparison: Comparison, metric: Metric, family: str, cases: list[str], margins: Margins,
                   limits: Limits) -> Panel:
    """One row for each case, the worst first: Granary against the best peer."""
    verdicts = {case: comparison.verdicts[metric.key][case] for case in cases}
    order = sorted(verdicts, key=lambda case: -verdicts[case].interval.value)
    look = looks_of([OURS])[OURS]

    def draw(axes: Axes) -> None:
        ratio_axis(axes, "x", limits, WIDTH - margins.left - margins.right)
        rows_axis(axes, len(order))
        for words, right in ((f"← {metric.lower}", False), (f"{metric.higher} →", True)):
            axes.annotate(words, (1, 1), xycoords=("data", "axes fraction"), xytext=(4 if right else -4, 4), size=SMALL,
                          textcoords="offset points", ha="left" if right else "right", color=MUTED.light)
        for row, case in enumerate(order):
            interval = verdicts[case].interval
            settled = interval.word(metric.lower, metric.higher) in (metric.lower, metric.higher)
            axes.hlines(row, max(interval.low, limits[0]), min(interval.high, limits[1]), color=look.colour.light,
                        linewidth=1.3)
            if limits[0] <= interval.value <= limits[1]:
                axes.plot([interval.value], [row], look.mark, markersize=5.5, clip_on=False, color=look.colour.light,
                          markerfacecolor=look.colour.light if settled else PAPER.light)
            arrows(axes, row, interval, limits, look.colour.light)
            beside(axes, case, row)
            beside(axes, fitting(list(dict.fromkeys(verdicts[case].peers))), row, right=True, color=MUTED.light)

    told = ", ".join(f"{case} {verdicts[case].interval} of {verdicts[case].names()}" for case in order)
    return Panel(upper(family), "", f"Granary's ratio to the best peer: {told}.",
                 margins.top + margins.bottom + PITCH * len(order), margins, draw)


def standings(comparison: Comparison, metric: Metric) -> Picture:
    """Where Granary stands."""
    verdicts = {case: verdict for case, verdict in comparison.verdicts[metric.key].items() if verdict}
    limits = around_one([verdict.interval for verdict in verdicts.values()], FARTHEST)
    peers = [fitting(list(dict.fromkeys(verdict.peers))) for verdict in verdicts.values()]
    margins = Margins(left=widest(list(verdicts)), right=widest(peers), top=38, bottom=28)
    return Picture(f"standing-{FILES[metric.key]}", f"Granary's {NOUNS[metric.key]} against the best peer",
                   "Each case against the peer named at the right, the best there; left of the line Granary needs "
                   "less. Filled: the 95 % interval does not contain 1. Hollow: no difference may be claimed.",
                   [standing_panel(comparison, metric, family, cases, margins, limits)
                    for family, cases in comparison.results.families(list(verdicts)).items()])
