# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: checks the links, anchors and the site's navigation of all Markdown pages of a repository.
# Invariant: a page passes when each of its links works in a Git viewer and on the site; all errors are told, not the first.
# Must not know: what the pages say, and how the site is built.
"""Usage: links_test.py REPOSITORY"""

import importlib.util
import os
import re
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True


def loaded(path: Path):
    """The module in a script whose name has no suffix."""
    loader = SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


site = loaded(HERE.parent.parent / "scripts/site")
pages = site.pages
NAVIGATION = "docs/site/mkdocs.yml"


def is_ours(path: str) -> bool:
    return not any(part in site.NOT_OURS or part == ".git" for part in path.split("/"))


def error_of_link(root: Path, page: str, link: "pages.Link", anchors: "dict[str, set[str]]") -> "str | None":
    if re.match(r"[a-z][a-z+.-]*:", link.target):
        return None
    if link.in_html:
        return "is written in HTML; MkDocs follows links in Markdown only"
    path, hash_sign, anchor = link.target.partition("#")
    if path.startswith("/"):
        return "begins with /; it must be relative to the page"
    there = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if there.startswith(".."):
        return "leaves the repository"
    if not (root / there).exists() or not is_ours(there):
        return "leads to a file that does not exist"
    if not hash_sign:
        return None
    if there not in anchors:
        return "has an anchor, but what it leads to is not a page"
    return None if anchor in anchors[there] else "has an anchor that the page does not have"


def errors_of_navigation(root: Path, names: "list[str]") -> "list[str]":
    _, _, navigation = (root / NAVIGATION).read_text(encoding="utf-8").partition("\nnav:\n")
    listed = re.findall(r"^ +- .*?: *(\S+\.md) *$", re.split(r"^\S", navigation, maxsplit=1, flags=re.M)[0], re.M)
    man_pages = [name.removesuffix(".scd") + ".md" for name in site.ours(root, ".scd")]
    due = sorted([*names, *man_pages])
    return [f"{NAVIGATION}: {name} is missing in the navigation" for name in due if name not in listed] + \
           [f"{NAVIGATION}: {name} does not exist" for name in sorted(set(listed)) if name not in due] + \
           [f"{NAVIGATION}: {name} stands in the navigation more than once" for name in sorted(set(listed))
            if listed.count(name) > 1]


def check(root: Path) -> "list[str]":
    names = site.ours(root, ".md")
    read = {name: pages.blocks((root / name).read_text(encoding="utf-8")) for name in names}
    anchors = {name: pages.anchors(page) for name, page in read.items()}
    errors = []
    for name, page in read.items():
        for link in pages.links(page):
            if error := error_of_link(root, name, link, anchors):
                errors.append(f"{name}:{link.number}: the link {link.target} {error}")
    return errors + errors_of_navigation(root, names)


def main() -> int:
    errors = check(Path(sys.argv[1]))
    print("\n".join(errors) or "every link works")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
