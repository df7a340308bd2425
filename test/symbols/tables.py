# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: which code a symbol names: the one its size says; without size no code of another function.
# Invariant: no debug information helps.
# Must not know: how names are found.
import re

from support import SymbolsTest, main

PROGRAM = """
int called(int n);
__attribute__((noinline)) int sized(int n) { return called(n) * 3 + called(n + 1); }
__attribute__((noinline)) static int without_a_name(int n) { return called(n) * 5; }
int (*volatile through)(int) = without_a_name;
int main(int n, char **words) { return sized(n) + through(n) + (words == 0); }
"""
# A function without size, which has a label in it; a function with size and a label; data that have a name in no
# executable section.
ASSEMBLY = """
    .section .rodata
    .byte 1
constant:
    .byte 2
    .text
    .globl called
    .type called, @function
called:
    nop
    nop
inner_label:
    nop
    ret
    .globl measured
    .type measured, @function
measured:
    nop
label_in_measured:
    nop
    ret
    .size measured, . - measured
    nop
    nop
    .section .note.GNU-stack, "", @progbits
"""


class Tables(SymbolsTest):
    def setUp(self):
        super().setUp()
        self.write("program.c", PROGRAM)
        self.write("part.S", ASSEMBLY)
        self.run_here("gcc", "-O1", "-rdynamic", "program.c", "part.S", "-o", "program")
        self.symbols = {}
        for line in self.run_here("nm", "program").splitlines():
            found = re.match("([0-9a-f]+) . (.*)", line)
            if found:
                self.symbols[found[2]] = int(found[1], 16)

    def name_at(self, program, symbol, distance=0):
        address = self.symbols[symbol] + distance
        return self.places(program, [address])[address][0][0]

    def test_whole_table(self):
        for symbol, distance, name in (("sized", 4, "sized"), ("without_a_name", 4, "without_a_name"),
                                       ("called", 0, "called"), ("called", 1, "called"),
                                       ("inner_label", 0, "inner_label"), ("inner_label", 1, "inner_label"),
                                       ("measured", 0, "measured"), ("label_in_measured", 0, "measured"),
                                       ("label_in_measured", 1, "measured"), ("label_in_measured", 2, ""),
                                       ("constant", 0, "")):
            self.assertEqual(self.name_at("program", symbol, distance), name, f"{symbol} + {distance}")

    def test_dynamic_symbols_only(self):
        self.run_here("strip", "program", "-o", "stripped")
        for symbol, distance, name in (("sized", 4, "sized"), ("without_a_name", 4, ""), ("measured", 1, "measured"),
                                       ("called", 1, ""), ("constant", 0, "")):
            self.assertEqual(self.name_at("stripped", symbol, distance), name, f"{symbol} + {distance}")


if __name__ == "__main__":
    main()
