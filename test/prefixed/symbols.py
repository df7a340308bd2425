# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      compares what libgranary-prefixed defines for others with the names gr_* in symbols.txt of the conformance
#            tests, and looks at what it takes from others.
# Invariant: no name of libc's or of C++'s is defined, and none of the malloc family is used: so it overrides nothing,
#            and nothing of another malloc gets into it.
# Must not know: what the symbols do.
"""usage: symbols.py LIBRARY SYMBOLS_FILE     LIBRARY: the shared library or the archive"""
import re
import subprocess
import sys

VERSION = "@@GRANARY_PREFIXED_0"
FAMILY = re.compile(r"(__libc_|__posix_)?(m|c|re|v|pv|aligned_)?alloc(array)?|(__libc_)?c?free(_\w+)?|\w*memalign|_Zn[aw].*|_Zd[al].*|sbrk")


def symbols(library, *options):
    dynamic = [] if library.endswith(".a") else ["-D"]
    command = ["nm", "--format=posix", "--extern-only", *dynamic, *options, library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    # Without u: C++'s unique variables are hidden, but objcopy does not make them local.
    return {row[0]: row[1] for row in rows if len(row) > 1 and row[1] in set("TtWwVvDdBbRrUi")}


def errors(library, expected):
    defined = symbols(library, "--defined-only")
    names = {name.removesuffix(VERSION) for name in defined}
    if not library.endswith(".a"):
        yield from (f"{name} has no version {VERSION}" for name in sorted(defined) if not name.endswith(VERSION))
    yield from (f"{name} is not defined" for name in sorted(expected - names))
    yield from (f"{name} must not be defined" for name in sorted(names - expected))
    used = {name.split("@")[0] for name in symbols(library, "--undefined-only")}
    yield from (f"{name} of another malloc is used" for name in sorted(used) if FAMILY.fullmatch(name))
    # A variable that a program may have (granary.h).
    yield from (f"{name} is looked up" for name in sorted(used - {"gr_options"}) if name.startswith("gr_"))
    if "abort" not in used:
        yield "abort is not used: is this the library?"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="ascii") as file:
        expected = {name for name in file.read().split() if name.startswith("gr_")}
    found = list(errors(sys.argv[1], expected))
    print("\n".join(found) if found else f"{len(expected)} symbols, and no other")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
