# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the results as one page of HTML, with the pictures in it.
# Invariant: the page needs no network, no script and no other file; every case and allocator is on it, failed or not;
#    what a picture shows stands in a table too.
# Must not know: how a number is computed; how a picture is drawn.
"""The page."""

from collections.abc import Iterable
from html import escape
from itertools import groupby
from pathlib import Path

import machine
from comparison import Comparison, upper
from draw import tables
from draw.styles import DRAWING, FONT, looks_of, sheet
from draw.tables import bold, prose, table
from granary_results.results import METRICS, Results
from papers import PAPERS
from papers.exhibit import Paper
from report import OURS
from reproduction import Reading
from summary import findings, remarks

CSS = sheet() + DRAWING + f"body{{font-family:{FONT}}}\n" + Path(__file__).with_name("page.css").read_text()

# The others' cases are listed too, but folded.
PICTURED = [metric for metric in METRICS if metric.key in ("cost", "peak_kib")]

METHOD = """Each trial is a fresh process. In every round all allocators take their turns, in random order. Figures are
medians over the rounds, ratios are ratios of medians, and intervals are 95&nbsp;% bootstrap intervals over whole
rounds. The best peer is chosen on one half of the rounds and compared on the other, both ways. Where an interval
contains 1, no difference is claimed. A mean leaves out the cases that one of the two did not do."""


class Page:
    """Sections, of which each enters the table of contents, with its parts behind it."""

    def __init__(self) -> None:
        self.contents: list[str] = []
        self.sections: list[str] = []

    def add(self, anchor: str, title: str, *contents: str) -> None:
        """A section; nothing, when it has no content."""
        if any(contents):
            self.contents.append(f'<li><a href="#{anchor}">{escape(title)}</a></li>')
            self.sections.append(f'<section id="{anchor}"><h2>{escape(title)}</h2>\n{"".join(contents)}</section>')

    def add_parts(self, anchor: str, title: str, opening: str, parts: dict[str, str]) -> None:
        """A section of several, each with a heading."""
        self.add(anchor, title, opening, *(f'<h3 id="{anchor}-{part}">{escape(upper(part))}</h3>\n{content}\n'
                                           for part, content in parts.items()))
        links = ", ".join(f'<a href="#{anchor}-{part}">{escape(part)}</a>' for part in parts)
        self.contents[-1] = self.contents[-1].replace("</li>", f": {links}</li>")

    def html(self, title: str) -> str:
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        return (f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
                f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                f'<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n'
                f'<header><h1>{escape(title)}</h1></header>\n'
                f'<nav aria-label="Contents"><ul>{"".join(self.contents)}</ul></nav>\n'
                '<main>\n' + "\n".join(self.sections) + "\n</main>\n</body>\n</html>\n")


def listed(lines: Iterable[str], kind: str = "") -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul{kind and f" class={kind}"}>{items}</ul>' if items else ""


def source(facts: dict) -> str:
    told = facts.get("source") or {}
    return " ".join(str(told[key]) for key in ("registry", "package", "version") if key in told)


def settings(variables: dict | None) -> str:
    return " ".join(f"{name}={value}" for name, value in (variables or {}).items())


def allocator_row(facts: dict, key: str) -> list[str]:
    name = f'<span class="key">{key}</span>' if key else ""
    version = facts.get("version") or ("as built here" if facts["name"].startswith(OURS) else "unknown")
    return [name + bold(facts["name"]), escape(version), prose(facts.get("about", "")), prose(source(facts)),
            prose(settings(facts.get("environment")))]


def run_section(results: Results, keys: dict[str, str]) -> str:
    facts = {"Command": f"<code>{escape(results.command)}</code>",
             "Machine": escape(machine.sentence(results.machine)),
             "Options": escape(settings(results.machine.get("options"))),
             "Profile": f"{escape(results.profile)}, {len(results.cases)} cases, {len(results.trials)} trials"}
    builds = [f"{allocator['name']}: {allocator['compiler']}: {allocator['flags']}" for allocator in results.allocators
              if allocator.get("compiler")]
    return ("<dl>" + "".join(f"<dt>{term}</dt><dd>{words}</dd>" for term, words in facts.items() if words) + "</dl>\n"
            + table("Allocators", ["allocator", "version", "what it is", "source", "environment"],
                    (allocator_row(each, keys.get(each["name"], "")) for each in results.allocators), "text")
            + (f"<details><summary>Compilers and flags</summary>{listed(builds)}</details>" if builds else "")
            + f"<p>{METHOD}</p>")


