# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: holds the built page against its sources by the hash that was recorded in it, without node.
# Invariant: the hash is that of view/build/sources.ts.
# Must not know: how the page is built.
"""usage: sources.py VIEW"""
import hashlib
import pathlib
import re
import sys

FILES = ["index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"]
LARGEST = 300_000
# Hosts of registries, and what would load something: the page and the lock file name none.
FORBIDDEN = {"package-lock.json": rb'"resolved"', "dist/index.html": rb'(src|href)="(https?:)?//'}


def hash_of_sources(view):
    paths = FILES + [str(path.relative_to(view)) for folder in ("build", "src") for path in (view / folder).rglob("*") if path.is_file()]
    lines = (f"{hashlib.sha256((view / path).read_bytes()).hexdigest()}  {path}\n" for path in sorted(paths))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    view = pathlib.Path(sys.argv[1])
    page = (view / "dist" / "index.html").read_text()
    recorded = re.findall(r'<meta name="sources" content="([0-9a-f]{64})">', page)
    if recorded != [hash_of_sources(view)]:
        sys.exit("view/dist/index.html is of other sources: (cd view && npm ci && npm run build)")
    if len(page.encode()) >= LARGEST:
        sys.exit(f"the page without a document has {len(page.encode())} bytes, not less than {LARGEST}")
    for path, pattern in FORBIDDEN.items():
        if re.search(pattern, (view / path).read_bytes()):
            sys.exit(f"view/{path} holds {pattern.decode()}")
    print(f"{len(page.encode())} bytes of page, built from its sources")


if __name__ == "__main__":
    main()
