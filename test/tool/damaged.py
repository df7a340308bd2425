#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary doctor on programs that are cut off or changed at random.
# Invariant: it ends with a verdict, never by a signal, and its JSON is JSON.
# Must not know: what a verdict on a damaged file should be.
"""Usage: damaged.py GRANARY LIBRARY FIXTURES."""

import json
import random

from support import ToolTest, fixture, granary, main

SEED = 20250101
ROUNDS = 150


class Damaged(ToolTest):
    def setUp(self):
        super().setUp()
        with open(fixture("own_malloc"), "rb") as file:
            self.content = file.read()
        self.random = random.Random(SEED)

    def check(self, content, what):
        result = granary("doctor", "--json", self.write("damaged", bytes(content)))
        self.assertIn(result.returncode, (0, 1), what)
        self.assertEqual(result.stderr, "", what)
        self.assertIn(json.loads(result.stdout)["verdict"], ("yes", "partly", "no"))

    def test_cut_off(self):
        lengths = [*range(0, 70), *(self.random.randrange(len(self.content)) for _ in range(ROUNDS))]
        for length in lengths:
            self.check(self.content[:length], f"cut off after {length} bytes")

    def test_header_changed(self):
        for place in range(16, 64):
            for value in (0x00, 0x7F, 0xFF):
                content = bytearray(self.content)
                content[place] = value
                self.check(content, f"byte {place} set to {value}")

    def test_tables_changed(self):
        for number in range(ROUNDS):
            content = bytearray(self.content)
            for _ in range(8):
                near_the_start = self.random.random() < 0.5
                place = self.random.randrange(64, 2048 if near_the_start else len(content))
                content[place] = self.random.randrange(256)
            self.check(content, f"round {number} of seed {SEED}")


if __name__ == "__main__":
    main()
