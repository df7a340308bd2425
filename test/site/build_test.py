# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: builds the documentation site, and follows every link of every page that came out.
# Invariant: MkDocs warns of nothing; each link leads to a file and an anchor there; no page loads anything from elsewhere.
# Must not know: how the site is built, and what the pages say.
"""Usage: build_test.py REPOSITORY FOLDER"""

import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SKIPPED = 77
LOADED = {"script", "img", "source", "iframe"}  # and link, but for those that say where a page is


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: "set[str]" = set()
        self.links: "list[tuple[str, bool]]" = []  # and whether the browser loads it by itself
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: "list[tuple[str, str | None]]") -> None:
        values = dict(attributes)
        self.anchors.update(name for name in (values.get("id"), tag == "a" and values.get("name")) if name)
        for target in (values.get("href"), values.get("src")):
            if target:
                self.links.append((target, tag in LOADED or (tag == "link" and values.get("rel") != "canonical")))


def errors_of(site: Path) -> "list[str]":
    read = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")
            if 'class="md-' in path.read_text(encoding="utf-8")}  # not a file that a page links to
    errors = [] if read else ["there are no pages"]
    for path, page in read.items():
        name = path.relative_to(site.resolve())
        for target, is_loaded in page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if is_loaded and parts.scheme != "data":
                    errors.append(f"{name} loads {target}")
                continue
            if name.name == "404.html":
                continue  # its links begin at the root of the server
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            if not there.is_file():
                errors.append(f"{name}: the link {target} leads to a file that does not exist")
            elif there in read and parts.fragment and unquote(parts.fragment) not in read[there].anchors | {"__top"}:
                errors.append(f"{name}: the link {target} has an anchor that the page does not have")
    return errors


def has_theme() -> bool:
    return shutil.which("mkdocs") is not None and \
        "material" in subprocess.run(["mkdocs", "build", "--help"], capture_output=True, text=True, check=False).stdout


def check_the_checker(site: Path) -> None:
    """Breaks one page in each way that errors_of tells of."""
    page = site / "index.html"
    whole = page.read_text(encoding="utf-8")
    for tampering, reason in (('<a href="docs/nowhere.html">', "does not exist"), ('<a href="index.html#nowhere">', "anchor"),
                              ('<img src="//example.org/x.png">', "loads"), ('<a href="#nowhere">', "anchor")):
        page.write_text(whole.replace("</body>", tampering + "</body>"), encoding="utf-8")
        found = errors_of(site)
        assert len(found) == 1 and reason in found[0], (tampering, found)
    page.write_text(whole, encoding="utf-8")


def main() -> int:
    repository, folder = Path(sys.argv[1]), Path(sys.argv[2])
    if not has_theme():
        print("mkdocs or its theme material is not installed")
        return SKIPPED
    build = subprocess.run([sys.executable, repository / "scripts/site", "--into", folder], text=True, check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if build.returncode != 0 or "WARNING" in build.stdout:
        print(build.stdout)
        return 1
    errors = errors_of(folder / "html")
    print("\n".join(errors) or "every link works")
    if not errors:
        check_the_checker(folder / "html")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
