#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: runs the commands of the course that count with a test program, and compares what they print with the page.
# Invariant: a command prints what stands below it; of one that is marked `# varies` the numbers may differ.
# Must not know: what is counted.
"""Usage: course_test.py PAGE VARIABLE PROGRAM

In a code block of the page `$ ` begins a command; its output follows, up to the next command or the end of the block.
Commands that name the VARIABLE (R or C) are run with the PROGRAM in it."""

import os
import re
import subprocess
import sys
from pathlib import Path

INDENT = "    "
PROMPT = INDENT + "$ "
VARIES = "# varies"


def commands(page: str) -> "list[tuple[str, list[str]]]":
    """Each with the lines that the page says it prints."""
    found: "list[tuple[str, list[str]]]" = []
    is_output = False
    for line in page.splitlines():
        if line.startswith(PROMPT):
            found.append((line.removeprefix(PROMPT), []))
            is_output = True
        elif is_output and line.startswith(INDENT):
            found[-1][1].append(line.removeprefix(INDENT).rstrip())
        else:
            is_output = False
    return found


def without_numbers(line: str) -> str:
    return re.sub(r"[\d.]+", "0", " ".join(line.split()))


def error_of(command: str, said: "list[str]", variable: str, program: str) -> "str | None":
    done = subprocess.run(["bash", "-c", command], env={**os.environ, variable: program}, capture_output=True, text=True,
                          timeout=100)
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    if VARIES in command:
        same = [without_numbers(line) for line in printed] == [without_numbers(line) for line in said]
    else:
        same = printed == said
    if same and printed:
        return None
    return "\n".join([f"$ {command}", "the page says:", *said, "the command prints:", *printed])


def main() -> int:
    page, variable, program = sys.argv[1:]
    chosen = [(command, said) for command, said in commands(Path(page).read_text(encoding="utf-8"))
              if re.search(rf"\${variable}\b", command)]
    errors = [error for command, said in chosen if (error := error_of(command, said, variable, program))]
    print("\n\n".join(errors) or f"{len(chosen)} commands print what the page says")
    return 1 if errors or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
