# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the allocators that can be compared: Granary, the system's, the peers that are built or installed, those of the
#    lab, and the control.
# Invariant: an Allocator that is returned has a library that exists; which version it is stands in the results.
# Must not know: what is measured.
"""Allocators by name."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

from harness import allocators
from harness.allocators import Allocator, Missing

from granary_results.results import TWICE
from places import ROOT

# What `standard` compares unless told otherwise.
SIX = ("granary", "system", "jemalloc", "mimalloc2", "mimalloc3", "tcmalloc")
BUMP = "bump"  # our own empty allocator: another, which is measured only where it is named


LAB = "lab:"  # begins the names of the lab's, which are measured only where they are named
LAB_BEGIN, LAB_END = "liblab-", ".so"
LAB_OPTION = ":"  # after its name, as tool/reading/allocators/lab_options.cpp reads it, too: lab:hoard:f=1/8:K=0
LAB_VARIABLE = "GRANARY_LAB"
PROBE = ("/bin/sh", "-c", ":")  # allocates a little


def existing(name: str, library: Path, command: str) -> Path:
    if not library.is_file():
        raise Missing(f"{name}: {library} does not exist; run: {command}")
    return library


def commit() -> str:
    """Of this checkout, and whether it was changed since; nothing where it is no checkout."""
    try:
        return subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True,
                              check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def digest(library: Path) -> str | None:
    return hashlib.sha256(library.read_bytes()).hexdigest() if library.is_file() else None


def summary(name: str) -> str:
    """What a lab allocator's file says it is."""
    header = ROOT / "lab" / "allocators" / f"{name.removeprefix(LAB).replace('-', '_')}.hpp"
    said = re.search(r"// What: +(.*?)(?=^// Invariant:)", header.read_text(), re.M | re.S) if header.is_file() else None
    return " ".join(said[1].replace("//", " ").split()) if said else "an allocator of the lab"


def without_options(name: str) -> str:
    return LAB + name.removeprefix(LAB).partition(LAB_OPTION)[0]


def options_of(name: str) -> str:
    """As the library reads them."""
    return name.removeprefix(without_options(name)).removeprefix(LAB_OPTION).replace(LAB_OPTION, ",")


def refused_options(library: Path, options: str) -> str:
    """What the library says to the first that it does not take, in a process that does nothing else; empty: it takes
    them."""
    def said(words: str) -> str:
        done = subprocess.run(PROBE, env={"LD_PRELOAD": str(library), LAB_VARIABLE: words}, capture_output=True,
                              text=True, timeout=60)
        line = re.search(f"{LAB_VARIABLE}: (.*)", done.stderr)
        return line[1].removesuffix("; ignored") if line else ""

    # An allocator that has options answers a word that is none.
    return said(options) or ("" if said("?") else "this allocator has no options")


class Peers:
    """All that can be had: what this build made, and what is in the list that `make bench-peers` leaves."""

    def __init__(self, build: Path, listing: Path):
        self.library = build / "libgranary.so"
        self.lab = build / "lab"
        self.bump = build / "bench" / "controls" / "libgranary-bump.so"
        self.listing = listing
        peers = json.loads(listing.read_text())["peers"] if listing.is_file() else []
        self.built = {peer["name"]: peer for peer in peers}

    def lab_names(self) -> list[str]:
        return sorted(LAB + file.name.removeprefix(LAB_BEGIN).removesuffix(LAB_END)
                      for file in self.lab.glob(f"{LAB_BEGIN}*{LAB_END}"))

    def names(self) -> list[str]:
        """Without the control and the lab's."""
        return [allocators.GRANARY, allocators.SYSTEM, *(name for name in self.built if name != allocators.SYSTEM)]

    def facts(self, name: str) -> dict:
        """What the results say of an allocator."""
        base = name.rstrip(TWICE)
        if base == allocators.GRANARY:
            return {"name": name, "version": commit(), "library_sha256": digest(self.library)}
        if base.startswith(LAB):
            options = options_of(base)
            return {"name": name, "version": summary(without_options(base)),
                    "library_sha256": digest(self.lab_library(base)),
                    **({"environment": {LAB_VARIABLE: options}} if options else {})}
        if base == BUMP:
            return {"name": name, "version": "a control, no peer: moves a pointer, frees nothing", "control": True}
        return self.built.get(base, {"name": name})

    def lab_library(self, name: str) -> Path:
        return self.lab / f"{LAB_BEGIN}{without_options(name).removeprefix(LAB)}{LAB_END}"

    def get_of_lab(self, name: str) -> Allocator:
        base = without_options(name.rstrip(TWICE))
        if base not in self.lab_names():
            raise Missing(f"{name}: no such allocator in the lab; it has {', '.join(self.lab_names())}"
                          if self.lab_names() else f"{name}: the lab is not built; run: make lab")
        library = self.lab_library(base)
        options = options_of(name.rstrip(TWICE))
        if not options:
            return Allocator(name, library)
        if told := refused_options(library, options):
            raise Missing(f"{name}: not measured: {told}")
        return Allocator(name, library, {LAB_VARIABLE: options})

    def get(self, name: str) -> Allocator:
        """Raises Missing, in one line."""
        base = name.rstrip(TWICE)
        if base.startswith(LAB):
            return self.get_of_lab(name)
        if base == allocators.GRANARY:
            return allocators.granary(self.library).renamed(name)
        if base == allocators.SYSTEM:
            return allocators.system().renamed(name)
        if base == BUMP:
            return Allocator(name, existing(name, self.bump, "make bench"))
        if base not in self.built and LAB + base in self.lab_names():
            return self.get_of_lab(LAB + name)
        if "=" in base:
            raise Missing(f"{name}: no such allocator; options follow the name of a lab allocator, as in "
                          "lab:hoard:f=1/8:K=0")
        if base not in self.built:
            known = ', '.join([*self.names(), BUMP, *self.lab_names()])
            raise Missing(f"{name}: no such allocator in {self.listing}; known: {known}"
                          if self.built else f"{name}: no peers are built; run: make bench-peers")
        peer = self.built[base]
        library = existing(name, Path(peer["library"]), "make bench-peers")
        return Allocator(name, library, peer.get("environment") or {})
