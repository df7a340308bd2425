#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary doctor on every kind of file, on privileged programs, and its picture of the environment.
# Invariant: nothing that is examined is run; the verdict, the exit code, the text and the JSON agree.
# Must not know: whose malloc wins (doctor_malloc.py).
"""Usage: doctor.py GRANARY LIBRARY FIXTURES."""

import ctypes
import os
import pty
import resource
import struct
import subprocess

from support import CLEAN, GRANARY, ToolTest, fixture, granary, main

NOBODY = 65534


class Kinds(ToolTest):
    def test_an_ordinary_program(self):
        report = self.assert_verdict(fixture("plain"), "yes")
        self.assertEqual(report["findings"], [])
        self.assert_verdict("/bin/true", "yes")
        self.assertEqual(self.assert_verdict("sh", "yes")["subject"], "sh")

    def test_static(self):
        self.assert_verdict(fixture("static"), "no", "static")
        self.assert_verdict(fixture("static_pie"), "no", "static-pie")

    def test_linked_with_granary(self):
        self.assert_verdict(fixture("linked"), "yes")
        self.assert_verdict(fixture("static_linked"), "yes")

    def test_no_programs(self):
        self.assert_verdict(self.write("zeroes", b"\0" * 100), "no", "not-elf")
        self.assert_verdict(self.write("empty", b""), "no", "not-elf")
        self.assert_verdict(self.folder, "no", "not-executable")
        self.assert_verdict("/dev/null", "no", "not-executable")
        self.assert_verdict(self.write("text", "hello\n", 0o644), "no", "not-executable")
        self.assert_verdict(fixture("libjemalloc.so.2"), "no", "shared-library")

    def test_not_there(self):
        for subject in ("no-such-program-here", "/no/such/program", self.path("missing")):
            result = granary("doctor", subject)
            self.assertEqual((result.returncode, result.stdout), (127, ""))
            self.one_line(result.stderr)
        self.write("here", "#!/bin/sh\n")
        self.assertIn("./here", granary("doctor", "here", cwd=self.folder).stderr)

    def changed(self, name, offset, replacement):
        with open(fixture("plain"), "rb") as file:
            content = bytearray(file.read())
        content[offset : offset + len(replacement)] = replacement
        return self.write(name, bytes(content))

    def test_other_machines(self):
        self.assert_verdict(self.changed("narrow", 4, b"\x01"), "no", "other-machine")
        self.assert_verdict(self.changed("big_endian", 5, b"\x02"), "no", "other-machine")
        self.assert_verdict(self.changed("other", 18, struct.pack("<H", 243)), "no", "other-machine")
        self.assert_verdict(self.changed("object", 16, struct.pack("<H", 1)), "no", "not-a-program")

    def with_loader(self, loader):
        with open(fixture("plain"), "rb") as file:
            content = file.read()
        place = content.index(b"/ld-linux")
        start = content.rindex(b"/lib", 0, place)
        end = content.index(b"\0", place)
        self.assertLessEqual(len(loader), end - start)
        return self.changed("loader", start, loader.encode().ljust(end - start, b"\0"))

    def test_loaders(self):
        self.assert_verdict(self.with_loader("/lib/ld-musl-x.so.1"), "no", "musl")
        self.assert_verdict(self.with_loader("/lib/nowhere.so"), "no", "no-loader")
        self.assert_verdict(self.with_loader("/bin/true"), "partly", "other-loader")

    def test_without_section_table(self):
        self.assert_verdict(self.changed("stripped", 40, b"\0" * 8 + b"\0" * 4), "yes")
        self.assert_verdict(self.changed("sectionless", 60, b"\0\0"), "yes", "stripped")


class Scripts(ToolTest):
    def test_the_interpreter_is_examined(self):
        for line in ("#!/bin/sh", "#! /bin/sh -e", "#!/usr/bin/env sh", "#!/usr/bin/env -S A=1 sh -e"):
            report = self.assert_verdict(self.write("script", line + "\n"), "yes", "script")
            self.assertEqual(os.path.basename(report["path"]), "sh")
        self.assert_verdict(self.write("script", f"#!{fixture('static')}\n"), "no", "static")

    def test_without_a_first_line(self):
        self.assert_verdict(self.write("script", "echo hello\n"), "yes", "script")

    def test_a_script_run_by_a_script(self):
        inner = self.write("inner", "#!/bin/sh\n")
        self.assert_verdict(self.write("outer", f"#!{inner}\n"), "yes", "script")

    def test_one_that_runs_itself(self):
        path = self.path("loop")
        self.assert_verdict(self.write("loop", f"#!{path}\n"), "no", "not-a-program")

    def test_wrong_first_lines(self):
        self.assert_verdict(self.write("missing", "#!/no/such/interpreter\n"), "no", "no-interpreter")
        self.assert_verdict(self.write("blank", "#! \n"), "no", "not-a-program")


