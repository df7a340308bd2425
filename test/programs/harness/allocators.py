# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the mallocs a program can run on, and where their libraries lie.
# Invariant: an Allocator that exists has a library that exists (or is the system's own).
# Must not know: the programs.
"""Allocators: the system's, Granary, and the three that Debian packages."""

import functools
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

SYSTEM = "system"
GRANARY = "granary"

PEERS = {
    "jemalloc": ("libjemalloc.so.2", "libjemalloc2"),
    "mimalloc": ("libmimalloc.so.2", "libmimalloc2.0"),
    "tcmalloc": ("libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"),
}


class Missing(Exception):
    """Something must be installed or built first; the message says what."""


@dataclass(frozen=True)
class Allocator:
    """A malloc. `library` is None for the system's, which needs no preload in most programs; `environment` is what it
    needs besides."""

    name: str
    library: Path | None
    environment: dict[str, str] = field(default_factory=dict)

    def renamed(self, name: str) -> "Allocator":
        return replace(self, name=name)

    def preload_for(self, program) -> Path | None:
        """What to preload; a program that links a malloc of its own gets even the system's by preload."""
        if self.library is None and program.links_a_malloc:
            return shared_library("libc.so.6")
        return self.library

    def expected_library(self, program) -> Path:
        """The file the program's malloc must come from."""
        return self.preload_for(program) or shared_library("libc.so.6")


@functools.cache
def loader_cache() -> dict[str, Path]:
    """The loader's cache: soname to path; the first entry is the native one."""
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    found: dict[str, Path] = {}
    for line in listing.splitlines():
        soname, arrow, path = line.strip().partition(" => ")
        if arrow:
            found.setdefault(soname.split()[0], Path(path))
    return found


def shared_library(soname: str, package: str = "") -> Path:
    """The path of a library known to the loader."""
    path = loader_cache().get(soname)
    if path is None:
        raise Missing(f"{soname} is not installed; run: apt-get install {package or soname}")
    return path


def system() -> Allocator:
    return Allocator(SYSTEM, None)


def granary(library: Path) -> Allocator:
    if not library.is_file():
        raise Missing(f"{library} does not exist; run: make")
    return Allocator(GRANARY, library.resolve())


def peer(name: str) -> Allocator:
    return Allocator(name, shared_library(*PEERS[name]))
