# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: measures again what docs/papers/reproduction.md stands on: runs the commands at the heads of the kept outputs,
#    keeps what they print now, puts the new intervals in the places of the old ones in the page, and draws. An output that
#    is new fills the places that the page has for it.
# Invariant: a file is replaced whole or not at all; an interval is replaced only if each place where the old output has
#    it has one and the same now. What is not replaced is told, and the page's test fails until it is.
# Must not know: what a row says; a person who runs this reads its words again.
"""usage: python3 bench/reproduce.py BUILD [--only NAME,...] [--measure NAME COMMAND]... [--rounds N] [--minutes N]

Measures stored outputs again. NAME stands for docs/results/raw/reproduction-NAME.txt. The machine should be idle.

  --only NAME,...         measure only these outputs (default: all; with --measure: only its)
  --measure NAME COMMAND  measure NAME by COMMAND, for the first time or from now on
  --rounds N              use N rounds in the bench's commands
  --minutes N             start no output after N minutes; exit code 3 if any is left

Where a row of the page is to have a number of a new output, it has {NAME: TITLE // ROW // COLUMN}: the first line of a
table, the first cell of a row, and the name of a column of the output."""

import argparse
import collections
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "papers" / "reproduction.md"
RESULTS = ROOT / "docs" / "results" / "raw"
BEGIN, END = "reproduction-", ".txt"
PROMPT = "$ "
INTERVAL = re.compile(r"\d+\.\d\d \[\d+\.\d\d \d+\.\d\d\]")
NAMED = re.compile(rf"docs/results/raw/{BEGIN}([a-z-]+){END}")
CELLS = re.compile(r" {2,}")
NAME = re.compile(r"[a-z][a-z-]*")
EMPTY = re.compile(r"\{(?P<name>[a-z-]+): (?P<title>[^{}]+) // (?P<row>[^{}]+) // (?P<column>[^{}]+)\}")
LEFT = 3  # exit code


def file_of(name: str) -> Path:
    return RESULTS / f"{BEGIN}{name}{END}"


def names() -> list[str]:
    return sorted(file.name.removeprefix(BEGIN).removesuffix(END) for file in RESULTS.glob(f"{BEGIN}*{END}"))


def commands_of(text: str) -> list[str]:
    return [line.removeprefix(PROMPT) for line in text.splitlines() if line.startswith(PROMPT)]


def with_rounds(command: str, rounds: int | None) -> str:
    return re.sub(r"--rounds \d+", f"--rounds {rounds}", command) if rounds else command


def words_of(command: str, build: Path) -> list[str]:
    """The words of a kept command with this build's programs."""
    first, *rest = shlex.split(command)
    return [str(build / "granary"), *rest] if first == "granary" else [sys.executable, *rest, "--build", str(build)]


def load() -> str:
    return ", ".join(f"{average:.2f}" for average in os.getloadavg())


def measured(command: str, build: Path) -> str:
    """The command, the load around it, and what it prints."""
    before = load()
    done = subprocess.run(words_of(command, build), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"reproduce.py: {command}: exit code {done.returncode}; its output is not stored")
    return (f"{PROMPT}{command}\nLoad averages of the machine before: {before}; after: {load()}, "
            f"its own threads in them.\n\n{done.stdout}")


# The first line of a paragraph, how many had it before, the first cell of a row, and its column, by name where it has
# one.
Place = tuple[str, int, str, str | int]


def places(text: str) -> dict[Place, str]:
    """Where an output has its intervals."""
    found: dict[Place, str] = {}
    seen = collections.Counter()
    for paragraph in text.split("\n\n"):
        title, *_ = rows = paragraph.split("\n")
        columns = CELLS.split(rows[1].strip()) if len(rows) > 1 else []
        for row in rows:
            label, *cells = CELLS.split(row.strip())
            named = zip(columns, cells) if len(cells) == len(columns) else enumerate(INTERVAL.findall(row))
            for column, text in named:
                if INTERVAL.fullmatch(text):
                    found[title, seen[title], label, column] = text
        seen[title] += 1
    return found


