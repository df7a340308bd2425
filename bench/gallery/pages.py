# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the page of the gallery: what each program shows, its picture, and the commands.
# Invariant: a sentence about a program is taken from its report.
# Must not know: where the files lie that are not in the gallery.
"""From reports to docs/gallery/README.md."""

from gallery.recording import shown

REPLAY_CHART = "Resident memory, and what was in use"

HEAD = """# What programs do with their memory

Each picture is a part of the page that `granary report` makes of a trace; the sentences above it are the page's own.
`docs/papers/thesis.md` sets the numbers beside those of 2008.

All of it is made again by one command, pictures too (`python3 bench/gallery --help` says what it needs):

    python3 bench/gallery build/release

What `granary summary` says of each trace is in `docs/results/raw/gallery/`. Recording takes time of its own, so times
are no measurements of the programs.
"""


def facts(document):
    wanted = dict(map(tuple, document["facts"]))
    return f"{wanted['events']} events, {wanted['threads']} thread{'' if wanted['threads'] == '1' else 's'}, " \
           f"{wanted['took']}; the trace has {wanted['trace'].partition(', ')[2]}."


def code(lines):
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def of_replay(text):
    """The table and what follows from it, without the head and what holds for each replay."""
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
        yield "The same calls again, on other allocators:\n"
        yield f"![{REPLAY_CHART}]({subject.name}-replay.png)\n"
        yield code([f"granary replay --with {subject.replay} -o replay.html {subject.name}.trace", *of_replay(replayed)])


def gallery(gathered):
    parts = (text for subject, (document, replayed) in gathered.items() for text in part(subject, document, replayed))
    return "\n".join([HEAD, *parts]).rstrip() + "\n"
