# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the sources of the page against their rules: which file may import which, how files open, how long they are.
# Invariant: each rule is tried on a line or a file that breaks it, before it is believed.
# Must not know: what the files do.
"""usage: structure.py VIEW"""
import pathlib
import posixpath
import re
import sys

# Folders and files in src/, from below; those of one line do not know each other.
ORDER = [["document"], ["data"], ["parts"], ["charts", "lab"], ["page", "lab_main"], ["main"]]
MAX_FILE = 400
HEAD = ["SPDX-License-Identifier", "What:", "Invariant:", "Must not know:"]


def place(path):
    """where a path within src/ stands in the order; packages stand below all"""
    if path.startswith("uplot"):
        return -1
    return next(at for at, names in enumerate(ORDER) if top(path) in names)


def top(path):
    return path.split("/")[0].removesuffix(".ts")


def is_above(name, path):
    return place(name) > place(path) or (place(name) == place(path) and top(name) != top(path))


def imports(path, text):
    for name in re.findall(r'(?:from|import) "([^"]+)"', text):
        if not name.endswith(".css"):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name.startswith(".") else name


def errors(path, text):
    yield from (f"{path} imports {name}, which is not below it" for name in imports(path, text) if is_above(name, path))
    head = text[:1000]
    yield from (f"{path} does not open with '{part}'" for part in HEAD if part not in head)
    if text.count("\n") > MAX_FILE:
        yield f"{path} has more than {MAX_FILE} lines"


def circles(graph):
    done = set()

    def visit(file, above):
        if file in above:
            yield "circle: " + " -> ".join([*above[above.index(file):], file])
        elif file not in done:
            for name in graph.get(file, []):
                yield from visit(name, [*above, file])
            done.add(file)

    for file in graph:
        yield from visit(file, [])


def self_test():
    head = "// SPDX-License-Identifier\n// What:\n// Invariant:\n// Must not know:\n"
    assert not list(errors("charts/a.ts", head + 'import { b } from "../data/b";\nimport u from "uplot";\n'))
    assert list(errors("data/b.ts", head + 'import { a } from "../charts/a";\n')) == ["data/b.ts imports charts/a, which is not below it"]
    assert list(errors("lab/b.ts", head + 'import { a } from "../charts/a";\n')) == ["lab/b.ts imports charts/a, which is not below it"]
    assert list(errors("data/b.ts", head.replace("Invariant:", ""))) == ["data/b.ts does not open with 'Invariant:'"]
    assert list(errors("data/b.ts", head + "\n" * MAX_FILE)) == [f"data/b.ts has more than {MAX_FILE} lines"]
    assert list(circles({"a": ["b"], "b": ["c"], "c": ["b"]})) == ["circle: b -> c -> b"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    self_test()
    root = pathlib.Path(sys.argv[1]) / "src"
    files = {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.ts"))}
    found = [error for path, text in files.items() for error in errors(path, text)]
    found += circles({path.removesuffix(".ts"): list(imports(path, text)) for path, text in files.items()})
    found += [f"{path} does not open with '{part}'" for path in root.rglob("*.css") for part in HEAD if part not in path.read_text()[:600]]
    if found or not files:
        sys.exit("\n".join(found) or "there are no sources")
    print(f"{len(files)} files keep the rules")


if __name__ == "__main__":
    main()
