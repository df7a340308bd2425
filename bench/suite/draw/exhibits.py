# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the figures of a paper as pictures: curves where a workload was run with enough numbers of threads, else a row
#    for each allocator.
# Invariant: all are ratios, on logarithmic axes with 1 marked; what is drawn stands in the description, too.
# Must not know: how a panel becomes a file or a page; which papers there are.
"""Figures of papers."""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes

from comparison import upper
from draw.axes import PITCH, around_one, beside, curves, mark, ratio_axis, rows_axis, threads_axis, titled, widest
from draw.canvas import WIDTH, Margins, Panel, Picture
from draw.labels import LABEL_ROOM, weight
from draw.styles import Look, looks_of
from intervals import Interval
from reproduction import View

LEAST_HEIGHT = 150.0
ENOUGH_THREADS = 3  # of two, where most allocators do the same, rows tell more
Curve = dict[int, Interval]  # by threads


def label_of(case: str) -> tuple[str, int | None]:
    """A workload and its threads, or a program."""
    label, _, threads = case.rpartition("/")
    return (label, int(threads)) if label and threads.isdigit() else (case, None)


def of_threads(title: str, note: str, by_name: dict[str, Curve], looks: dict[str, Look]) -> Panel:
    counts = sorted({threads for curve in by_name.values() for threads in curve})
    limits = around_one([point for curve in by_name.values() for point in curve.values()])
    margins = Margins(left=36, right=widest(list(by_name)), top=50, bottom=22)
    room = max(LEAST_HEIGHT, LABEL_ROOM * len(by_name))

    def draw(axes: Axes) -> None:
        threads_axis(axes, counts)
        ratio_axis(axes, "y", limits, room)
        curves(axes, by_name, looks)

    told = "; ".join(f"{name}: {', '.join(f'{point} with {threads}' for threads, point in curve.items())}"
                     for name, curve in by_name.items())
    return Panel(title, note, upper(f"{note}, by threads. {told}."), margins.top + margins.bottom + room, margins, draw)


def of_rows(title: str, note: str, by_name: dict[str, Interval], looks: dict[str, Look]) -> Panel:
    limits = around_one(list(by_name.values()))
    margins = Margins(left=widest(list(by_name)), right=14, top=50, bottom=22)

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


def panels(view: View) -> Iterator[Panel]:
    """One for each workload or program, in the order of the view."""
    note, looks = view.title.rpartition(": ")[2], looks_of(view.names)
    by_label: dict[str, dict[int | None, list[Interval | None]]] = {}
    for case, found in view.rows.items():
        label, threads = label_of(case)
        by_label.setdefault(label, {})[threads] = found
    for label, by_threads in by_label.items():
        if len(by_threads) >= ENOUGH_THREADS:
            of_names = {name: {threads: point for threads in by_threads if (point := by_threads[threads][place])}
                        for place, name in enumerate(view.names)}
            yield of_threads(label, note, {name: curve for name, curve in of_names.items() if curve}, looks)
            continue
        for threads, row in by_threads.items():
            found = {name: point for name, point in zip(view.names, row) if point}
            yield of_rows(titled(label, threads), note, found, looks)


def picture(name: str, title: str, caption: str, views: Sequence[View]) -> Picture:
    return Picture(name, title, caption, [panel for view in views for panel in panels(view)])
