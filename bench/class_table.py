# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a table of size classes by its constants, in plain arithmetic, and what it costs a program whose requests
#    were recorded.
# Invariant: for the constants of config.hpp the table is the library's (a test compares it with
#    docs/design/size-classes.md, and another that page with the library).
# Must not know: how requests are recorded, how a library is built or measured.
"""Tables of size classes."""

import bisect
import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.allocators import Missing

CONFIG = Path("base") / "config.hpp"
PAGE = 4096
KIB = 1024


@dataclass(frozen=True)
class Constants:
    """Those of config.hpp that shape the table, in its units. `smallest` is no constant there: blocks of 8 bytes."""

    fine_step: int
    fine_limit: int
    coarse_per_doubling: int
    class_limit: int
    unit_shift: int
    max_superblock_units: int
    tail_waste_parts: int
    smallest: int = 0

    @classmethod
    def of(cls, source: Path) -> "Constants":
        """As the library's source says."""
        text = (source / CONFIG).read_text()

        def value(name: str) -> int:
            found = re.search(rf"{name} = (\d+)( \* kKiB)?;", text)
            if found is None:
                raise Missing(f"{CONFIG}: {name} does not exist; adapt bench/class_table.py to the file")
            return int(found[1]) * (KIB if found[2] else 1)

        return cls(**{field.name: value(constant_name(field.name)) for field in dataclasses.fields(cls)
                      if field.name != "smallest"})


def constant_name(field: str) -> str:
    return "k" + "".join(word.capitalize() for word in field.split("_"))


@dataclass(frozen=True)
class Step:
    """Requests of neighbouring sizes that no table parts: the largest size, how many and how many bytes were requested,
    how many and how many bytes were live at the peak."""

    size: int
    requests: int
    requested_bytes: int
    live: int
    live_bytes: int


@dataclass(frozen=True)
class Cost:
    """Of a table for a program. Bytes at the peak, but for `by_request`, the part of all requested bytes that is added
    by rounding up."""

    by_request: float
    requested: int
    rounded: int  # in blocks up to the class limit, or pages
    touched: int  # whole pages, as if blocks lay side by side
    held: int  # whole superblocks, and runs of units
    classes: int  # ever requested


class ClassTable:
    def __init__(self, constants: Constants):
        self.constants = constants
        self.unit = 1 << constants.unit_shift
        self.sizes = list(self._sizes())

    def _sizes(self) -> Iterable[int]:
        c = self.constants
        if c.smallest:
            yield c.smallest
        yield from range(c.fine_step, c.fine_limit + 1, c.fine_step)
        doubling = c.fine_limit
        while doubling < c.class_limit:
            step = doubling // c.coarse_per_doubling
            yield from range(doubling + step, 2 * doubling + 1, step)
            doubling *= 2

    def size_of(self, request: int) -> int:
        """Of the block that a request gets, up to the class limit."""
        return self.sizes[bisect.bisect_left(self.sizes, request)]

    def units_of(self, size: int) -> int:
        """Of a superblock of blocks of that size."""
        for units in range(1, self.constants.max_superblock_units):
            held = units * self.unit
            if held % size * self.constants.tail_waste_parts <= held:
                return units
        return self.constants.max_superblock_units

    def shapes(self) -> list[tuple[int, int]]:
        """Each class's block size and superblock, in bytes."""
        return [(size, self.units_of(size) * self.unit) for size in self.sizes]

    def cost(self, steps: Iterable[Step]) -> Cost:
        in_class: dict[int, int] = {}
        requested = rounded = touched = held = 0
        all_requested = all_rounded = 0
        for step in steps:
            requested += step.live_bytes
            if step.size > self.constants.class_limit:
                rounded += step.live * up(step.size, PAGE)
                touched += step.live * up(step.size, PAGE)
                held += step.live * up(step.size, self.unit)
                continue
            size = self.size_of(step.size)
            all_requested += step.requested_bytes
            all_rounded += step.requests * size
            in_class[size] = in_class.get(size, 0) + step.live
        for size, live in in_class.items():
            superblock = self.units_of(size) * self.unit
            rounded += live * size
            touched += up(live * size, PAGE)
            held += divide_up(live, superblock // size) * superblock
        return Cost(all_rounded / max(1, all_requested) - 1, requested, rounded, touched, held, len(in_class))


def divide_up(value: int, step: int) -> int:
    return -(-value // step)


def up(value: int, step: int) -> int:
    return divide_up(value, step) * step


def variants(today: Constants) -> dict[str, Constants]:
    """The candidates: today's, then what differs from it in what its name says."""
    def other(**constants: int) -> Constants:
        return dataclasses.replace(today, **constants)

    return {
        "today": today,
        "8 bytes as well": other(smallest=8),
        "fine to 512": other(fine_limit=512),
        "fine to 2048": other(fine_limit=2048),
        "4 a doubling": other(coarse_per_doubling=4),
        "16 a doubling": other(coarse_per_doubling=16),
        "to 16 KiB": other(class_limit=16 * KIB),
        "to 64 KiB": other(class_limit=64 * KIB),
        "units of 32 KiB": other(unit_shift=15),
        "units of 128 KiB": other(unit_shift=17),
        "tail 1/8": other(tail_waste_parts=8),
        "tail 1/32": other(tail_waste_parts=32),
        "at most 2 units": other(max_superblock_units=2),
        "at most 4 units": other(max_superblock_units=4),
        "at most 16 units": other(max_superblock_units=16),
        "tail 1/64 and 16 units": other(tail_waste_parts=64, max_superblock_units=16),
        "16 and units of 32 KiB": other(coarse_per_doubling=16, unit_shift=15),
    }


def ends(ratios: dict[str, float]) -> tuple[str, str]:
    """The least and the most, and whose they are."""
    least, most = min(ratios, key=ratios.get), max(ratios, key=ratios.get)
    return f"{ratios[least]:.2f} {least}", f"{ratios[most]:.2f} {most}"


def chosen(words: str, known: Iterable[str], what: str) -> list[str]:
    names = [word for word in words.split(",") if word]
    for name in names:
        if name not in known:
            raise Missing(f"{name}: no such {what}; choose from {', '.join(known)}")
    return names
