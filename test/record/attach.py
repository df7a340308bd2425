# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary record --pid: a process that runs is recorded from then on, and continues as if nothing had been.
# Invariant: what is waited for is a state, not a time. Each program says itself whether it was harmed.
# Must not know: how the recorder gets into a process.
import collections
import ctypes
import glob
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from filters import filter_call
from support import CLEAN, GRANARY, RecordTest, program

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTED = 4321
LIBRARY = os.path.join(os.path.dirname(GRANARY), "libgranary.so")
JEMALLOC = f"/usr/lib/{platform.machine()}-linux-gnu/libjemalloc.so.2"
FILTERED = """
import sys, time
sys.path.insert(0, sys.argv[1])
from filters import filter_call
filter_call(319, int(sys.argv[2]))
open("begun", "w").close()
while True:
    time.sleep(0.01)
"""
# Reads a byte, writes "fine" and a line's end, and ends.
PROGRAM_OF_32_BITS = """
.globl _start
_start: mov $3, %eax; xor %ebx, %ebx; mov %esp, %ecx; mov $1, %edx; int $0x80
mov $4, %eax; mov $1, %ebx; mov $text, %ecx; mov $5, %edx; int $0x80
mov $1, %eax; xor %ebx, %ebx; int $0x80
text: .ascii "fine\\n"
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

    def run_program(self, *words, environment=(), stdin=subprocess.DEVNULL, **options):
        """A program that has made the file begun."""
        child = subprocess.Popen(words, env={**CLEAN, **dict(environment)}, cwd=self.folder, text=True, stdin=stdin,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(self.end, child)
        wait_for(lambda: self.is_made("begun") or child.poll() is not None)
        self.assertIsNone(child.poll())
        return child

    def resident(self, threads, count, *more, **options):
        return self.run_program(program("record_resident"), str(threads), self.folder, str(count), *more, **options)

    def attach(self, child, *options, name="x.trace", granary=GRANARY):
        """A recorder that says that it records."""
        recorder = self.start("-o", name, "--pid", str(child.pid), *options, executable=granary)
        said = recorder.stderr.readline()
        self.assertIn("recording process", said)
        return recorder

    def check_nothing_shared(self, child):
        with open(f"/proc/{child.pid}/maps", encoding="utf-8") as maps:
            self.assertEqual([line for line in maps if "granary-recording" in line], [])

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


    def guarded(self, way, *before, file=None, **options):
        """A process that waits for a byte. What comes before becomes the program."""
        file = file or program("record_guarded")
        return self.run_program(*before, file, way, "begun", stdin=subprocess.PIPE, **options)

    def skip_without_namespaces(self):
        if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("only root makes namespaces")

    def ends_well_after_byte(self, child):
        said, error = child.communicate("x", timeout=100)
        self.assertEqual((child.returncode, said, error), (0, "fine\n", ""))


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
        self.check_nothing_shared(child)
        self.ends_well(child)

    def test_libraries_of_two_versions(self):
        child = self.resident(4, 1000)
        other = self.path("other")
        os.mkdir(other)
        for file in (GRANARY, os.path.join(os.path.dirname(GRANARY), "libgranary-record.so")):
            shutil.copy(file, other)
        for granary in (GRANARY, os.path.join(other, "granary")):
            self.detach(self.attach(child, name="y.trace", granary=granary))
        recorder = self.attach(child)
        self.make("go")
        wait_for(lambda: self.is_made("done"))
        self.detach(recorder)
        self.check_counted("x.trace", 4000)
        self.check_nothing_shared(child)
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

    def test_program_that_ignores_faults(self):
        child = self.guarded("ignoring")
        self.detach(self.attach(child))
        self.ends_well_after_byte(child)

    def test_program_that_does_nothing_but_allocate(self):
        child = self.guarded("busy")
        for _ in range(3):
            self.detach(self.attach(child))
            self.check_nothing_shared(child)
        child.send_signal(signal.SIGUSR1)
        self.ends_well_after_byte(child)

    def test_functions_run_without_stops(self):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        child = self.guarded("plain")
        recorder = subprocess.run(["strace", "-f", "-o", "calls", "-e", "trace=ptrace", GRANARY, "record", "-o", "x.trace",
                                   "--pid", str(child.pid), "--seconds", "0"], env=CLEAN, cwd=self.folder,
                                  stderr=subprocess.DEVNULL, check=False)
        self.assertEqual(recorder.returncode, 0)
        with open(self.path("calls"), encoding="ascii", errors="replace") as calls:
            text = calls.read()
        self.assertEqual(text.count("PTRACE_SEIZE"), text.count("PTRACE_DETACH"))
        self.assertLess(text.count("PTRACE_SYSCALL"), 20)  # two for each of five calls of the recorder's own
        self.ends_well_after_byte(child)

    def test_other_mounts(self):
        self.skip_without_namespaces()
        child = self.guarded("plain", "unshare", "--mount")
        self.detach(self.attach(child))
        self.ends_well_after_byte(child)

    def test_program_that_is_continued_all_the_time(self):
        child = self.resident(4, 1000)
        is_over = threading.Event()

        def go_on():
            while not is_over.is_set():
                child.send_signal(signal.SIGCONT)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            recorder = self.attach(child)
            self.make("go")
            wait_for(lambda: self.is_made("done"))
            self.detach(recorder)
        finally:
            is_over.set()
            thread.join()
        self.check_counted("x.trace", 4000)
        self.ends_well(child)

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


class EarlierMemory(AttachTest):
    """What was mapped before is told by its kind, as far as the process's memory shows it."""

    MEBIBYTE = 1 << 20

    def resident_by_kind(self, *words):
        child = self.run_program(program("record_mapper"), "wait", "begun", *words, stdin=subprocess.PIPE)
        self.detach(self.attach(child))
        child.communicate("x", timeout=100)
        self.assertEqual(child.returncode, 0)
        trace = self.trace("x.trace")
        sums = collections.Counter()
        for part in trace.memory[-1][2]:
            sums[part.kind] += part.resident
        return trace, sums

    def test_stack_of_a_thread_that_computes(self):
        _, sums = self.resident_by_kind("compute")
        self.assertIn(sums["stack"], range(2 * self.MEBIBYTE, 3 * self.MEBIBYTE), sums)
        self.assertIn(sums["earlier"], range(12 * self.MEBIBYTE, 13 * self.MEBIBYTE), sums)

    def test_kinds(self):
        trace, sums = self.resident_by_kind()
        self.assertIn(sums["earlier"], range(12 * self.MEBIBYTE, 13 * self.MEBIBYTE), sums)
        self.assertIn(sums["heap"], range(9_000_000, 9_900_000), sums)  # of both threads, and large blocks
        self.assertIn(sums["stack"], range(2 * self.MEBIBYTE, 3 * self.MEBIBYTE), sums)  # of a thread that is silent since
        self.assertEqual(sums["shared"], 2 * self.MEBIBYTE)
        self.assertEqual(sums["own"], 0)
        self.assertLess(sums["not_known"], 1 << 16)
        self.assertTrue(trace.start["ran_before"])
        said = subprocess.run([GRANARY, "summary", "x.trace"], env=CLEAN, cwd=self.folder, capture_output=True, text=True,
                              check=True).stdout
        self.assertIn("mapped before the recording began", " ".join(said.split()))


