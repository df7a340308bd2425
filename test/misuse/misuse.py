#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: runs one misuse of the heap under the library and compares what the library says about it.
# Invariant: a misuse ends in SIGABRT after exactly one line on stderr, which is one that the program announced.
# Must not know: the misuses and the wording; the program prints the lines that would be right.
"""Usage: misuse.py LIBRARY PROGRAM MISUSE."""

import os
import resource
import signal
import subprocess
import sys


def main(library, program, misuse):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    result = subprocess.run(
        [program, misuse],
        env={**os.environ, "LD_PRELOAD": library},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    announced = result.stdout.splitlines(keepends=True)
    if result.returncode != -signal.SIGABRT:
        return f"expected SIGABRT, got exit status {result.returncode}; stderr: {result.stderr!r}"
    if result.stderr not in announced:
        return f"stderr is {result.stderr!r}, expected one of {announced}"
    print(result.stderr, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
