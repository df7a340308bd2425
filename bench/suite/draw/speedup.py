# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the picture of throughput against threads, for each workload that was run with several numbers of them.
# Invariant: throughput begins at nothing, so heights can be compared.
# Must not know: how a panel becomes a file or a page.
"""Speedup."""

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from comparison import Comparison, inverse, spread, upper
from draw.axes import TIME, curves, threads_axis, widest
from draw.canvas import SMALL, Margins, Panel, Picture
from draw.labels import LABEL_ROOM
from draw.styles import FAINT, MUTED, looks_of
from granary_results.intervals import Interval


def throughputs(comparison: Comparison, cases: dict[int, str]) -> dict[str, dict[int, Interval]]:
    """Allocator to the operations a second at each number of threads."""
    found: dict[str, dict[int, Interval]] = {}
    for threads, case in cases.items():
        for name, by_round in comparison.samples[TIME.key][case].items():
            found.setdefault(name, {})[threads] = inverse(spread(by_round))
    return {name: found[name] for name in comparison.results.names() if name in found}


def panel(comparison: Comparison, label: str, cases: dict[int, str]) -> Panel:
    found = throughputs(comparison, cases)
    looks = looks_of(comparison.results.names())
    largest = max(point.high for curve in found.values() for point in curve.values())
    unit, name_of_unit = next(((unit, name) for unit, name in ((1e9, "billion "), (1e6, "million "), (1e3, "thousand "))
                               if largest >= unit), (1.0, ""))
    margins = Margins(left=36, right=widest(comparison.results.names()), top=50, bottom=22)
    counts, cpus = sorted(cases), comparison.results.machine.get("cpus", 0)

    def scaled(point: Interval) -> Interval:
        return replace(point, value=point.value / unit, low=point.low / unit, high=point.high / unit)

    def draw(axes: Axes) -> None:
        threads_axis(axes, counts)
        axes.set_ylim(0, largest / unit * 1.04)
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        if counts[0] < cpus < counts[-1]:
            axes.axvline(cpus, color=FAINT.light, linewidth=0.8, zorder=0)
            axes.annotate(f"{cpus} CPUs", (cpus, 1), xycoords=("data", "axes fraction"), xytext=(0, 1), size=SMALL,
                          textcoords="offset points", ha="center", color=MUTED.light)
        curves(axes, {name: {count: scaled(curve[count]) for count in sorted(curve)} for name, curve in found.items()},
               looks)

    def words(curve: dict[int, Interval]) -> str:
        return ", ".join(f"{curve[count].value / unit:.3g} with {count}" for count in sorted(curve))

    told = "; ".join(f"{name}: {words(curve)}" for name, curve in found.items())
    return Panel(label, f"{name_of_unit}operations a second, by threads",
                 upper(f"{name_of_unit}operations a second by threads. {told}."),
                 margins.top + margins.bottom + max(150.0, LABEL_ROOM * len(found)), margins, draw)


def picture(comparison: Comparison) -> Picture:
    by_label: dict[str, dict[int, str]] = {}
    for case in comparison.samples[TIME.key]:
        known = comparison.results.cases[case]
        if known["threads"]:
            by_label.setdefault(known["label"], {})[known["threads"]] = case
    return Picture("speedup", "Speedup",
                   "Throughput against the number of threads: medians with 95 % intervals; higher is better. A line "
                   "that ends early failed with more threads.",
                   [panel(comparison, label, cases) for label, cases in by_label.items() if len(cases) > 1])
