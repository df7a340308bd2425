# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the recorder may take: memory, however many threads wait to be written; addresses, where these are limited; and
#    none of Granary's allocator, where none is asked for.
# Invariant: memory is what the kernel says of the recorder alone, without the rings, which it shares with the program.
# Must not know: how the recorder keeps within them.
import os
import resource
import shutil
import subprocess
import time
import unittest

from support import CLEAN, GRANARY, RecordTest, program

KIB, MIB = 1 << 10, 1 << 20
THREADS = 64
BLOCKS = 25_000  # two events each; less than a thread's events that are written at once
WAITING = 64 * MIB  # docs/use/recording.md
PROGRAM = 32 * MIB  # the command itself: its own data, what it encodes, and what its malloc keeps


def anonymous(process):
    with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
        return next((int(line.split()[1]) * KIB for line in file if line.startswith("RssAnon")), 0)


class Bounds(RecordTest):
    def path(self, name):
        return os.path.join(self.folder, name)

    def test_memory_with_many_threads_that_wait(self):
        recorder = self.start("-q", "--stacks", "none", "-o", "x.trace", program("record_crowd"), str(THREADS),
                              str(BLOCKS), self.path("made"), self.path("go"))
        most, same, last = 0, 0, 0
        # What the rings still held when all was made comes while nothing is made any more.
        while not os.path.exists(self.path("made")) or same < 50:
            now = anonymous(recorder.pid)
            same = same + 1 if now == last else 0
            most, last = max(most, now), now
            time.sleep(0.002)
        with open(self.path("go"), "wb"):
            pass
        output, said = recorder.communicate(timeout=100)
        self.assertEqual((recorder.returncode, output), (0, "done\n"), said)
        trace = self.trace("x.trace", whole=False)
        self.assertEqual(trace.damage, "")
        self.assertGreaterEqual(trace.end["events"], THREADS * BLOCKS * 2)
        self.assertEqual(trace.end["lost"], 0)
        # All of it together would have waited, had nothing been written before the end.
        self.assertGreater(len(trace.blocks), THREADS + 1)
        self.assertLess(most, WAITING + PROGRAM, f"{most / MIB:.1f} MiB")
        print(f"{most / MIB:.1f} MiB at most, {len(trace.blocks)} blocks")

    def test_limited_addresses(self):
        limit = 700 * MIB

        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        _, said = self.record("-o", "x.trace", program("record_churn"), "1000", "3", preexec_fn=limited)
        self.assertIn("address space is limited", said)
        trace = self.trace("x.trace")
        self.assertGreaterEqual(trace.end["events"], 4 * 2000)
        self.assertEqual(trace.end["lost"], 0)

    # From where the command can start at all up to where it can record: which part of it is the first without room
    # changes on the way.
    def test_too_few_addresses(self):
        def run(limit, *words):
            return subprocess.run([GRANARY, *words], cwd=self.folder, env=CLEAN, capture_output=True, text=True,
                                  check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

        limit = next(limit for limit in range(MIB, 1000 * MIB, MIB) if run(limit, "version").returncode == 0)
        reasons = set()
        for limit in range(limit + MIB, 1000 * MIB, MIB // 2):
            done = run(limit, "record", "-o", "x.trace", "/bin/true")
            if done.returncode == 0:
                break
            lines = [line for line in done.stderr.splitlines() if "address space is limited" not in line]
            # A trace that was begun is kept, and a second line tells of it.
            is_begun = len(lines) == 2 and lines[1].startswith("granary: recorded x.trace: ")
            # The program may have too few while the recorder has enough.
            code = 1 if "nothing was recorded" in lines[0] else 125
            self.assertEqual((done.returncode, done.stdout, len(lines)), (code, "", 1 + is_begun), done.stderr)
            self.assertRegex(lines[0], "^granary: (out of memory$|record: .*(memory|threads|address space))")
            if "record:" in lines[0]:  # else it could not even tidy up
                self.assertEqual(self.files(), ["x.trace"] if is_begun else [])
            for name in self.files():
                os.remove(self.path(name))
            reasons.add(lines[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(reasons), 1)
        self.assertEqual(self.trace("x.trace").end["reason"], "exit")

    def test_a_program_that_leaves_itself_too_few_addresses_runs_unrecorded(self):
        self.record("-q", "-o", "x.trace", "/bin/sh", "-c", "ulimit -v 20000; exec /bin/true")
        trace = self.trace("x.trace")  # what it was before
        self.assertIn("sh", os.path.basename(trace.start["program"]))
        self.assertEqual((trace.end["reason"], trace.end["status"]), ("exit", 0))

    def test_without_granarys_allocator(self):
        build = os.path.dirname(GRANARY)
        os.mkdir(self.path("bin"))
        for name in ("granary", "libgranary-record.so"):
            shutil.copy2(os.path.join(build, name), self.path("bin"))
        alone = os.path.join(self.path("bin"), "granary")

        def record(*words):
            return subprocess.run([alone, "record", "-q", "-o", "x.trace", *words], cwd=self.folder, env=CLEAN,
                                  capture_output=True, text=True, check=False)

        done = record(program("record_churn"), "1000", "0")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))
        self.assertGreaterEqual(self.trace("x.trace").end["events"], 2000)
        done = record("--allocator", "granary", program("record_churn"), "1000", "0")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (125, 1), done.stderr)
        self.assertIn("libgranary.so", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=["bounds"])
