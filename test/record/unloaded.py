# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a stack is named by the library that was loaded when it was taken, though another took the place of that library.
# Invariant: the program says where its libraries lay, and the test requires that they lay at the same place.
# Must not know: how the recorder learns of libraries.
import os
import subprocess
import sys
import unittest

from support import GRANARY, RecordTest

HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fake", "unloading_host.c")
PLUGIN = """
#include <stdlib.h>
__attribute__((noinline)) void {name}(void) {{ for (int i = 0; i < {count}; ++i) *(volatile char *)malloc({size}) = 1; }}
void work(void) {{ {name}(); __asm__ volatile("" : : : "memory"); }}
"""


class Unloaded(RecordTest):
    def setUp(self):
        super().setUp()
        subprocess.run(["gcc", "-O1", "-g", HOST, "-o", os.path.join(self.folder, "host")], check=True, capture_output=True)
        self.build("one.so", PLUGIN.format(name="first_name", count=30, size=1000), "-shared", "-fPIC")
        self.build("two.so", PLUGIN.format(name="other_name", count=20, size=3000), "-shared", "-fPIC")

    def build(self, name, source, *options):
        path = os.path.join(self.folder, name)
        with open(path + ".c", "w", encoding="ascii") as file:
            file.write(source)
        subprocess.run(["gcc", "-O1", "-g", *options, path + ".c", "-o", path], check=True, capture_output=True)

    def recorded(self, *libraries):
        """The blocks that each function of a library took."""
        output, _ = self.record("-q", "--stacks", "all", "-o", "trace", "./host", *libraries)
        self.assertEqual(len(set(output.split())), 1, "the libraries lay at different places")
        return self.blocks()

    def blocks(self):
        folded = subprocess.run([GRANARY, "export", "trace", "--folded", "--what", "total", "--blocks"], cwd=self.folder, check=True,
                                capture_output=True, text=True).stdout
        blocks = {}
        for line in folded.splitlines():
            stack, count = line.rsplit(" ", 1)
            for name in stack.split(";"):
                if "_name" in name or ".so+" in name:
                    blocks[name] = blocks.get(name, 0) + int(count)
        return blocks

    def test_one_after_the_other(self):
        self.assertEqual(self.recorded("./one.so", "./two.so"), {"first_name": 30, "other_name": 20})

    def test_in_turn(self):
        self.assertEqual(self.recorded("./one.so", "./two.so", "./one.so", "./two.so", "./two.so"),
                         {"first_name": 60, "other_name": 60})
        trace = self.trace("trace")
        listed = [module["path"] for part in trace.modules for module in part["modules"]]
        self.assertEqual(sum(path.endswith("/one.so") for path in listed), 2)
        self.assertEqual(sum("libc.so" in path for path in listed), 1)

    def test_the_last_is_not_closed(self):
        self.assertEqual(self.recorded("./one.so", "./two.so", "-"), {"first_name": 30, "other_name": 20})

    def test_another_build_of_the_same_file(self):
        self.build("again.so", PLUGIN.format(name="other_name", count=20, size=3000), "-shared", "-fPIC")
        program = ("import _ctypes, ctypes, shutil\n"
                   "for build in ('one.so', 'again.so', 'one.so'):\n"
                   "    shutil.copyfile(build, 'it.so')\n"
                   "    library = ctypes.CDLL('./it.so')\n"
                   "    library.work()\n"
                   "    _ctypes.dlclose(library._handle)\n")
        self.record("-q", "--stacks", "all", "-o", "trace", sys.executable, "-c", program)
        blocks = self.blocks()
        self.assertEqual(blocks.pop("first_name"), 60)
        self.assertNotIn("other_name", blocks, "its file is there no more")
        self.assertEqual(sum(count for name, count in blocks.items() if name.startswith("it.so+")), 2 * 20, "two calls each")

    def test_a_file_that_is_gone(self):
        self.recorded("./one.so", "./two.so")
        os.remove(os.path.join(self.folder, "one.so"))
        blocks = self.blocks()
        self.assertEqual(blocks.pop("other_name"), 20)
        self.assertTrue(blocks and all(name.startswith("one.so+") for name in blocks), blocks)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
