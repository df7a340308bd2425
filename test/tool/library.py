#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: where the command finds libgranary.so, and what it says when it does not.
# Invariant: a library that cannot be preloaded is an error, never silently left out.
# Must not know: what the library does.
"""Usage: library.py GRANARY LIBRARY FIXTURES."""

import os
import sys
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


class PathsThatTheLoaderCannotHold(ToolTest):
    """LD_PRELOAD and LD_LIBRARY_PATH have no escape for these letters, so they hold links."""

    PREFIX = "with blank and $dollar:colon;semicolon"

    def setUp(self):
        super().setUp()
        self.runtime = self.path("runtime")
        os.mkdir(self.runtime)
        self.links = os.path.join(self.runtime, "granary")
        built = os.path.dirname(LIBRARY)
        self.command = self.copy(GRANARY, f"{self.PREFIX}/bin/granary")
        self.copy(os.path.join(built, "granary-player"), f"{self.PREFIX}/libexec/granary/granary-player")
        for name in ("libgranary.so", "libgranary-record.so", "libgranary-gcmalloc.so", "libgranary-gc.so.0"):
            self.copy(os.path.join(built, name), f"{self.PREFIX}/lib/{name}")
        os.mkdir(self.path(f"{self.PREFIX}/lib/libgc"))
        os.symlink("../libgranary-gc.so.0", self.path(f"{self.PREFIX}/lib/libgc/libgc.so.1"))

    def granary(self, *arguments, **variables):
        return granary(*arguments, command=self.command, cwd=self.folder,
                       environment={"XDG_RUNTIME_DIR": self.runtime, **variables})

    def output_of(self, *arguments, **variables):
        result = self.granary(*arguments, **variables)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def preloaded(self, *options, **variables):
        return self.output_of("run", *options, *SHOW, **variables).strip()

    def test_run(self):
        path = self.preloaded()
        self.assertRegex(path, rf"^{self.links}/[0-9a-f]{{16}}/libgranary\.so$")
        self.assertEqual(os.path.realpath(path), self.path(f"{self.PREFIX}/lib/libgranary.so"))
        self.assertIn(f"{self.PREFIX}/lib/libgranary.so\n", self.output_of("run", "cat", "/proc/self/maps"))
        self.assertEqual(os.stat(self.links).st_mode & 0o777, 0o700)

    def test_the_link_is_made_once(self):
        self.assertEqual(self.preloaded(), self.preloaded())
        self.assertEqual(len(os.listdir(self.links)), 1)

    def test_the_link_is_in_front_once(self):
        path = self.preloaded()
        self.assertEqual(self.preloaded(LD_PRELOAD=path), path)

    def test_the_name_of_the_file(self):
        for name in ("with blank.so", "with:colon.so", "with$dollar.so", "with\ttab.so"):
            with self.subTest(name):
                path = self.preloaded("--library", self.copy(LIBRARY, name))
                self.assertRegex(path, rf"^{self.links}/[0-9a-f]{{16}}\.so$")
                self.assertEqual(os.path.realpath(path), self.path(name))
                self.assertIn("GRANARY_RETAIN", self.output_of("options", "--library", name))

    def test_record_and_replay(self):
        for options in ((), ("--allocator", "granary"), ("--allocator", f"./{self.PREFIX}/lib/libgranary.so")):
            with self.subTest(options):
                maps = self.output_of("record", "--quiet", *options, "-o", "the.trace", "cat", "/proc/self/maps")
                self.assertIn(f"{self.PREFIX}/lib/libgranary-record.so\n", maps)
                self.assertEqual(f"{self.PREFIX}/lib/libgranary.so\n" in maps, options != ())
                self.assertIn("blocks", self.output_of("summary", "the.trace"))
        self.output_of("replay", "--with", "system,granary", "--rounds", "1", "the.trace")

    def test_leaks(self):
        self.assertIn(f"{self.PREFIX}/lib/libgranary-gcmalloc.so\n",
                      self.output_of("leaks", "cat", "/proc/self/maps"))

    def test_collector(self):
        folder = self.output_of("run", "--gc", "sh", "-c", "echo $LD_LIBRARY_PATH").strip()
        self.assertRegex(folder, rf"^{self.links}/[0-9a-f]{{16}}$")
        loads = "import ctypes; ctypes.CDLL('libgc.so.1'); print(open('/proc/self/maps').read())"
        self.assertIn(f"{self.PREFIX}/lib/libgranary-gc.so.0\n",
                      self.output_of("run", "--gc", sys.executable, "-c", loads))

    def test_a_blank_alone_does_not_part_folders(self):
        os.rename(self.path(self.PREFIX), self.path("with blank"))
        self.command = self.path("with blank/bin/granary")
        self.assertEqual(self.output_of("run", "--gc", "sh", "-c", "echo $LD_LIBRARY_PATH").strip(),
                         self.path("with blank/lib/libgc"))

    def test_what_lies_beside_the_library(self):
        """$ORIGIN in a library is the link's path, which leads to the same neighbours."""
        path = self.preloaded()
        for way in ("libgranary-gc.so.0", "../bin/granary"):
            self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), way)), way)

    def test_a_runtime_folder_that_is_not_private_is_not_used(self):
        def closed():
            os.mkdir(self.links, 0o755)

        def linked():
            os.mkdir(self.path("elsewhere"), 0o700)
            os.symlink(self.path("elsewhere"), self.links)

        def is_file():
            self.write("runtime/granary", "")

        for make in (closed, linked, is_file):
            with self.subTest(make.__name__):
                make()
                path = self.preloaded()
                self.assertTrue(path.startswith(f"/tmp/granary-{os.geteuid()}/"), path)
                self.assertEqual(os.path.realpath(path), self.path(f"{self.PREFIX}/lib/libgranary.so"))
                os.remove(os.path.dirname(path))
                os.rename(self.links, self.path(f"was-{make.__name__}"))

    def test_runtime_folders_that_cannot_serve(self):
        for runtime in ("", "relative", self.path("missing"), self.path(self.PREFIX)):
            with self.subTest(runtime):
                path = self.preloaded(XDG_RUNTIME_DIR=runtime)
                self.assertTrue(path.startswith(f"/tmp/granary-{os.geteuid()}/"), path)
                os.remove(os.path.dirname(path))

    def test_a_link_that_leads_elsewhere_is_refused(self):
        link = os.path.dirname(self.preloaded())
        os.remove(link)
        os.symlink(self.folder, link)
        for command in (("run", "true"), ("options",), ("leaks", "true"), ("record", "-o", "the.trace", "true")):
            result = self.granary(*command)
            self.assertEqual((result.returncode, result.stdout), (125, ""), command)
            self.assertIn(link, self.one_line(result.stderr))
            self.assertFalse(os.path.exists(self.path("the.trace")))


if __name__ == "__main__":
    main()
