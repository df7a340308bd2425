# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      what the pictures share: axes of ratios, rows, marks, labels beside what they name.
# Invariant: a ratio's axis is logarithmic with 1 marked; a label covers no other label where there is room for both.
# Must not know: any single picture.
"""Drawing on matplotlib's axes."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

from canvas import SMALL, width_of
from comparison import Comparison
from intervals import Interval
from report import OURS
from results import METRICS
from styles import MUTED, PAPER, Look

PITCH = 16.0  # from a row to the next
GAP = 6.0
EMPHASIS = 1.8  # of Granary's lines
FARTHEST = 10.0  # ratio that an axis of cases shows
TIME, MEMORY = (next(metric for metric in METRICS if metric.key == key) for key in ("cost", "peak_kib"))

TICK_ROOM = 28.0
LABEL_ROOM = 13.0


def decades(*steps: float) -> tuple[float, ...]:
    return tuple(step * 10.0 ** power for power in range(-4, 5) for step in steps)


# From fine to coarse; the first that fits is taken.
LADDERS = ((0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.25), (0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5),
           (0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5), decades(1, 1.5, 2, 3, 5, 7), decades(1, 2, 5), decades(1, 3), decades(1))

SWEEPS = 4  # over all labels, each time better placed among the others

DODGE, DODGED = 3.0, 24.0  # from a line to the next at most, and all of them together

Limits = tuple[float, float]
Point = tuple[float, float]
Box = tuple[float, float, float, float]


def weight(name: str) -> str:
    return "bold" if name == OURS else "normal"


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


def title_of(comparison: Comparison, case: str) -> str:
    known = comparison.results.cases[case]
    threads = known["threads"]
    return known["label"] + (f", {threads} thread{'' if threads == 1 else 's'}" if threads else "")


def shared(box: Box, other: Box) -> float:
    """The area that both cover."""
    return (max(0, min(box[2], other[2]) - max(box[0], other[0]))
            * max(0, min(box[3], other[3]) - max(box[1], other[1])))


def label_points(axes: Axes, points: dict[str, tuple[Interval, Interval]], looks: dict[str, Look]) -> None:
    """Each name where it covers as little as can be of other names, of points with their intervals and of the lines at
    1, not far from its point, and tied to it where it is not beside it."""
    def on_screen(x: float, y: float) -> Point:
        return axes.transData.transform((x, y))

    at = {name: on_screen(x.value, y.value) for name, (x, y) in points.items()}
    left, bottom, right, top = *axes.transAxes.transform((0, 0)), *axes.transAxes.transform((1, 1))
    one = on_screen(1, 1)
    fixed = [(left, one[1] - 1, right, one[1] + 1), (one[0] - 1, bottom, one[0] + 1, top),
             *((x - 6, y - 6, x + 6, y + 6) for x, y in at.values())]
    for x, y in points.values():
        (begin, low), (end, high), middle = on_screen(x.low, y.low), on_screen(x.high, y.high), on_screen(x.value, y.value)
        fixed += [(begin, middle[1] - 1, end, middle[1] + 1), (middle[0] - 1, low, middle[0] + 1, high)]
    widths = {name: width_of(name, SMALL) * (1.15 if name == OURS else 1) for name in at}

    def box(name: str, place: Point) -> Box:
        x, y = at[name] + place
        return x, y - 6, x + widths[name], y + 6

    def cost(name: str, place: Point) -> float:
        own = box(name, place)
        others = [box(other, chosen[other]) for other in chosen if other != name]
        outside = own[0] < left or own[2] > right + 12 or own[1] < bottom or own[3] > top
        return sum(shared(own, other) for other in fixed + others) + abs(place[1]) * 0.8 + 1000 * outside

    def places(name: str) -> list[Point]:
        beside_it = [(dx + sign * abs(dy) / 4, dy) for dy in (0, 9, -9, 15, -15, 22, -22, 30, -30, 40, -40)
                     for sign, dx in ((1, 8), (-1, -8 - widths[name]))]
        return beside_it + [(-widths[name] / 2, 14), (-widths[name] / 2, -14)]

    chosen = {name: (8.0, 0.0) for name in at}
    for name in sorted(at, key=lambda name: at[name][1]) * SWEEPS:
        chosen[name] = min(places(name), key=lambda place: cost(name, place))
    for name, (dx, dy) in chosen.items():
        tie = {"arrowstyle": "-", "color": looks[name].colour.light, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3}
        axes.annotate(name, tuple(each.value for each in points[name]), xytext=(dx, dy), textcoords="offset points", va="center", size=SMALL,
                      weight=weight(name), arrowprops=tie if abs(dy) > 14 else None)


def spaced(wanted: list[float], least: float, low: float, high: float) -> list[float]:
    """Ascending positions, moved apart as little as a single sweep up and down can."""
    places = []
    for place in wanted:
        places.append(max(place, places[-1] + least if places else low))
    limit = high
    for index in range(len(places) - 1, -1, -1):
        places[index] = min(places[index], limit)
        limit = places[index] - least
    return places


def label_ends(axes: Axes, ends: dict[str, Point], looks: dict[str, Look]) -> None:
    """Names at the right, each tied to the end of its line; an end is a fraction of the axes."""
    order, height = sorted(ends, key=lambda name: ends[name][1]), axes.bbox.height
    for name, top in zip(order, spaced([ends[name][1] * height for name in order], LABEL_ROOM, 0, height)):
        x, y = ends[name]
        axes.plot([x, 1], [y, top / height], transform=axes.transAxes, color=looks[name].colour.light, linewidth=0.6,
                  clip_on=False)
        axes.annotate(name, (1, top / height), xycoords="axes fraction", xytext=(GAP / 2, 0), va="center",
                      textcoords="offset points", size=SMALL, weight=weight(name), annotation_clip=False)


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
