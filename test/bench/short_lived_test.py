# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the patterns of short-lived blocks, of made-up calls.
# Invariant: each pattern is made once by itself.
# Must not know: how a program is recorded.
"""Usage: short_lived_test.py BUILD_FOLDER."""

import unittest
from types import SimpleNamespace

from support import main  # finds bench/

try:
    import short_lived
except ModuleNotFoundError as problem:
    if problem.name != "zstandard":
        raise
    short_lived = None


def calls(words: str) -> list:
    """+a allocates a, -a frees it; ? is no call of either."""
    ops = {"+": "malloc", "-": "free", "?": "map"}
    return [SimpleNamespace(op=ops[word[0]], address=word[1:]) for word in words.split()]


@unittest.skipUnless(short_lived, "python3-zstandard is not installed")
class Patterns(unittest.TestCase):
    def shares(self, words: str) -> tuple[float, float]:
        blocks = short_lived.short_lived(calls(words))
        return tuple(short_lived.share(blocks, pattern) for pattern in (short_lived.freed_next, short_lived.freed_before))

    def test_a_block_lives_from_its_call_to_that_of_its_free(self):
        found = short_lived.short_lived(calls("+a ?x +b -b -a -c"))
        self.assertEqual(found, [short_lived.Block(0, 3), short_lived.Block(1, 1)])

    def test_what_lives_long_or_to_the_end_is_left_out(self):
        others = " ".join(f"+{number} -{number}" for number in range(short_lived.SHORT))
        found = short_lived.short_lived(calls(f"+a {others} -a +b"))
        self.assertEqual({block.lived for block in found}, {1})

    def test_in_order_and_in_reverse(self):
        self.assertEqual(self.shares("+a +b +c -a -b -c"), (1.0, 0.0))
        self.assertEqual(self.shares("+a +b +c -c -b -a"), (0.0, 1.0))
        self.assertEqual(self.shares("+a -a +b -b +c -c"), (0.0, 0.0))

    def test_repeated(self):
        blocks = [short_lived.Block(number, number) for number in range(short_lived.TOP + 1)] + [short_lived.Block(9, 1)]
        self.assertAlmostEqual(short_lived.repeated(blocks), (short_lived.TOP + 1) / (short_lived.TOP + 2))


if __name__ == "__main__":
    main()
