# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary report --sources: the page has the lines of source files below the folder that the user names, and no others.
# Invariant: a program is recorded whose debug information names a file outside of the folder, and a file that is no source.
# Must not know: which files may be read; test/analysis tries them one by one.
import base64
import gzip
import json
import os
import re
import subprocess
import sys

from support import SymbolsTest, main

GRANARY = os.path.abspath(sys.argv[2])
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_", "DEBUGINFOD_"))}
PROGRAM = """#include <stdlib.h>
#include "../../outside.h"
#line 3 "SECRET"
__attribute__((noinline)) static void *from_secret(int n) { return malloc(n); }
#line 6 "src/program.c"
int main(void) {
    char *a = malloc(100);  // the first
    void *b = from_outside(200);
    void *c = from_secret(300);
    *(volatile char *)a = 1;
    free(a), free(b), free(c);
    return 0;
}
"""
OUTSIDE = """#include <stdlib.h>
__attribute__((noinline)) static void *from_outside(int n) {
    return malloc(n);  // outside
}
"""
HINT = "source files of the program lie below this folder: --sources . shows their lines in the page\n"


class Sources(SymbolsTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("project/src"))
        self.write("outside.h", OUTSIDE)
        self.write("project/src/program.c", PROGRAM)
        self.write("project/SECRET", "one\ntwo\nthe password\n")
        subprocess.run(["gcc", "-g", "-O1", "-o", self.path("program"), "src/program.c"], cwd=self.path("project"), check=True)
        self.granary("record", "-q", "--stacks", "all", "-o", "trace", self.path("program"))

    def granary(self, *words, code=0, folder=""):
        done = subprocess.run([GRANARY, *words], cwd=self.path(folder), env=CLEAN, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
        return done.stdout, done.stderr

    def document(self, *options):
        self.granary("report", "trace", "-o", "page.html", *options)
        with open(self.path("page.html"), encoding="utf-8") as file:
            packed = re.search(r'<script id="document"[^>]*>([^<]*)</script>', file.read())[1]
        return json.loads(gzip.decompress(base64.b64decode(packed)))

    def test_lines_of_the_named_folder_alone(self):
        document = self.document("--sources", "project")
        sources = {frame["name"]: frame["source"] for frame in document["frames"] if "source" in frame}
        self.assertEqual(set(sources), {"main"})
        lines = {line["line"]: line["text"] for line in sources["main"]}
        self.assertEqual(lines[7], PROGRAM.splitlines()[6])
        self.assertEqual([line["line"] for line in sources["main"] if line.get("calls")], [7, 8, 9])
        self.assertIn("This page contains lines of 1 source file of the program.", document["notes"])
        text = json.dumps(document)
        for secret in ("the password", "// outside"):
            self.assertNotIn(secret, text)

    def test_without_the_option_no_line_but_a_hint_where_files_are_at_hand(self):
        self.assertFalse(any("source" in frame for frame in self.document()["frames"]))
        self.assertIn(HINT, self.granary("report", self.path("trace"), "-o", self.path("page.html"), folder="project")[0])
        os.makedirs(self.path("empty"))
        self.assertNotIn(HINT, self.granary("report", self.path("trace"), "-o", self.path("page.html"), folder="empty")[0])

    def test_a_folder_that_is_not_there(self):
        said = self.granary("report", "trace", "-o", "none.html", "--sources", "nowhere", code=2)
        self.assertEqual((said[0], said[1].count("\n")), ("", 1), said)
        self.assertFalse(os.path.exists(self.path("none.html")))

    def test_a_folder_without_them_says_so(self):
        os.makedirs(self.path("empty"))
        document = self.document("--sources", "empty")
        self.assertIn("No source file of the program was found below the folder that --sources names.", document["notes"])


if __name__ == "__main__":
    main()
