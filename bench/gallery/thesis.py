# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the tables of Wasik's chapter 6 for the programs of today, from their reports' documents.
# Invariant: each table has the thesis' columns in the thesis' order, and a number is the document's or a sum of its.
# Must not know: how a trace is read.
"""From documents to docs/results/raw/gallery/thesis.txt."""

MICRO = 1e6
AGES = (1e-6, 9.6e-6, 89.6e-6, 819.2e-6)  # the bins' edges below the thesis' 1, 10, 100 and 1000 us
CLOSE = 9.6e-6  # the thesis: about 90 % of calls are less than 10 us apart
LARGEST_SMALL = 512
SHARE_OF_A_BIN = 0.01


class Report:
    def __init__(self, document):
        self.charts = {(section["id"], chart["title"]): chart
                       for section in document["sections"] for chart in section["charts"]}

    def table(self, section, title):
        return {row[0]: row[1:] for row in self.charts[section, title]["rows"]}

    def sizes(self):
        """(up to, blocks, bytes) of each bin that has blocks."""
        rows = self.charts["sizes", "Requested sizes, and the bytes after rounding to size classes"]["rows"]
        return [(row[1], row[2], row[4]) for row in rows]

    def bars(self, section, title, name):
        """(low, high, count), over all slices."""
        chart = self.charts[section, title]
        series = next(series for series in chart["series"] if series["name"] == name)
        counts = series.get("values") or [sum(column) for column in zip(*series["slices"])]
        return list(zip(chart["edges"], chart["edges"][1:], counts))


def share_below(bars, limit):
    """Bins that lie below the limit, of all."""
    return sum(count for _, high, count in bars if high <= limit * 1.0001) / max(1, sum(bar[2] for bar in bars))


def number(value):
    if isinstance(value, str):
        return value
    if isinstance(value, int) or value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


def percent(value):
    return f"{100 * value:.2f}"


def allocation_statistics(report):
    rows = report.table("statistics", "Totals")
    allocations, frees = rows["allocations"][0], rows["frees"][0]
    return [allocations, frees, allocations + frees, percent(rows["allocated and not freed"][2])]


def runtime_statistics(report):
    rows = report.table("statistics", "Totals")
    seconds, share = rows["time in calls, share of the CPU time without the recording's part"][1:]
    length = rows["from the first call to the last"][1]
    return [length * MICRO, rows["allocations per second"][0],
            (rows["allocations"][0] + rows["frees"][0]) / length, (seconds or 0) * MICRO,
            (rows["standard error of the time in calls"][1] or 0) * MICRO, percent(share or 0)]


def request_sizes(report):
    sizes = report.sizes()
    blocks, total = sum(bin[1] for bin in sizes), sum(bin[2] for bin in sizes)
    common = max(sizes, key=lambda bin: bin[1])
    return [total / blocks, total, sizes[-1][0], sizes[0][0], f"{common[0]} - {100 * common[1] / blocks:.1f}"]


def lifetimes(report):
    rows = report.table("lifetimes", "Lifetimes")
    return [rows[name][0] * MICRO for name in ("mean, of blocks that were freed", "mean, of all", "shortest",
                                               "longest, of blocks that were freed")]


def arrivals(report):
    rows = report.table("intervals", "Times between requests")
    return [rows[name][column] * MICRO for column in (1, 2, 3) for name in ("all requests", "allocations", "frees")]


def footprint(report):
    rows = report.table("footprint", "In use")
    return [rows["mean over time"][0], rows["most"][0], rows["mean over time"][1], rows["most"][1]]


def bins(report):
    """What the figures A.1, A.2, A.5, A.6, A.10 and A.11 are read for."""
    sizes = sorted((bin[1] for bin in report.sizes()), reverse=True)
    blocks = sum(sizes)
    large = [bin for bin in report.sizes() if bin[0] > LARGEST_SMALL and bin[1] >= SHARE_OF_A_BIN * blocks]
    lived = report.bars("lifetimes", "Blocks by lifetime", "blocks")
    between = report.bars("intervals", "Requests by the time since the previous request", "all requests")
    return [percent(sizes[0] / blocks), percent(sum(sizes[:3]) / blocks), len(large),
            *(percent(share_below(lived, age)) for age in AGES), percent(share_below(between, CLOSE))]


TABLES = (
    ("6.1: Allocation Statistics", ("# Allocs", "# Deallocs", "Memory Ops", "% Unfreed"), allocation_statistics),
    ("6.2: Runtime Statistics", ("Total Run-time (us)", "Avg Allocs/sec", "Avg Memory Ops/sec",
                                 "Time in Memory Ops (us)", "its standard error",
                                 "(% of its own CPU time)"), runtime_statistics),
    ("6.3: Size of Requests", ("Average (bytes)", "Total allocated (bytes)", "Bin of the largest (bytes)",
                               "Smallest bin (bytes)", "Most common bin - frequency (%)"), request_sizes),
    ("6.4: Lifetimes", ("Avg (freed) (us)", "Avg (all) (us)", "Shortest (us)", "Longest (freed) (us)"), lifetimes),
    ("6.5: Interarrival Times", tuple(f"{what} {kind} (us)" for what in ("Average", "Shortest", "Longest")
                                      for kind in ("All", "Alloc", "Dealloc")), arrivals),
    ("6.6: Allocation Footprint", ("Average (bytes)", "Maximum (bytes)", "Average (objects)", "Maximum (objects)"),
     footprint),
    ("Shares, in %", ("Most common bin", "Three most common", "Bins above 512 B with 1 %", "Lived < 1 us", "< 9.6 us",
                      "< 89.6 us", "< 819 us", "Requests < 9.6 us apart"), bins),
)


def tables(documents):
    text = ""
    for title, columns, row in TABLES:
        text += f"{title}\n\n| | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}\n"
        for name, document in documents.items():
            text += f"| {name} | {' | '.join(number(value) for value in row(Report(document)))} |\n"
        text += "\n"
    return text
