# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: checks a tree of sources against its own rules: layers, plans of folders, circles, preprocessor, sizes, words
#    that have no place, headers of files.
# Invariant: reads order.txt, exceptions.txt, limits.txt, words.txt, heads.txt, differs.txt and <folder>_order.txt in the
#    given folder of rules and the files under the given tree, and of trees beside it the names of files in folders that its
#    order names.
# Must not know: C++; it reads lines, includes and braces.
"""usage: structure.py TREE RULES"""
import dataclasses
import itertools
import pathlib
import re
import sys

MAX_FILE, MAX_FUNCTION = 400, 60
LICENCE = "SPDX-License-Identifier: Apache-2.0 OR MIT"
STATEMENTS = ("What:", "Invariant:", "Must not know:")
HEAD_LINES = 12
DIFFERS = "Differs:"
MAY_USE_IF = re.compile(r"platform/|base/config\.hpp$")
MAY_DEFINE = re.compile(r"base/check\.hpp$|.*\.(S|inc)$")
SOURCES = (".hpp", ".cpp", ".S", ".inc", ".h", ".c")


# What is not there has no lines.
def table(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if line.strip() and not line.startswith("#")]


def exceptions(lines):
    pairs = (line.split("|", 1) for line in lines)
    return {what.strip() for what, *reason in pairs if reason and reason[0].strip()}


# Names by lines: the level of each, and those that have a star. `../TREE/FOLDER` is a folder of another tree,
# `FOLDER/INNER` a folder inside one of this tree.
def levels_of(lines):
    rows = [line.split("|")[0].split() for line in lines]
    levels = {re.sub(r"^\.\./\w+/", "", name.rstrip("*")): level for level, names in enumerate(rows) for name in names}
    return levels, {name.rstrip("*") for names in rows for name in names if name.endswith("*")}


# The first word of each line, and the others.
def words_by_first(lines):
    return {words[0]: words[1:] for words in (line.split("|")[0].split() for line in lines)}


# What may be included of other trees.
def files_beside(tree, order):
    names = [name.rstrip("*") for line in order for name in line.split("|")[0].split() if name.startswith("../")]
    roots = [(tree.parent / name.split("/")[1], name.split("/")[2]) for name in names]
    return {path.relative_to(root).as_posix() for root, folder in roots for path in (root / folder).rglob("*")}


@dataclasses.dataclass
class Rules:
    order: list
    exceptions: list = dataclasses.field(default_factory=list)
    plans: dict = dataclasses.field(default_factory=dict)
    limits: list = dataclasses.field(default_factory=list)
    words: list = dataclasses.field(default_factory=list)
    heads: list = dataclasses.field(default_factory=list)
    differs: list = dataclasses.field(default_factory=list)


def read_rules(folder):
    plans = {path.name.removesuffix("_order.txt"): table(path) for path in sorted(folder.glob("*_order.txt"))}
    read = {name: table(folder / f"{name}.txt") for name in ("order", "exceptions", "limits", "words", "heads", "differs")}
    return Rules(plans=plans, **read)


def own_includes(text):
    return re.findall(r'^\s*#\s*include\s+(?:"|<(?=granary/))([^">]+)[">]', text, re.M)


# A source whose header has the statements needs none, and may say one line of its own.
def has_short_head(path, lines, files):
    if not path.endswith(".cpp") or path.removesuffix("cpp") + "hpp" not in files or LICENCE not in lines[0]:
        return False
    own = list(itertools.takewhile(lambda line: line.startswith("//"), lines[1:]))
    return len(own) <= 1 and not any(wanted in line for line in own for wanted in STATEMENTS)


# What all say, and then what their folder's do.
def opening_errors(path, text, heads, files):
    lines = text.splitlines() or [""]
    if has_short_head(path, lines, files):
        return
    head = lines[:HEAD_LINES]
    at = 0
    for wanted in (LICENCE, *STATEMENTS, *heads.get(folder_of(path), ())):
        found = next((i for i in range(at, len(head)) if wanted in head[i]), None)
        if found is None:
            yield f"{path}:1: the file does not open with '{wanted}'"
            continue
        if wanted == STATEMENTS[0] and at > 0 and not re.search(r"\w", head[at]):
            yield f"{path}:{at + 1}: an empty line between the licence and '{wanted}'"
        if wanted != LICENCE and not re.search(rf"{wanted} \S", head[found]):
            yield f"{path}:{found + 1}: '{wanted}' is followed by one space and its text"
        at = found + 1


