# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: writes the page of the gallery: for each program an answer of its report, a picture, and the commands.
# Invariant: a sentence about a program is taken from its report, but for the remark below the picture.
# Must not know: where the files lie that are not in the gallery.
"""From reports to docs/gallery/README.md."""

from gallery.recording import shown

REPLAY_CHART = "Resident memory, and what was in use"

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 OR MIT -->
# What programs do with their memory

This page shows what `granary report` makes of the traces of real programs. Each part has one answer of a report, one
chart, and the commands that make them. A script writes this page: `bench/gallery/pages.py`.

The bold questions and the sentences behind them are the report's own. [thesis.md](../papers/thesis.md) compares the
numbers with those of 2008. The full output of `granary summary` for each trace is in
[docs/results/raw/gallery](../results/raw/gallery). Recording slows a program down, so the times on this page are no
measurements of the programs.

One command makes the page again, pictures included (`python3 bench/gallery --help` says what it needs):

    python3 bench/gallery build/release
"""


def facts(document):
    wanted = dict(map(tuple, document["facts"]))
    return f"{wanted['events']} events, {wanted['threads']} thread{'' if wanted['threads'] == '1' else 's'}, " \
           f"{wanted['took']}; the trace has {wanted['trace'].partition(', ')[2]}."


def code(lines):
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def of_replay(text):
    """The table and the lines below it, without the head and without the limits that hold for every replay."""
    lines = text.splitlines()[2:]
    return lines[:next(at for at, line in enumerate(lines) if line.startswith("A replay does not show"))]


def part(subject, document, replayed):
    section = next(section for section in document["sections"] if section["id"] == subject.section)
    yield f"## {subject.title}\n"
    yield f"**{section['question']}** {section['answer']}\n"
    yield f"![{subject.chart}]({subject.name}.png)\n"
    if subject.remark:
        yield subject.remark + "\n"
    yield code([*shown(subject), f"granary report {subject.name}.trace"])
    yield facts(document) + "\n"
    if replayed:
        yield "The same calls, replayed on other allocators:\n"
        yield f"![{REPLAY_CHART}]({subject.name}-replay.png)\n"
        yield code([f"granary replay --with {subject.replay} -o replay.html {subject.name}.trace", *of_replay(replayed)])


def gallery(gathered):
    parts = (text for subject, (document, replayed) in gathered.items() for text in part(subject, document, replayed))
    return "\n".join([HEAD, *parts]).rstrip() + "\n"
