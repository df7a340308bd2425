# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: stacks of a program in Python have its functions with their files and lines, in the order in which they call each
#    other and the functions of C between them.
# Invariant: the system's Python is always tried, and each other one that is installed.
# Must not know: how the interpreter keeps its frames.
import glob
import os
import subprocess
import sys
import unittest

from support import GRANARY, RecordTest, granary_trace

PROGRAM = '''
import sys
import threading

class Holder:
    def keep(self, size):
        return [bytearray(size),
                bytearray(size + 1)]

def by_sort(size):
    kept = []
    def key(number):
        kept.append(Holder().keep(size))
        return number
    sorted([1], key=key)
    return kept

def generate(size):
    yield by_sort(size)

def descend(depth, size):
    if depth == 0:
        return list(generate(size))
    return descend(depth - 1, size)

def tür(size):
    return bytearray(size)

everything = [descend(3, 300001), eval("tür(300011)")]
thread = threading.Thread(target=lambda: everything.append(descend(2, 300021)))
thread.start()
thread.join()
sys.setrecursionlimit(3000)
everything.append(descend(1500, 300031))
'''


def pythons():
    found = {"/usr/bin/python3"}
    for path in glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")):
        found.add(path)
    return sorted(found)


def version_of(python):
    text = subprocess.run([python, "-c", "import sys; print(sys.version_info[1])"], check=True, capture_output=True,
                          text=True).stdout
    return int(text)


class InOrder(granary_trace.Trace):
    """A trace as it is where the recorder ended early: what is told later is not there yet."""

    def _take(self, kind, summary, body):
        super()._take(kind, summary, body)
        if kind == b"EVNT":
            untold = [address for _, address in self.stacks
                      if address >= granary_trace.FIRST_PLACE and address not in self.places]
            assert not untold, f"{len(untold)} functions of {len(self.stacks)} calls have no name when events refer to them"


class OfPython(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.folder, "program.py")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def stacks(self, python, size, **variables):
        """Of the blocks of this size, from the outermost call: functions of Python with lines, names of others."""
        environment = dict(os.environ, **variables)
        command = [GRANARY, "record", "-q", "--stacks", "all", "-o", "trace", python, self.program]
        subprocess.run(command, cwd=self.folder, check=True, env=environment, capture_output=True)
        trace = granary_trace.Trace(os.path.join(self.folder, "trace"))
        self.assertEqual(trace.damage, "")
        found = []
        for event in trace.events():
            if event.op not in ("malloc", "calloc", "realloc") or event.size != size:
                continue
            stack, node = [], event.stack
            while node != 0:
                node, address = trace.stacks[node]
                place = trace.places.get(address)
                if place is None:
                    stack.append("")
                elif "most_calls" in place:
                    stack.append(place["most_calls"])
                else:
                    stack.append((place["function"].rsplit(".", 1)[-1], os.path.basename(place["file"]), place["line"]))
            found.append(stack[::-1])
        return found

    @staticmethod
    def of_python(stack):
        return [call for call in stack if call != ""]

    def check(self, python, **variables):
        with self.subTest(python=python, **variables):
            self.check_functions(python, **variables)

    def check_functions(self, python, **variables):
        (stack,) = self.stacks(python, 300002, **variables)
        expected = [("<module>", "program.py", 29)] + [("descend", "program.py", 24)] * 3
        expected += [("descend", "program.py", 23), ("generate", "program.py", 19), ("by_sort", "program.py", 15),
                     ("key", "program.py", 13), ("keep", "program.py", 7)]
        self.assertEqual(self.of_python(stack), expected)
        first, last = stack.index(expected[0]), stack.index(expected[-1])
        self.assertNotIn("", stack[first:last + 1])  # the interpreter's own calls are left out
        self.assertGreater(first, 0)  # main
        self.assertLess(last, len(stack) - 1)

        (stack,) = self.stacks(python, 300012, **variables)
        self.assertEqual(self.of_python(stack),
                         [("<module>", "program.py", 29), ("<module>", "<string>", 1), ("tür", "program.py", 27)])

        (stack,) = self.stacks(python, 300022, **variables)
        own = [call for call in self.of_python(stack) if call[1] == "program.py"]
        self.assertEqual(own[:4], [("<lambda>", "program.py", 30)] + [("descend", "program.py", 24)] * 2 +
                         [("descend", "program.py", 23)])

        (stack,) = self.stacks(python, 300032, **variables)
        of_python = self.of_python(stack)
        self.assertEqual(of_python[0], ("<module>", "program.py", 34))
        self.assertEqual(of_python[-1], ("keep", "program.py", 7))
        self.assertEqual(sum(isinstance(call, int) for call in of_python), 1)

    def test_of_the_system(self):
        self.check("/usr/bin/python3")
        self.check("/usr/bin/python3", PYTHONMALLOC="malloc")

    def test_of_other_versions(self):
        tried = 0
        for python in pythons():
            if python != "/usr/bin/python3" and 9 <= version_of(python) <= 13:
                self.check(python)
                tried += 1
        if tried == 0:
            self.skipTest("no other Python is installed")

    def test_an_unknown_version_has_the_calls_of_c(self):
        for python in pythons():
            if 9 <= version_of(python) <= 13:
                continue
            (stack,) = self.stacks(python, 300002)
            self.assertGreater(len(stack), 3)
            self.assertEqual(self.of_python(stack), [])

    def test_a_trace_that_is_cut_off_has_names(self):
        self.record("-q", "--stacks", "all", "-o", "trace", "/usr/bin/python3", "-c", "[str(i) * 1000 for i in range(200000)]")
        trace = InOrder(os.path.join(self.folder, "trace"))
        self.assertEqual(trace.damage, "")
        self.assertGreater(len(trace.places), 3)
        self.assertGreater(len(trace.blocks), 1)

    def test_tables_name_the_function(self):
        self.stacks("/usr/bin/python3", 300002)
        said = subprocess.run([GRANARY, "summary", "trace"], cwd=self.folder, check=True, capture_output=True, text=True)
        self.assertIn("Holder.keep (program.py", said.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
