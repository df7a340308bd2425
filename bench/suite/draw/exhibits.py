# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the figures of a paper as pictures: the paper's numbers beside ours; then curves where a workload was run with
#    enough numbers of threads, else a row for each allocator; of single runs box plots.
# Invariant: all are ratios, on logarithmic axes with 1 marked; the paper's marks are hollow and ours are filled; what is
#    drawn stands in the description, too.
# Must not know: how a panel becomes a file or a page; which papers there are.
"""Figures of papers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from matplotlib.axes import Axes

from box import Box
from comparison import upper
from draw import boxes, stacks
from draw.axes import PITCH, around_one, beside, curves, mark, ratio_axis, rows_axis, threads_axis, titled, widest
from draw.canvas import SMALL, WIDTH, Margins, Panel, Picture, wrapped
from draw.labels import LABEL_ROOM, weight
from draw.styles import INK, MUTED, PAPER, Look, looks_of
from fragmentation_parts import Fragmentation
from granary_results.intervals import Interval
from reproduction import Compared, Shape, View

LEAST_HEIGHT = 150.0
LABELLED_PITCH, MARK_ROOM = 32.0, 4.0  # a row whose label stands above its marks
LEFT = 12.0
BOLD = 1.15  # how much wider a bold name is
ENOUGH_THREADS = 3  # of two, where most allocators do the same, rows tell more
Curve = dict[int, Interval]  # by threads


def label_of(case: str) -> tuple[str, int | None]:
    """A workload and its threads, or a program."""
    label, _, threads = case.rpartition("/")
    return (label, int(threads)) if label and threads.isdigit() else (case, None)


def of_threads(title: str, note: str, by_name: dict[str, Curve], looks: dict[str, Look]) -> Panel:
    counts = sorted({threads for curve in by_name.values() for threads in curve})
    limits = around_one([point for curve in by_name.values() for point in curve.values()])
    margins = Margins(left=36, right=widest(list(by_name)), top=50, bottom=36)
    room = max(LEAST_HEIGHT, LABEL_ROOM * len(by_name))

    def draw(axes: Axes) -> None:
        threads_axis(axes, counts)
        axes.set_xlabel("threads", size=SMALL, color=MUTED.light, labelpad=1)
        ratio_axis(axes, "y", limits, room)
        curves(axes, by_name, looks)

    told = "; ".join(f"{name}: {', '.join(f'{point} with {threads}' for threads, point in curve.items())}"
                     for name, curve in by_name.items())
    return Panel(title, note, upper(f"{note}, by threads. {told}."), margins.top + margins.bottom + room, margins, draw)


def of_rows(title: str, note: str, by_name: dict[str, Interval], looks: dict[str, Look]) -> Panel:
    limits = around_one(list(by_name.values()))
    margins = Margins(left=widest(list(by_name)) * BOLD, right=14, top=50, bottom=22)

    def draw(axes: Axes) -> None:
        ratio_axis(axes, "x", limits, WIDTH - margins.left - margins.right)
        rows_axis(axes, len(by_name))
        for row, (name, interval) in enumerate(by_name.items()):
            axes.hlines(row, interval.low, interval.high, color=looks[name].colour.light, linewidth=1.3)
            axes.plot([interval.value], [row], linestyle="", clip_on=False, **mark(looks[name], name, 4))
            beside(axes, name, row, weight=weight(name))

    told = ", ".join(f"{name} {interval}" for name, interval in by_name.items())
    return Panel(title, note, upper(f"{note}: {told}."), margins.top + margins.bottom + PITCH * len(by_name), margins,
                 draw)


def of_numbers(compared: Sequence[Compared]) -> Iterator[Panel]:
    """The paper's numbers and ours, a panel for each quantity; rows without either number are left out."""
    for what in dict.fromkeys(each.what for each in compared):
        rows = [each for each in compared if each.what == what and (each.theirs is not None or each.ours)]
        if any(each.theirs is not None for each in rows):
            yield of_compared(f"The paper's numbers and ours: {what}", rows)


def of_compared(title: str, rows: Sequence[Compared]) -> Panel:
    places = {each.at for each in rows if each.theirs is not None}
    at = places.pop() if len(places) == 1 else ""  # where the paper's numbers have it in common
    note = f"ratio; hollow: the paper{at and f', {at}'}; filled: here"
    names = [each.of if each.at in (at, "") else f"{each.of}; {each.at}" for each in rows]
    labels = [wrapped(name, WIDTH) for name in names]
    pitch = LABELLED_PITCH + LABEL_ROOM * (max(map(len, labels)) - 1)
    theirs = [Interval(each.theirs, each.theirs, each.theirs) for each in rows if each.theirs is not None]
    limits = around_one([*theirs, *(each.ours for each in rows if each.ours)])
    margins = Margins(left=14, right=14, top=50, bottom=22)
    mark_of = {"marker": "o", "markersize": 6, "markeredgewidth": 1.2, "linestyle": "", "clip_on": False,
               "color": INK.light}

    def draw(axes: Axes) -> None:
        ratio_axis(axes, "x", limits, WIDTH - margins.left - margins.right)
        rows_axis(axes, len(rows))
        for row, (label, each) in enumerate(zip(labels, rows)):
            if each.ours:
                axes.hlines(row, each.ours.low, each.ours.high, color=INK.light, linewidth=1.3)
                axes.plot([each.ours.value], [row], markerfacecolor=INK.light, **mark_of)
            if each.theirs is not None:
                axes.plot([each.theirs], [row], markerfacecolor=PAPER.light, **mark_of)
            axes.annotate("\n".join(label), (0, row), xycoords=("axes fraction", "data"), xytext=(-LEFT, MARK_ROOM),
                          textcoords="offset points", size=SMALL, va="bottom", annotation_clip=False)

    told = "; ".join(f"{name}: the paper {each.row()[1][0]}, here {each.ours or 'not measured'}"
                     for name, each in zip(names, rows))
    return Panel(title, note, upper(f"{note}. {told}."), margins.top + margins.bottom + pitch * len(rows), margins, draw)


def panels(view: View) -> Iterator[Panel]:
    """One for each workload or program, in the order of the view."""
    note = view.title.rpartition(": ")[2]
    looks = {name: replace(look, hollow=False) for name, look in looks_of(view.names).items()}
    by_label: dict[str, dict[int | None, list[Shape | None]]] = {}
    for case, found in view.rows.items():
        label, threads = label_of(case)
        by_label.setdefault(label, {})[threads] = found
    for label, by_threads in by_label.items():
        if any(isinstance(point, Box) for row in by_threads.values() for point in row):
            found = {threads: {name: point for name, point in zip(view.names, row) if point}
                     for threads, row in by_threads.items()}
            yield from boxes.panels(label, note, found, looks, ENOUGH_THREADS)
            continue
        if len(by_threads) >= ENOUGH_THREADS:
            of_names = {name: {threads: point for threads in by_threads if (point := by_threads[threads][place])}
                        for place, name in enumerate(view.names)}
            yield of_threads(label, note, {name: curve for name, curve in of_names.items() if curve}, looks)
            continue
        for threads, row in by_threads.items():
            found = {name: point for name, point in zip(view.names, row) if point}
            if any(isinstance(point, Fragmentation) for point in found.values()):
                yield stacks.of_fragmentation(titled(label, threads), note, found, looks)
            else:
                yield of_rows(titled(label, threads), note, found, looks)


def picture(name: str, title: str, caption: str, compared: Sequence[Compared], views: Sequence[View]) -> Picture:
    return Picture(name, title, caption, [*of_numbers(compared), *(panel for view in views for panel in panels(view))],
                   is_headed=True)
