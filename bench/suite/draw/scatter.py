# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the picture of time against memory, of all cases and of each family.
# Invariant: every panel has the same two axes; the reference is at 1, 1.
# Must not know: how a panel becomes a file or a page.
"""Time against memory."""

from matplotlib.axes import Axes

from comparison import Comparison, inverse, upper
from draw.axes import MEMORY, TIME, Limits, around_one, mark, ratio_axis
from draw.canvas import SMALL, WIDTH, Margins, Panel, Picture
from draw.labels import GAP, label_points
from draw.styles import MUTED, looks_of
from granary_results.intervals import Interval
from granary_results.results import ALL


def positions(comparison: Comparison, family: str) -> dict[str, tuple[Interval, Interval]]:
    """Allocator to its time and memory, relative to the reference."""
    found = {comparison.reference: (Interval(1, 1, 1), Interval(1, 1, 1))}
    for name in comparison.results.names():
        pair = [comparison.means[metric.key].get(family, {}).get(name) for metric in (TIME, MEMORY)]
        if all(pair):
            found[name] = (inverse(pair[0]), inverse(pair[1]))
    return found


def panel(comparison: Comparison, family: str, number: int, limits: tuple[Limits, Limits]) -> Panel:
    places = positions(comparison, family)
    looks = looks_of(comparison.results.names())
    margins = Margins(left=30, right=16, top=52, bottom=34)
    height = 300.0

    def draw(axes: Axes) -> None:
        ratio_axis(axes, "x", limits[0], WIDTH - margins.left - margins.right)
        ratio_axis(axes, "y", limits[1], height - margins.top - margins.bottom)
        axes.set_xlabel("time →", size=SMALL, color=MUTED.light, loc="right", labelpad=1)
        axes.annotate("↑ memory", (0, 1), xycoords="axes fraction", xytext=(-GAP, 2), textcoords="offset points",
                      size=SMALL, color=MUTED.light)
        for name, (time, memory) in places.items():
            colour = looks[name].colour.light
            axes.hlines(memory.value, time.low, time.high, color=colour, linewidth=0.9)
            axes.vlines(time.value, memory.low, memory.high, color=colour, linewidth=0.9)
            axes.plot([time.value], [memory.value], **mark(looks[name], name, 6))
        label_points(axes, places, looks)

    told = "; ".join(f"{name}: time {time}, memory {memory}" for name, (time, memory) in places.items())
    title = "All that count, families weighted equally" if family == ALL else upper(family)
    return Panel(title, f"geometric means of {number} case{'' if number == 1 else 's'}",
                 f"Relative to {comparison.reference}: {told}.", height, margins, draw)


def pictures(comparison: Comparison) -> list[Picture]:
    """All that count in one panel, which is read at a glance; and each family in a panel of its own."""
    families = comparison.results.families(list(comparison.samples[TIME.key]))
    counted = comparison.results.counted(list(comparison.samples[TIME.key]))
    numbers = {name: len(cases) for name, cases in families.items()}
    whole = {ALL: sum(map(len, counted))} if len(counted) > 1 else {}
    every = [place for family in (*whole, *numbers) for place in positions(comparison, family).values()]
    limits = tuple(around_one(intervals, margin=0.1) for intervals in zip(*every))
    told = (f"Each allocator's time and peak memory relative to {comparison.reference}'s, with 95 % intervals; "
            "nearer to the lower left is better.")
    shown = (("time-against-memory", "Time against memory", whole or numbers),
             ("time-against-memory-by-family", "Time against memory, by family", numbers if whole else {}))
    return [Picture(name, title, told, [panel(comparison, family, number, limits) for family, number in panels.items()])
            for name, title, panels in shown if panels]