class Privilege(ToolTest):
    def setUp(self):
        super().setUp()
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("the temporary folder is mounted nosuid")
        self.command = self.copy(GRANARY, "granary")
        self.program = self.copy(fixture("plain"), "program")

    def assert_not_for_others(self, kind):
        others = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.assert_verdict(self.program, "no", kind, command=self.command, **others)

    def test_set_uid_by_its_owner(self):
        os.chmod(self.program, 0o4755)
        self.assert_verdict(self.program, "partly", "set-uid")

    def test_set_gid_by_its_group(self):
        os.chmod(self.program, 0o2755)
        self.assert_verdict(self.program, "partly", "set-gid")

    def test_for_others(self):
        if os.getuid() != 0:
            self.skipTest("needs root to become somebody else")
        for mode, kind in ((0o4755, "set-uid"), (0o2755, "set-gid")):
            os.chmod(self.program, mode)
            self.assert_not_for_others(kind)
        os.chmod(self.program, 0o711)
        self.assert_not_for_others("unreadable")

    def test_file_capabilities(self):
        # A version 2 capability with net_bind_service permitted and effective.
        capability = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)
        try:
            os.setxattr(self.program, "security.capability", capability)
        except OSError as error:
            self.skipTest(f"file capabilities cannot be set here: {error}")
        self.assert_verdict(self.program, "partly", "file-capabilities")
        self.assert_not_for_others("file-capabilities")


class Environment(ToolTest):
    def facts(self, **options):
        report = self.diagnose(fixture("plain"), **options)
        return {fact["name"]: fact for fact in report["environment"]}

    def test_all_told(self):
        facts = self.facts()
        names = "rseq mm_cid page-size address-space overcommit huge-pages max-map-count seccomp"
        for name in names.split():
            self.assertTrue(facts[name]["value"], name)

    def test_rseq(self):
        libc = ctypes.CDLL(None)
        try:
            here = ctypes.c_uint.in_dll(libc, "__rseq_size").value != 0
        except ValueError:
            here = False
        self.assertEqual(self.facts()["rseq"]["value"], "on" if here else "off")
        off = self.facts(environment={"GLIBC_TUNABLES": "glibc.pthread.rseq=0"})
        self.assertEqual((off["rseq"]["value"], off["mm_cid"]["value"]), ("off", "off"))
        self.assertEqual(self.facts(environment={"GRANARY_RSEQ": "off"})["rseq"]["value"], "off")

    def test_limits(self):
        size = 1 << 30
        limited = self.facts(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
        self.assertEqual(limited["address-space"]["value"], "1G")

    def test_page_size(self):
        self.assertEqual(self.facts()["page-size"]["value"], f"{resource.getpagesize() // 1024}K")

    def test_options_file(self):
        self.assertEqual(self.facts(environment={"GRANARY_OPTIONS_FILE": "/x/y"})["options-file"]["value"], "/x/y")
        self.assertNotIn("options-file", self.facts(environment={"GRANARY_OPTIONS_FILE": ""}))

    def test_preload(self):
        self.assertEqual(self.facts(environment={"LD_PRELOAD": "libm.so.6"})["preload"]["value"], "libm.so.6")


class Output(ToolTest):
    def test_odd_names(self):
        for name in (b'quo"te\\', b"line\nbreak\x1b[31m", b"\xff\xfe broken \xc3", "ö€😀".encode()):
            path = os.path.join(self.folder.encode(), name)
            os.symlink(fixture("plain").encode(), path)
            report = self.diagnose(path)
            self.assertEqual(report["subject"], path.decode("utf-8", errors="replace"))
            text = granary("doctor", path).stdout
            self.assertNotIn("\x1b", text)

    def test_colour_only_on_a_terminal_that_wants_it(self):
        command = [GRANARY, "doctor", fixture("plain")]
        environment = {name: value for name, value in CLEAN.items() if name not in ("NO_COLOR", "TERM")}
        wanted, refused, dumb = {"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}
        for extra, coloured in ((wanted, True), (refused, False), (dumb, False)):
            ours, theirs = pty.openpty()
            subprocess.run(command, stdout=theirs, env={**environment, **extra}, check=True)
            os.close(theirs)
            self.assertEqual(b"\x1b[" in os.read(ours, 65536), coloured, extra)
            os.close(ours)
        self.assertNotIn("\x1b", granary("doctor", fixture("plain"), environment={"TERM": "xterm"}).stdout)


if __name__ == "__main__":
    main()
