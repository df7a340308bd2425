# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: puts names beside points and at the ends of lines.
# Invariant: a name covers as little as can be of what is drawn and of other names; it is tied to what it names wherever
#    it is not beside it.
# Must not know: what the points and lines mean.
"""Labels."""

from matplotlib.axes import Axes

from draw.canvas import SMALL, width_of
from draw.styles import Look
from granary_results.intervals import Interval
from report import OURS

GAP = 6.0
LABEL_ROOM = 13.0
SWEEPS = 4  # over all labels, each time better placed among the others

Point = tuple[float, float]
Box = tuple[float, float, float, float]


def weight(name: str) -> str:
    return "bold" if name == OURS else "normal"


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
        begin, low = on_screen(x.low, y.low)
        end, high = on_screen(x.high, y.high)
        across, up = on_screen(x.value, y.value)
        fixed += [(begin, up - 1, end, up + 1), (across - 1, low, across + 1, high)]
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
        x, y = points[name]
        axes.annotate(name, (x.value, y.value), xytext=(dx, dy), textcoords="offset points", va="center", size=SMALL,
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
