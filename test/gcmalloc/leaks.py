#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary leaks on a program with seeded leaks, and on one that has none.
# Invariant: each seed is found, as often as its name says and of the kind that it says, and nothing else is.
# Must not know: how leaks are found.
"""Usage: leaks.py GRANARY SEEDED LIBRARY"""

import collections
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

GRANARY, SEEDED, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:4])
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_"))}
FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(FOLDER, "seeded.cpp")
HOST = os.path.join(FOLDER, "..", "fake", "unloading_host.c")
NAME = re.compile(r"seed_(\w+?)_(\d+)_(\d+)$")


PLUGIN = """
#include <stdlib.h>
void lose_{name}(void) {{ for (int i = 0; i < 3; ++i) *(volatile char *)malloc({size}) = 1; }}
static void clear(void) {{ volatile char room[20000]; for (int i = 0; i < 20000; ++i) room[i] = 0; }}
void work(void) {{ lose_{name}(); clear(); }}
"""


FIRST = """
#include <stdlib.h>
void lose(void) { for (int i = 0; i < 10; ++i) *(volatile char *)malloc(100) = 1; }
void clear(void) { volatile char room[20000]; for (int i = 0; i < 20000; ++i) room[i] = 0; }
int main(void) { lose(); clear(); return 0; }
"""


def leaks(*arguments, **options):
    return subprocess.run([GRANARY, "leaks", *arguments], env=CLEAN, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, **options)


def seeds():
    with open(SOURCE, encoding="utf-8") as source:
        names = set(re.findall(r"seed_\w+_\d+_\d+", source.read()))
    return {name: tuple(map(int, NAME.match(name).groups()[1:])) for name in names}


def found(process):
    """The name of each seed's function with its blocks, direct and indirect; what is no seed under its whole stack."""
    blocks = collections.defaultdict(lambda: [0, 0])
    for leak in process["leaks"]:
        functions = [place["function"] for place in leak["stack"]]
        name = next((name for name in functions if NAME.match(name)), " ".join(functions))
        blocks[name][leak["kind"] != "direct"] += leak["blocks"]
    return {name: tuple(counts) for name, counts in blocks.items()}


