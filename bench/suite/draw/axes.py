# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the pictures share: axes of ratios, rows, marks, curves.
# Invariant: a ratio's axis is logarithmic with 1 marked; an allocator's mark and line are those of its look.
# Must not know: any single picture.
"""Drawing on matplotlib's axes."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

from comparison import Comparison
from draw.canvas import SMALL, width_of
from draw.labels import GAP, label_ends
from draw.styles import MUTED, PAPER, Look
from granary_results.intervals import Interval
from granary_results.results import METRICS
from report import OURS

PITCH = 16.0  # from a row to the next
EMPHASIS = 1.8  # of Granary's lines
FARTHEST = 10.0  # ratio that an axis of cases shows
TIME, MEMORY = (next(metric for metric in METRICS if metric.key == key) for key in ("cost", "peak_kib"))

TICK_ROOM = 28.0


def decades(*steps: float) -> tuple[float, ...]:
    return tuple(step * 10.0 ** power for power in range(-4, 5) for step in steps)


# From fine to coarse; the first that fits is taken.
LADDERS = ((0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.25), (0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5),
           (0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5), decades(1, 1.5, 2, 3, 5, 7), decades(1, 2, 5), decades(1, 3),
           decades(1))

DODGE, DODGED = 3.0, 14.0  # from a line to the next at most, and all of them together

Limits = tuple[float, float]


def mark(look: Look, name: str, size: float = 5.0) -> dict:
    """A point of an allocator, in matplotlib's words."""
    return {"marker": look.mark, "markersize": size + (name == OURS), "markeredgewidth": 1.1,
            "color": look.colour.light, "markerfacecolor": PAPER.light if look.hollow else look.colour.light}


def line(look: Look, name: str) -> dict:
    return {"color": look.colour.light, "linestyle": look.dash, "linewidth": EMPHASIS if name == OURS else 1.1}


def ladder(limits: Limits, room: float) -> list[float]:
    """The ticks of a ratio's axis that is `room` points long."""
    for steps in LADDERS:
        ticks = [step for step in steps if limits[0] <= step <= limits[1]]
        gaps = [math.log(b / a) / math.log(limits[1] / limits[0]) * room for a, b in zip(steps, steps[1:])]
        if min(gaps) >= TICK_ROOM and limits[0] > steps[0] * 0.9 and limits[1] < steps[-1] * 1.1:
            break
    return ticks


def ratio_axis(axes: Axes, which: str, limits: Limits, room: float) -> None:
    """Logarithmic, with a line at 1."""
    getattr(axes, f"set_{which}scale")("log")
    getattr(axes, f"set_{which}lim")(limits)
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(FixedLocator(ladder(limits, room)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
    (axes.axvline if which == "x" else axes.axhline)(1, color=MUTED.light, linewidth=0.8, zorder=0)


def around_one(intervals: Sequence[Interval], farthest: float = math.inf, margin: float = 0.04) -> Limits:
    """Limits that show the intervals and 1, never less than a few per cent, and some room beside them."""
    low = min([0.95, *(interval.low for interval in intervals)])
    high = max([1.05, *(interval.high for interval in intervals)])
    low, high = max(low, 1 / farthest), min(high, farthest)
    room = (high / low) ** margin
    return low / room, high * room


def threads_axis(axes: Axes, counts: Sequence[int]) -> None:
    """Ascending numbers of threads, each marked."""
    axes.set_xscale("log", base=2)
    aside = (counts[-1] / counts[0]) ** 0.07
    axes.set_xlim(counts[0] / aside, counts[-1] * aside)
    axes.xaxis.set_major_locator(FixedLocator(counts))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def rows_axis(axes: Axes, number: int) -> None:
    """Rows from the top, without an axis of their own."""
    axes.set_ylim(number - 0.5, -0.5)
    axes.yaxis.set_major_locator(NullLocator())
    axes.spines["left"].set_visible(False)


def beside(axes: Axes, text: str, row: float, *, right: bool = False, **style) -> None:
    """A label beside a row, outside the axes."""
    axes.annotate(text, (float(right), row), xycoords=("axes fraction", "data"), annotation_clip=False,
                  xytext=(GAP if right else -GAP, 0), textcoords="offset points",
                  ha="left" if right else "right", va="center", **{"size": SMALL, **style})


def widest(texts: Sequence[str], size: float = SMALL) -> float:
    return max((width_of(text, size) for text in texts), default=0) + 2 * GAP


def titled(label: str, threads: int | None) -> str:
    return label + (f", {threads} thread{'' if threads == 1 else 's'}" if threads else "")


def title_of(comparison: Comparison, case: str) -> str:
    known = comparison.results.cases[case]
    return titled(known["label"], known["threads"])


def curves(axes: Axes, by_name: dict[str, dict[float, Interval]], looks: dict[str, Look]) -> None:
    """Lines through medians, each with its marks, intervals and name; the limits must be set. Each stands a little
    beside the others, so that intervals at the same place do not hide each other."""
    step, ends = min(DODGE, DODGED / len(by_name)), {}
    for number, (name, curve) in enumerate(by_name.items()):
        aside = step * (number - (len(by_name) - 1) / 2)
        there = axes.transData + ScaledTranslation(aside / 72, 0, axes.figure.dpi_scale_trans)
        colour, places, values = looks[name].colour.light, list(curve), [point.value for point in curve.values()]
        axes.plot(places, values, transform=there, **line(looks[name], name))
        axes.plot(places, values, transform=there, linestyle="", clip_on=False, **mark(looks[name], name, 4))
        axes.vlines(places, [point.low for point in curve.values()], [point.high for point in curve.values()],
                    transform=there, color=colour, linewidth=0.9)
        ends[name] = tuple((there + axes.transAxes.inverted()).transform((places[-1], values[-1])))
    label_ends(axes, ends, looks)
