# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the picture of how long single calls take, from the median to the longest.
# Invariant: all panels have the same logarithmic axis.
# Must not know: how a panel becomes a file or a page.
"""Latency."""

import math

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from comparison import LATENCIES, Comparison
from draw.axes import Limits, curves, title_of, widest
from draw.canvas import Margins, Panel, Picture
from draw.labels import LABEL_ROOM
from draw.styles import looks_of
from granary_results.intervals import Interval
from granary_results.results import SECONDS


def shown(nanoseconds: float, _=None) -> str:
    seconds = nanoseconds * 1e-9
    name, size = next((unit for unit in SECONDS if seconds >= unit[1] * 0.999), SECONDS[-1])
    return f"{seconds / size:.3g} {name}"


def panel(comparison: Comparison, case: str, by: dict[str, dict[str, Interval]], limits: Limits) -> Panel:
    """One line for each allocator, from percentile to percentile."""
    looks = looks_of(comparison.results.names())
    steps = [words for words in LATENCIES.values() if any(words in curve for curve in by.values())]
    margins = Margins(left=44, right=widest(comparison.results.names()), bottom=22)

    def draw(axes: Axes) -> None:
        axes.set_xlim(-0.15, len(steps) - 0.8)
        axes.set_yscale("log")
        axes.set_ylim(limits)
        powers = range(math.ceil(math.log10(limits[0])), math.floor(math.log10(limits[1])) + 1)
        axes.yaxis.set_major_locator(FixedLocator([10.0 ** power for power in powers]))
        axes.yaxis.set_major_formatter(FuncFormatter(shown))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xticks(range(len(steps)), steps)
        places = {name: {steps.index(words): point for words, point in curve.items()} for name, curve in by.items()}
        curves(axes, places, looks)

    told = "; ".join(f"{name}: " + ", ".join(f"{words} {shown(point.value)}" for words, point in curve.items())
                     for name, curve in by.items())
    return Panel(title_of(comparison, case), "how long a call takes, by percentile", f"{told}.",
                 margins.top + margins.bottom + max(150.0, LABEL_ROOM * len(by)), margins, draw)


def picture(comparison: Comparison) -> Picture:
    points = [point for by in comparison.latencies.values() for curve in by.values() for point in curve.values()]
    lowest, highest = min((point.low for point in points), default=1), max((point.high for point in points), default=1)
    return Picture("latency", "Latency of single calls",
                   "Of all calls of a trial, half are shorter than p50, one in a hundred is longer than p99, one in a "
                   "thousand longer than p99.9; medians of the trials with 95 % intervals; lower is better.",
                   [panel(comparison, case, by, (lowest / 1.2, highest * 1.2))
                    for case, by in comparison.latencies.items()])
