# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: panels of one width, drawn by matplotlib, as SVG that follows the reader's background.
# Invariant: text stays text; an SVG refers to nothing outside itself, has its light colours in itself and their roles
#    as classes, which a style sheet for dark overrides, and says in words what it shows; the same panels give
#    the same file.
# Must not know: what a panel shows.
"""From panels to files."""

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from draw.styles import DARK, DRAWING, INK, MUTED, PAPER, roles

# In points, of which an SVG shows each as a pixel: a phone has room for one panel, a desk for three.
WIDTH = 360
COLUMNS = 3
GUTTER = 16.0
SURELY_FITS = 0.95
HEAD_TITLE, HEAD_LINE = 22.0, 14.0  # from the top to the caption, and from a line of it to the next
SIZE, SMALL = 12.0, 10.5

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"

matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "granary", "font.family": "DejaVu Sans", "font.size": SIZE,
    "text.color": INK.light, "axes.edgecolor": MUTED.light, "axes.facecolor": "none", "axes.linewidth": 0.6,
    "axes.spines.top": False, "axes.spines.right": False, "xtick.color": MUTED.light, "ytick.color": MUTED.light,
    "xtick.labelsize": SMALL, "ytick.labelsize": SMALL, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "xtick.major.size": 3, "ytick.major.size": 3, "xtick.major.pad": 2, "ytick.major.pad": 3,
})


@dataclass(frozen=True)
class Margins:
    left: float
    right: float
    top: float = 44
    bottom: float = 20


@dataclass(frozen=True)
class Panel:
    """`note` stands under the title; `description` tells in words what is drawn."""

    title: str
    note: str
    description: str
    height: float
    margins: Margins
    draw: Callable[[Axes], None]


@dataclass(frozen=True)
class Picture:
    """`name` is that of its files; pictures of one title belong together, each of them with a `part` of its own. A file
    of a picture that `is_headed` begins with its title and caption."""

    name: str
    title: str
    caption: str
    panels: list[Panel]
    part: str = ""
    is_headed: bool = False


@lru_cache(maxsize=None)
def width_of(text: str, size: float = SIZE) -> float:
    """In points, in a font that is wider than most."""
    return TextToPath().get_text_width_height_descent(text, FontProperties(size=size), False)[0]


def place(figure: Figure, panel: Panel, x: float, top: float) -> None:
    """Draws a panel with its upper left corner there, in points."""
    width, height = figure.get_size_inches() * 72
    margins = panel.margins
    axes = figure.add_axes(((x + margins.left) / width, (top - panel.height + margins.bottom) / height,
                            (WIDTH - margins.left - margins.right) / width,
                            (panel.height - margins.top - margins.bottom) / height))
    figure.text((x + 2) / width, (top - 4) / height, panel.title, va="top", weight="bold")
    figure.text((x + 2) / width, (top - 20) / height, panel.note, va="top", size=SMALL, color=MUTED.light)
    panel.draw(axes)


def wrapped(text: str, room: float) -> list[str]:
    """Lines of small text for `room` points; some fonts are a little wider than that of width_of."""
    room *= SURELY_FITS
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(f"{lines[-1]} {word}", SMALL) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def head(figure: Figure, title: str, lines: Sequence[str]) -> None:
    height = figure.get_size_inches()[1] * 72
    left = 2 / (figure.get_size_inches()[0] * 72)
    figure.text(left, (height - 4) / height, title, va="top", weight="bold")
    for number, line in enumerate(lines):
        figure.text(left, (height - HEAD_TITLE - number * HEAD_LINE) / height, line, va="top", size=SMALL,
                    color=MUTED.light)


def figure_of(panels: Sequence[Panel], columns: int = 1, title: str = "", caption: str = "") -> Figure:
    """Each panel goes below the shortest column; a title and a caption stand above all."""
    filled = [0.0] * min(columns, len(panels))
    corners = []
    for panel in panels:
        column = filled.index(min(filled))
        corners.append((column * (WIDTH + GUTTER), filled[column]))
        filled[column] += panel.height + GUTTER
    width, height = (WIDTH + GUTTER) * len(filled) - GUTTER, max(filled) - GUTTER
    lines = wrapped(caption, width)
    figure = Figure(figsize=(width / 72, (height + (HEAD_TITLE + HEAD_LINE * len(lines) + GUTTER if title else 0)) / 72),
                    dpi=72)
    if title:
        head(figure, title, lines)
    for panel, (x, down) in zip(panels, corners):
        place(figure, panel, x, height - down)
    return figure


def paint(element: ET.Element, style: str) -> None:
    """Colours become attributes, which every viewer understands, with classes for a style sheet; the rest stays."""
    names = {colour.light: role for role, colour in roles().items()}
    declarations = dict(part.strip().split(": ", 1) for part in style.split(";") if part.strip())
    colours = {key: declarations.pop(key) for key in ("fill", "stroke") if key in declarations}
    classes = " ".join(f"{key}-{names[value]}" for key, value in colours.items() if value in names)
    rest = "; ".join(f"{key}: {value}" for key, value in declarations.items())
    for key, value in {**colours, "class": classes, "style": rest}.items():
        if value:
            element.set(key, value)


def tidy(root: ET.Element, prefix: str) -> None:
    """Leaves no id without a reference, no style that would leak, no metadata."""
    references = re.compile(r"url\(#([^)]*)\)|^#(.*)$")
    used = {found[1] or found[2] for element in root.iter() for value in element.attrib.values()
            if (found := references.search(value))}
    for element in root.iter():
        for child in list(element):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                element.remove(child)
        for key, value in list(element.attrib.items()):
            if key == "id":
                if value in used:
                    element.set(key, f"{prefix}-{value}")
                else:
                    del element.attrib[key]
            elif key == "style":
                del element.attrib[key]
                paint(element, value)
            elif found := references.search(value):
                name = found[1] or found[2]
                element.set(key, value.replace(f"#{name}", f"#{prefix}-{name}"))


def described(root: ET.Element, prefix: str, title: str, description: str) -> None:
    root.set("role", "img")
    root.set("aria-labelledby", f"{prefix}-title {prefix}-desc")
    for index, (kind, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{SVG}}}{kind}", {"id": f"{prefix}-{kind}"})
        element.text = text
        root.insert(index, element)


def drawn(figure: Figure, prefix: str, title: str, description: str) -> ET.Element:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ET.fromstring(buffer.getvalue())
    tidy(root, prefix)
    described(root, prefix, title, description)
    return root


def text_of(root: ET.Element) -> str:
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    return re.sub(r"\n\s*", "\n", ET.tostring(root, encoding="unicode"))


def inline(panel: Panel, prefix: str) -> str:
    """For a page, which has the style sheet."""
    root = drawn(figure_of([panel]), prefix, panel.title, panel.description)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    return text_of(root)


def save(picture: Picture, folder: Path) -> None:
    """As NAME.svg, with its own background and style sheet."""
    words = " ".join(f"{panel.title}: {panel.description}" for panel in picture.panels)
    heading = (picture.title, picture.caption) if picture.is_headed else ()
    root = drawn(figure_of(picture.panels, COLUMNS, *heading), picture.name, picture.title, f"{picture.caption} {words}")
    style = ET.Element(f"{{{SVG}}}style")
    style.text = "svg{color-scheme:light dark}" + DRAWING + DARK
    paper = ET.Element(f"{{{SVG}}}rect", {"width": "100%", "height": "100%"})
    paint(paper, f"fill: {PAPER.light}")
    root.insert(2, style)
    root.insert(3, paper)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{picture.name}.svg").write_text(text_of(root))
