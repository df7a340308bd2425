# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: programs that run on every machine all day, each on a job of a second: what the catalogue of real programs
#    leaves out because it is not worth timing.
# Invariant: their inputs are this checkout's own files, so no download and no package beyond Debian's base and build
#    tools.
# Must not know: how they are run, and what is measured.
"""Everyday programs, described as those of the catalogue are."""

import shutil

from harness.launcher import Launcher
from harness.program import Outcome, Program, Work
from places import ROOT

TREES = ("src", "test", "docs")
TEXT_COPIES = 4

JOBS = {
    "bash": ("/bin/bash", "bash", "bash -c 'for i in {1..20000}; do a[i]=$i-$((i * 7919 % 1009)); done; "
                                  "for x in \"${a[@]}\"; do n[${x%-*} % 97]+=$x; done; echo ${#n[@]}'"),
    "cmake": ("/usr/bin/cmake", "cmake", "cmake -S project -B built"),
    "grep": ("/bin/grep", "grep", "grep -Erc '[a-z]+_(test|bench)|k[A-Z][a-zA-Z]+Bytes' tree | md5sum"),
    "python-own": ("/usr/bin/python3", "python3", "python3 -c 'import ast, json, sys\n"
                   "for name in (\"argparse\", \"typing\", \"ast\", \"inspect\"):\n"
                   "    print(len(ast.dump(ast.parse(open(__import__(name).__file__).read()))))'"),
    "rsync": ("/usr/bin/rsync", "rsync", "rsync -a tree/ copy/"),
    "sort": ("/usr/bin/sort", "coreutils", "sort -S 32M text | md5sum"),
    "tar": ("/bin/tar", "tar", "tar -cf tree.tar tree"),
    "xz": ("/usr/bin/xz", "xz-utils", "xz -3 -T1 -c < text | md5sum"),
    "zstd": ("/usr/bin/zstd", "zstd", "zstd -q -9 -T1 -c < text | md5sum"),
}


def prepare(work: Work) -> None:
    """A tree of sources, a text of some megabytes, and a project to configure."""
    if (work.prepared / "text").exists():
        return
    for name in TREES:
        shutil.copytree(ROOT / name, work.prepared / "tree" / name, ignore=shutil.ignore_patterns("raw"))
    files = sorted(file for file in (work.prepared / "tree").rglob("*") if file.is_file())
    (work.prepared / "text").write_bytes(b"".join(file.read_bytes() for file in files) * TEXT_COPIES)
    project = work.prepared / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(everyday LANGUAGES C)\n"
                                            "find_package(Threads REQUIRED)\n")


def program(name: str, path: str, package: str, command: str) -> Program:
    def run(work: Work, launcher: Launcher) -> Outcome:
        with work.trial() as folder:
            for made in ("tree", "text", "project"):
                (folder / made).symlink_to(work.prepared / made)
            done = launcher.run(["/bin/sh", "-c", command], folder)
            return Outcome(done.output, done.usage)

    return Program(name=name, summary=command, files={path: package}, probe=lambda: [path, "--version"], run=run,
                   prepare=prepare, in_bench=False, in_tests=False)


EVERYDAY: dict[str, Program] = {name: program(name, *job) for name, job in JOBS.items()}
