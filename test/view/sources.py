# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: holds the built pages against their sources by the hash that was recorded in each, without node.
# Invariant: the hash is that of view/build/sources.ts.
# Must not know: how a page is built.
"""usage: sources.py VIEW"""
import hashlib
import pathlib
import re
import sys

PAGES = ["index.html", "lab.html"]
FILES = [*PAGES, "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"]
LARGEST = 300_000
# Hosts of registries, and what would load something: the pages and the lock file name none.
FORBIDDEN = {"package-lock.json": rb'"resolved"', **{f"dist/{page}": rb'(src|href)="(https?:)?//' for page in PAGES}}


def hash_of_sources(view):
    paths = FILES + [str(path.relative_to(view)) for folder in ("build", "src") for path in (view / folder).rglob("*") if path.is_file()]
    lines = (f"{hashlib.sha256((view / path).read_bytes()).hexdigest()}  {path}\n" for path in sorted(paths))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    view = pathlib.Path(sys.argv[1])
    for name in PAGES:
        page = (view / "dist" / name).read_text()
        recorded = re.findall(r'<meta name="sources" content="([0-9a-f]{64})">', page)
        if recorded != [hash_of_sources(view)]:
            sys.exit(f"view/dist/{name} is of other sources: (cd view && npm ci && npm run build)")
        if len(page.encode()) >= LARGEST:
            sys.exit(f"view/dist/{name} without a document has {len(page.encode())} bytes, not less than {LARGEST}")
        print(f"{name}: {len(page.encode())} bytes, built from its sources")
    for path, pattern in FORBIDDEN.items():
        if re.search(pattern, (view / path).read_bytes()):
            sys.exit(f"view/{path} holds {pattern.decode()}")


if __name__ == "__main__":
    main()