def summary_section(comparison: Comparison) -> str:
    parts = ["".join(f"<p>{escape(remark)}</p>" for remark in remarks(comparison))]
    for found in findings(comparison):
        parts.append(f"<h3>{escape(found.metric.title)}</h3>\n")
        parts.append("".join(f"<p>{escape(sentence)}</p>\n" for sentence in found.sentences))
        opened = " open" if found.metric in PICTURED else ""
        for title, lines in found.lists:
            parts.append(f"<details{opened}><summary>{escape(title)}</summary>\n{listed(lines, 'cases')}</details>\n")
    return "".join(parts)


def missing_section(results: Results) -> str:
    seen = {trial["case"] for trial in results.trials}
    return listed(case for case in results.cases if case not in seen)


def figure(picture, drawing) -> str:
    panels = "\n".join(drawing.panels(picture))
    kind = "panels" if len({panel.height for panel in picture.panels}) == 1 else "panels packed"
    return f'<div class="{kind}">{panels}</div>'


def add_pictures(page: Page, found: list, drawing) -> None:
    """Those of one title in one section."""
    for title, group in groupby(found, key=lambda picture: picture.title):
        pictures = list(group)
        first = pictures[0]
        caption = f'<p class="quiet">{escape(first.caption).replace(" %", "&nbsp;%")}</p>\n'
        if first.part:
            page.add_parts(first.name.removesuffix(f"-{first.part}"), title, caption,
                           {picture.part: figure(picture, drawing) for picture in pictures})
        else:
            page.add(first.name, title, caption, figure(first, drawing))


def add_paper(page: Page, paper: Paper, results: Results, drawing=None) -> None:
    """Its tables and figures, these drawn, too."""
    parts = []
    for shown in Reading(results, paper).all():
        parts.append(f"<h3>{escape(upper(shown.title))}</h3>\n")
        parts += [f"<p>{escape(sentence)}</p>\n" for sentence in shown.sentences]
        if drawing and (picture := drawing.of_exhibit(shown)):
            parts.append(figure(picture, drawing))
        parts += [f"<h4>{escape(upper(found.name))}</h4>\n{tables.of_cells(found, '')}" for found in shown.tables]
    page.add("paper", "The paper's tables and figures", *parts)


def matplotlib_pictures():
    """The module that draws; None if its library is not installed. Only the command line tells of that: the user wants
    to know it before anything is measured."""
    try:
        from draw import pictures
    except ModuleNotFoundError as problem:
        if str(problem.name).partition(".")[0] != "matplotlib":
            raise
        return None
    return pictures


def text(comparison: Comparison, drawing=None) -> str:
    """The page; `drawing` is the module that draws."""
    results, page = comparison.results, Page()
    looks = looks_of(results.names())
    keys = {name: drawing.key(name, look, f"key{place}") for place, (name, look) in enumerate(looks.items())
            } if drawing else {}
    page.add("run", "The run", run_section(results, keys))
    if results.suite in PAPERS:
        add_paper(page, PAPERS[results.suite], results, drawing)
    page.add("summary", "Who is ahead where", summary_section(comparison))
    if drawing:
        add_pictures(page, drawing.all_pictures(comparison), drawing)
    else:
        page.add("pictures", "Pictures", "<p>None: the library that draws them was not installed.</p>")
    for metric in METRICS:
        page.add(f"table-{metric.key}", f"Tables: {metric.title}", tables.of_metric(comparison, metric))
    page.add("table-latency", "Tables: Latency of single calls", tables.of_latencies(comparison))
    page.add("black-box", "Tables: Black-box figures", tables.of_black_box(results))
    page.add("failures", "Failures", tables.of_failures(comparison))
    page.add("missing", "Not measured", missing_section(results))
    return page.html(f"granary bench: {results.profile}, {results.date[:10]}")


def write(path: Path | None, results: Results, folder: Path | None = None) -> None:
    """The page to `path`, the pictures as files into `folder`."""
    comparison, drawing = Comparison(results), matplotlib_pictures()
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(comparison, drawing))
    if folder and drawing:
        drawing.write(folder, comparison)
