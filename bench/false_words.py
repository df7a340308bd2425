# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: how often the report says "faster" or "slower" of two allocators that are equal, by the number of rounds.
# Invariant: the report's own functions judge; the noise is made up, log-normal, with a fixed seed.
# Must not know: real results.
"""Shows how often the report calls two equal allocators different, by the number of rounds."""

import argparse
import math
import random
import sys

from record import print_table  # finds the suite's modules
from granary_results.intervals import Samples, ratio
from verdict import against_best

NOISE = 0.05  # standard deviation of the logarithm; the shares hardly depend on it
SEED = 1
ROUNDS = (3, 4, 6, 10, 20)


def made_up(rng: random.Random, allocators: list[str], rounds: int) -> Samples:
    return {"case": {name: {number: math.exp(rng.gauss(0, NOISE)) for number in range(1, rounds + 1)}
                     for name in allocators}}


def shares(rounds: int, pairs: int, peers: int) -> tuple[float, float]:
    """Of pairs of equals called different: one against one, and against the best peer in halves."""
    rng = random.Random(SEED)
    names = [f"peer{number}" for number in range(peers)]
    one = best = 0
    for _ in range(pairs):
        samples = made_up(rng, ["ours", *names], rounds)
        found = ratio(samples, [["case"]], "ours", names[0])
        one += found.word("faster", "slower") in ("faster", "slower")
        verdict = against_best(samples, [["case"]], "ours", names)
        best += verdict.interval.word("faster", "slower") in ("faster", "slower")
    return one / pairs, best / pairs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--peers", type=int, default=5)
    options = parser.parse_args()
    rows = []
    for rounds in ROUNDS:
        one, best = shares(rounds, options.pairs, options.peers)
        rows.append([rounds, f"{one:.1%}", f"{best:.1%}"])
        print(f"\r\033[K{rounds} rounds", end="", file=sys.stderr, flush=True)
    print("\r\033[K", end="", file=sys.stderr)
    print_table(("rounds", "one against one", f"against the best of {options.peers}"), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
