# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the library with other size classes: a copy of its source in which the constants are changed, built.
# Invariant: the checkout is not touched. What merely mentions a constant stays as it is; what repeats one follows it.
# Must not know: what is measured with it.
"""Builds the library with other size classes."""

import dataclasses
import functools
import platform
import re
import shutil
import subprocess
from pathlib import Path

from harness.allocators import Missing
from places import ROOT

from class_table import CONFIG, ClassTable, Constants, constant_name

RSEQ = Path("platform") / "rseq"
HEADERS = 128  # of a slab, two of which are no class's
CHUNK_UNITS_SHIFT = 5  # a chunk's units are one mask
OPTIONS = ("-std=c++20 -O2 -fPIC -shared -fno-plt -fno-semantic-interposition -fno-exceptions -fno-rtti "
           "-fno-stack-protector -ftls-model=initial-exec -flto=1 -fvisibility=hidden").split()
COUNTING = "-DGRANARY_COUNTED=1"


def change(path: Path, pattern: str, replacement: str) -> None:
    text, count = re.subn(pattern, replacement, path.read_text())
    if count == 0:
        raise Missing(f"{path.name}: no line matches {pattern}; adapt bench/candidates.py to the file")
    path.write_text(text)


def change_constants(source: Path, constants: Constants) -> None:
    """Writes them into a copy of the source."""
    today = Constants.of(source)
    for field, value in dataclasses.asdict(constants).items():
        if field != "smallest":
            change(source / CONFIG, rf"({constant_name(field)}) = [^;]+;", rf"\1 = {value};")
    change(source / CONFIG, r"(kChunkShift) = \d+;", rf"\1 = {constants.unit_shift + CHUNK_UNITS_SHIFT};")
    change(source / "superblock" / "superblock.hpp", r"sizeof\(Superblock\) == \d+", "sizeof(Superblock) % 128 == 0")
    # Which superblocks may stay empty is another question than where the fine steps end.
    change(source / "heap" / "refiller.cpp", "kFineLimit", str(today.fine_limit))
    sizes = ClassTable(constants).sizes
    headers = HEADERS if len(sizes) < HEADERS - 2 else 2 * HEADERS
    change(source / RSEQ / "magazine_header.hpp", r"(kSlotDisplacement) = \d+;", rf"\1 = {headers * 8};")


def write_offsets(source: Path, folder: Path) -> None:
    """The numbers that the assembly takes from C++, as the build computes them."""
    assembly = folder / "offsets.s"
    run = functools.partial(subprocess.run, capture_output=True, text=True, check=True)
    run(["g++", "-std=c++20", "-O1", f"-I{source}", "-S", "-o", assembly, source / RSEQ / "offsets.cpp"])
    run(["cmake", f"-DFROM={assembly}", f"-DTO={source / RSEQ / 'offsets.inc'}",
         "-P", ROOT / "cmake" / "write_offsets.cmake"])


def build(constants: Constants, folder: Path, counting: bool = False) -> Path:
    """The library, always with the same options; one that counts its slow paths, if `counting`."""
    folder.mkdir(parents=True)
    source = folder / "src"
    shutil.copytree(ROOT / "src", source)
    change_constants(source, constants)
    write_offsets(source, folder)
    library = folder / "libgranary.so"
    faces = source / "malloc" / "cxx_api.cpp"  # it catches what a new handler throws
    files = sorted(file for file in source.rglob("*.cpp") if file != faces and file.name != "offsets.cpp")
    assembly = sorted((source / RSEQ).glob(f"*_{platform.machine()}.S"))
    command = ["g++", *OPTIONS, *([COUNTING] if counting else []), f"-I{source}", f"-I{ROOT / 'include'}",
               *files, *assembly, "-x", "c++", "-fexceptions", faces,
               f"-Wl,--version-script={source / 'granary.map'}", "-Wl,-z,now", "-o", library]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise Missing(f"{constants}: cannot be built: {errors[0] if errors else done.stderr[-200:]}")
    return library