class Waits(AttachTest):
    """A system call does not return because somebody attached."""

    def test_read_of_a_named_pipe(self):
        os.mkfifo(self.path("pipe"))
        with open(self.path("pipe"), "r+b", buffering=0) as pipe:
            child = self.run_program(program("record_waits"), "read", "begun", "stop", stdin=pipe)
            self.detach(self.attach(child))
            pipe.write(b"x")
            self.ends_well(child, "1 0\n")

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
    def refuse(self, process, text, code=1, command=(), **options):
        """What the command says. It leaves nothing in the process."""
        before = left_in(process)
        recorder = subprocess.run([*command, GRANARY, "record", "-o", "x.trace", "--pid", str(process)], env=CLEAN,
                                  cwd=self.folder, text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=100,
                                  check=False, **options)
        self.assertEqual((recorder.returncode, recorder.stdout, recorder.stderr.count("\n")), (code, "", 1),
                         recorder.stderr)
        self.assertIn(text, recorder.stderr)
        self.assertNotIn("x.trace", self.files())
        self.assertEqual(left_in(process), before)
        return recorder.stderr

    def test_no_such_process(self):
        self.refuse(2 ** 22 + 1, "no process", code=127)

    def test_first_thread_has_ended(self):
        program_text = ("import ctypes, threading, time; threading.Thread(target=time.sleep, args=(100,)).start(); "
                        "open('begun', 'w').close(); ctypes.CDLL(None).pthread_exit(None)")
        child = self.run_program(sys.executable, "-c", program_text)
        wait_for(lambda: state_of(child.pid) == "Z")
        self.refuse(child.pid, "its first thread has ended (pthread_exit)")

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
        return self.run_program("/usr/bin/python3", "-B", "-c", FILTERED, HERE, str(action))

    def test_filter_that_kills(self):
        child = self.filtered(0x80000000)
        self.refuse(child.pid, "would end it" if os.geteuid() == 0 else "only root sees")
        self.assertIsNone(child.poll())

    def test_filter_that_refuses(self):
        child = self.filtered(0x00050000 | 1)
        self.refuse(child.pid, "may not make memory" if os.geteuid() == 0 else "only root sees")
        self.assertIsNone(child.poll())

    def test_strict(self):
        child = self.guarded("strict")
        self.refuse(child.pid, "no more than read, write and exit")
        self.ends_well_after_byte(child)

    def test_undumpable(self):
        user = {"user": 65534} if os.geteuid() == 0 else {}
        os.chmod(self.folder, 0o777)
        child = self.guarded("undumpable", **user)
        said = self.refuse(child.pid, "the kernel", **user)
        self.assertIn("try as root, or run the program by granary record", said)
        self.ends_well_after_byte(child)

    def test_musl(self):
        if not shutil.which("musl-gcc"):
            self.skipTest("musl-gcc is not installed")
        subprocess.run(["musl-gcc", "-o", self.path("guarded"), os.path.join(HERE, "guarded.c")], check=True)
        child = self.guarded("plain", file=self.path("guarded"))
        self.refuse(child.pid, "its libc is musl")
        self.ends_well_after_byte(child)

    def test_32_bits(self):
        subprocess.run(["as", "--32", "-o", self.path("small.o"), "-"], input=PROGRAM_OF_32_BITS, text=True, check=True)
        subprocess.run(["ld", "-m", "elf_i386", "-o", self.path("small"), self.path("small.o")], check=True)
        self.make("begun")
        try:
            child = self.run_program(self.path("small"), stdin=subprocess.PIPE)
        except OSError:
            self.skipTest("the kernel runs no programs of 32 bits")
        while not left_in(child.pid)[1]:  # exec ends the parent's wait before the file is mapped
            time.sleep(0.001)
        self.refuse(child.pid, "is for a 32-bit machine")
        self.ends_well_after_byte(child)

    def test_other_files(self):
        self.skip_without_namespaces()
        file = shutil.copy(program("record_guarded"), self.folder)
        hide = f'mount -t tmpfs none "{os.path.dirname(GRANARY)}" && exec "$@"'
        child = self.guarded("plain", "unshare", "--mount", "sh", "-c", hide, "sh", file=file)
        self.refuse(child.pid, "lives among other files")
        self.ends_well_after_byte(child)

    def test_other_process_ids(self):
        self.skip_without_namespaces()
        parent = self.guarded("plain", "unshare", "--pid", "--fork")
        with open(f"/proc/{parent.pid}/task/{parent.pid}/children", encoding="ascii") as children:
            self.refuse(int(children.read()), "other process ids of its own")
        self.ends_well_after_byte(parent)

    def test_kernel_that_lets_nobody_trace(self):
        child = self.guarded("plain")
        said = self.refuse(child.pid, "does not let it be traced", preexec_fn=forbid_tracing)
        self.assertIn("CAP_SYS_PTRACE" if os.geteuid() == 0 else "as root", said)
        self.ends_well_after_byte(child)

    def test_kernel_that_limits_tracing(self):
        self.skip_without_namespaces()
        child = self.guarded("plain")
        limit = ('mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && '
                 'echo 3 > /proc/sys/kernel/yama/ptrace_scope && exec "$@"')
        self.refuse(child.pid, "(kernel.yama.ptrace_scope is 3); run the program by granary record",
                    command=("unshare", "--mount", "sh", "-c", limit, "sh"), preexec_fn=forbid_tracing)
        self.ends_well_after_byte(child)

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
        for word in ("0", "-1", "abc", "1.5", "99999999999"):
            _, said = self.record("--pid", word, code=2)
            self.assertEqual(said, f"granary: record: --pid: '{word}' is no whole number from 1 to 2147483647; "
                                   "see 'granary record --help'\n")


def state_of(process):
    with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def left_in(process):
    """What a recorder may have left in a process: itself as its tracer, files and memory that are open or mapped."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
            tracer = [line for line in file if line.startswith("TracerPid")]
        with open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as file:
            mapped = {line.split(maxsplit=5)[5] for line in file if "granary" in line}
    except FileNotFoundError:
        return None
    files = [link_of(link) for link in glob.glob(f"/proc/{process}/fd/*")]
    return tracer, mapped, [file for file in files if "memfd:" in file or "libgranary" in file]


def link_of(path):
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ""


def forbid_tracing():
    filter_call(101, 0x00050000 | 1)


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
