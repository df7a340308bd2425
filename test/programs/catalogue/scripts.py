# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: perl and gawk on the jobs that Wasik's thesis gives them (6.1.7, 6.1.8): paragraphs, a hosts file, costs.
# Invariant: the inputs come from seeded random numbers; what the scripts print is the output.
# Must not know: how results are compared.
"""Small scripts over large files: short strings, fields and hash entries by the million, few of them alive."""

import random
from collections.abc import Callable, Iterator

from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work

GAWK = "/usr/bin/gawk"
PERL = "/usr/bin/perl"
SYLLABLES = "lo rem ip sum do lor sit am et con sec te tur a di pis cing e lit".split()

PARAGRAPHS = 9000
HOSTS = 40_000
REQUESTS = 130_000
LIVE = 500
SITES = 300

REPEATABLE = {"PERL_HASH_SEED": "0"}  # gawk has nothing of the kind


def word(rng: random.Random) -> str:
    return "".join(rng.choices(SYLLABLES, k=rng.randint(1, 5)))


def text() -> Iterator[str]:
    """Paragraphs with ragged lines, an empty one between each two."""
    rng = random.Random(1)
    for _ in range(PARAGRAPHS):
        for _ in range(rng.randint(2, 12)):
            yield " ".join(word(rng) for _ in range(rng.randint(3, 20)))
        yield ""


def hosts() -> Iterator[str]:
    """Address, name, aliases, and a remark now and then; each ninth address is another of the host before."""
    rng = random.Random(2)
    for number in range(HOSTS):
        zone = f"{SYLLABLES[number % len(SYLLABLES)]}.example.org"
        if number % 9 < 8:
            name = f"{word(rng)}-{number}.{zone}"
        aliases = " ".join(f"{word(rng)}{number}.{zone}" for _ in range(rng.randrange(4)))
        remark = f" # {word(rng).upper()}, {word(rng)}" if number % 5 == 0 else ""
        yield f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}\t{name} {aliases}{remark}"


def trace() -> Iterator[str]:
    """Requests with sizes that follow the site, and frees in no order."""
    rng = random.Random(3)
    live: list[int] = []
    for request in range(REQUESTS):
        site = min(rng.randrange(SITES), rng.randrange(SITES))
        yield f"+ {request} {rng.randint(1, 16 << site % 8)} site-{site}"
        live.append(request)
        if len(live) > LIVE:
            chosen = rng.randrange(LIVE)
            live[chosen], live[-1] = live[-1], live[chosen]
            yield f"- {live.pop()}"


def script(name: str, summary: str, package: str, command: list, lines: Callable[[], Iterator[str]]) -> Program:
    """A program that runs a script with the lines on its standard input."""
    def prepare(work: Work) -> None:
        (work.prepared / "input").write_text("\n".join(lines()) + "\n")

    def run(work: Work, launcher: Launcher) -> Outcome:
        with work.trial() as folder:
            done = launcher.run(command, folder, stdin=work.prepared / "input", extra=REPEATABLE)
            return Outcome(done.output, done.usage)

    return Program(name=name, summary=summary, files={command[0]: package}, probe=lambda: [command[0], "--version"],
                   prepare=prepare, run=run, in_tests=False)


PERL_HOSTS = script("perl-hosts", "perl: a hosts file to zone files", "perl", [PERL, INPUTS / "hosts.pl"], hosts)

GAWK_PARAGRAPHS = script(
    "gawk", "gawk: adjusts paragraphs to a width and an indentation", "gawk",
    [GAWK, "-v", "width=64", "-v", "indent=6", "-f", INPUTS / "paragraphs.awk"], text)

GAWK_COSTS = script("gawk-costs", "gawk: a table of what an allocation trace costs", "gawk",
                    [GAWK, "-f", INPUTS / "costs.awk"], trace)
