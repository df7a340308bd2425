# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the test of structure.py: a small clean tree passes, and each way of breaking a rule is reported.
# Invariant: every rule has at least one tampering here, each found for its own reason and no other.
# Must not know: the real trees and their rules.
import pathlib
import tempfile

import structure

LICENCE = "// SPDX-License-Identifier: Apache-2.0 OR MIT\n"
HEAD = LICENCE + "// What: a\n// Invariant: b\n// Must not know: c\n"
CLEAN = {
    "base/bits.hpp": HEAD + "#pragma once\nnamespace gr {\ninline int one() { return 1; }\n}\n",
    "base/config.hpp": HEAD + "#pragma once\n#ifdef GRANARY_DEBUG\n#else\n#endif\n",
    "base/check.hpp": HEAD + "#pragma once\n#define GR_CHECK(x) (x)\n",
    "platform/memory.cpp": HEAD + '#include "base/bits.hpp"\n#if 1\n#endif\n',
    "platform/rseq/entry.S": "#" + HEAD.replace("\n", "\n#").rstrip("#") + "#define FAST 1\n",
    "malloc/c_api.hpp": HEAD + '#pragma once\n#include "granary/granary.h"\n',
    "replay/replay.hpp": HEAD + '#pragma once\n#include "heap/heap.hpp"\n',
    "main.cpp": HEAD + '#include "malloc/c_api.hpp"\n#include "replay/replay.hpp"\n',
    "heap/owner.hpp": HEAD + "#pragma once\n",
    "heap/drain.cpp": HEAD + '#include "heap/heap.hpp"\n',
    "heap/heap.cpp": LICENCE + '\n#include "heap/heap.hpp"\n',
    "heap/heap.hpp": HEAD + '#pragma once\n#include "base/bits.hpp"\n#include "heap/owner.hpp"\nstruct A {\n    int f() {\n        return 1;\n    }\n};\n',
}
RULES = structure.Rules(
    order=["base | what all know", "platform", "heap", "malloc* replay | two faces", "main"],
    plans={"heap": ["owner drain* | who owns, and what comes for it", "heap | what an owner has"]})
