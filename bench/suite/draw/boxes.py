# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: box plots of single runs: a panel for each allocator where a workload was run with enough numbers of threads, else
#    a row for each allocator.
# Invariant: the box is from quartile to quartile, the line in it the median, the whiskers the least and the most; the
#    panels of a workload have one axis.
# Must not know: how a panel becomes a file or a page; which papers there are.
"""Box plots."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator

from box import Box
from comparison import upper
from draw.axes import PITCH, around_one, beside, ratio_axis, rows_axis, titled, widest
from draw.canvas import SMALL, WIDTH, Margins, Panel
from draw.labels import weight
from draw.styles import MUTED, PAPER, Look
from granary_results.intervals import Interval

HEIGHT = 110.0
BROAD = 0.6  # of the room of a box

ByThreads = dict[int | None, dict[str, Box]]  # threads to allocator to its box


def plot(axes: Axes, boxes: list[Box], colour: str, places: list[float], vertical: bool) -> None:
    line = {"color": colour, "linewidth": 1.1}
    axes.bxp([{"whislo": box.least, "q1": box.lower, "med": box.middle, "q3": box.upper, "whishi": box.most, "fliers": []}
              for box in boxes], positions=places, widths=BROAD, vert=vertical, showfliers=False, patch_artist=True,
             manage_ticks=False, boxprops={"edgecolor": colour, "facecolor": PAPER.light, "linewidth": 1.1},
             whiskerprops=line, capprops=line, medianprops={"color": colour, "linewidth": 1.8})


def limits_of(boxes: list[Box]) -> tuple[float, float]:
    return around_one([Interval(box.middle, box.least, box.most) for box in boxes])


def of_allocator(label: str, note: str, name: str, by_threads: dict[int | None, Box], look: Look,
                 limits: tuple[float, float]) -> Panel:
    counts = sorted(by_threads)
    margins = Margins(left=36, right=14, top=50, bottom=36)

    def draw(axes: Axes) -> None:
        ratio_axis(axes, "y", limits, HEIGHT)
        axes.set_xlim(-0.6, len(counts) - 0.4)
        axes.xaxis.set_major_locator(FixedLocator(range(len(counts))))
        axes.xaxis.set_major_formatter(FixedFormatter([str(count) for count in counts]))
        axes.set_xlabel("threads", size=SMALL, color=MUTED.light, labelpad=1)
        plot(axes, [by_threads[count] for count in counts], look.colour.light, list(range(len(counts))), True)

    told = ", ".join(f"{by_threads[count]} with {count}" for count in counts)
    return Panel(f"{label}: {name}", note, upper(f"{note}, least, quartiles and most, by threads. {name}: {told}."),
                 margins.top + margins.bottom + HEIGHT, margins, draw)


def of_rows(title: str, note: str, by_name: dict[str, Box], looks: dict[str, Look]) -> Panel:
    limits = limits_of(list(by_name.values()))
    margins = Margins(left=widest(list(by_name)) * 1.15, right=14, top=50, bottom=22)

    def draw(axes: Axes) -> None:
        ratio_axis(axes, "x", limits, WIDTH - margins.left - margins.right)
        rows_axis(axes, len(by_name))
        for row, (name, box) in enumerate(by_name.items()):
            plot(axes, [box], looks[name].colour.light, [row], False)
            beside(axes, name, row, weight=weight(name))

    told = ", ".join(f"{name} {box}" for name, box in by_name.items())
    return Panel(title, note, upper(f"{note}, least, quartiles and most: {told}."),
                 margins.top + margins.bottom + PITCH * len(by_name), margins, draw)


def panels(label: str, note: str, by_threads: ByThreads, looks: dict[str, Look], enough: int) -> Iterator[Panel]:
    """Of one workload or program."""
    if len(by_threads) < enough:
        for threads, by_name in by_threads.items():
            yield of_rows(titled(label, threads), note, by_name, looks)
        return
    limits = limits_of([box for by_name in by_threads.values() for box in by_name.values()])
    for name in dict.fromkeys(name for by_name in by_threads.values() for name in by_name):
        found = {threads: by_name[name] for threads, by_name in by_threads.items() if name in by_name}
        yield of_allocator(label, note, name, found, looks[name], limits)
