#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: real programs that use libgc, each run on the installed one and on the collector's: the output must be the
#    same.
# Invariant: exit code 77 if the program is not there; the loader tells in each process which libgc it took.
# Must not know: how either collector works.
"""Usage: clients.py [NAME...], without names all. The environment's LD_LIBRARY_PATH names the collector's libgc.so.1,
LIBGC_FOLDER the folder that it lies below."""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

INPUTS = Path(__file__).with_name("clients")
OURS = ("LD_LIBRARY_PATH", "GC_ENABLE_INCREMENTAL")  # not for the original, which crashes some in that mode
LIMIT = 500  # seconds for one run


def page():
    """A large HTML page, the same each time."""
    chosen = random.Random(1)
    words = ["alpha", "beta", "<b>gamma</b>", "&amp;", "<i>delta</i>", "\u00dcn\u00efcode", '<a href="x">link</a>']
    yield "<html><head><meta charset=utf-8><title>page</title></head><body>"
    for section in range(1500):
        yield f"<h2>{section}</h2><p>" + " ".join(chosen.choice(words) for _ in range(80)) + "</p><table border=1>"
        for row in range(4):
            cells = (f"<td>{chosen.choice(words)}<ul><li>{row * column}</ul></td>" for column in range(5))
            yield "<tr>" + "".join(cells)
        yield f"</table><pre>{'x' * 50}</pre>"
    yield "</body></html>"


# For each: the program, its Debian package, and what a shell does in a folder that has the inputs.
CLIENTS = {
    "w3m": ("w3m", "w3m", "w3m -dump -cols 100 page.html; w3m -dump -halfdump page.html"),
    "ecl": ("ecl", "ecl", "ecl --norc --shell ecl.lisp; ecl --norc --eval '(progn (require :cmp) "
            "(compile-file \"ecl.lisp\" :output-file \"c.fas\") (load \"c.fas\") (ext:quit 0))'"),
    "neko": ("nekoc", "neko", "nekoc neko.neko && neko neko.n; cat neko.n"),
    "nix": ("nix-instantiate", "nix-bin", "nix-instantiate --eval --strict --json nix.nix"),
    "parser3": ("parser3", "parser3-cgi", 'parser3 "$PWD/parser3.html"'),
    "crystal": ("crystal", "crystal", "crystal build --no-color -o program crystal.cr && ./program"),
    "stalin": ("stalin", "stalin", "stalin -On stalin && ./stalin"),
    "goo": ("goo", "goo", "goo < goo.goo"),
    "poke": ("poke", "poke", "poke -q -L structures.pk"),
    "mmv": ("mmv", "mmv", "mkdir d; cd d; for i in $(seq 300); do echo $i > file$i.txt; done; "
            "mmv 'file*.txt' 'x#1.dat'; for i in *; do echo $i $(cat $i); done"),
    "chase": ("chase", "chase", "ln -s page.html l0; for i in $(seq 30); do ln -s l$((i-1)) l$i; done; "
              "chase l30 | sed s,.*/,,"),
    "lilypond": ("lilypond", "lilypond",
                 "lilypond --ps -dno-point-and-click -o score lilypond.ly 2>&1; cat score.midi"),
    "macaulay2": ("M2", "macaulay2", "M2 --script macaulay2.m2"),
}


class Failed(Exception):
    pass


def libgc_of(folder):
    """What the loader took in all processes of a run."""
    found = set()
    for log in folder.glob("loaded.*"):
        found.update(re.findall(r"calling init: (\S*/libgc\.so\.1)$", log.read_text(errors="replace"), re.MULTILINE))
    return {os.path.realpath(path) for path in found}


def run(name, work, folder, environment):
    folder.mkdir()
    for path in INPUTS.iterdir():
        shutil.copy(path, folder)
    (folder / "page.html").write_text("\n".join(page()), encoding="utf-8")
    logs = folder.with_name(folder.name + ".logs")
    logs.mkdir()
    environment = dict(environment, HOME=str(folder), XDG_CACHE_HOME=str(folder), LC_ALL="C.UTF-8", LD_DEBUG="files",
                       LD_DEBUG_OUTPUT=str(logs / "loaded"))
    try:
        done = subprocess.run(["sh", "-c", work], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"{name}: not done after {LIMIT} s") from None
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Failed(f"{name}: exit code {done.returncode}: {''.join(last)}")
    # Each run has a folder of its own.
    return done.stdout.replace(str(folder).encode(), b"."), libgc_of(logs)


def compare(name):
    _, _, work = CLIENTS[name]
    below = os.path.realpath(os.environ["LIBGC_FOLDER"]) + os.sep
    without = {key: value for key, value in os.environ.items() if key not in OURS}
    with tempfile.TemporaryDirectory() as folder:
        expected, theirs = run(f"{name} on the installed libgc", work, Path(folder) / "one", without)
        actual, ours = run(name, work, Path(folder) / "two", os.environ)
    if not theirs or any(path.startswith(below) for path in theirs):
        raise Failed(f"{name}: the first run was on {' '.join(theirs) or 'no libgc'}")
    if not ours or not all(path.startswith(below) for path in ours):
        raise Failed(f"{name}: runs on {' '.join(ours) or 'no libgc'}")
    if not expected:
        raise Failed(f"{name}: puts out nothing")
    if actual != expected:
        at = next((i for i, (a, b) in enumerate(zip(actual, expected)) if a != b), min(len(actual), len(expected)))
        raise Failed(f"{name}: output differs from byte {at}: {actual[at:at + 60]!r}, not {expected[at:at + 60]!r}")
    return f"{name}: the same {len(expected)} bytes"


def main():
    if "LIBGC_FOLDER" not in os.environ or "LD_LIBRARY_PATH" not in os.environ:
        print("clients.py: set LD_LIBRARY_PATH and LIBGC_FOLDER")
        return 2
    results = set()
    for name in sys.argv[1:] or CLIENTS:
        program, package, _ = CLIENTS[name]
        if shutil.which(program) is None:
            print(f"not available: {program}, of the package {package}")
            results.add(77)
            continue
        try:
            print(compare(name), flush=True)
            results.add(0)
        except Failed as problem:
            print(problem, flush=True)
            results.add(1)
    return 1 if 1 in results else min(results)


if __name__ == "__main__":
    sys.exit(main())
