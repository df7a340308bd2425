# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: traces that somebody made to do harm, given to each command that reads traces, and to the reader in Python.
# Invariant: all checksums are right. Each command ends by itself, with 0 or with 1 and a line, in little memory, and no
#    control character comes to the terminal.
# Must not know: how a command reads a trace.
"""Usage: hostile.py GRANARY WRITE_TRACE READER."""
import importlib.util
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import zstandard

GRANARY, WRITE_TRACE, READER = (os.path.abspath(path) for path in sys.argv[1:4])
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_"))}
MOST_BYTES = 400 << 20
MOST_SECONDS = 20  # of CPU time; a command takes a tenth
HEAD = 16

LINES = """stacks 512
program /usr/bin/program
stack 0 0x1234
stack 1 0x1300
module 0 0x1000 0x2000 0 /usr/bin/program
thread 0 main
sample 5 1048576 524288
resident 40 0x100000 0x2000
event 0 10 malloc 0x100000 100 2
event 0 20 calloc 0x100100 200 1
event 0 30 free 0x100000 0
event 0 40 malloc 0x100000 5000 2
event 0 50 malloc 0x110000 3000
event 1 60 malloc 0x120000 30
event 1 70 free 0x120000 0
request 15 0 40 0x200000 0x4000 0 2
request 25 1 42 0x200000 0x1000 4 0
request 35 0 43 0x300000 0x1000 0 1
request 45 0 41 0x200000 0x4000 0 0
memory 6 8192 1 - 0 2 0x8000 0x4000 2 - 2 1 0x4000 0x3000 6 /x/data 0 1 0x2000 0x1000 8 /memfd:granary-recording 0 1 0x9000 0x1000
mark 50 0 phase"""


def chunks_of(data):
    chunks, at = [], HEAD
    while at < len(data):
        kind, summary, body = struct.unpack_from("<4sII", data, at)
        at += 20
        chunks.append([kind, bytearray(data[at : at + summary]), bytearray(data[at + summary : at + summary + body])])
        at += summary + body
    return chunks


def file_of(chunks, head):
    data = bytearray(head)
    for kind, summary, body in chunks:
        start = kind + struct.pack("<III", len(summary), len(body), zlib.crc32(body))
        data += start + struct.pack("<I", zlib.crc32(start + summary)) + summary + body
    return bytes(data)


def packed(column, raw, claim=None):
    data = zstandard.ZstdCompressor().compress(bytes(raw))
    return struct.pack("<BBHII", column, 1, 0, len(data), len(raw) if claim is None else claim) + data


def columns_of(body):
    found, at = {}, 0
    while at < len(body):
        column, _, _, size, raw = struct.unpack_from("<BBHII", body, at)
        found[column] = zstandard.ZstdDecompressor().decompress(bytes(body[at + 12 : at + 12 + size]), max_output_size=raw)
        at += 12 + size
    return found


def numbers_of(raw):
    numbers, number, shift = [], 0, 0
    for byte in raw:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number = shift = 0
    return numbers


