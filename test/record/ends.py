# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: however a program and its recorder end, the trace has what was told, and says how it ended.
# Invariant: what one waits for is a state, not a time.
# Must not know: how it is recorded.
import os
import re
import resource
import signal
import subprocess
import time
import unittest

from support import GRANARY, RecordTest, program

PYTHON = "/usr/bin/python3"


def wait_for(condition):
    while not condition():
        time.sleep(0.01)


def state_of(process):
    with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


class Ends(RecordTest):
    def child_of(self, recorder):
        path = f"/proc/{recorder.pid}/task/{recorder.pid}/children"
        found = []

        def is_there():
            with open(path, encoding="ascii") as file:
                found[:] = [int(word) for word in file.read().split()]
            return bool(found)

        wait_for(is_there)
        return found[0]

    def begins(self, text, name="x.trace"):
        """A recorder of a shell that has come so far as to make a file."""
        recorder = self.start("-o", name, "/bin/sh", "-c", f"{text}")
        wait_for(lambda: os.path.exists(os.path.join(self.folder, "begun")))
        return recorder

    def test_exit_code(self):
        self.record("-o", "x.trace", "/bin/sh", "-c", "exit 7", code=7)
        end = self.trace("x.trace").end
        self.assertEqual((end["reason"], end["status"]), ("exit", 7))

    def test_killed(self):
        self.record("-o", "x.trace", PYTHON, "-c", "import os; os.kill(os.getpid(), 9)", code=137)
        trace = self.trace("x.trace")
        self.assertEqual((trace.end["reason"], trace.end["status"]), ("signal", 9))
        told = subprocess.run([GRANARY, "summary", "x.trace"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertRegex(told.stdout, r"ended +killed by signal 9 \(Killed\)\n")
        self.assertGreater(trace.end["events"], 1000)

    def test_fork_and_exec(self):
        self.record("-o", "x.trace", "/bin/sh", "-c", "/bin/ls >/dev/null; exec /bin/true")
        last = self.trace("x.trace")
        self.assertTrue(last.start["program"].endswith("/true"))
        first_name = next(name for name in self.files() if "sh" in name)
        first = self.trace(first_name)
        self.assertEqual(first.end["reason"], "exec")
        became = [relative for relative in first.relatives if relative["is_same_process"]]
        self.assertEqual([relative["file"] for relative in became], ["x.trace"])
        made = [relative for relative in first.relatives if not relative["is_same_process"]]
        self.assertTrue(made)
        for relative in made:
            self.assertEqual(self.trace(relative["file"]).start["process"], relative["process"])

    def test_child_of_a_program_that_has_cleared_its_environment(self):
        self.record("-o", "x.trace", PYTHON, "-c", "import ctypes, os; ctypes.CDLL(None).clearenv(); "
                                                   "os.wait() if os.fork() else [bytes(1000) for _ in range(3000)]")
        (name,) = (name for name in self.files() if name != "x.trace")
        self.assertGreater(self.trace(name).end["events"], 3000)

    def test_interrupt_is_the_programs(self):
        recorder = self.begins("trap 'echo bye; exit 5' INT; : > begun; while :; do /bin/sleep 0.01; done")
        os.killpg(recorder.pid, signal.SIGINT)
        output, said = recorder.communicate(timeout=60)
        self.assertEqual((recorder.returncode, output), (5, "bye\n"), said)
        self.trace("x.trace")

    def test_second_interrupt_ends_the_recording(self):
        recorder = self.begins("trap '' INT; : > begun; while [ ! -e stop ]; do /bin/sleep 0.01; done; : > done")
        os.kill(recorder.pid, signal.SIGINT)
        wait_for(lambda: not signal_is_pending(recorder.pid))
        os.kill(recorder.pid, signal.SIGINT)
        self.assertEqual(recorder.wait(timeout=60), 130)
        self.assertEqual(self.trace("x.trace").end["reason"], "unknown")
        with open(os.path.join(self.folder, "stop"), "wb"):
            pass
        wait_for(lambda: os.path.exists(os.path.join(self.folder, "done")))

    def test_recorder_is_killed(self):
        recorder = self.begins(f": > begun; while [ ! -e stop ]; do /bin/sleep 0.01; done; {program('record_churn')} "
                               "100000 >/dev/null; : > done")
        recorder.kill()
        recorder.wait()
        with open(os.path.join(self.folder, "stop"), "wb"):
            pass
        wait_for(lambda: os.path.exists(os.path.join(self.folder, "done")))

    def stopped_for_a_while(self, *options):
        """A recorder that does not look while its program makes 200,000 calls, or as many as it may."""
        recorder = self.start("-o", "x.trace", *options, program("record_churn"), "100000", "0", "begun", "go")
        wait_for(lambda: os.path.exists(os.path.join(self.folder, "begun")))
        child = self.child_of(recorder)
        os.kill(recorder.pid, signal.SIGSTOP)
        wait_for(lambda: state_of(recorder.pid) == "T")
        with open(os.path.join(self.folder, "go"), "wb"):
            pass
        wait_for(lambda: state_of(child) in "SZ")  # it waits for the recorder, for room or in the end, or has ended
        os.kill(recorder.pid, signal.SIGCONT)
        output, said = recorder.communicate(timeout=100)
        self.assertEqual((recorder.returncode, output), (0, "done\n"), said)
        trace = self.trace("x.trace")
        return trace, sum(1 for event in trace.events() if event.op == "malloc")

    def test_exact(self):
        trace, calls = self.stopped_for_a_while()
        self.assertGreaterEqual(calls, 100000)
        self.assertEqual(trace.end["lost"], 0)

    def test_lossy(self):
        trace, calls = self.stopped_for_a_while("--lossy")
        self.assertTrue(trace.start["lossy"])
        frees = sum(1 for event in trace.events() if event.op == "free")
        self.assertGreaterEqual(calls + frees + trace.end["lost"], 200000)

    def test_full_disk(self):
        recorder = self.begins(f": > begun; while [ ! -e go ]; do /bin/sleep 0.01; done; {program('record_churn')} 300000")
        full = 4096
        resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (full, full))
        with open(os.path.join(self.folder, "go"), "wb"):
            pass
        output, said = recorder.communicate(timeout=100)
        self.assertEqual((recorder.returncode, output), (125, "done\n"), said)
        self.assertIn("cannot write", said)
        self.assertIn("File too large", said)
        churn = next(name for name in self.files() if "record_churn" in name)
        self.assertIsNone(self.trace(churn, whole=False).end)


    def test_full_disk_keeps_what_was_written(self):
        churn = program("record_churn")
        recorder = self.start("-o", "x.trace", "/bin/sh", "-c", f"exec {churn} 300000 0 begun go")
        wait_for(lambda: os.path.exists(os.path.join(self.folder, "begun")))
        full = 16384
        resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (full, full))
        with open(os.path.join(self.folder, "go"), "wb"):
            pass
        output, said = recorder.communicate(timeout=100)
        self.assertEqual((recorder.returncode, output), (125, "done\n"), said)
        self.assertIn("what was written before is kept in 'x.trace'", said)
        trace = self.trace("x.trace", whole=False)
        self.assertIn("it has no end", trace.damage)
        self.assertTrue(trace.start["program"].endswith("record_churn"))

    def test_a_child_that_has_not_called_malloc_yet_is_waited_for(self):
        recorder = self.start("-o", "x.trace", program("record_orphan"), "go")
        (process,) = self.said_to_wait(recorder)
        with open(os.path.join(self.folder, "go"), "wb"):
            pass
        recorder.wait(timeout=60)
        self.assertEqual(recorder.returncode, 0)
        trace = self.trace(f"x.record_orphan.{process}.trace")
        self.assertEqual(sum(1 for event in trace.events() if event.op == "malloc" and event.size == 200), 7777)

    def said_to_wait(self, recorder):
        """The ids of the processes that the recorder says it waits for."""
        for line in recorder.stderr:
            if "have not called malloc yet" in line:
                return re.findall(r"\((\d+)\)", line)
        return []


def signal_is_pending(process):
    with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
        fields = dict(line.split(":", 1) for line in file.read().splitlines())
    return any(int(fields[name], 16) >> (signal.SIGINT - 1) & 1 for name in ("SigPnd", "ShdPnd"))


if __name__ == "__main__":
    unittest.main(argv=["ends"])
