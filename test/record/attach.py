# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary record --pid: a process that runs is recorded from then on, and continues as if nothing had been.
# Invariant: what is waited for is a state, not a time. Each program says itself whether it was harmed.
# Must not know: how the recorder gets into a process.
import ctypes
import os
import platform
import signal
import socket
import subprocess
import sys
import time
import unittest

from support import CLEAN, GRANARY, RecordTest, program

COUNTED = 4321
LIBRARY = os.path.join(os.path.dirname(GRANARY), "libgranary.so")
JEMALLOC = f"/usr/lib/{platform.machine()}-linux-gnu/libjemalloc.so.2"
FILTERED = """
import ctypes, struct, sys, time
libc = ctypes.CDLL(None)
code = b"".join(struct.pack("HBBI", *each) for each in (
    (0x20, 0, 0, 0), (0x15, 0, 1, 319), (0x06, 0, 0, int(sys.argv[1])), (0x06, 0, 0, 0x7fff0000)))
buffer = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.create_string_buffer(program)) == 0
open("begun", "w").close()
while True:
    time.sleep(0.01)
"""
# How often in a row the same process is attached to; SOAK says more.
TIMES = int(os.environ.get("GRANARY_ATTACH_TIMES", "3"))


def wait_for(condition):
    while not condition():
        time.sleep(0.005)


class AttachTest(RecordTest):
    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name):
        with open(self.path(name), "wb"):
            pass

    def is_made(self, name):
        return os.path.exists(self.path(name))

    def run_program(self, *words, environment=(), stdin=subprocess.DEVNULL):
        """A program that has made the file begun."""
        child = subprocess.Popen(words, env={**CLEAN, **dict(environment)}, cwd=self.folder, text=True, stdin=stdin,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, child)
        wait_for(lambda: self.is_made("begun") or child.poll() is not None)
        self.assertIsNone(child.poll())
        return child

    def resident(self, threads, count, *more, **options):
        return self.run_program(program("record_resident"), str(threads), self.folder, str(count), *more, **options)

    def attach(self, child, *options, name="x.trace"):
        """A recorder that says that it records."""
        recorder = self.start("-o", name, "--pid", str(child.pid), *options)
        said = recorder.stderr.readline()
        self.assertIn("recording process", said)
        return recorder

    def detach(self, recorder):
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=100)
        self.assertEqual(recorder.returncode, 0, said)
        self.assertNotIn("continues with", said)
        return said

    def ends_well(self, child, output="fine\n"):
        self.make("stop")
        said, error = child.communicate(timeout=100)
        self.assertEqual((child.returncode, said, error), (0, output, ""))

    def ends_well_after_go(self, child):
        self.make("go")
        self.ends_well(child)

    def count(self, trace, op):
        return sum(1 for event in trace.events() if event.op == op and event.size == COUNTED)

    def check_counted(self, name, count):
        """Every counted block is in the trace, and its free follows."""
        trace = self.trace(name)
        live = set()
        frees = 0
        for event in trace.events():  # of each thread in order
            if event.op == "malloc" and event.size == COUNTED:
                live.add(event.address)
            elif event.op == "free" and event.address in live:
                live.remove(event.address)
                frees += 1
        self.assertEqual(self.count(trace, "malloc"), count)
        self.assertEqual((frees, live), (count, set()))
        self.assertEqual(trace.end["lost"], 0)
        return trace


class Attaches(AttachTest):
    def counts(self, threads, count, *more, all_counted=None, **options):
        child = self.resident(threads, count, *more, **options)
        recorder = self.attach(child)
        self.make("go")
        wait_for(lambda: self.is_made("done"))
        self.detach(recorder)
        trace = self.check_counted("x.trace", threads * count if all_counted is None else all_counted)
        self.ends_well(child)
        return trace

    def test_threads(self):
        trace = self.counts(8, 1000)
        self.assertEqual(trace.end["reason"], "unknown")
        self.assertEqual(sorted(mark["text"] for mark in trace.marks), ["begin"] * 8 + ["end"] * 8)

    def test_stacks(self):
        trace = self.counts(1, 100)
        self.assertTrue(trace.stacks)

    def test_granary(self):
        self.counts(4, 1000, environment={"LD_PRELOAD": LIBRARY})

    def test_jemalloc(self):
        if not os.path.exists(JEMALLOC):
            self.skipTest("jemalloc is not installed")
        self.counts(4, 1000, environment={"LD_PRELOAD": JEMALLOC})

    def test_library_that_is_opened_later(self):
        self.counts(1, 500, "librecord_opened.so", all_counted=1000)

    def test_child(self):
        self.counts(1, 500, "fork", all_counted=500)
        name = next(name for name in self.files() if "record_resident" in name)
        self.check_counted(name, 500)

    def test_again_and_again(self):
        child = self.resident(8, 1000)
        for i in range(TIMES):
            recorder = self.attach(child, name=f"{i}.trace")
            if i == TIMES - 1:
                self.make("go")
                wait_for(lambda: self.is_made("done"))
            self.detach(recorder)
        self.check_counted(f"{TIMES - 1}.trace", 8000)
        with open(f"/proc/{child.pid}/maps", encoding="ascii") as maps:
            self.assertNotIn("granary-recording", maps.read())
        self.ends_well(child)

    def test_seconds(self):
        child = self.resident(1, 1)
        _, said = self.record("-o", "x.trace", "--pid", str(child.pid), "--seconds", "0")
        self.assertIn("recorded x.trace", said)
        self.ends_well_after_go(child)

    def test_program_that_ends_first(self):
        child = self.resident(2, 1000)
        recorder = self.attach(child)
        self.make("go")
        self.ends_well(child)
        self.assertEqual(recorder.wait(timeout=100), 0)
        self.check_counted("x.trace", 2000)

    def test_recorder_that_is_killed(self):
        child = self.resident(4, 1000)
        recorder = self.attach(child, name="killed.trace")
        recorder.kill()
        recorder.wait()
        recorder = self.attach(child)
        self.make("go")
        wait_for(lambda: self.is_made("done"))
        self.detach(recorder)
        self.check_counted("x.trace", 4000)
        self.ends_well(child)


