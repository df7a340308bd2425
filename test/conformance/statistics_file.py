#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What:      the file of GRANARY_STATS_FILE: written again and again, whole at any moment, gone with its process.
# Invariant: the test waits for what must happen; no time decides but the one after which it gives up.
# Must not know: how and by which thread the file is written.
"""Usage: statistics_file.py LIBRARY SERVER_PROGRAM."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import exposition

PATIENCE = 60  # seconds


def wait_for(condition):
    """Returns what the condition returns as soon as that is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise TimeoutError("it does not happen")


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return os.fstat(file.fileno()).st_ino, file.read()
    except FileNotFoundError:
        return None


class StatisticsFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def names(self):
        return sorted(os.listdir(self.folder.name))

    def serve(self, path, *arguments, **options):
        """Starts the server and returns it when all of its processes have allocated, and their ids."""
        environment = {"LD_PRELOAD": LIBRARY, "GRANARY_STATS_FILE": path, "GRANARY_STATS_INTERVAL": "1", **options}
        server = subprocess.Popen([PROGRAM, *arguments], env={**os.environ, **environment}, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.kill)
        count = 3 if arguments else 1
        return server, [int(server.stdout.readline()) for _ in range(count)]

    def end(self, server):
        """Returns what the server has said on standard error."""
        error = server.communicate()[1]
        self.assertEqual(server.returncode, 0)
        return error

    def test_written_again_and_again_and_whole_each_time(self):
        server, (process,) = self.serve(self.path("granary.prom"))
        seen = set()

        def is_written_thrice():
            found = read(self.path("granary.prom"))
            if found is not None:
                seen.add(found[0])
                metrics = exposition.read(found[1])
                self.assertGreater(metrics["granary_live_bytes"].value(pid=str(process)), 1 << 20)
                self.assertGreater(metrics["granary_resident_bytes"].value(pid=str(process)), 1 << 20)
                self.assertEqual(metrics["granary_class_live_blocks"].value(pid=str(process), size="1024"), 1)
                self.assertIn((("command", PROGRAM), ("pid", str(process))), metrics["granary_process_info"].samples)
            return len(seen) >= 3

        wait_for(is_written_thrice)
        self.assertEqual(os.stat(self.path("granary.prom")).st_mode & 0o777, 0o644 & ~UMASK)
        self.assertEqual(self.end(server), "")
        self.assertEqual(self.names(), [])

    def test_the_end_of_the_name_chooses_the_format(self):
        server, (process,) = self.serve(self.path("granary.json"))
        told = json.loads(wait_for(lambda: read(self.path("granary.json")))[1])
        self.assertEqual((told["pid"], told["command"]), (process, PROGRAM))
        self.assertEqual(sum(row["live_blocks"] for row in told["classes"]), told["live_blocks"])
        self.end(server)
        server, (process,) = self.serve(self.path("granary"))
        text = wait_for(lambda: read(self.path("granary")))[1]
        self.assertTrue(text.startswith(f"granary: statistics of process {process}: {PROGRAM}\nlive_bytes "), text)
        self.end(server)

    def test_each_process_has_its_file(self):
        server, processes = self.serve(self.path("%p.%p.%q.prom"), "children")
        names = sorted(f"{process}.{process}.%q.prom" for process in processes)
        wait_for(lambda: [name for name in self.names() if name.endswith(".prom")] == names)
        for process in processes:
            text = read(self.path(f"{process}.{process}.%q.prom"))[1]
            self.assertGreater(exposition.read(text)["granary_live_blocks"].value(pid=str(process)), 1000)
        self.assertEqual(self.end(server), "")
        self.assertEqual(self.names(), [])

    def test_a_short_process_writes_and_removes_nothing(self):
        server, _ = self.serve(self.path("granary.prom"))
        wait_for(lambda: self.names() == ["granary.prom"])
        short, _ = self.serve(self.path("granary.prom"), GRANARY_STATS_INTERVAL="3600")
        self.end(short)
        self.assertIn("granary.prom", self.names())
        self.end(server)

    def test_a_process_that_is_killed_leaves_its_file(self):
        server, (process,) = self.serve(self.path("%p.prom"))
        wait_for(lambda: f"{process}.prom" in self.names())
        server.send_signal(signal.SIGKILL)
        server.communicate()
        exposition.read(read(self.path(f"{process}.prom"))[1])

    def test_what_cannot_be_written_is_told_once(self):
        path = self.path("missing/granary.prom")
        server, _ = self.serve(path)
        os.set_blocking(server.stderr.fileno(), False)
        wanted = f"granary: no statistics are written to {path} (error 2); set GRANARY_STATS_FILE to a file in a folder " \
                 "that can be written to\n"
        self.assertEqual(wait_for(server.stderr.readline), wanted)
        # From the next time on it can be.
        os.mkdir(self.path("missing"))
        wait_for(lambda: read(path))
        self.assertEqual(self.end(server), "")

    def test_a_path_that_is_too_long(self):
        server, _ = self.serve("/" + "x" * 1100)
        error = self.end(server)
        self.assertRegex(error, r"^granary: no statistics are written to /x+ \(error 36\); set [^\n]*\n$")

    def test_at_the_side_of_the_background_thread(self):
        server, _ = self.serve(self.path("granary.prom"), GRANARY_BACKGROUND="on")
        first = wait_for(lambda: read(self.path("granary.prom")))
        # Also after the thread has returned all memory and ticks no more.
        wait_for(lambda: exposition.read(read(self.path("granary.prom"))[1])["granary_retained_bytes"].samples
                 and read(self.path("granary.prom"))[0] != first[0])
        self.assertEqual(self.end(server), "")

    def test_nothing_happens_that_nobody_asked_for(self):
        server, (process,) = self.serve("")
        self.assertEqual(len(os.listdir(f"/proc/{process}/task")), 1)
        self.assertEqual(self.end(server), "")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(2)
    LIBRARY = sys.argv.pop(1)
    UMASK = os.umask(0o022)
    os.umask(UMASK)
    unittest.main()
