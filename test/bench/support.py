# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the tests of the bench share: where things are, made-up samples and results, what is told on stderr.
# Invariant: made-up noise has a fixed seed; a test says what it measures, never how fast the machine is.
# Must not know: what is tested.
"""Usage of each test: TEST.py BUILD_FOLDER."""

import contextlib
import io
import math
import random
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "bench" / "suite"
sys.path[:0] = [str(SUITE), str(ROOT / "bench"), str(ROOT / "test" / "programs")]

from granary_results.results import Results
from schedule import build_measure

# One allocator in one case: round to value.
Values = dict[int, float]


def steady(value: float, rounds: int) -> Values:
    return {number: value for number in range(1, rounds + 1)}


def noisy(rng: random.Random, value: float, noise: float, rounds: int) -> Values:
    """Log-normal around a value; `noise` is the standard deviation of the logarithm."""
    return {number: value * math.exp(rng.gauss(0, noise)) for number in range(1, rounds + 1)}


def results(costs: dict[str, dict[str, Values]], families: dict[str, str] | None = None) -> Results:
    """A run with these costs by case and allocator; a case's family is "beyond" unless `families` says otherwise."""
    names = dict.fromkeys(name for by in costs.values() for name in by)
    return Results(
        command="granary bench", date="2000-01-01T00:00:00+00:00", profile="standard", machine={},
        allocators=[{"name": name} for name in names],
        cases={case: {"label": case, "threads": 1, "family": (families or {}).get(case, "beyond"), "suites": [],
                      "summary": ""} for case in costs},
        trials=[{"round": number, "case": case, "allocator": name, "cost": value, "peak_kib": 1000}
                for case, by in costs.items() for name, values in by.items() for number, value in values.items()])


def failed(number: int, case: str, allocator: str, why: str) -> dict:
    """The record of a trial that failed."""
    return {"round": number, "case": case, "allocator": allocator, "failed": why}


@contextlib.contextmanager
def told() -> Iterator[io.StringIO]:
    """What is said on stderr meanwhile."""
    with contextlib.redirect_stderr(io.StringIO()) as text:
        yield text


class WithMeasure(unittest.TestCase):
    """`measure` is the launcher, built once for the class."""

    @classmethod
    def setUpClass(cls) -> None:
        tools = tempfile.TemporaryDirectory()
        cls.addClassCleanup(tools.cleanup)
        cls.measure = build_measure(Path(tools.name))


def main() -> None:
    unittest.main(argv=sys.argv[:1], verbosity=1)
