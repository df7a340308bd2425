# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: reads the shared library's headers: the versions of its symbols, what it needs and asks of the loader.
# Invariant: every line of readelf that is relied on must be found; a format that is not understood fails.
# Must not know: how the library is built, and the list of its symbols (conformance.symbols knows that).
"""usage: shared_library.py LIBRARY"""
import re
import subprocess
import sys

MAX_TLS = 64
MAY_NEED = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
MUST_BE_SET = {"NODELETE", "NOW"}


def readelf(*arguments):
    return subprocess.run(["readelf", *arguments], capture_output=True, text=True, check=True).stdout


def version_errors(library):
    """gr_* carry a version; the malloc family must not, or libc's own references would not bind to it"""
    rows = [line.split() for line in readelf("-W", "--dyn-syms", library).splitlines()]
    symbols = [row for row in rows if len(row) >= 8 and row[0].rstrip(":").isdigit()]
    names = [row[7] for row in symbols if row[6] not in ("UND", "ABS") and row[4] in ("GLOBAL", "WEAK", "UNIQUE")]
    if not any(name.startswith("gr_") for name in names):
        yield "exports no gr_* at all"
    for name in names:
        if name.startswith("gr_") != name.endswith("@@GRANARY_0") or "@" in name.removesuffix("@@GRANARY_0"):
            yield f"the version of {name}"


def dynamic_errors(library, has_tls):
    text = readelf("-d", library)
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", text))
    yield from (f"needs {name}" for name in sorted(needed - MAY_NEED))
    if "libc.so.6" not in needed:
        yield "does not need libc.so.6: is it a library at all?"
    if not re.search(r"\(SONAME\).*\[libgranary\.so\.0\]", text):
        yield "its SONAME is not libgranary.so.0"
    flags = set(re.findall(r"[A-Z_]{3,}", " ".join(re.findall(r"\(FLAGS(?:_1)?\)(.*)", text))))
    yield from (f"the flag {flag} is not set" for flag in sorted(MUST_BE_SET - flags))
    if "STATIC_TLS" in flags and not has_tls:
        yield "marked STATIC_TLS without a TLS segment"
    if "TEXTREL" in text:
        yield "has text relocations"


def segments(library):
    rows = [line.split() for line in readelf("-lW", library).splitlines()]
    return [(row[0], int(row[5], 16), " ".join(row[6:-1])) for row in rows if len(row) > 6 and row[1].startswith("0x")]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    library = sys.argv[1]
    found = segments(library)
    tls = sum(size for kind, size, _ in found if kind == "TLS")
    errors = [*version_errors(library), *dynamic_errors(library, tls > 0)]
    if tls > MAX_TLS:
        errors.append(f"{tls} bytes of TLS, at most {MAX_TLS}")
    if not any(kind == "LOAD" for kind, _, _ in found):
        errors.append("no LOAD segment was recognised")
    errors += [f"a segment {kind} is writable and executable" for kind, _, flags in found if "W" in flags and "E" in flags]
    print("\n".join(errors) if errors else f"versions, needs and flags as they must be; {tls} bytes of TLS")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
