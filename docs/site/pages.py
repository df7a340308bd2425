# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: reads a Markdown page as a Git viewer does: its blocks, links and anchors; and writes it for MkDocs.
# Invariant: the written page has the same blocks, and each heading has the anchor that GitHub gives it.
# Must not know: files, and which pages there are.
"""The pages are in GitHub's Markdown, MkDocs reads Python-Markdown. They differ in what this module evens out:
Python-Markdown indents each level of a list by four columns, wants an empty line before a list or a table that follows a
paragraph, and names anchors in its own way."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

LIST_MARKER = re.compile(r"([-*+]|\d{1,9}[.)])( +)(?=\S)")
FENCE = re.compile(r"(`{3,}|~{3,})")
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
LINK_TARGET = re.compile(r"\]\(\s*(<[^<>]*>|[^\s()]+(?:\([^\s()]*\)[^\s()]*)*)(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]: +(\S+)", re.M)
HTML_LINK = re.compile(r"<[a-z]+\b[^>]*\b(?:href|src)=[\"']?([^\"' >]*)")
HTML_ANCHOR = re.compile(r"<[a-z]+\b[^>]*\b(?:id|name)=[\"']?([^\"' >]*)")


@dataclass
class Block:
    """Consecutive lines of one kind: comment, heading, paragraph, row (of a table), code, fence or blank."""
    kind: str
    number: int          # of the first line
    depth: int           # in how many list items it lies
    marker: str = ""     # of the list item that it begins
    lines: list[str] = field(default_factory=list)  # without what lists indent them by

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass
class Link:
    target: str
    number: int
    in_html: bool = False


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    offsets: list[int] = []  # the columns where the text of the list items begins that are open
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        last = found[-1] if found else Block("blank", 0, 0)
        stripped = line.lstrip(" ")
        indent = len(line) - len(stripped)
        if fence:
            last.lines.append(line[min(indent, offsets[-1] if offsets else 0):])
            fence = "" if stripped.rstrip() == fence else fence
            continue
        if last.kind == "comment" and "-->" not in last.lines[-1]:
            last.lines.append(line)
            continue
        if not stripped:
            found.append(Block("blank", number, len(offsets), "", [""]))
            continue
        marker = LIST_MARKER.match(stripped)
        if marker and last.kind == "paragraph" and not last.marker and marker[1][0].isdigit() and marker[1][:-1] != "1":
            marker = None  # such a number does not interrupt a paragraph
        heading = re.match(r"#{1,6} ", stripped)
        if last.kind == "blank" or marker or heading:
            while offsets and indent < offsets[-1]:
                offsets.pop()
        base = offsets[-1] if offsets else 0
        if indent - base >= 4 and last.kind in ("blank", "code"):
            kind, marker = "code", None
        elif marker:
            offsets.append(indent + len(marker[0]))
            found.append(Block("paragraph", number, len(offsets), marker[1], [stripped[len(marker[0]):]]))
            continue
        elif heading:
            kind = "heading"
        elif opening := FENCE.match(stripped):
            fence = opening[1]
            found.append(Block("fence", number, len(offsets), "", [stripped]))
            continue
        elif stripped.startswith("<!--"):
            kind = "comment"
        else:
            kind = "row" if stripped.startswith("|") else "paragraph"
        content = line[base:] if kind == "code" else stripped
        joins = kind == "code" or kind == "paragraph"
        if joins and last.kind == kind:
            last.lines.append(content)
        else:
            found.append(Block(kind, number, len(offsets), "", [content]))
    return found


def without_code(text: str) -> str:
    """The text with each code span blanked: what is found in it stands at the same place in the text."""
    return CODE_SPAN.sub(lambda span: re.sub(r"[^\n]", "\0", span[0]), text)


def links(page: list[Block]) -> Iterator[Link]:
    for block in page:
        if block.kind not in ("paragraph", "row", "heading"):
            continue
        text = without_code(block.text)
        for pattern, in_html in ((LINK_TARGET, False), (REFERENCE, False), (HTML_LINK, True)):
            for match in pattern.finditer(text):
                yield Link(match[1].strip("<>"), block.number + text.count("\n", 0, match.start(1)), in_html)


def shown(heading: str) -> str:
    """A heading's text as a reader sees it."""
    parts = []
    for part in re.split(r"(`+[^`]+`+)", heading.lstrip("#").strip()):
        if not part.startswith("`"):
            part = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", part)
            part = re.sub(r"<[^>]*>", "", part)
            part = re.sub(r"(?<!\w)_(.+?)_(?!\w)", r"\1", part)
        parts.append(part)
    return "".join(parts).replace("`", "")


class Anchors:
    """Gives each heading of a page its anchor, by GitHub's rules."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}

    def of(self, heading: str) -> str:
        name = wanted = re.sub(r"[^\w\- ]", "", shown(heading).lower()).replace(" ", "-")
        while name in self.taken:
            self.taken[wanted] += 1
            name = f"{wanted}-{self.taken[wanted]}"
        self.taken[name] = 0
        return name


def anchors(page: list[Block]) -> set[str]:
    given = Anchors()
    names = {given.of(block.text) for block in page if block.kind == "heading"}
    for block in page:
        if block.kind in ("paragraph", "row", "heading"):
            names.update(HTML_ANCHOR.findall(without_code(block.text)))
    return names


def rewritten(text: str, rewrite: Callable[[str], str]) -> str:
    """The text with each link's target replaced."""
    masked = without_code(text)
    spans = sorted(match.span(1) for pattern in (LINK_TARGET, REFERENCE) for match in pattern.finditer(masked))
    for begin, end in reversed(spans):
        text = text[:begin] + rewrite(text[begin:end].strip("<>")) + text[end:]
    return text


def for_site(page: list[Block], rewrite: Callable[[str], str]) -> str:
    given = Anchors()
    lines: list[str] = []
    last = Block("blank", 0, 0)
    for block in page:
        interrupts = block.marker and last.kind == "paragraph" and not last.marker and last.depth == block.depth - 1
        if interrupts or (block.kind == "row" and last.kind == "paragraph") or \
           (last.kind == "comment" and block.kind != "blank"):
            lines.append("")
        text = block.text
        if block.kind in ("paragraph", "row", "heading"):
            text = rewritten(text, rewrite)
        if block.kind == "heading":
            text = f"{text} {{#{given.of(block.text)}}}"
        margin = "    " * block.depth
        own = [margin + line if line else "" for line in text.split("\n")]
        if block.marker:
            own[0] = f"{margin[4:]}{block.marker} {own[0].lstrip(' ')}"
        lines += own
        last = block
    return "\n".join(lines) + "\n"
