# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the tests of names share: a folder, compilers, the addresses of a program's code, and what a file says of
#    them.
# Invariant: a test that needs a program that is not installed is skipped, and says which.
# Must not know: what is tested.
"""Usage of each test: TEST.py PLACES GRANARY."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PLACES = os.path.abspath(sys.argv[1])


class Place(tuple):
    """A function, the name of a source file without folder, and a line."""

    def __new__(cls, function, file, line):
        return super().__new__(cls, (function, os.path.basename(file), int(line)))


def without_clone(function):
    """Demanglers write ".isra.0" behind a name in different ways."""
    return re.sub(r" (\[clone [^]]*\]|\(\..*\))$", "", function)


class SymbolsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="granary-symbols-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def run_here(self, *words, text=""):
        """What it printed."""
        if shutil.which(words[0]) is None:
            self.skipTest(f"there is no {words[0]}")
        done = subprocess.run(words, cwd=self.folder, input=text, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return done.stdout

    def code(self, program, functions):
        """Addresses of all instructions of these functions, by the linker's names."""
        addresses = []
        is_wanted = False
        for line in self.run_here("objdump", "-d", "--no-show-raw-insn", program).splitlines():
            head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
            if head:
                is_wanted = re.fullmatch(functions, head[1]) is not None
            instruction = re.match(r" +([0-9a-f]+):\t", line)
            if is_wanted and instruction:
                addresses.append(int(instruction[1], 16))
        self.assertGreater(len(addresses), 10, f"{program} has no such functions")
        return addresses

    def places(self, program, addresses):
        """By address: the places, the innermost first."""
        printed = self.run_here(PLACES, program, text="".join(f"{address:x}\n" for address in addresses))
        found = {}
        for line in printed.splitlines():
            if "\t" in line:
                function, file, number = line.split("\t")
                found[address].insert(0, Place(without_clone(function), file, number))
            else:
                address = int(line, 16)
                found[address] = []
        return found

    def reference(self, program, addresses):
        """As places(), by LLVM's addr2line: that of binutils takes files of DWARF 5 for their neighbours."""
        printed = self.run_here("llvm-addr2line", "-a", "-i", "-f", "-C", "-e", program,
                                text="".join(f"{address:#x}\n" for address in addresses)).splitlines()
        found = {}
        at = 0
        while at < len(printed):
            if re.fullmatch("0x[0-9a-f]+", printed[at]):
                address = int(printed[at], 16)
                found[address] = []
                at += 1
                continue
            file, line = printed[at + 1].split(" (discriminator")[0].rsplit(":", 1)
            found[address].append(Place(without_clone(printed[at]), file, line.replace("?", "0")))
            at += 2
        return found


def main():
    unittest.main(argv=sys.argv[:1])
