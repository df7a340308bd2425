# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the description of a real program, and the folders it works in.
# Invariant: prepare runs once, on the system's malloc; run leaves what prepare made as it was.
# Must not know: how results are compared.
"""Programs, their work folders and their outcomes."""

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .allocators import Missing
from .launcher import Launcher, Usage, clean_environment, run_to_end

INPUTS = Path(__file__).resolve().parent.parent / "inputs"


@dataclass(frozen=True)
class Outcome:
    """`output` must be the same on every malloc."""

    output: str
    usage: Usage


class Work:
    """A temporary folder: `prepared` for what all trials read, `trial()` for a fresh place each.

    `size` is "test" or "bench"; programs may do less in a test."""

    def __init__(self, size: str):
        self.size = size

    def __enter__(self) -> "Work":
        self.root = Path(tempfile.mkdtemp(prefix="granary-"))
        self.root.chmod(0o711)  # daemons that drop root must be able to pass
        self.prepared = self.root / "prepared"
        self.prepared.mkdir()
        return self

    def __exit__(self, *_) -> None:
        shutil.rmtree(self.root)

    @contextlib.contextmanager
    def trial(self) -> Iterator[Path]:
        # always the same name: paths end up in outputs
        folder = self.root / "trial"
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)

    def in_bench(self) -> bool:
        return self.size == "bench"

    def setup(self, argv, stdin: Path | None = None) -> str:
        """Runs a preparing command on the system's malloc, in the prepared folder."""
        return run_to_end(argv, self.prepared, clean_environment(self.prepared), stdin)


def nothing_to_prepare(work: Work) -> None:
    """For programs whose inputs are files of the repository."""


@dataclass(frozen=True)
class Program:
    """A real program. `probe` is a quick command that runs the executable doing the work."""

    name: str
    summary: str
    files: dict[str, str]  # file that must exist: Debian package that brings it
    probe: Callable[[], list[str]]
    run: Callable[[Work, Launcher], Outcome]
    prepare: Callable[[Work], None] = nothing_to_prepare
    links_a_malloc: bool = False
    in_bench: bool = True
    in_tests: bool = True

    def require(self) -> None:
        """Raises Missing, in one line, when a file that the program needs is not there."""
        absent = sorted({package for file, package in self.files.items() if not Path(file).exists()})
        if absent:
            raise Missing(f"{self.name}: not installed; run: apt-get install {' '.join(absent)}")


def digest(path: Path) -> str:
    """One line that stands for a file's content."""
    return f"{path.name} {path.stat().st_size} {hashlib.sha256(path.read_bytes()).hexdigest()}\n"
