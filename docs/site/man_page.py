# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: makes a Markdown page for MkDocs of a man page in scdoc's markup.
# Invariant: each option and each command has a heading of its own, so that the search and a link find it.
# Must not know: which man pages there are.
"""It knows what this repository's man pages use of scdoc(5). A table's first row is its head."""

import re
from collections.abc import Callable

# What a page is looked up for: an option of the library, or a command of the tool.
LOOKED_UP = re.compile(r"\*(GRANARY_\w+|granary [a-z]+)\*")
TABLE = re.compile(r"[\[|\]][\[\-\] ] ?\S")
LIST_ITEM = re.compile(r"(-|\.) ")
ESCAPED = re.compile(r"[\\`*_{}\[\]<>&#|~]")
TOKEN = re.compile(r"\\(?P<escaped>.)|\*(?P<bold>(?:\\.|[^*\\])+)\*(?P<section>\(\d\))?"
                   r"|(?<!\w)_(?P<underlined>(?:\\.|[^\\_]|_(?=\w))+)_(?!\w)|(?P<plain>.)", re.S)


def plain(text: str) -> str:
    """What a reader sees of scdoc's inline markup."""
    def value(token: re.Match[str]) -> str:
        if token["bold"] or token["underlined"]:
            return plain(token["bold"] or token["underlined"]) + (token["section"] or "")
        return token["escaped"] or token["plain"]
    return "".join(value(token) for token in TOKEN.finditer(text))


def literal(text: str) -> str:
    return ESCAPED.sub(lambda character: f"&#{ord(character[0])};", text)


class Page:
    def __init__(self, page_of: Callable[[str, str], str | None]) -> None:
        self.page_of = page_of  # from a man page's name and section to the page to link to

    def inline(self, text: str, in_code: bool = False) -> str:
        """Bold text is what one types: code. Underlined text is what one replaces."""
        parts = []
        for token in TOKEN.finditer(text):
            if token["bold"]:
                bold = literal(plain(token["bold"]))
                page = token["section"] and self.page_of(plain(token["bold"]), token["section"][1])
                bold = bold if in_code or page else f"<code>{bold}</code>"
                section = token["section"] or ""
                parts.append(f"[{bold}{section}]({page})" if page and not in_code else bold + section)
            elif token["underlined"]:
                parts.append(f"<i>{literal(plain(token['underlined']))}</i>")
            else:
                parts.append(literal(token["escaped"] or token["plain"]))
        return "".join(parts)

    def code(self, text: str) -> str:
        return f"<code>{self.inline(text, True)}</code>"

    def body(self, lines: list[str], depth: int = 0) -> list[str]:
        """Lines whose tabs of the levels above are removed."""
        written: list[str] = []
        section = ""
        while lines:
            line = lines[0]
            if not line.strip():
                written.append("")
                lines = lines[1:]
            elif line.startswith("```"):
                end = lines.index("```", 1)
                written += lines[:end + 1]
                lines = lines[end + 1:]
            elif line.startswith("#"):
                section = line.lstrip("# ")
                marks = line[:len(line) - len(line.lstrip("#"))]
                name = re.sub(r"\W+", "-", section.lower()).strip("-")
                written += [f"#{marks} {literal(section.capitalize())} {{#{name}}}"]
                lines = lines[1:]
            elif line.startswith("\t"):  # no term stands above: an example
                example, lines = indented(lines)
                written += ["    " + re.sub(r"\+\+$", "", plain(text)) if text else "" for text in example]
            else:
                end = next((at for at, text in enumerate(lines) if not text.strip() or text.startswith("\t")), len(lines))
                paragraph, lines = lines[:end], lines[end:]
                if TABLE.match(paragraph[0]):
                    written += self.table(paragraph)
                elif LIST_ITEM.match(paragraph[0]):
                    written += [re.sub(r"^\. ", "1. ", line) for line in self.inline("\n".join(paragraph)).split("\n")]
                    inner, lines = indented(lines) if lines and lines[0].startswith("\t") else ([], lines)
                    written += ["    " + line for line in self.body(inner, depth + 1)]
                elif lines and lines[0].startswith("\t"):
                    term = " ".join(paragraph)
                    definition, lines = indented(lines)
                    written += self.definition(term, definition, depth)
                elif section == "SYNOPSIS" and paragraph[0].startswith("*"):
                    end_of_pre = "</code></pre>"
                    if written[-2:] == [end_of_pre, ""]:  # all of the synopsis is one listing
                        written[-2:] = [self.inline(" ".join(paragraph), True), end_of_pre]
                    else:
                        written += ["<pre><code>" + self.inline(" ".join(paragraph), True), end_of_pre]
                else:
                    text = self.inline("\n".join(paragraph))
                    written += re.sub(r"\+\+$", "<br>", text, flags=re.M).split("\n")
        return written

    def table(self, lines: list[str]) -> list[str]:
        rows: list[list[str]] = []
        for line in lines:
            text = self.inline(line[2:].strip())
            if line[0] == " ":
                rows[-1][-1] += " " + text
            elif line[0] == ":":
                rows[-1].append(text)
            else:
                rows.append([text])
        written = ["| " + " | ".join(row) + " |" for row in rows]
        return [written[0], "|---" * len(rows[0]) + "|", *written[1:]]

    def definition(self, term: str, definition: list[str], depth: int) -> list[str]:
        if depth == 0 and (name := LOOKED_UP.match(term)):
            anchor = name[1].lower().replace(" ", "-")
            heading = f"### {name[1]} {{#{anchor}}}"  # as it is: the search does not decode what stands in a heading
            return [heading, "", self.code(term), "", *self.body(definition, depth), ""]
        inner = self.body(definition, depth + 1)
        return [self.code(term), "", ":   " + inner[0], *("    " + line if line else "" for line in inner[1:]), ""]


def indented(lines: list[str]) -> tuple[list[str], list[str]]:
    """The lines that begin with a tab, without the tab, and the rest."""
    end = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("\t")), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    return [line[1:] for line in lines[:end]], lines[end:]


def for_site(text: str, page_of: Callable[[str, str], str | None]) -> str:
    first, *rest = text.splitlines()
    return "\n".join([f"# {literal(first.split(' ')[0])}", *Page(page_of).body(rest)]) + "\n"
