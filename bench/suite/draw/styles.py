# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: how an allocator looks, the same in every picture: its colour, its mark, its line.
# Invariant: a look belongs to a name, not to a place in a run; relatives share a hue and differ in lightness, filling
#    and dashes, so that nobody needs to see colours to tell them apart.
# Must not know: what is drawn; which library draws it.
"""Colours for a light and a dark background, and marks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from granary_results.results import TWICE


@dataclass(frozen=True)
class Colour:
    light: str
    dark: str


@dataclass(frozen=True)
class Look:
    """`mark` and `dash` in matplotlib's letters; a hollow mark has the paper's colour inside."""

    colour: Colour
    mark: str
    dash: str = "-"
    hollow: bool = False


# No two roles share a light colour: it is how a drawn picture is recognised and re-coloured.
PAPER = Colour("#fefefd", "#15171a")
INK = Colour("#232323", "#e4e4e2")
MUTED = Colour("#666666", "#a0a3a8")
FAINT = Colour("#d4d4d2", "#3c4046")
PAGE = {"paper": PAPER, "ink": INK, "muted": MUTED, "faint": FAINT}

FONT = "system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
DRAWING = f"text{{font-family:{FONT}!important}}path,line{{stroke-linejoin:round}}"  # inside an SVG

LOOKS = {
    "granary": Look(Colour("#d1380b", "#ff7a45"), "o"),
    "system": Look(Colour("#1f1f1f", "#f4f4f4"), "s"),
    "jemalloc": Look(Colour("#0067b0", "#4a97e8"), "^"),
    "jemalloc-debian": Look(Colour("#5c97d6", "#a6cdf5"), "^", "--", hollow=True),
    "mimalloc3": Look(Colour("#00664a", "#17b588"), "D"),
    "mimalloc2": Look(Colour("#2a9d78", "#86e3c2"), "D", "--", hollow=True),
    "mimalloc-debian": Look(Colour("#5f7a12", "#cfe07a"), "d", ":", hollow=True),
    "tcmalloc": Look(Colour("#96287f", "#f793d6"), "v"),
    "tcmalloc-gperftools": Look(Colour("#c873a6", "#b86a9c"), "v", "--", hollow=True),
    "snmalloc": Look(Colour("#bf8a00", "#ffd84d"), "P"),
    "rpmalloc": Look(Colour("#7a4a21", "#c08a57"), "X"),
    "scudo": Look(Colour("#858585", "#8f959c"), "h"),
    "bump": Look(Colour("#b3a698", "#d9cbbb"), "8", ":", hollow=True),
}

# For names that are not in the list, in the order of the alphabet.
SPARE = (Look(Colour("#5a4fcf", "#a79ff7"), "<"), Look(Colour("#008b9a", "#5fd3df"), ">"),
         Look(Colour("#8c3a4a", "#e08a98"), "p"), Look(Colour("#4f5b66", "#b7c3cf"), "*"),
         Look(Colour("#d98200", "#f5b041"), "^"), Look(Colour("#3a6fb0", "#8fb8ea"), "v"),
         Look(Colour("#4d7f3a", "#9ccc86"), "d"), Look(Colour("#b0559c", "#e3a1d4"), "H"))


# Beyond as many strangers the same looks again, with other lines and marks filled or not.
DASHES = ("-", "--", ":", "-.")


def spare(place: int) -> Look:
    turn, place = divmod(place, len(SPARE))
    look = SPARE[place]
    return replace(look, dash=DASHES[turn % len(DASHES)], hollow=turn % 2 == 1)


def looks_of(names: Sequence[str]) -> dict[str, Look]:
    """One for each name of a run."""
    bases = {name: name.rstrip(TWICE) for name in names}
    strangers = sorted(set(bases.values()) - set(LOOKS))
    known = {**LOOKS, **{name: spare(place) for place, name in enumerate(strangers)}}
    return {name: known[base] if name == base else replace(known[base], dash=":", hollow=True)
            for name, base in bases.items()}


def roles() -> dict[str, Colour]:
    """Every colour by the name that it has in a style sheet."""
    return {**PAGE, **{name: look.colour for name, look in LOOKS.items()},
            **{f"spare-{place}": look.colour for place, look in enumerate(SPARE)}}


def dark() -> str:
    """The rules that give drawn elements their dark colours, by the classes that name their roles."""
    rules = (f".{kind}-{role}{{{kind}:{colour.dark}}}" for role, colour in roles().items()
             for kind in ("fill", "stroke"))
    return f"@media(prefers-color-scheme:dark){{{''.join(rules)}}}"


DARK = dark()


def sheet() -> str:
    """The style sheet of a page: variables for its own colours, and what its pictures need."""
    def rules(shade: str) -> str:
        return "".join(f"--{role}:{getattr(colour, shade)};" for role, colour in PAGE.items())

    return (f":root{{color-scheme:light dark;{rules('light')}}}"
            f"@media(prefers-color-scheme:dark){{:root{{{rules('dark')}}}}}{DARK}")