# The deviations of each file, as words of its statement.
def known_deviations(rows):
    known = {}
    for row in rows:
        path, words, *_ = (part.strip() for part in row.split("|"))
        known.setdefault(path, []).append(words)
    return known


# A statement that some heads have, after all others: how the file differs from its paper.
def deviation_errors(path, text, heads, known):
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines[:HEAD_LINES]) if re.match(rf"\W+{DIFFERS} \S", line)), None)
    if at is None:
        if path in known:
            yield f"{path}:1: no '{DIFFERS}' in the head, though differs.txt knows a deviation"
        return
    if path not in known:
        yield f"{path}:{at + 1}: '{DIFFERS}' says what differs.txt does not know"
    if any(wanted in line for line in lines[at + 1:HEAD_LINES] for wanted in (*STATEMENTS, *heads.get(folder_of(path), ()))):
        yield f"{path}:{at + 1}: '{DIFFERS}' is not the last statement"
    more = itertools.takewhile(lambda line: re.match(r"(//|#) {4}\S", line), lines[at + 1:])
    said = " ".join(" ".join(line.lstrip("/# ") for line in (lines[at], *more)).split())
    for words in known.get(path, ()):
        if words not in said:
            yield f"{path}:{at + 1}: '{DIFFERS}' does not say '{words}'"


# A file beside the folders counts as one of its name.
def folder_of(path):
    return path.split("/")[0] if "/" in path else pathlib.Path(path).stem


# Of a file in a folder's folder that order.txt names: that one.
def layer_of(path, levels):
    inner = "/".join(path.split("/")[:2])
    return inner if inner in levels else folder_of(path)


# The build computes it from the source beside it (cmake/GranaryOffsets.cmake).
def is_computed(target, files):
    return target.endswith("/offsets.inc") and target.removesuffix("inc") + "cpp" in files


def layer_errors(path, text, levels, faces, files, allowed):
    folder = layer_of(path, levels)
    if folder not in levels:
        yield f"{path}:1: folder '{folder}' is not in order.txt"
        return
    for target in own_includes(text):
        if target.startswith("granary/"):
            if folder not in faces:
                yield f"{path}: includes the public {target}, which only {', '.join(sorted(faces))} may know"
        elif target in allowed:
            continue
        elif target not in files and not is_computed(target, files):
            yield f"{path}: includes \"{target}\", which is not a path from the tree's root"
        elif layer_of(target, levels) != folder and levels.get(layer_of(target, levels), 0) >= levels[folder]:
            yield f"{path}: includes \"{target}\" from a folder that is not below its own"


def neighbours(path, text, files):
    folder = path.split("/")[0] + "/"
    return [target for target in own_includes(text) if target in files and target.startswith(folder)]


# The plan inside a folder, where there is one; a star is at the names that close a circle.
def plan_errors(folder, texts, lines):
    levels, closing = levels_of(lines)
    own = [path for path in texts if path.startswith(folder + "/")]
    for name in sorted(levels.keys() - {pathlib.Path(path).stem for path in own}):
        yield f"{folder}_order.txt: there is no {folder}/{name}"
    for path in own:
        stem = pathlib.Path(path).stem
        if stem not in levels:
            yield f"{path}:1: '{stem}' is not in {folder}_order.txt"
        elif stem in closing:
            if path.endswith(".hpp"):
                yield f"{path}: closes a circle by {folder}_order.txt, so nobody may include it"
        else:
            for target in neighbours(path, texts[path], texts):
                other = pathlib.Path(target).stem
                if other != stem and other in levels and levels[other] >= levels[stem]:
                    yield f"{path}: includes \"{target}\", which is not above it in {folder}_order.txt"


# Between folders the order excludes circles; this finds those inside one.
def circle_errors(graph):
    state = {}

    def visit(node, trail):
        state[node] = "open"
        for target in graph.get(node, ()):
            if state.get(target) == "open":
                yield "circle: " + " -> ".join(trail[trail.index(target):] + [target])
            elif target not in state:
                yield from visit(target, trail + [target])
        state[node] = "done"

    for start in sorted(graph):
        if start not in state:
            yield from visit(start, [start])


