#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: guile compiles its own modules on the installed libgc and on the collector's, and does what strains a
#    collector (guile_behaviours.scm); both must come to the same.
# Invariant: a module counts as different only if two runs on the installed libgc agree with each other, and half of all
#    at least must compile; ours has one try, the installed one, on which `parallel` crashes or hangs now and
#    then, has several; where each libgc came from is looked up in the process.
# Must not know: what a module is for; how either collector works.
"""Usage: guile_modules.py [NUMBER | --all] [-j N]. The environment's LD_LIBRARY_PATH names the collector's libgc.so.1,
LIBGC_FOLDER the folder that it lies below."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

GUILE = "guile-3.0" if shutil.which("guile-3.0") else "guile"
MODULES = Path("/usr/share/guile/3.0")
BEHAVIOURS = Path(__file__).with_name("guile_behaviours.scm")
COMPILE = """(begin (use-modules (system base compile))
                    (compile-file (cadr (command-line)) #:output-file (caddr (command-line))))"""
LIBRARIES = """(begin (use-modules (ice-9 rdelim))
  (call-with-input-file "/proc/self/maps"
    (lambda (port) (let loop ((line (read-line port)))
      (unless (eof-object? line) (write-line line) (loop (read-line port)))))))"""
OURS = ("LD_LIBRARY_PATH", "GC_ENABLE_INCREMENTAL")  # not for the original, which crashes some in that mode
LIMIT = 240  # seconds for one process


ADDRESS = re.compile(r"\b[0-9a-f]{8,}\b")


class Failed(Exception):
    pass


class Refused(Failed):
    """By guile itself: some of its compiler's modules cannot be compiled by a compiler that loads them on the way."""

    def __init__(self, side, words):
        super().__init__(f"{side}: {words}")
        self.words = ADDRESS.sub("ADDRESS", words)


class Side:
    """One of the two libraries; a run that crashes or hangs `tries` times has failed."""

    def __init__(self, name, folder, environment, tries):
        self.name, self.folder, self.tries = name, folder, tries
        folder.mkdir()
        self.environment = dict(environment, GUILE_AUTO_COMPILE="0", HOME=str(folder), XDG_CACHE_HOME=str(folder))

    def run(self, arguments):
        """What came of it; None if it did not end."""
        try:
            return subprocess.run([GUILE, "--no-auto-compile", *arguments], env=self.environment, cwd=self.folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  errors="replace", timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return None

    def guile(self, *arguments):
        for _ in range(self.tries):
            done = self.run(arguments)
            if done and done.returncode >= 0:
                break
        if done is None:
            raise Failed(f"{self.name}: not done after {LIMIT} s")
        if done.returncode != 0:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            words = f"exit code {done.returncode}: {''.join(last) or 'said nothing'}"
            raise Refused(self.name, words) if done.returncode > 0 else Failed(f"{self.name}: {words}")
        return done.stdout

    def libraries(self):
        """What of libgc is mapped, by its real path."""
        mapped = {line.split()[-1] for line in self.guile("-c", LIBRARIES).splitlines() if "/" in line}
        return {os.path.realpath(path) for path in mapped
                if os.path.basename(path).startswith(("libgc.so", "libgranary-gc.so"))}

    def compiled(self, module, suffix=""):
        # The same words on the command line, whatever the side.
        name = module.replace("/", "_") + suffix + ".go"
        self.guile("-c", COMPILE, str(MODULES / module), name)
        return (self.folder / name).read_bytes()

    def outcome(self, module, suffix=""):
        """The compiled module, or in what words guile refuses."""
        try:
            return self.compiled(module, suffix)
        except Refused as refusal:
            return refusal.words


def expect_libraries(original, ours, folder):
    below = os.path.realpath(folder) + os.sep
    for side, wanted in ((original, False), (ours, True)):
        found = side.libraries()
        if not found or any(path.startswith(below) is not wanted for path in found):
            raise Failed(f"{side.name}: runs on {' '.join(sorted(found)) or 'no libgc'}")


def check_module(original, ours, module):
    """None: both sides agree. Otherwise what it said, and whether that is a failure."""
    try:
        expected, actual = original.outcome(module), ours.outcome(module)
        if actual == expected:
            return None if isinstance(actual, bytes) else (f"left out: {module}: both refuse it: {actual}", False)
        if original.outcome(module, ".again") != expected:
            return f"left out: {module}: two runs on the installed libgc differ", False
        told = [outcome if isinstance(outcome, str) else "a .go file" for outcome in (expected, actual)]
        return f"{module}: installed: {told[0]}; ours: {told[1]}, which differs", True
    except Failed as problem:
        return f"{module}: {problem}", True


def check_behaviour(original, ours, name):
    try:
        expected, actual = (side.guile(str(BEHAVIOURS), name).splitlines() for side in (original, ours))
    except Failed as problem:
        return f"{name}: {problem}", True
    for at, (wanted, got) in enumerate(zip(expected, actual), 1):
        if wanted != got:
            return f"{name}: line {at} is {got[:80]!r}, on the installed libgc {wanted[:80]!r}", True
    return None if len(expected) == len(actual) else (f"{name}: {len(actual)} lines, not {len(expected)}", True)


def spread(modules, number):
    return [modules[i * len(modules) // number] for i in range(min(number, len(modules)))]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, nargs="?", default=12, help="of modules, spread evenly over all")
    parser.add_argument("--all", action="store_true", help="all modules")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="so many at once")
    return parser.parse_args()


def main():
    wanted = arguments()
    if shutil.which(GUILE) is None or not MODULES.is_dir():
        print("not available: guile-3.0")
        return 77
    if "LIBGC_FOLDER" not in os.environ or "LD_LIBRARY_PATH" not in os.environ:
        print("guile_modules.py: set LD_LIBRARY_PATH and LIBGC_FOLDER")
        return 2
    modules = sorted(str(path.relative_to(MODULES)) for path in MODULES.rglob("*.scm"))
    chosen = modules if wanted.all else spread(modules, wanted.number)
    without = {name: value for name, value in os.environ.items() if name not in OURS}
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(wanted.j) as pool:
        original = Side("installed", Path(name) / "original", without, tries=4)
        ours = Side("ours", Path(name) / "ours", os.environ, tries=1)
        try:
            expect_libraries(original, ours, os.environ["LIBGC_FOLDER"])
            behaviours = original.guile(str(BEHAVIOURS)).split()
        except Failed as problem:
            print(problem)
            return 1
        said = list(pool.map(lambda behaviour: check_behaviour(original, ours, behaviour), behaviours))
        said += pool.map(lambda module: check_module(original, ours, module), chosen)
    for line, _ in filter(None, said):
        print(line)
    failures = sum(is_failure for _, is_failure in filter(None, said))
    compiled = said[len(behaviours):].count(None)
    print(f"{len(chosen)} of {len(modules)} modules, {len(behaviours)} behaviours: "
          f"{said.count(None)} the same, {failures} failed, {len(said) - said.count(None) - failures} left out")
    return 1 if failures or 2 * compiled < len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
