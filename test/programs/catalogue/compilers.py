# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: gcc and clang, each compiling one translation unit full of standard headers.
# Invariant: the object file is the output; same compiler, same file, same bytes.
# Must not know: how results are compared.
"""Compilers: few, large processes with millions of small blocks and obstacks that grow."""

import subprocess

from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work, digest

SOURCE = INPUTS / "large.cpp"


def compile_with(compiler: str):
    def run(work: Work, launcher: Launcher) -> Outcome:
        with work.trial() as folder:
            level = "-O1" if work.in_bench() else "-O0"
            command = [compiler, "-std=c++20", level, "-DINSTANTIATIONS=1", "-c", SOURCE, "-o", "large.o"]
            done = launcher.run(command, folder)
            return Outcome(done.output + digest(folder / "large.o"), done.usage)
    return run


def cc1plus() -> list[str]:
    """g++ is only a driver: the compiler proper is what must be on the malloc."""
    path = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout
    return [path.strip(), "--version"]


GCC = Program(
    name="gcc",
    summary="g++ compiles one file of 20 standard headers",
    files={"/usr/bin/g++": "g++"},
    probe=cc1plus,
    run=compile_with("/usr/bin/g++"),
)

CLANG = Program(
    name="clang",
    summary="clang++-14 compiles the same file",
    files={"/usr/bin/clang++-14": "clang-14"},
    probe=lambda: ["/usr/bin/clang++-14", "--version"],
    run=compile_with("/usr/bin/clang++-14"),
)