def owner_of(row: str, match: re.Match, kept: dict[str, str]) -> str | None:
    """The output that an interval of the page is from: the next that the row names, or behind the last name the only
    one of them that has it."""
    behind = NAMED.search(row, match.end())
    if behind:
        return behind[1]
    having = {name for name in NAMED.findall(row) if match[0] in kept.get(name, "")}
    return having.pop() if len(having) == 1 else None


def renewed(row: str, name: str, new: str, kept: dict[str, str]) -> tuple[str, list[str]]:
    """A row of the page with the intervals that an output has now, and what is left for a reader to decide. `kept` are
    the outputs, by name, as the row has them."""
    was, now = places(kept[name]), places(new)
    left = []

    def replace(match: re.Match) -> str:
        old = match[0]
        owner = owner_of(row, match, kept)
        if owner is None and name in NAMED.findall(row):
            left.append(f"{old}: the row does not name its output")
        if owner != name:
            return old
        found = {now.get(place, "nothing") for place, interval in was.items() if interval == old}
        if len(found) == 1 and "nothing" not in found:
            return found.pop()
        left.append(f"{old} is now {' or '.join(sorted(found)) or 'nothing'}")
        return old

    return INTERVAL.sub(replace, row), left


def filled(row: str, name: str, new: str) -> tuple[str, list[str]]:
    """A row of the page with an output's numbers in the places that are empty, and what is left."""
    now = places(new)
    left = []

    def replace(match: re.Match) -> str:
        if match["name"] != name:
            return match[0]
        found = now.get((match["title"], 0, match["row"], match["column"]))
        if found is None:
            left.append(f"{match[0]}: the output has no such number")
        return found or match[0]

    return EMPTY.sub(replace, row), left


def renew_page(name: str, new: str, kept: dict[str, str]) -> None:
    rows = []
    for row in PAGE.read_text().split("\n"):
        made, left = renewed(row, name, new, kept) if row.startswith("|") else (row, [])
        made, missing = filled(made, name, new)
        left += missing
        rows.append(made)
        told = left + ["new numbers; check the words of the row"] * (made != row)
        for words in told:
            print(f"{PAGE.relative_to(ROOT)}: {row.strip('| ').split(' | ')[0]}: {words}", flush=True)
    PAGE.write_text("\n".join(rows))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(usage=__doc__.removeprefix("usage: "))
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--measure", nargs=2, action="append", default=[])
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    options = parser.parse_args()
    options.measure = dict(options.measure)
    options.only = options.only or list(options.measure) or names()
    for name, command in options.measure.items():
        if not NAME.fullmatch(name):
            parser.error(f"{name}: not a name of an output; use small letters and '-'")
        if not command.startswith(("granary ", "python3 bench/")):
            parser.error(f"{name}: {command}: must begin with 'granary' or 'python3 bench/'")
    for name in options.only:
        if not file_of(name).is_file() and name not in options.measure:
            parser.error(f"{name}: no such stored output; choose from {', '.join(names())}")
    return options


def main() -> int:
    options = arguments()
    ends = time.monotonic() + 60 * options.minutes
    for number, name in enumerate(options.only):
        if time.monotonic() >= ends:
            print(f"left, measure with: --only {','.join(options.only[number:])}")
            return LEFT
        print(f"{name} ({number + 1} of {len(options.only)})", file=sys.stderr, flush=True)
        kept = {name: "", **{other: file_of(other).read_text() for other in names()}}
        commands = [options.measure[name]] if name in options.measure else commands_of(kept[name])
        new = "\n".join(measured(with_rounds(command, options.rounds), options.build.resolve()) for command in commands)
        file_of(name).write_text(new)
        renew_page(name, new, kept)
    return subprocess.run([sys.executable, Path(__file__).with_name("paper_pictures.py")]).returncode


if __name__ == "__main__":
    sys.exit(main())
