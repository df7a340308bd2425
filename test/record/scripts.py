# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a program that says what it calls is recorded exactly so, over each allocator, with stacks and without.
# Invariant: the order of a thread's events is compared, not only their number.
# Must not know: how it is recorded.
import collections
import subprocess
import unittest

from support import OP_NUMBERS, RecordTest, granary_trace, program

ALLOCATORS = {"system": "libc.so", "granary": "libgranary.so", "lab:single": "liblab-single.so"}
OF_PAGES = ("map", "unmap", "advise", "break")


def lines_of(trace):
    for event in trace.events():
        time, thread, op, *rest = event
        yield " ".join(str(number) for number in (time, thread, OP_NUMBERS[op], *rest))
    for parent, address in trace.stacks:
        yield f"{parent} {address}"
    yield f"{len(trace.samples)} {len(trace.threads)} true"


class Scripts(RecordTest):
    def check(self, scene, *options):
        output, _ = self.record(*options, "-o", "x.trace", program("record_calls"), scene)
        wanted = []
        for line in output.splitlines():
            op, address, size, above = line.split()
            wanted.append((int(op), int(address, 16), int(size), int(above)))
        trace = self.trace("x.trace")
        self.assertEqual([mark["text"] for mark in trace.marks], ["begin", "end"])
        thread = trace.marks[0]["thread"]
        begin, end = (mark["time"] for mark in trace.marks)
        seen = [(OP_NUMBERS[event.op], event.address, event.size, event.alignment) for event in trace.events()
                if event.thread == thread and begin <= event.time <= end and event.op not in OF_PAGES]
        self.assertTrue(wanted)
        self.assertEqual(seen, wanted)
        return trace

    def test_known_calls(self):
        for allocator, library in ALLOCATORS.items():
            for scene in ("family", "operators"):
                with self.subTest(allocator=allocator, scene=scene):
                    trace = self.check(scene, "--allocator", allocator)
                    self.assertIn(library, trace.start["allocator"])

    def test_without_stacks_there_are_none(self):
        trace = self.check("family", "--stacks", "none", "--timed", "0")
        self.assertEqual(len(trace.stacks), 1)
        self.assertFalse(any(event.nanoseconds for event in trace.events()))

    def test_all_stacks_and_times(self):
        trace = self.check("family", "--stacks", "all", "--timed", "1")
        obtained = [event for event in trace.events() if OP_NUMBERS[event.op] < 16]
        self.assertTrue(all(event.stack for event in obtained))
        self.assertTrue(all(event.nanoseconds for event in obtained))
        parts = [part for part in trace.modules[-1]["modules"] if part["path"] == program("record_calls")]
        # Its own code is in the stack of what main's scene calls.
        addresses = set()
        for event in obtained:
            at = event.stack
            while at:
                at, address = trace.stacks[at]
                addresses.add(address)
        self.assertTrue(any(part["begin"] <= address < part["end"] for address in addresses for part in parts))

    def test_requests_of_the_program(self):
        for options in ((), ("--stacks", "none")):
            output, _ = self.record(*options, "-o", "x.trace", program("record_calls"), "mappings")
            trace = self.trace("x.trace")
            begin, end = (mark["time"] for mark in trace.marks)
            wanted = []
            for line in output.splitlines():
                kind, address, size, above = line.split()
                is_break = granary_trace.REQUESTS[int(kind)] == "break"
                wanted.append((granary_trace.REQUESTS[int(kind)], int(address, 16),
                               int(size) | int(above) << 56 if is_break else int(size), 0 if is_break else int(above)))
            seen = [request for request in trace.requests if begin <= request.time <= end]
            self.assertTrue(wanted)
            self.assertEqual([request[2:6] for request in seen], wanted)
            for request in seen:
                self.assertEqual(request.stack != 0, not options and request.kind != "unmap", request)

    def test_threads(self):
        self.record("-o", "x.trace", program("record_churn"), "1000", "50")
        trace = self.trace("x.trace")
        calls = collections.Counter(event.thread for event in trace.events() if event.op == "malloc")
        self.assertEqual(sum(1 for count in calls.values() if count >= 1000), 51)
        self.assertEqual(len({trace.threads[thread]["id"] for thread in calls}), len(calls))

    def test_readers_agree(self):
        self.record("-o", "x.trace", "--stacks", "all", "--timed", "10", program("record_churn"), "70000", "2")
        dumped = subprocess.run([program("record_dump"), "x.trace"], cwd=self.folder, capture_output=True, text=True,
                                check=True).stdout
        self.assertEqual(dumped.splitlines(), list(lines_of(self.trace("x.trace"))))


if __name__ == "__main__":
    unittest.main(argv=["scripts"])
