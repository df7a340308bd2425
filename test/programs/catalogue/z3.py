# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: z3 on two generated problems: swaps in an array, and a chain of updates described by quantifiers.
# Invariant: both are unsatisfiable; the answers and the extent of each search are the output.
# Must not know: how results are compared.
"""z3: terms, clauses and lemmas, from an allocator of its own for the smallest and from malloc for the rest."""

import random
import re
from collections.abc import Iterator

from harness.launcher import Launcher
from harness.program import Outcome, Program, Work

Z3 = "/usr/bin/z3"
SWAPS = 21
CELLS = 30
UPDATES = 800


def swaps() -> Iterator[str]:
    """Swaps of different pairs of an array's elements, done in one order and in the other: can the results differ?"""
    def swapped(pairs: list[int]) -> str:
        array = "start"
        for pair in pairs:
            p, q = f"i{2 * pair}", f"i{2 * pair + 1}"
            array = f"(let ((a {array})) (store (store a {p} (select a {q})) {q} (select a {p})))"
        return array

    indices = [f"i{number}" for number in range(2 * SWAPS)]
    yield "(declare-const start (Array Int Int))"
    yield from (f"(declare-const {index} Int)" for index in indices)
    yield f"(assert (distinct {' '.join(indices)}))"
    yield f"(assert (distinct {swapped(list(range(SWAPS)))} {swapped(list(reversed(range(SWAPS))))}))"


def updates() -> Iterator[str]:
    """A memory written many times: is any cell in the end not what was copied there?"""
    rng = random.Random(6)
    yield "(set-option :smt.mbqi false)"
    yield f"(set-option :smt.qi.eager_threshold {100 * UPDATES})"  # instances depend on each other, all the way
    yield "(declare-sort Memory) (declare-sort Time) (declare-sort Cell) (declare-sort Value)"
    yield "(declare-fun at (Time) Memory) (declare-fun read (Memory Cell) Value) (declare-fun next (Value) Value)"
    yield "(declare-fun write (Memory Cell Value) Memory)"
    yield ("(assert (forall ((m Memory) (c Cell) (v Value)) "
           "(! (= (read (write m c v) c) v) :pattern ((write m c v)))))")
    yield ("(assert (forall ((m Memory) (c Cell) (d Cell) (v Value)) "
           "(! (or (= c d) (= (read (write m c v) d) (read m d))) :pattern ((read (write m c v) d)))))")
    cells = [f"c{number}" for number in range(CELLS)]
    yield from (f"(declare-const {cell} Cell)" for cell in cells)
    yield f"(assert (distinct {' '.join(cells)}))"
    yield "(declare-const t0 Time)"
    expected = {cell: f"(read (at t0) {cell})" for cell in cells}
    for step in range(UPDATES):
        target, source = rng.choice(cells), rng.choice(cells)
        expected[target] = f"(next {expected[source]})"
        yield f"(declare-const t{step + 1} Time)"
        yield f"(assert (= (at t{step + 1}) (write (at t{step}) {target} (next (read (at t{step}) {source})))))"
    final = " ".join(f"(= (read (at t{UPDATES}) {cell}) {value})" for cell, value in expected.items())
    yield f"(assert (not (and {final})))"


def prepare(work: Work) -> None:
    question = ["(check-sat)", "(get-info :all-statistics)"]
    (work.prepared / "problems.smt2").write_text("\n".join([*swaps(), *question, "(reset)", *updates(), *question]))


def run(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder:
        done = launcher.run([Z3, work.prepared / "problems.smt2"], folder)
        return Outcome("\n".join(re.findall(r"^(?:un)?sat$|:(?:conflicts|decisions|propagations) +\d+", done.output,
                                            flags=re.MULTILINE)) + "\n", done.usage)


Z3_SOLVER = Program(
    name="z3",
    summary="z3: array swaps, and quantified updates of a memory",
    files={Z3: "z3"},
    probe=lambda: [Z3, "--version"],
    prepare=prepare,
    run=run,
    in_tests=False,
)
