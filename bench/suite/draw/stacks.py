# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: stacked bars: internal and external fragmentation, a row for each allocator; who finds a freed block again, a row
#    for each step of an example.
# Invariant: bars begin at nothing, so that lengths can be compared; the description has each part's length.
# Must not know: how a panel becomes a file or a page; which papers there are.
"""Stacked bars."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from comparison import upper
from draw.axes import PITCH, beside, rows_axis, widest
from draw.canvas import Margins, Panel
from draw.labels import weight
from draw.styles import FAINT, SPARE, Look
from fragmentation_parts import Fragmentation

BROAD = 0.55  # of a row
BOLD = 1.15
BEYOND = 1.04  # of the longest bar


@dataclass(frozen=True)
class Part:
    length: float
    face: str
    edge: str


def panel(title: str, note: str, rows: dict[str, Sequence[Part]], digits: int, told: str) -> Panel:
    margins = Margins(left=widest(list(rows)) * BOLD, right=44, top=50, bottom=22)
    lengths = {name: sum(part.length for part in parts) for name, parts in rows.items()}

    def draw(axes: Axes) -> None:
        rows_axis(axes, len(rows))
        axes.set_xlim(0, max(lengths.values()) * BEYOND)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=digits == 0))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        for row, (name, parts) in enumerate(rows.items()):
            begin = 0.0
            for part in parts:
                if part.length:
                    axes.barh(row, part.length, BROAD, left=begin, facecolor=part.face, edgecolor=part.edge, linewidth=0.8)
                begin += part.length
            beside(axes, name, row, weight=weight(name))
            beside(axes, f"{lengths[name]:.{digits}f}", row, right=True)

    return Panel(title, note, upper(f"{note}: {told}."), margins.top + margins.bottom + PITCH * len(rows), margins, draw)


def of_fragmentation(title: str, note: str, by_name: dict[str, Fragmentation], looks: dict[str, Look]) -> Panel:
    """The internal part is filled, the external one pale."""
    def parts(name: str, both: Fragmentation) -> Sequence[Part]:
        colour = looks[name].colour.light
        return Part(both.internal, colour, colour), Part(both.external, FAINT.light, colour)

    return panel(title, note, {name: parts(name, both) for name, both in by_name.items()}, 2,
                 ", ".join(f"{name} {both}" for name, both in by_name.items()))


FINDERS = ("the first thread alone", "the second alone", "both")
FINDERS_FACES = tuple(SPARE[place].colour.light for place in (0, 4, 6))


def of_example(title: str, note: str, by_step: dict[str, tuple[int, int, int]]) -> Panel:
    """How many freed blocks each of FINDERS finds again."""
    def parts(found: tuple[int, int, int]) -> Sequence[Part]:
        return [Part(count, face, face) for count, face in zip(found, FINDERS_FACES)]

    told = "; ".join(f"{step}: " + ", ".join(f"{count} {who}" for count, who in zip(found, FINDERS))
                     for step, found in by_step.items())
    return panel(title, note, {step: parts(found) for step, found in by_step.items()}, 0, told)
