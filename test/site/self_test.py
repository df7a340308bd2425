# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the test of links_test.py and of what it reads pages with: a clean repository passes, tampered ones do not.
# Invariant: every error has a tampering here, found for its own reason and no other; so has every rule of GitHub's.
# Must not know: the repository's own pages.
import pathlib
import tempfile

import links_test

HEAD = "# One page\n\n"
CLEAN = {
    "docs/site/mkdocs.yml": "site_name: x\nnav:\n  - Home: README.md\n  - Shelf:\n      - A: docs/a.md\n      - M: man/m.1.md\n"
                            "other:\n  - not: here.md\n",
    "README.md": "# Home\n\nTo [a](docs/a.md), [its end](docs/a.md#the-end-of-a), ![a picture](docs/x.svg), [code](src/x.cpp),\n"
                 "[a folder](docs) and [over two\nlines](docs/a.md#twice-1); [elsewhere](https://example.org/none).\n",
    "docs/a.md": "# A\n\n## The `end` of [a](../README.md)!\n\n## Twice\n\n## Twice\n\n<a id=\"by-hand\"></a>\n\n"
                 "[up](#a), [hand](#by-hand), `[no link](nowhere.md)`\n\n    [code](nowhere.md)\n\n```\n[code](nowhere.md)\n# Code\n```\n\n"
                 "* [back](../README.md)\n  * nested\n\n        [code](nowhere.md)\n\n    [no code](../README.md#home)\n\n"
                 "| a |\n|---|\n| [row](../README.md) |\n\n<!-- [comment](nowhere.md)\n\n[still](nowhere.md) -->\n",
    "docs/x.svg": "<svg/>",
    "src/x.cpp": "",
    "man/m.1.scd": "m(1)\n",
    "node_modules/x/README.md": "[not ours](nowhere.md)\n",
}
TAMPERED = [
    ("docs/a.md", "[x](b.md)", "docs/a.md:3: the link b.md leads to a file that does not exist"),
    ("docs/a.md", "![x](b.png)", "does not exist"),
    ("docs/a.md", "[x](../docs/A.md)", "does not exist"),
    ("docs/a.md", "[x](../node_modules/x/README.md)", "does not exist"),
    ("docs/a.md", "text\n[x\ny](b.md)", "docs/a.md:5: the link b.md"),
    ("docs/a.md", "* item\n  [x](b.md)", "docs/a.md:4: the link b.md"),
    ("docs/a.md", "| `a` | [x](b.md) |", "b.md leads to"),
    ("docs/a.md", "[x]: b.md", "b.md leads to"),
    ("docs/a.md", "[![x](x.svg)](b.md)", "b.md leads to"),
    ("docs/a.md", "an open ` quote, [x](b.md)", "b.md leads to"),
    ("docs/a.md", "```\ncode\n```\n[x](b.md)", "docs/a.md:6: the link b.md"),
    ("docs/a.md", "- item\n\n    [x](b.md)", "b.md leads to"),
    ("docs/a.md", "[x](../../b.md)", "leaves the repository"),
    ("docs/a.md", "[x](/README.md)", "begins with /"),
    ("docs/a.md", '<a href="../README.md">x</a>', "is written in HTML"),
    ("docs/a.md", '<img src="x.svg">', "is written in HTML"),
    ("docs/a.md", "[x](#a)", "an anchor that the page does not have"),  # the page's title is another now
    ("docs/a.md", "[x](../README.md#none)", "an anchor that the page does not have"),
    ("docs/a.md", "[x](../README.md#Home)", "an anchor that the page does not have"),
    ("docs/a.md", "[x](../src/x.cpp#L1)", "not a page"),
    ("docs/b.md", "A page.", "docs/b.md is missing in the navigation"),
    ("man/n.1.scd", "n(1)", "man/n.1.md is missing in the navigation"),
    ("docs/site/mkdocs.yml", "nav:\n  - A: docs/a.md\n  - M: man/m.1.md\n  - B: docs/b.md\n  - R: README.md", "docs/b.md does not exist"),
    ("docs/site/mkdocs.yml", "nav:\n  - A: docs/a.md\n  - M: man/m.1.md\n  - B: docs/a.md\n  - R: README.md", "more than once"),
]
ANCHORS = [
    (["# A b"], "a-b"),
    (["## `free` of a_b"], "free-of-a_b"),
    (["## A - b"], "a---b"),
    (["## What *it* does, and _why_?"], "what-it-does-and-why"),
    (["## _exit, `__x__`"], "_exit-__x__"),
    (["## [A link](b.md) & more"], "a-link--more"),
    (["## Größe 1.5"], "größe-15"),
    (["## A", "## A"], "a-1"),
    (["## A", "## A 1", "## A"], "a-2"),
]
# A Git viewer's Markdown, and what Python-Markdown needs for the same.
WRITTEN = [
    ("# A\n", "# A {#a}\n"),
    ("text\n- a\n  more\n  - b\n    more\n", "text\n\n- a\n    more\n    - b\n        more\n"),
    ("1. a\n\n   more\n\n       code\n", "1. a\n\n    more\n\n        code\n"),
    ("text\n| a |\n|---|\n", "text\n\n| a |\n|---|\n"),
    ("in 1986\n1986. no list\n", "in 1986\n1986. no list\n"),
    ("[a](x.md) `[b](x.md)`\n\n    [c](x.md)\n", "[a](to/x.md) `[b](x.md)`\n\n    [c](x.md)\n"),
    ("- a\n\n  ```\n  # c\n    d\n  ```\n", "- a\n\n    ```\n    # c\n      d\n    ```\n"),
]
MAN_PAGE = """m(1)

# SYNOPSIS

*m* [_A_]

*m* *-x*

# WORDS

*GRANARY_A*=*on*|_n_
	First, see *m*(1) and *n*(2).

	*on*
		Inner.

	- item
	  more
		- inner

	. one

[- *A*
:- B
|  c
:  d
   e

An example:

	a \\*b\\* c
"""
MAN_WRITTEN = """# m(1)

## Synopsis {#synopsis}

<pre><code>m &#91;<i>A</i>&#93;
m -x
</code></pre>

## Words {#words}

### GRANARY_A {#granary_a}

<code>GRANARY&#95;A=on&#124;<i>n</i></code>

First, see [m(1)](m.1.md) and <code>n</code>(2).

<code>on</code>

:   Inner.


- item
  more
    - inner

1. one


| <code>A</code> | B |
|---|---|
| c | d e |

An example:

    a *b* c
"""


def errors_of(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return links_test.check(pathlib.Path(root))


def tampered(path, text):
    files = dict(CLEAN)
    files[path] = (HEAD if path.endswith(".md") else "site_name: x\n") + text + "\n"
    if path == "docs/a.md":  # who links to the anchors of the page that is replaced
        files["README.md"] = "# Home\n"
    return files


def main():
    assert errors_of(CLEAN) == [], errors_of(CLEAN)
    for path, text, reason in TAMPERED:
        found = errors_of(tampered(path, text))
        assert len(found) == 1 and reason in found[0], (path, text, reason, found)
    pages = links_test.pages
    for headings, last in ANCHORS:
        given = pages.Anchors()
        names = [given.of(heading) for heading in headings]
        assert names[-1] == last, (headings, names)
    for text, expected in WRITTEN:
        written = pages.for_site(pages.blocks(text), lambda target: "to/" + target)
        assert written == expected, (text, written)
    written = links_test.site.man_page.for_site(MAN_PAGE, lambda name, section: "m.1.md" if name == "m" else None)
    assert written == MAN_WRITTEN, written
    print(f"{len(TAMPERED)} tamperings found")


if __name__ == "__main__":
    main()
