# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the list of pictures that a run gives, and their files.
# Invariant: a picture's files have the same name after every run; a picture without anything to show is left out.
# Must not know: how anything is drawn.
"""All pictures."""

from pathlib import Path

from matplotlib.figure import Figure

from comparison import Comparison
from draw import bars, exhibits, latency, scatter, speedup
from draw.axes import MEMORY, TIME, line, mark
from draw.canvas import Picture, drawn, inline, save, text_of
from draw.styles import Look
from papers import PAPERS
from reproduction import Reading, Shown


def all_pictures(comparison: Comparison) -> list[Picture]:
    """In the order of the page."""
    if not comparison.samples[TIME.key]:
        return []
    found = [bars.standings(comparison, metric) for metric in (TIME, MEMORY) if comparison.verdicts[metric.key]]
    found += scatter.pictures(comparison) if len(comparison.results.names()) > 1 else []
    found += [speedup.picture(comparison), latency.picture(comparison)]
    found += [picture for metric in (TIME, MEMORY) for picture in bars.families(comparison, metric)]
    return [picture for picture in found if picture.panels]


def of_exhibit(shown: Shown) -> Picture | None:
    """None where nothing of it can be drawn."""
    made = exhibits.picture(shown.name.replace(", ", "-").replace(" ", "-"), shown.title, " ".join(shown.sentences),
                            shown.compared, shown.views)
    return made if made.panels else None


def panels(picture: Picture) -> list[str]:
    """Each as SVG, for a page."""
    return [inline(panel, f"{picture.name}-{number}") for number, panel in enumerate(picture.panels)]


def key(name: str, look: Look, prefix: str) -> str:
    """An allocator's line and mark, as they are in every picture."""
    figure = Figure(figsize=(30 / 72, 12 / 72), dpi=72)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-1, 1)
    axes.plot([-1, 1], [0, 0], **line(look, name))
    axes.plot([0], [0], **mark(look, name, 4))
    return text_of(drawn(figure, prefix, name, "its line and mark in the pictures"))


def write(folder: Path, comparison: Comparison) -> None:
    found: list[Picture | None] = [*all_pictures(comparison)]
    if paper := PAPERS.get(comparison.results.suite):
        found += [of_exhibit(shown) for shown in Reading(comparison.results, paper).all()]
    for picture in found:
        if picture:
            save(picture, folder)
