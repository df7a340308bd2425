# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the blocks of a short stretch of a program: when each was allocated, and how long it lived.
# Invariant: both axes count calls, so a line that falls by 45 degrees is of blocks that are freed together.
# Must not know: how a panel becomes a file or a page; how a program was recorded.
"""Lifetimes over time."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from draw.canvas import SMALL, Margins, Panel
from draw.styles import MUTED, SPARE

HEIGHT = 150.0
DOT = 2.2

Point = tuple[int, int]  # the call that allocated it, the calls until it is freed


def panel(title: str, points: Sequence[Point]) -> Panel:
    margins = Margins(left=40, right=14, top=50, bottom=36)
    note = "calls until a block is freed, by the call that allocated it"

    def draw(axes: Axes) -> None:
        axes.plot(*zip(*points), linestyle="", marker="o", markersize=DOT, markeredgewidth=0,
                  color=SPARE[5].colour.light)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_xlabel("call", size=SMALL, color=MUTED.light, labelpad=1)

    longest = max(lived for _, lived in points)
    return Panel(title, note, f"{note.capitalize()}: {len(points)} blocks; the longest lives {longest} calls.",
                 margins.top + margins.bottom + HEIGHT, margins, draw)