class Waits(AttachTest):
    """A system call does not return because somebody attached."""

    def waits(self, way, tell=True):
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                child = self.run_program(program("record_waits"), way, "begun", self.path("stop"), stdin=theirs)
            self.detach(self.attach(child))
            if tell:
                ours.send(b"x")
            elif way == "sigtimedwait":
                child.send_signal(signal.SIGUSR1)
            self.ends_well(child, "1 0\n")


for each in ("epoll_wait", "poll", "ppoll", "select", "read", "recv", "wait", "condition"):
    setattr(Waits, f"test_{each}", lambda self, way=each: self.waits(way))
for each in ("nanosleep", "sigtimedwait", "compute"):
    setattr(Waits, f"test_{each}", lambda self, way=each: self.waits(way, tell=False))


class Refusals(AttachTest):
    def refuse(self, process, text, code=1, **options):
        output, said = self.record("-o", "x.trace", "--pid", str(process), code=code, **options)
        self.assertEqual((output, said.count("\n")), ("", 1), said)
        self.assertIn(text, said)
        self.assertNotIn("x.trace", self.files())

    def test_no_such_process(self):
        self.refuse(2 ** 22 + 1, "no process", code=127)

    def test_thread(self):
        child = self.resident(1, 1)
        threads = [int(name) for name in os.listdir(f"/proc/{child.pid}/task")]
        self.refuse(next(thread for thread in threads if thread != child.pid), "is a thread of process")
        self.ends_well_after_go(child)

    def test_static(self):
        child = self.run_program(program("record_static"), "1", "0", "begun", "go")
        self.refuse(child.pid, "static")
        self.make("go")
        self.ends_well(child, "done\n")

    def test_granary_in_it(self):
        child = self.run_program(program("record_linked"), "1", "0", "begun", "go")
        self.refuse(child.pid, "part of the program itself")
        self.make("go")
        self.ends_well(child, "done\n")

    def test_stopped(self):
        child = self.resident(1, 1)
        child.send_signal(signal.SIGSTOP)
        wait_for(lambda: state_of(child.pid) == "T")
        self.refuse(child.pid, "is stopped")
        child.send_signal(signal.SIGCONT)
        self.ends_well_after_go(child)

    def test_traced(self):
        child = self.resident(1, 1)
        seize, detach, interrupt = 0x4206, 17, 0x4207
        ptrace = ctypes.CDLL(None).ptrace
        self.assertEqual(ptrace(seize, child.pid, None, None), 0)
        self.refuse(child.pid, "traces it")
        ptrace(interrupt, child.pid, None, None)
        os.waitpid(child.pid, 0)
        ptrace(detach, child.pid, None, None)
        self.ends_well_after_go(child)

    def test_recorded_already(self):
        child = self.resident(1, 1)
        recorder = self.attach(child, name="y.trace")
        self.refuse(child.pid, f"recorded already, by process {recorder.pid}")
        self.detach(recorder)
        self.ends_well_after_go(child)

    def filtered(self, action):
        """A process that may not call memfd_create: a filter of system calls answers by the action."""
        return self.run_program("/usr/bin/python3", "-c", FILTERED, str(action))

    def test_filter_that_kills(self):
        child = self.filtered(0x80000000)
        self.refuse(child.pid, "would end it" if os.geteuid() == 0 else "only root sees")
        self.assertIsNone(child.poll())

    def test_filter_that_refuses(self):
        child = self.filtered(0x00050000 | 1)
        self.refuse(child.pid, "may not make memory" if os.geteuid() == 0 else "only root sees")
        self.assertIsNone(child.poll())

    def test_other_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root starts a recorder of another user")
        child = self.resident(1, 1)
        os.chmod(self.folder, 0o777)
        self.refuse(child.pid, "belongs to another user", user=65534)
        self.ends_well_after_go(child)

    def test_words(self):
        for words in (("--pid", "1", "/bin/true"), ("--seconds", "3", "/bin/true"),
                      ("--pid", "1", "--allocator", "granary")):
            _, said = self.record("-o", "x.trace", *words, code=2)
            self.assertEqual(said.count("\n"), 1, said)


def state_of(process):
    with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def may_trace():
    child = subprocess.Popen(["/bin/sleep", "100"])
    seized = ctypes.CDLL(None).ptrace(0x4206, child.pid, None, None) == 0
    child.kill()
    child.wait()
    return seized


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        print("skipped: granary attaches to processes on x86-64 only")
        sys.exit(77)
    if not may_trace():
        print("skipped: ptrace is not allowed here")
        sys.exit(77)
    unittest.main(argv=["attach"])
