# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: GNU make works out what a tree of modules needs (make -n); no recipe is run.
# Invariant: the tree is the same each time; the commands that make would run are the output.
# Must not know: how results are compared.
"""make: many small strings and rules that are never given back, as Wasik saw it (6.1.5)."""

import random

from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work

MAKE = "/usr/bin/make"
MODULES = 40
SOURCES = 60
HEADERS = 12


def prepare(work: Work) -> None:
    """Each module: empty sources and headers, what it needs, and what each object depends on."""
    rng = random.Random(4)
    for number in range(MODULES):
        module = work.prepared / f"module{number}"
        module.mkdir()
        for header in range(HEADERS):
            (module / f"header{header}.h").touch()
        needs = sorted({rng.randrange(number) for _ in range(3)}) if number else []
        sources = ["main.c", *(f"source{i}.c" for i in range(SOURCES))]
        (module / "module.mk").write_text(
            f"module{number}_SOURCES := {' '.join(sources)}\n"
            f"module{number}_NEEDS := {' '.join(f'module{need}' for need in needs)}\n"
            f"module{number}_DEFINES := -DMODULE={number} -DVERSION=\\\"1.{number}\\\"\n")
        for source in sources:
            (module / source).touch()
            headers = " ".join(f"$(TREE)/module{rng.choice([*needs, number])}/header{rng.randrange(HEADERS)}.h"
                               for _ in range(30))
            (module / source).with_suffix(".d").write_text(f"build/module{number}/{source[:-2]}.o: {headers}\n")


def run(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder:
        done = launcher.run([MAKE, "-n", "-f", INPUTS / "tree.mk", f"TREE={work.prepared}"], folder)
        return Outcome(done.output, done.usage)


GNU_MAKE = Program(
    name="make",
    summary=f"make -n on {MODULES} modules of {SOURCES} sources",
    files={MAKE: "make"},
    probe=lambda: [MAKE, "--version"],
    prepare=prepare,
    run=run,
    in_tests=False,
)
