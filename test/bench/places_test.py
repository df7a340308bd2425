# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: how files of a checkout, its build and its peers are named in a result.
# Invariant: folders are made for the test; a link among them is one on disk.
# Must not know: what a result holds.
"""Usage: places_test.py BUILD_FOLDER."""

import tempfile
import unittest
from pathlib import Path

from support import main

from places import Places


class Named(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outside = Path(folder.name).resolve()
        self.root = self.outside / "checkout"
        (self.root / "build").mkdir(parents=True)

    def named(self, value, *folders: Path):
        return Places(folders, self.root).named(value)

    def test_what_lies_in_the_checkout_is_named_from_its_root(self):
        text = f"{self.root}/build/release/granary -I{self.root}/include: {self.root}/build/x"
        self.assertEqual(self.named(text, self.root / "build" / "release"), "build/release/granary -Iinclude: build/x")

    def test_what_lies_elsewhere_has_its_folders_last_name(self):
        self.assertEqual(self.named(f"{self.outside}/other/a/b {self.outside}/others/c", self.outside / "other"),
                         f"other/a/b {self.outside}/others/c")

    def test_both_ends_of_a_link_have_its_name(self):
        (self.outside / "far" / "away").mkdir(parents=True)
        link = self.root / "build" / "peers"
        link.symlink_to(self.outside / "far" / "away")
        self.assertEqual(self.named([f"{link}/a.so", f"{link.resolve()}/a.so"], link), 2 * ["build/peers/a.so"])

    def test_a_checkout_inside_the_build_folder(self):
        self.assertEqual(self.named(f"{self.root}/bench {self.outside}/bench", self.outside),
                         f"bench {self.outside.name}/bench")

    def test_every_depth_and_nothing_else(self):
        path = f"{self.root}/bench"
        self.assertEqual(self.named({"a": [path, {"b": path}], "c": 1, "d": None, "e": 0.5, "f": True}),
                         {"a": ["bench", {"b": "bench"}], "c": 1, "d": None, "e": 0.5, "f": True})
        self.assertEqual(self.named("/usr/lib/libc.so.6"), "/usr/lib/libc.so.6")


if __name__ == "__main__":
    main()