def preprocessor_errors(path, lines):
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else)\b", line) and not MAY_USE_IF.match(path):
            yield f"{path}:{number}: conditional outside platform/ and base/config.hpp"
        if re.match(r"\s*#\s*define\b", line) and not MAY_DEFINE.match(path):
            yield f"{path}:{number}: #define outside base/check.hpp and the assembly"
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            yield f"{path}:{number}: unfinished work; finish it, or decide and write the decision down"


def code_of(line):
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])+\'', '""', line)
    return line.split("//")[0]


# A function begins where a parameter list, at brace depth of namespaces and classes only, is followed by its brace.
def functions(lines):
    scopes, pending, start = [], "", 1
    for number, line in enumerate(lines, 1):
        code = code_of(line)
        if line.lstrip().startswith("#"):
            continue
        for token in re.findall(r"[{};]|[^{};]+", code):
            if token == "{":
                outside = all(kind != "body" for kind, _, _ in scopes)
                pending = re.sub(r"\balignas\([^()]*\)", "", pending)
                plain = not re.search(r"\b(namespace|class|struct|union|enum|concept)\b[^()]*$|=\s*$", pending)
                kind = "body" if outside and plain and ")" in pending else "inner" if not outside else "scope"
                scopes.append((kind, start, " ".join(pending.split())))
                pending = ""
            elif token == "}" and scopes:
                kind, first, name = scopes.pop()
                if kind == "body":
                    yield name, first, number
                pending = ""
            elif token == ";":
                pending = ""
            else:
                if not pending.strip() and token.strip():
                    start = number
                pending += " " + token


def word_errors(path, lines, words):
    for number, line in enumerate(lines, 1):
        for word in words.get(folder_of(path), ()):
            if re.search(rf"\b{word}\b", code_of(line)):
                yield f"{path}:{number}: '{word}' has no place in {folder_of(path)}, by words.txt"


def assert_errors(path, text):
    for found in re.finditer(r"^[^/\n]*\bstatic_assert\(", text, re.M):
        depth, end = 1, found.end()
        while depth > 0 and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if '"' not in text[found.end():end]:
            line = text.count("\n", 0, found.end()) + 1
            yield f"{path}:{line}: static_assert says nothing; give it a message"


def size_errors(path, lines, allowed, limits):
    if len(lines) > limits.get(folder_of(path), MAX_FILE) and path not in allowed:
        yield f"{path}: {len(lines)} lines; split it, or give a reason in exceptions.txt"
    if path.endswith((".S", ".inc")):
        return
    for name, first, last in functions(lines):
        if last - first + 1 > MAX_FUNCTION and f"{path}:{name}" not in allowed:
            yield f"{path}:{first}: {last - first + 1} lines in one function: {name}"


def check(tree, rules):
    (levels, faces), allowed = levels_of(rules.order), exceptions(rules.exceptions)
    texts = {p.relative_to(tree).as_posix(): p.read_text() for p in sorted(tree.rglob("*")) if p.suffix in SOURCES}
    limits = {folder: int(most[0]) for folder, most in words_by_first(rules.limits).items()}
    words, heads, known = words_by_first(rules.words), words_by_first(rules.heads), known_deviations(rules.differs)
    files = texts.keys() | files_beside(tree, rules.order)
    errors = [] if texts else [f"{tree}: no sources here"]
    errors += [f"differs.txt: there is no {path}" for path in sorted(known.keys() - texts.keys())]
    for path, text in texts.items():
        lines = text.splitlines()
        errors += opening_errors(path, text, heads, texts)
        errors += deviation_errors(path, text, heads, known)
        errors += layer_errors(path, text, levels, faces, files, allowed)
        errors += preprocessor_errors(path, lines)
        errors += word_errors(path, lines, words)
        errors += size_errors(path, lines, allowed, limits)
        errors += assert_errors(path, text)
    for folder, lines in rules.plans.items():
        errors += plan_errors(folder, texts, lines)
    return errors + list(circle_errors({path: neighbours(path, text, texts) for path, text in texts.items()}))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tree, rules = map(pathlib.Path, sys.argv[1:])
    errors = check(tree, read_rules(rules))
    print("\n".join(errors) if errors else "structure: as written down")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
