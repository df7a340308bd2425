# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a copy of the source tree and a release build of its tests, to be broken and made whole again.
# Invariant: nothing outside its folder is written to; after a mutant every file has the content and the time of the
#    whole build, so that the next mutant compiles only what it changes.
# Must not know: the mutants; what a test tests.
"""A tree to break."""

import filecmp
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mutants import Mutant

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = (".git", ".cache", "build", "docs", "__pycache__")
# Of test/, in the order of running.
FOLDERS = ("heap", "superblock", "region", "instance", "profile", "malloc", "model", "collector", "gcmalloc", "world", "lab",
           "libgc")
# Each of them has one program of unit tests, and each source of it is a test.
UNIT_TEST_FOLDERS = ("heap", "superblock", "region", "instance", "profile", "malloc", "collector", "collector/whole", "gcmalloc",
                     "world", "lab/parts")
SETTINGS = ("-DGRANARY_TESTS=ON", "-DGRANARY_BENCH=OFF", "-DGRANARY_TOOL=OFF", "-DGRANARY_MAN=OFF",
            f"-DGRANARY_TEST_FOLDERS={';'.join(FOLDERS)}",
            "-DGRANARY_UNITY=OFF",  # a mutant compiles what reads its file, not all that lies beside it
            # No debug information, for time; no warnings, for a mutant may leave something unused.
            "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG -w")
LIBRARIES = ("library.c", "library_large.c", "library_static.c")  # of test/libgc: they are loaded, not run


class Program(NamedTuple):
    folder: str  # of test/
    file: str
    targets: tuple[str, ...]
    arguments: tuple[str, ...] = ()


def programs(root: Path = ROOT) -> dict[str, Program]:
    """The test programs, as ctest calls them."""
    found = {"model.remote_protocol": Program("model", "test_model", ("test_model",))}
    for folder in UNIT_TEST_FOLDERS:
        for path in sorted((root / "test" / folder).glob("*_test.cpp")):
            file = f"{folder.replace('/', '.')}.tests"
            name = f"{folder.split('/whole')[0].replace('/', '.')}.{path.stem.removesuffix('_test')}"
            found[name] = Program(folder, file, (file,), (path.stem,))
    for path in sorted((root / "test/libgc").glob("*.c*")):
        if path.suffix in (".c", ".cpp") and path.name not in LIBRARIES:
            file = f"libgc_{path.stem}"
            found[f"libgc.{path.stem}"] = Program("libgc", file, ("gc_shared", "gccpp_shared", file))
    return found


def files_of(folder: Path) -> dict[str, os.stat_result]:
    return {path.relative_to(folder).as_posix(): path.stat() for path in folder.rglob("*") if path.is_file()}


class BuildFailed(Exception):
    pass


class Tree:
    def __init__(self, folder: Path):
        self.sources, self.build, self.whole = folder / "tree", folder / "build", folder / "whole"

    def _run(self, *command: object) -> None:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise BuildFailed((done.stdout + done.stderr)[-3000:])

    def copy(self) -> None:
        """As the checkout is now; what did not change keeps its time."""
        wanted = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*"))
                  if path.is_file() and not set(path.relative_to(ROOT).parts) & set(LEFT_OUT)}
        if self.sources.exists():
            for name in files_of(self.sources).keys() - wanted.keys():
                (self.sources / name).unlink()
        for name, path in wanted.items():
            target = self.sources / name
            if not target.exists() or not filecmp.cmp(path, target, shallow=False):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)

    def compile(self, *chosen: Program) -> None:
        targets = dict.fromkeys(target for program in chosen for target in program.targets)
        self._run("cmake", "--build", self.build, "-j", os.cpu_count(), "--target", *targets)

    def prepare(self, chosen: Iterable[Program]) -> None:
        """They are built, and that is remembered."""
        self.copy()
        self._run("cmake", "-S", self.sources, "-B", self.build, "--preset", "release", *SETTINGS)
        self.compile(*chosen)
        shutil.rmtree(self.whole, ignore_errors=True)
        shutil.copytree(self.build, self.whole, copy_function=shutil.copy2)

    @contextmanager
    def broken_by(self, mutant: Mutant) -> Iterator[None]:
        path = self.sources / mutant.file
        whole, times = path.read_text(), path.stat()
        path.write_text(whole.replace(mutant.old, mutant.new))
        try:
            yield
        finally:
            path.write_text(whole)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self._restore_build()

    def _restore_build(self) -> None:
        kept = files_of(self.whole)
        for name, now in files_of(self.build).items():
            if name not in kept:
                (self.build / name).unlink()
            elif now.st_mtime_ns != kept[name].st_mtime_ns:
                shutil.copy2(self.whole / name, self.build / name)