LONG = "int f(int a) {\n" + "    a += 1;\n" * structure.MAX_FUNCTION + "    return a;\n}\n"
TAMPERED = [
    ("base/bits.hpp", CLEAN["base/bits.hpp"] + '#include "heap/heap.hpp"\n', "folder that is not below its own"),
    ("replay/replay.hpp", CLEAN["replay/replay.hpp"] + '#include "malloc/c_api.hpp"\n', "folder that is not below its own"),
    ("other.cpp", HEAD, "'other' is not in order.txt"),
    ("base/bits.hpp", CLEAN["base/bits.hpp"] + '#include "nowhere.hpp"\n', "not a path from the tree's root"),
    ("base/bits.hpp", CLEAN["base/bits.hpp"] + '#include "base/offsets.inc"\n', "not a path from the tree's root"),
    ("base/bits.hpp", CLEAN["base/bits.hpp"] + '#include "base/bits.hpp"\n', "circle: base/bits.hpp -> base/bits.hpp"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"] + "#include <granary/granary.h>\n", "public granary/granary.h, which only"),
    ("lab/new.hpp", HEAD, "'lab' is not in order.txt"),
    ("heap/owner.cpp", HEAD + '#include "heap/heap.hpp"\n', 'includes "heap/heap.hpp", which is not above it in heap_order'),
    ("heap/drain.hpp", HEAD, "closes a circle by heap_order.txt, so nobody may include it"),
    ("heap/new.hpp", HEAD, "'new' is not in heap_order.txt"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"] + "#if 1\n#endif\n", "conditional outside"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"] + "# define X 1\n", "#define outside"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"] + "// TO" + "DO later\n", "unfinished work"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"].replace("Invariant:", ""), "does not open with 'Invariant:'"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"].replace("SPDX", "XDPS"), "does not open with 'SPDX"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"].replace("What: ", "What:      "), "'What:' is followed by one space and its text"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"].replace("// What", "//\n// What"), "an empty line between the licence and 'What:'"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"] + "static_assert(f(1) == 1 &&\n              true);\n", "heap.hpp:13: static_assert"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"] + "//\n" * structure.MAX_FILE, "split it, or give a reason"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"] + LONG, "lines in one function: int f(int a)"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"] + "namespace x {\nclass B {\n" + LONG + "};\n}\n", "lines in one function"),
    ("heap/heap.hpp", CLEAN["heap/heap.hpp"] + LONG.replace("(int a) {", "(int a)\n    const noexcept\n{"), "lines in one"),
]


def errors_of(files, rules=RULES):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return structure.check(pathlib.Path(root), rules)


# A source needs a head of its own only where no header has its name.
def check_short_heads():
    include = '#include "heap/heap.hpp"\n'
    for head in (LICENCE, LICENCE + "\n", LICENCE + "// One line of its own.\n", HEAD, HEAD + "// More.\n"):
        files = {**CLEAN, "heap/heap.cpp": head + include}
        assert errors_of(files) == [], (head, errors_of(files))
    every = [f"the file does not open with '{wanted}'" for wanted in structure.STATEMENTS]
    for path, text, expected in (
            ("heap/heap.cpp", LICENCE + "// One line.\n// And one more.\n" + include, every),
            ("heap/heap.cpp", LICENCE + "// What: a\n" + include, every[1:]),
            ("heap/heap.cpp", HEAD.replace("// Must not know: c\n", "") + include, every[2:]),
            ("heap/heap.cpp", include, [f"the file does not open with '{structure.LICENCE}'", *every]),
            ("heap/heap.hpp", LICENCE + CLEAN["heap/heap.hpp"].removeprefix(HEAD), every),
            ("heap/drain.cpp", LICENCE + include, every),
            ("platform/rseq/entry.S", LICENCE, every),
            ("main.cpp", LICENCE + CLEAN["main.cpp"].removeprefix(HEAD), every)):
        errors = errors_of({**CLEAN, path: text})
        assert errors == [f"{path}:1: {error}" for error in expected], (path, text, errors)
    elsewhere = {**CLEAN, "base/heap.cpp": LICENCE}
    assert errors_of(elsewhere) == [f"base/heap.cpp:1: {error}" for error in every], "a header of another folder"


# Of a tree beside, what its order names may be included, and else nothing.
def check_trees_beside():
    order = ["../src/base | another tree's", "parts"]
    with tempfile.TemporaryDirectory() as root:
        for path in ("src/base/bits.hpp", "src/heap/heap.hpp"):
            (pathlib.Path(root) / path).parent.mkdir(parents=True)
            (pathlib.Path(root) / path).write_text(HEAD)
        part = pathlib.Path(root) / "lab/parts/part.hpp"
        part.parent.mkdir(parents=True)
        for text, exceptions, expected in (('#include "base/bits.hpp"\n', [], None),
                                           ('#include "heap/heap.hpp"\n', [], "not a path from the tree's root"),
                                           ('#include "built.hpp"\n', [], "not a path from the tree's root"),
                                           ('#include "built.hpp"\n', ["built.hpp | the build writes it"], None)):
            part.write_text(HEAD + text)
            errors = structure.check(pathlib.Path(root) / "lab", structure.Rules(order, exceptions))
            assert errors == [] if expected is None else len(errors) == 1 and expected in errors[0], (text, errors)


# Folders inside a folder are layers, too, if the order names them.
def check_inner_folders():
    order = ["parts/lists", "parts/stores", "allocators"]
    clean = {"parts/lists/list.hpp": HEAD, "parts/stores/store.hpp": HEAD + '#include "parts/lists/list.hpp"\n',
             "allocators/one.hpp": HEAD + '#include "parts/stores/store.hpp"\n'}
    for changed, expected in (
            ({}, []),
            ({"parts/lists/list.hpp": HEAD + '#include "parts/stores/store.hpp"\n', "parts/stores/store.hpp": HEAD},
             ['parts/lists/list.hpp: includes "parts/stores/store.hpp" from a folder that is not below its own']),
            ({"parts/more/part.hpp": HEAD}, ["parts/more/part.hpp:1: folder 'parts' is not in order.txt"])):
        errors = errors_of({**clean, **changed}, structure.Rules(order=order))
        assert errors == expected, errors


# What a file says of how it differs from its paper, and what the table of known deviations says of it.
def check_deviations():
    told = {"base/bits.hpp": HEAD, "heap/heap.hpp": HEAD + "// Finds: d\n// Differs: free takes\n//    one lock.\n#pragma once\n"}
    rules = structure.Rules(order=RULES.order, heads=["heap Finds: | it finds"],
                            differs=["heap/heap.hpp | takes one lock | the paper takes two"])
    assert errors_of(told, rules) == [], errors_of(told, rules)
    unsaid = HEAD + "// Finds: d\n#pragma once\n"
    for text, expected in (
            (unsaid, "heap/heap.hpp:1: no 'Differs:' in the head, though differs.txt knows a deviation"),
            (unsaid.replace("#", "//\n" * 8 + "// Differs: free takes one lock.\n#"),
             "heap/heap.hpp:1: no 'Differs:' in the head, though differs.txt knows a deviation"),
            (told["heap/heap.hpp"].replace("one lock", "two locks"), "heap/heap.hpp:6: 'Differs:' does not say 'takes one lock'"),
            (told["heap/heap.hpp"].replace("//    one", "//\n//    one"),
             "heap/heap.hpp:6: 'Differs:' does not say 'takes one lock'"),
            (HEAD + "// Differs: takes one lock\n// Finds: d\n", "heap/heap.hpp:5: 'Differs:' is not the last statement")):
        errors = errors_of({**told, "heap/heap.hpp": text}, rules)
        assert errors == [expected], (text, errors)
    unknown = {**told, "base/bits.hpp": HEAD + "// Differs: more\n"}
    assert errors_of(unknown, rules) == ["base/bits.hpp:5: 'Differs:' says what differs.txt does not know"]
    gone = {"base/bits.hpp": HEAD}
    assert errors_of(gone, rules) == ["differs.txt: there is no heap/heap.hpp"], errors_of(gone, rules)


def main():
    assert errors_of(CLEAN) == [], errors_of(CLEAN)
    check_trees_beside()
    check_inner_folders()
    check_short_heads()
    assert errors_of({}) != [], "an empty tree must not pass"
    for path, text, expected in TAMPERED:
        errors = errors_of({**CLEAN, path: text})
        assert len(errors) == 1 and expected in errors[0], (path, expected, errors)
    wide = {"heap/wide.hpp": HEAD + "class alignas(64) Wide {\n" + "    int a;\n" * structure.MAX_FUNCTION + "};\n"}
    alone = structure.Rules(order=RULES.order)
    assert errors_of({**CLEAN, **wide}, alone) == [], errors_of({**CLEAN, **wide}, alone)
    across = {"base/x.hpp": HEAD + '#include "base/y.hpp"\n', "base/y.hpp": HEAD + '#include "base/x.hpp"\n'}
    assert errors_of({**CLEAN, **across}) == ["circle: base/x.hpp -> base/y.hpp -> base/x.hpp"], errors_of(across)
    gone = {path: text for path, text in CLEAN.items() if path != "heap/drain.cpp"}
    assert errors_of(gone) == ["heap_order.txt: there is no heap/drain"], errors_of(gone)
    strict = structure.Rules(RULES.order, limits=["heap 8 | short"], words=["heap int | no numbers"])
    for expected in ("heap/heap.hpp: 12 lines; split it", "heap/heap.hpp:9: 'int' has no place"):
        assert any(error.startswith(expected) for error in errors_of(CLEAN, strict)), (expected, errors_of(CLEAN, strict))
    finding = structure.Rules(order=RULES.order, heads=["heap Finds: | what it finds"])
    told = {"base/bits.hpp": HEAD, "heap/heap.hpp": HEAD + "// Finds: d\n"}
    assert errors_of(told, finding) == [], errors_of(told, finding)
    for text in (HEAD, HEAD.replace("// What:", "// Finds: d\n// What:"), HEAD + "//\n" * 12 + "// Finds: d\n"):
        errors = errors_of({**told, "heap/heap.hpp": text}, finding)
        assert errors == ["heap/heap.hpp:1: the file does not open with 'Finds:'"], errors
    check_deviations()
    beside = structure.Rules(order=RULES.order, plans={"heap": ["owner heap drain*"]})
    assert len(errors_of(CLEAN, beside)) == 1 and "not above it" in errors_of(CLEAN, beside)[0], errors_of(CLEAN, beside)
    print(f"structure: {len(TAMPERED) + 22} tampered trees found out")


if __name__ == "__main__":
    main()
