# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what cannot be recorded is said in one line, and leaves no file.
# Invariant: the exit code tells whose fault it is.
# Must not know: how it is recorded.
import os
import unittest

from support import PROGRAMS, RecordTest, program


class Refusals(RecordTest):
    def refuse(self, code, text, *words):
        output, said = self.record(*words, code=code)
        self.assertEqual(output, "")
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn(text, said)
        return said

    def test_static(self):
        self.refuse(1, "static", "-o", "x.trace", program("record_static"), "10")
        self.assertEqual(self.files(), [])

    def test_granary_in_it(self):
        for name in ("record_static_linked", "record_linked"):
            self.refuse(1, "Granary is linked into it", "-o", "x.trace", program(name), "10")
        self.assertEqual(self.files(), [])

    def test_own_malloc(self):
        self.refuse(1, "exports its own malloc", "-o", "x.trace", program("record_own_malloc"), "mmap")
        self.assertEqual(self.files(), [])

    def test_own_malloc_of_what_the_program_becomes(self):
        """It cannot be refused any more, but it runs as without the recorder."""
        for way in ("mmap", "brk"):
            output, _ = self.record("-q", "-o", "x.trace", "env", program("record_own_malloc"), way)
            self.assertEqual(output, "fine\n")

    def test_not_found(self):
        self.refuse(127, "no program", "-o", "x.trace", "no-such-program")
        self.assertEqual(self.files(), [])

    def test_not_executable(self):
        with open(os.path.join(self.folder, "text"), "wb") as file:
            file.write(b"#!/bin/sh\n")
        self.refuse(126, "Permission denied", "-o", "x.trace", "./text")
        self.assertEqual(self.files(), ["text"])

    def test_set_uid(self):
        path = os.path.join(self.folder, "set-uid")
        with open("/bin/true", "rb") as file, open(path, "wb") as copy:
            copy.write(file.read())
        os.chmod(path, 0o755)
        if os.geteuid() != 0:
            self.skipTest("only root makes a program of another user")
        os.chown(path, 1, 1)
        os.chmod(path, 0o4755)
        self.refuse(1, "set-uid", "-o", "x.trace", "./set-uid")

    def test_file_that_cannot_be_written(self):
        said = self.refuse(125, "cannot write", "-o", "no/folder/x.trace", "/bin/true")
        self.assertIn("No such file or directory", said)

    def test_named_pipe(self):
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        _, said = self.record("-o", "pipe", "/bin/true", code=125)
        self.assertEqual(said, "granary: record: cannot write 'pipe': no process reads this named pipe\n")
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.record("-o", "pipe", "/bin/true")  # its trace has room in the pipe
        with open(os.path.join(self.folder, "x.trace"), "wb") as file, open(reader, "rb") as read:
            file.write(read.read())
        self.assertEqual(self.trace("x.trace").end["reason"], "exit")

    def test_device_that_is_full(self):
        _, said = self.record("-o", "/dev/full", "/bin/true", code=125)
        self.assertIn("No space left", said)

    def test_no_program_and_no_allocator(self):
        self.refuse(2, "no program", "-o", "x.trace")
        self.refuse(2, "no-such-allocator", "--allocator", "no-such-allocator", "/bin/true")
        self.assertEqual(self.files(), [])

    def test_own_functions_of_a_linked_allocator_are_noted_only_if_they_make_blocks(self):
        fixtures = os.path.join(PROGRAMS, "..", "tool", "fixtures")
        _, said = self.record("-o", "x.trace", os.path.join(fixtures, "jemalloc_statistics"))
        self.assertEqual(said.count("\n"), 1, said)
        _, said = self.record("-o", "x.trace", os.path.join(fixtures, "jemalloc_blocks"))
        self.assertIn("blocks that the program gets from that allocator's own functions are not seen", said)
        self.assertNotIn("Granary", said)

    def test_quiet(self):
        _, said = self.record("-q", "-o", "x.trace", "/bin/true")
        self.assertEqual(said, "")

    def test_default_name(self):
        self.record("/bin/true")
        (name,) = self.files()
        self.assertEqual(name, f"granary.true.{self.trace(name).start['process']}.trace")


if __name__ == "__main__":
    unittest.main(argv=["refusals"])