def raw_of(numbers):
    raw = bytearray()
    for number in numbers:
        while number > 127:
            raw.append(number & 127 | 128)
            number >>= 7
        raw.append(number)
    return raw


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.whole = os.path.join(cls.folder.name, "whole.trace")
        cls.path = os.path.join(cls.folder.name, "hostile.trace")
        subprocess.run([WRITE_TRACE, cls.whole], input=LINES, text=True, check=True)
        with open(cls.whole, "rb") as file:
            cls.data = file.read()
        spec = importlib.util.spec_from_file_location("granary_trace", READER)
        cls.reader = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.reader)

    # What is made of the whole trace.
    def chunk(self, kind):
        self.chunks = chunks_of(self.data)
        return next(chunk for chunk in self.chunks if chunk[0] == kind)

    def with_json(self, kind, change):
        chunk = self.chunk(kind)
        value = json.loads(bytes(chunk[2]))
        changed = change(value)
        chunk[2] = bytearray(json.dumps(value if changed is None else changed).encode())
        return file_of(self.chunks, self.data[:HEAD])

    def with_start(self, name, value):
        return self.with_json(b"STRT", lambda start: start.__setitem__(name, value))

    def with_modules(self, **fields):
        return self.with_json(b"MODS", lambda value: [module.update(fields) for module in value["modules"]] and None)

    def with_summary(self, kind, form, at, value):
        struct.pack_into(form, self.chunk(kind)[1], at, value)
        return file_of(self.chunks, self.data[:HEAD])

    def with_column(self, kind, column, change):
        chunk = self.chunk(kind)
        columns = {number: bytes(raw) for number, raw in columns_of(chunk[2]).items()}
        numbers = numbers_of(columns.get(column, b""))
        change(numbers)
        columns[column] = bytes(raw_of(numbers))
        chunk[2] = bytearray(b"".join(packed(number, raw) for number, raw in columns.items()))
        return file_of(self.chunks, self.data[:HEAD])

    # What is done with it.
    def run_one(self, *words):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        child = subprocess.Popen([GRANARY, *words], env=CLEAN, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, cwd=self.folder.name, preexec_fn=limit)
        try:
            output, said = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            self.fail(f"{words} does not end")
        self.assertIn(child.returncode, (0, 1), (words, said[-500:]))
        self.assertLessEqual(said.count(b"\n"), 2, said)  # what is damaged, and what cannot be done therefore
        for text in (output, said):
            controls = [byte for byte in text if (byte < 32 and byte != 10) or byte == 127]
            self.assertEqual(controls, [], words)
            self.assertNotIn("\u009b", text.decode(errors="ignore"), words)
        return child.returncode, output.decode(), said.decode()

    turn = 0

    def use(self, data, *, damage, all_commands=False):
        """Gives it to summary and to two other commands, by turns, or to all; whether it is called damaged."""
        with open(self.path, "wb") as file:
            file.write(data)
        page = os.path.join(self.folder.name, "page")
        others = [("report", self.path, "-o", page), ("diff", self.whole, self.path), ("diff", self.path, self.whole),
                  ("replay", "-q", "--with", "system", "--rounds", "1", self.path),
                  *(("export", self.path, f"--{form}", "-o", page + ".gz")
                    for form in ("arrow", "heaptrack", "pprof", "folded", "perfetto"))]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        code, output, said = self.run_one("summary", self.path)
        self.assertEqual("damaged at byte" in output + said, damage, output + said)
        for _ in range(len(others) if all_commands else 2):
            Hostile.turn = (Hostile.turn + 1) % len(others)
            self.run_one(*others[Hostile.turn])
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(after << 10, max(MOST_BYTES, before << 10), "a command took too much memory")
        trace = self.reader.Trace(self.path)
        for _ in trace.events():
            pass
        for block in trace.residents:
            try:
                trace.resident(block)
            except ValueError as error:
                trace.damage = str(error)
        if code == 0 and damage:
            self.assertNotEqual(trace.damage, "")

    def test_the_whole_trace(self):
        self.use(self.data, damage=False, all_commands=True)

    def test_numbers_that_no_machine_has(self):
        for name, value in (("page_bytes", 1), ("page_bytes", 3), ("page_bytes", 1 << 40), ("page_bytes", 1 << 63),
                            ("cpus", (1 << 32) - 1), ("stack_bytes", 0), ("clock_nanoseconds", -1e308),
                            ("clock_nanoseconds", 1e308), ("began_nanoseconds", (1 << 63) - 1)):
            with self.subTest(name=name, value=value):
                self.use(self.with_start(name, value), damage=True)
        self.use(self.with_start("page_bytes", 0), damage=False)  # not told

    def test_stacks_that_are_not_there(self):
        for number in (3, 4, 100_000, 1 << 24, (1 << 32) - 1, 1 << 32, (1 << 64) - 1):
            with self.subTest(number=number):
                data = self.with_column(b"EVNT", 6, lambda numbers, n=number: numbers.__setitem__(1, n))
                with open(self.path, "wb") as file:
                    file.write(data)
                trace = self.reader.Trace(self.path)
                self.assertNotIn(number, [event.stack for event in trace.events()])
                self.assertIn("did not come before it", trace.damage)
                self.use(data, damage=False, all_commands=number == 1 << 24)  # the block alone is left out

    def test_a_stack_that_is_its_own_caller(self):
        for back in (0, 3, 1 << 40):
            with self.subTest(back=back):
                self.use(self.with_column(b"STAK", 1, lambda numbers, b=back: numbers.__setitem__(1, b)), damage=True)

    def test_a_stack_of_more_calls_than_any(self):
        count = 1 << 16
        chunk = self.chunk(b"STAK")
        chunk[1] = bytearray(struct.pack("<II", 1, count))
        chunk[2] = bytearray(packed(1, raw_of([1] * count)) + packed(2, raw_of([2] * count)))
        self.use(file_of(self.chunks, self.data[:HEAD]), damage=True)

    def test_threads_that_the_file_cannot_tell(self):
        for number in (1 << 20, (1 << 31), (1 << 32) - 1):
            with self.subTest(number=number):
                self.use(self.with_summary(b"EVNT", "<I", 0, number), damage=True)
                self.use(self.with_json(b"THRD", lambda value, n=number: value[0].__setitem__("number", n)), damage=True)

    def test_times_that_cannot_be(self):
        self.use(self.with_summary(b"EVNT", "<Q", 8, (1 << 64) - 1), damage=True)
        self.use(self.with_summary(b"EVNT", "<Q", 16, 1 << 63), damage=True)
        for value in (1 << 40, 1 << 62, (1 << 64) - 1):
            self.use(self.with_column(b"EVNT", 2, lambda numbers, v=value: numbers.__setitem__(2, v)), damage=False)
        self.use(self.with_json(b"DONE", lambda value: value.__setitem__("time", (1 << 64) - 1)), damage=True)
        # A block of events stands twice, so that the times run backward.
        chunk = self.chunk(b"EVNT")
        self.chunks.insert(self.chunks.index(chunk), [part if isinstance(part, bytes) else part[:] for part in chunk])
        self.use(file_of(self.chunks, self.data[:HEAD]), damage=True)

    def test_sizes_and_addresses_beyond_all_memory(self):
        for value in (1 << 33, 1 << 47, 1 << 62, (1 << 64) - 1):
            with self.subTest(size=value):
                self.use(self.with_column(b"EVNT", 4, lambda numbers, v=value: numbers.__setitem__(1, v)), damage=False)
        for value in (1 << 50, 1 << 60, (1 << 63) - 1):
            with self.subTest(address=value):
                self.use(self.with_column(b"EVNT", 3, lambda numbers, v=value: numbers.__setitem__(1, v)), damage=False)
        self.use(self.with_column(b"RESI", 1, lambda numbers: numbers.__setitem__(0, 1 << 60)), damage=False)

    def test_summaries_that_claim_what_is_not_there(self):
        self.use(self.with_summary(b"EVNT", "<I", 4, (1 << 32) - 1), damage=True)
        self.use(self.with_summary(b"EVNT", "<I", 24, 1 << 31), damage=True)
        self.use(self.with_summary(b"STAK", "<I", 4, 1 << 22), damage=True)
        self.use(self.with_summary(b"SAMP", "<I", 0, 1 << 22), damage=True)

    def test_requests_that_cannot_be(self):
        self.use(self.with_summary(b"MREQ", "<I", 0, 1 << 22), damage=True)
        for column, value in ((1, 1 << 60), (2, 1 << 40), (3, 44), (3, 1 << 40), (4, 0x400009), (5, 1 << 58),
                              (6, 256), (7, 3), (7, 1 << 32)):
            with self.subTest(column=column, value=value):
                self.use(self.with_column(b"MREQ", column, lambda numbers, v=value: numbers.__setitem__(1, v)), damage=True)

    def test_memory_that_cannot_be(self):
        self.use(self.with_summary(b"VMAS", "<Q", 0, 1 << 63), damage=True)
        self.use(self.with_summary(b"VMAS", "<I", 8, 1 << 22), damage=True)
        self.use(self.with_summary(b"VMAS", "<Q", 16, 1 << 58), damage=True)
        self.use(self.with_summary(b"VMAS", "<Q", 24, (1 << 64) - 1), damage=True)
        self.use(self.with_json(b"PATH", lambda names: ["x" * 5000]), damage=True)
        self.use(self.with_json(b"PATH", lambda names: {"a": 1}), damage=True)
        # The table is read when it is wanted, and then left out.
        for column, value in ((2, 3), (2, 1 << 40), (3, 3), (3, 1 << 32), (6, (1 << 64) - 1)):
            with self.subTest(column=column, value=value):
                self.use(self.with_column(b"VMAS", column, lambda numbers, v=value: numbers.__setitem__(1, v)), damage=False)
        self.use(self.with_column(b"VMAS", 1, lambda numbers: numbers.__setitem__(1, 200)), damage=False)

    def with_names(self, kind, value, *, node=None):
        """A chunk of names after the nodes, the first of which has this address if it is told."""
        chunk = self.chunk(b"STAK")
        if node is not None:
            columns = {number: bytes(raw) for number, raw in columns_of(chunk[2]).items()}
            numbers = numbers_of(columns[2])
            numbers[0] = node << 1 if node < 1 << 63 else ((1 << 64) - node << 1) - 1
            chunk[2] = bytearray(b"".join(packed(number, bytes(raw_of(numbers)) if number == 2 else raw)
                                          for number, raw in columns.items()))
        self.chunks.insert(self.chunks.index(chunk) + 1, [kind, bytearray(), bytearray(json.dumps(value).encode())])
        return file_of(self.chunks, self.data[:HEAD])

    def test_places_that_cannot_be(self):
        node = (1 << 63) + 7
        place = {"number": 7, "function": "f", "file": "f.py", "line": 3}
        self.use(self.with_names(b"PLAC", [place], node=node), damage=False, all_commands=True)
        self.use(self.with_names(b"PLAC", [{**place, "function": "\x1b[2J\u009b31m"}], node=node), damage=False)
        for changes in ({"line": 1 << 40}, {"line": -1}, {"line": "3"}, {"file": "x" * (1 << 20)}, {"function": 7},
                        {"most_calls": 1 << 62, "least_calls": 1 << 63}, {"most_calls": 1, "least_calls": 9},
                        {"number": (1 << 63) - 1}, {"number": "7"}):
            with self.subTest(**{name: str(value)[:20] for name, value in changes.items()}):
                self.use(self.with_names(b"PLAC", [{**place, **changes}], node=node), damage=True)
        self.use(self.with_names(b"PLAC", [{**place, "number": number} for number in range(100000)], node=node), damage=False)

    def test_made_code_that_cannot_be(self):
        made = {"address": 0x1300, "name": "made"}
        self.use(self.with_names(b"MADE", [made]), damage=False, all_commands=True)
        for changes in ({"address": (1 << 64) - 1}, {"address": 0}, {"name": "\x1b[2J\u009b31m"}):
            with self.subTest(**changes):
                self.use(self.with_names(b"MADE", [{**made, **changes}]), damage=False)
        for changes in ({"name": "x" * (1 << 20)}, {"name": 2}, {"address": "x"}, {"address": -1}):
            with self.subTest(**{name: str(value)[:20] for name, value in changes.items()}):
                self.use(self.with_names(b"MADE", [{**made, **changes}]), damage=True)

    # A frame that says little of itself and becomes much.
    def test_what_grows_when_it_is_decompressed(self):
        zeros = bytes(64 << 20)
        for column, claim in ((1, len(zeros)), (9, len(zeros)), (1, 7), (2, (1 << 32) - 1)):
            with self.subTest(column=column, claim=claim):
                chunk = self.chunk(b"EVNT")
                chunk[2] += packed(column, zeros, claim) * 20
                self.use(file_of(self.chunks, self.data[:HEAD]), damage=False)
        chunk = self.chunk(b"SAMP")
        rows = 1 << 22
        chunk[1][:8] = struct.pack("<II", rows, 9)
        chunk[2] = bytearray(b"".join(packed(column, bytes(rows)) for column in range(1, 10)))
        self.use(file_of(self.chunks, self.data[:HEAD]), damage=True)

    def test_modules_that_are_no_files(self):
        fifo = os.path.join(self.folder.name, "fifo")
        if not os.path.exists(fifo):
            os.mkfifo(fifo)
        for path in (fifo, "fifo", "/dev/zero", "/dev/stdin", "/dev/tty", "/usr", "/proc/kcore", "/proc/self/mem", "a\0b"):
            with self.subTest(path=path):
                self.use(self.with_modules(path=path, build_id=""), damage=False, all_commands=path == fifo)
        self.use(self.with_modules(path="/" + "x" * 100_000), damage=True)
        self.use(self.with_modules(begin=0x3000), damage=True)
        self.use(self.with_modules(offset=(1 << 64) - 1), damage=True)

    def test_a_trace_that_is_no_file(self):
        fifo = os.path.join(self.folder.name, "other-fifo")
        os.mkfifo(fifo)
        for path in (fifo, "/dev/zero"):
            code, _, said = self.run_one("summary", path)
            self.assertEqual(code, 1)
            self.assertIn("not a regular file", said)

    # Also as bytes of C1, and as marks that turn the direction of text.
    def test_names_that_are_orders_to_a_terminal(self):
        text = "\x1b]0;owned\x07\x1b[2Jx\r\n\u009b31m\u202egnp.exe</script><script>alert(1)</script>"
        for data in (self.with_start("program", "/bin/" + text), self.with_start("allocator", text),
                     self.with_start("machine", text), self.with_start("recorder", text),
                     self.with_start("arguments", [text, "-x"]), self.with_modules(path="/x/" + text),
                     self.with_json(b"THRD", lambda value: value[0].__setitem__("name", text)),
                     self.with_json(b"MARK", lambda value: value[0].__setitem__("text", text))):
            self.use(data, damage=False)
            self.assertNotIn("\u202e", self.run_one("summary", self.path)[1])
            page = os.path.join(self.folder.name, "page")
            self.run_one("report", self.path, "-o", page)
            with open(page, encoding="utf-8") as file:
                self.assertNotIn("alert(1)", file.read())

    def test_a_file_whose_name_is_no_text(self):
        code, _, said = self.run_one("summary", b"no \xff\x9b\x1b text")
        self.assertEqual(code, 1)
        self.assertIn(r"no \xff\x9b\x1b text", said)

    def test_relatives_elsewhere(self):
        for name in ("/etc/passwd", "../x", "a/b", "", ".", "..", "a\0b"):
            with self.subTest(name=name):
                self.chunk(b"DONE")
                relative = {"time": 1, "process": 2, "is_same_process": False, "file": name}
                self.chunks.insert(-1, [b"KIDS", bytearray(), bytearray(json.dumps(relative).encode())])
                self.use(file_of(self.chunks, self.data[:HEAD]), damage=True)

    def test_json_that_is_deep_or_long(self):
        for text in ("[" * 200_000, '{"a":' * 100_000, '{"program":"' + "A" * 2_000_000 + '"}', "[" + "1," * 99_999 + "1]"):
            for kind in (b"STRT", b"THRD", b"MODS"):
                self.chunk(kind)[2] = bytearray(text.encode())
                with open(self.path, "wb") as file:
                    file.write(file_of(self.chunks, self.data[:HEAD]))
                self.run_one("summary", self.path)
                try:
                    self.reader.Trace(self.path)
                except ValueError:
                    pass

    # 60,000 events of one time, of many threads: a choice among them that looks at all of them would take hours.
    def test_many_events_of_one_time(self):
        count, threads = 20_000, 6
        chunk = self.chunk(b"EVNT")
        place = self.chunks.index(chunk)
        self.chunks = [other for other in self.chunks if other[0] != b"EVNT"]
        for thread in range(threads):
            summary = bytearray(456)
            struct.pack_into("<IIQQ", summary, 0, thread, count, 9, 9)
            struct.pack_into("<I", summary, 28, count)  # freed
            body = packed(1, bytes([16]) * count) + packed(2, bytes(count)) + packed(3, raw_of([2 + 4 * thread] * count))
            self.chunks.insert(place, [b"EVNT", summary, bytearray(body)])
        with open(self.path, "wb") as file:
            file.write(file_of(self.chunks, self.data[:HEAD]))
        self.run_one("summary", self.path)


if __name__ == "__main__":
    unittest.main(argv=["hostile"])
