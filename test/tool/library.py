#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What:      where the command finds libgranary.so, and what it says when it does not.
# Invariant: a library that cannot be preloaded is an error, never silently left out.
# Must not know: what the library does.
"""Usage: library.py GRANARY LIBRARY FIXTURES."""

import os
import sysconfig

from support import GRANARY, LIBRARY, ToolTest, fixture, granary, main

SHOW = ("sh", "-c", "echo $LD_PRELOAD")


class Found(ToolTest):
    def found(self, command, **options):
        result = granary("run", *SHOW, command=command, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.strip()

    def test_next_to_the_command(self):
        command = self.copy(GRANARY, "granary")
        library = self.copy(LIBRARY, "libgranary.so")
        self.assertEqual(self.found(command), library)

    def test_installed(self):
        for folder in ("lib", f"lib/{sysconfig.get_config_var('MULTIARCH') or 'lib64/..'}", "lib64"):
            with self.subTest(folder):
                command = self.copy(GRANARY, "prefix/bin/granary")
                library = self.copy(LIBRARY, os.path.normpath(f"prefix/{folder}/libgranary.so"))
                self.assertEqual(self.found(command), library)
                os.remove(library)

    def test_through_a_link_to_the_command(self):
        self.copy(GRANARY, "prefix/bin/granary")
        library = self.copy(LIBRARY, "prefix/lib/libgranary.so")
        os.symlink("prefix/bin/granary", self.path("link"))
        self.assertEqual(self.found(self.path("link")), library)

    def test_on_the_loaders_path(self):
        command = self.copy(GRANARY, "bin/granary")
        library = self.copy(LIBRARY, "elsewhere/libgranary.so")
        self.assertEqual(self.found(command, environment={"LD_LIBRARY_PATH": os.path.dirname(library)}), library)

    def test_requested_comes_first_and_becomes_absolute(self):
        command = self.copy(GRANARY, "granary")
        self.copy(LIBRARY, "libgranary.so")
        other = self.copy(LIBRARY, "other.so")
        result = granary("run", "--library", "other.so", *SHOW, command=command, cwd=self.folder)
        self.assertEqual(result.stdout.strip(), other)


class Refused(ToolTest):
    def assert_refused(self, *arguments, **options):
        for subcommand in (("run", *arguments, "true"), ("options", *arguments)):
            result = granary(*subcommand, **options)
            self.assertEqual((result.returncode, result.stdout), (125, ""))
            self.one_line(result.stderr)

    def test_none_anywhere(self):
        self.assert_refused(command=self.copy(GRANARY, "bin/granary"))

    def test_missing(self):
        self.assert_refused("--library", self.path("missing.so"))

    def test_not_a_library(self):
        self.assert_refused("--library", self.write("text.so", "text"))
        self.assert_refused("--library", self.write("empty.so", ""))
        self.assert_refused("--library", self.folder)
        self.assert_refused("--library", fixture("static"))

    def test_another_library(self):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            libc = next(line.split()[-1] for line in maps if "/libc.so" in line)
        self.assert_refused("--library", libc)

    def test_paths_that_ld_preload_cannot_hold(self):
        for name in ("with blank.so", "with:colon.so", "with$dollar.so"):
            self.assert_refused("--library", self.copy(LIBRARY, name))


if __name__ == "__main__":
    main()
