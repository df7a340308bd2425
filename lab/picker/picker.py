#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: makes docs/papers/picker.html, the page on which a reader picks features and sees the allocator that they make.
# Invariant: the page is self-contained. Its rules are those that the compiler checks, its allocators those of
#    lab/allocators, its numbers those of the kept runs; what no run has is not on the page.
# Must not know: which features, rules and allocators there are.
"""usage: picker.py FEATURES

FEATURES is the program build/release/lab/features (make lab). Writes docs/papers/picker.html."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench" / "suite")]
sys.dont_write_bytecode = True

import lab_table
from granary_results.intervals import Samples, ratio
from granary_results.results import Results

PAGE = ROOT / "docs/papers/picker.html"
RAW = ROOT / "docs/results/raw"
COUNTS = RAW / "lab-counts.txt"
KINDS = (("time", "cost"), ("peak memory", "peak_kib"))
RULE_FIELDS = ("where", "where_any", "needs", "excludes", "needs_one")
STATEMENTS = ("What", "Invariant", "Must not know", "Finds", "Differs")

# What the tests of test/lab/claims print, and how the page calls it: a count, and the sum or name of the allocator.
COUNTED = (
    ("locks in a million operations, own blocks", r"recycle +(?P<count>\d+) locks, .*: (?P<of>.+)"),
    ("locks in a million operations, others' blocks", r"hand over +(?P<count>\d+) locks, .*: (?P<of>.+)"),
    ("cache lines shared by turns of malloc", r"shared actively +(?P<count>\d+) lines: (?P<of>.+)"),
    ("cache lines shared by reuse", r"shared passively +(?P<count>\d+) lines: (?P<of>.+)"),
    ("cache lines shared by moving containers", r"shared by moving +(?P<count>\d+) lines: (?P<of>.+)"),
    ("blowup: piles, one produces and one consumes",
     r"piles of (?P<of>[\w-]+).*: produced and consumed (?P<count>[\d.]+);.*"),
    ("blowup: piles, 16 threads in turn", r"piles of (?P<of>[\w-]+).*, by 16 (?P<count>[\d.]+)"),
)


def words_and_rules(features: Path) -> tuple[list[dict], list[dict]]:
    told = subprocess.run([features], capture_output=True, text=True, check=True).stdout
    lines = [line.split("\t") for line in told.splitlines()]
    words = [dict(zip(("name", "group", "meaning"), fields)) for kind, *fields in lines if kind == "word"]
    rules = [{**{name: value.split() for name, value in zip(RULE_FIELDS, fields)}, "why": fields[-1]}
             for kind, *fields in lines if kind == "rule"]
    return words, rules


def statements(text: str) -> dict[str, str]:
    """Of a file's head."""
    head = text.partition("\n//\n")[0].partition("#pragma")[0]
    found = re.findall(rf"^// ({'|'.join(STATEMENTS)}): +(.*(?:\n//    .*)*)", head, re.M)
    return {name: re.sub(r"\n// *", " ", said) for name, said in found}


def papers(name: str, what: str) -> list[dict[str, str]]:
    """Of an allocator: each paper that its head cites, with the section; or the paper that lab/README.md names."""
    rows = re.findall(r"^\| (.*?) \| (\d{3}|cited by name) \| (.*?) \|", (ROOT / "lab/README.md").read_text(), re.M)
    rows = [(re.match(r"[^()]+(?:\([^()]+\))?", paper)[0], number, there) for paper, number, there in rows]
    title = {number: paper for paper, number, _ in reversed(rows)}  # a paper's first row has its name
    cited = re.findall(r"\b(0\d\d), ([^()]+)\)", what)
    if cited:
        return [{"paper": title[number], "section": section} for number, section in cited]
    return [{"paper": paper, "section": ""} for paper, _, there in rows if f"`{name}`" in there]


def counts() -> dict[str, dict[str, str]]:
    """By sum or name of an allocator, of each count the first that was printed."""
    found: dict[str, dict[str, str]] = {}
    for line in COUNTS.read_text().splitlines():
        for title, pattern in COUNTED:
            if match := re.fullmatch(pattern, line):
                found.setdefault(match["of"], {}).setdefault(title, match["count"])
    return found


def bars(samples: Samples, allocator: str) -> dict[str, dict]:
    """By case the ratio over the base case, with its interval: where it is drawn, and as the bench writes it."""
    found = {}
    for case, by in samples.items():
        if {allocator, lab_table.BASE} <= by.keys() and (known := ratio(samples, [[case]], allocator, lab_table.BASE)):
            found[case] = {"drawn": known.numbers(), "text": str(known)}
    return found


def allocator(stem: str, runs: list[Results], counted: dict[str, dict[str, str]]) -> dict:
    text = (lab_table.ALLOCATORS / f"{stem}.hpp").read_text()
    name = stem.replace("_", "-")
    run = lab_table.run_of(runs, f"lab:{name}")
    said = statements(text)
    chosen = re.sub(r"\s+", " ", re.search(r"using Chosen =\s+(.*?);", text, re.S)[1])
    composed = re.fullmatch(r"Composed<(.*)>", chosen)
    return {
        "name": name, "file": f"lab/allocators/{stem}.hpp", "sum": composed[1].split(" + ") if composed else None,
        "chosen": chosen, "what": said["What"], "finds": said["Finds"], "differs": said.get("Differs", ""),
        "papers": papers(name, said["What"]), "text": text,
        "counts": {**counted.get(name, {}), **(counted.get(composed[1], {}) if composed else {})},
        "bars": {kind: bars(run.samples(key), f"lab:{name}") for kind, key in KINDS},
        "run": f"{run.date[:10]}, {run.machine['cpus']} CPUs, {run.machine['cpu']}",
    }


def data(features: Path) -> dict:
    runs = [Results.load(run) for run in lab_table.RUNS]
    words, rules = words_and_rules(features)
    counted = counts()
    return {
        "words": words, "rules": rules, "base": lab_table.BASE.removeprefix("lab:"),
        "counted": [title for title, _ in COUNTED],
        "cases": {case: facts["summary"] for case, facts in sorted(runs[0].cases.items())},
        "kinds": [kind for kind, _ in KINDS],
        "allocators": [allocator(stem, runs, counted) for stem in lab_table.names()],
    }


def source_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def made(features: Path) -> str:
    style, script = ((HERE / f"picker.{suffix}").read_text() for suffix in ("css", "js"))
    document = json.dumps(data(features), ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    policy = f"default-src 'none'; style-src {source_hash(style)}; script-src {source_hash(script)}"
    page = (HERE / "picker.html").read_text()
    for place, content in (("POLICY", policy), ("STYLE", style), ("DOCUMENT", document), ("SCRIPT", script)):
        page = page.replace(f"@{place}@", content, 1)
    return page


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not Path(sys.argv[1]).is_file():
        sys.exit(f"picker.py: {sys.argv[1]} does not exist; run: make lab")
    PAGE.write_text(made(Path(sys.argv[1]).resolve()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
