# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: of a stack of 20,000 calls the trace has both ends, and one row says how many calls lie between.
# Invariant: the program's stacks are known to the call.
# Must not know: how a stack is taken.
import os
import subprocess
import sys
import unittest

from support import GRANARY, RecordTest, granary_trace

SOURCE = """
#include <stdlib.h>
__attribute__((noinline)) int descend(int depth) {
    if (depth == 0) { for (int i = 0; i < 100; ++i) { void *volatile block = malloc(70000); free(block); } return 1; }
    int result = descend(depth - 1);
    __asm__ volatile("" : : : "memory");
    return result + 1;
}
int main(int argc, char **argv) { int sum = 0; for (int i = 1; i < argc; ++i) sum += descend(atoi(argv[i])); return sum == 0; }
"""


class Deep(RecordTest):
    def stacks(self, *depths):
        source = os.path.join(self.folder, "program.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(SOURCE)
        program = os.path.join(self.folder, "program")
        subprocess.run(["gcc", "-O1", source, "-o", program], check=True, capture_output=True)
        self.record("-q", "--stacks", "all", "-o", "trace", program, *map(str, depths))
        folded = subprocess.run([GRANARY, "export", "trace", "--folded", "--what", "total"], cwd=self.folder, check=True, capture_output=True,
                                text=True).stdout
        return [line.rsplit(" ", 1)[0].split(";") for line in folded.splitlines() if "descend" in line]

    def test_one_depth(self):
        stacks = self.stacks(20000)
        self.assertEqual(len(stacks), 1)
        self.assertIn("main", stacks[0])
        outer = stacks[0].index("main") + 1
        between = 20000 + 1 + outer - 64
        self.assertIn(f"… {between:,} frames …", stacks[0])
        self.assertEqual(stacks[0].count("descend"), 64 - outer)

    def test_depths_share_a_row(self):
        stacks = self.stacks(20000, 100, 19000, 10)
        outer = stacks[0].index("main") + 1
        rows = {name for stack in stacks for name in stack if "frames" in name}
        self.assertEqual(rows, {f"… {101 + outer - 64} to {20001 + outer - 64:,} frames …"})
        self.assertEqual(len(stacks), 2)
        places = granary_trace.Trace(os.path.join(self.folder, "trace")).places
        self.assertEqual([place["most_calls"] for place in places.values()], [20001 + outer - 64])

    def test_tables_name_the_caller(self):
        self.stacks(20000)
        said = subprocess.run([GRANARY, "summary", "trace"], cwd=self.folder, check=True, capture_output=True, text=True)
        self.assertIn("descend", said.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