class Leaks(unittest.TestCase):
    def processes(self, *arguments, status=23, options=()):
        with tempfile.NamedTemporaryFile() as output:
            done = leaks("--json", "--output", output.name, *options, "--", SEEDED, LIBRARY, *arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (status, "", ""))
            return json.load(output)["processes"]

    def test_every_seed_and_nothing_else(self):
        process, = self.processes("lose")
        self.assertEqual(found(process), seeds())
        self.assertGreater(process["live_blocks"], 300)
        self.assertIn("seeded", process["command"])

    def test_the_first_block_of_a_process(self):
        with tempfile.TemporaryDirectory() as folder:
            source, lost, output = (os.path.join(folder, name) for name in ("first.c", "first", "output"))
            with open(source, "w", encoding="ascii") as file:
                file.write(FIRST)
            subprocess.run(["gcc", "-O0", source, "-o", lost], check=True)
            self.assertEqual(leaks("--json", "--output", output, lost).returncode, 23)
            with open(output, encoding="utf-8") as file:
                (process,) = json.load(file)["processes"]
            self.assertEqual(sum(leak["blocks"] for leak in process["leaks"]), 10)

    def test_the_stack_names_sources_and_modules(self):
        process, = self.processes("lose")
        stack = next(leak["stack"] for leak in process["leaks"] if leak["stack"][0]["function"] == "seed_direct_1_0")
        self.assertEqual([place["function"] for place in stack if place["function"] == "main"], ["main"])
        self.assertEqual(os.path.basename(stack[0]["module"]), os.path.basename(SEEDED))

    def test_none(self):
        done = leaks(SEEDED, LIBRARY)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "", ""))
        self.assertEqual(self.processes(status=3), [])

    def test_children_tell_for_themselves(self):
        child, = self.processes("fork")
        self.assertEqual(found(child), {"seed_direct_1_0": (1, 0)})

    def test_text(self):
        done = leaks("--exit-code", "9", SEEDED, LIBRARY, "lose")
        self.assertEqual(done.returncode, 9)
        direct = sum(direct for direct, _ in seeds().values())
        indirect = sum(indirect for _, indirect in seeds().values())
        self.assertIn(f": {direct + indirect} blocks, ", done.stderr.splitlines()[0])
        self.assertIn(f" leaked ({direct} directly, {indirect} only reachable from these)", done.stderr.splitlines()[0])
        for name in seeds():
            self.assertIn(f"    {name}  ", done.stderr)

    def test_suppressions(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("# known\n\nleak:seed_chain\nleak:^seed_*_3_0$\nleak:gcmalloc_library.so$\n")
            file.flush()
            process, = self.processes("lose", options=("--suppressions", file.name))
            gone = {"seed_chain_1_9", "seed_calloc_3_0", "seed_library_1_0"}
            self.assertEqual(found(process), {name: counts for name, counts in seeds().items() if name not in gone})
            self.assertEqual(process["suppressed_blocks"], sum(sum(seeds()[name]) for name in gone))
            file.write("leak:*\n")
            file.flush()
            self.assertEqual(leaks("--suppressions", file.name, SEEDED, LIBRARY, "lose").returncode, 3)
            file.write("interceptor_via_fun:f\n")
            file.flush()
            done = leaks("--suppressions", file.name, SEEDED, LIBRARY)
            self.assertEqual(done.returncode, 2)
            self.assertIn("line 7", done.stderr)

    def test_a_library_that_was_unloaded_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            def build(name, source, *options):
                subprocess.run(["gcc", "-O0", "-g", *options, source, "-o", os.path.join(folder, name)], check=True,
                               capture_output=True)

            build("host", HOST)
            for name, size in (("first", 1000), ("other", 3000)):
                source = os.path.join(folder, name + ".c")
                with open(source, "w", encoding="ascii") as file:
                    file.write(PLUGIN.format(name=name, size=size))
                build(name + ".so", source, "-shared", "-fPIC")
            for order in (["first", "other"], ["first", "other", "first"], ["other", "other", "first", "first", "other"]):
                with self.subTest(order=order), tempfile.NamedTemporaryFile() as output:
                    done = leaks("--json", "--output", output.name, "--", "./host", *(f"./{name}.so" for name in order), cwd=folder)
                    self.assertEqual((done.returncode, done.stderr), (23, ""))
                    self.assertEqual(len(set(done.stdout.split()[:2])), 1, "the libraries lay at different places")
                    process, = json.load(output)["processes"]
                blocks = {(leak["stack"][0]["function"], leak["stack"][0]["module"]): leak["blocks"] for leak in process["leaks"]}
                self.assertEqual(blocks, {(f"lose_{name}", f"./{name}.so"): 3 * order.count(name) for name in set(order)})
                self.assertEqual(len(process["leaks"]), len(set(order)))
                self.assertTrue(all(leak["stack"][-1]["function"] for leak in process["leaks"]))

    def test_a_running_process(self):
        with subprocess.Popen([GRANARY, "leaks", SEEDED, LIBRARY, "lose", "wait"], env=CLEAN, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            number = int(running.stdout.readline())
            for _ in range(3):
                with tempfile.NamedTemporaryFile() as output:
                    done = leaks("--json", "--output", output.name, "--pid", str(number))
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (23, "", ""))
                    process, = json.load(output)["processes"]
                self.assertEqual((process["process"], found(process)), (number, seeds()))
            _, errors = running.communicate("x")
            self.assertEqual(running.returncode, 23)
            self.assertEqual(errors.count("process "), 1)

    def test_mistakes(self):
        self.assertEqual(leaks().returncode, 2)
        self.assertEqual(leaks("--pid", str(os.getpid())).returncode, 1)
        self.assertEqual(leaks("--pid", "4194303").returncode, 127)
        self.assertEqual(leaks("/nonexistent/program").returncode, 127)
        done = leaks("/etc/passwd")
        self.assertEqual((done.returncode, done.stderr), (126, "granary: leaks: '/etc/passwd': Permission denied\n"))
        self.assertEqual(leaks("--suppressions", "/nonexistent", "true").returncode, 2)
        self.assertEqual(leaks("sh", "-c", "kill -TERM $$").returncode, 128 + 15)

    def test_what_is_not_watched_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "lose.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write("#include <stdlib.h>\n#include <unistd.h>\n"
                           "int main(int n, char **v) { *(volatile char *)malloc(9) = 1; if (n > 1) _exit(0); return 0; }\n")
            for name, options in (("static", ["-static"]), ("ends", [])):
                program = os.path.join(folder, name)
                subprocess.run(["cc", *options, "-o", program, source], check=True)
            for words, why in (([os.path.join(folder, "static")], "static: it has no loader"),
                               ([os.path.join(folder, "ends"), "by _exit"], "it ended by _exit")):
                for options in ([], ["--json"]):
                    done = leaks(*options, *words)
                    self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                    self.assertIn("is not watched: ", done.stderr)
                    self.assertIn(why, done.stderr)

    def test_a_limit_that_leaves_no_room(self):
        for limit, words in ((resource.RLIMIT_AS, "address space (ulimit -v)"), (resource.RLIMIT_DATA, "data (ulimit -d)")):
            done = leaks("echo", "started", preexec_fn=lambda: resource.setrlimit(limit, (32 << 30, 32 << 30)))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"granary: leaks: nothing can be found under a limit on {words} of 32 GiB or less; "
                                          "raise the limit\n")
        # Above that limit there may be too little for the search all the same; then the process says so.
        done = leaks("true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (33 << 30, 33 << 30)))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("not examined: the kernel refused address space", done.stderr)
        done = leaks("true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_folder_that_is_none(self):
        for value in ("relative", '/with"quote'):
            environment = {**CLEAN, "GRANARY_LEAKS": value}
            done = subprocess.run([GRANARY, "run", "--gc-malloc", "true"], env=environment, stderr=subprocess.PIPE,
                                  text=True, check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1))
            self.assertIn("expected an absolute path", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
