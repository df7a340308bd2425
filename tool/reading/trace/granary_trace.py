#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: reads the traces of `granary record`, for notebooks and scripts: docs/design/trace-format.md in Python.
# Invariant: what is read was checked; where a file is cut off or damaged, all before that is there and .damage says so. A trace
#    is untrusted input: no number in it makes the reader take memory that the file's size does not justify.
# Must not know: anything that the format does not say.
"""trace = Trace("x.trace"); trace.start, .threads, .modules, .places, .made, .marks, .samples, .requests, .memory, .relatives,
.stacks, .symbols, .end, .damage;
for event in trace.events(): ...   of each thread in order; sorted(trace.events()) is in the order of time.
As a command: granary_trace.py FILE prints its events, one a line. Needs zstandard (Debian: python3-zstandard)."""
import json
import struct
import sys
import typing
import zlib

import zstandard

MAGIC, VERSION = b"\x89GRTRACE\r\n\x1a\n", 1
OPS = {1: "malloc", 2: "calloc", 3: "realloc", 4: "aligned_alloc", 5: "new", 6: "new[]", 16: "free", 17: "realloc_free",
       18: "delete", 19: "delete[]", 32: "map", 33: "unmap", 34: "advise", 35: "break"}
REQUESTS = {40: "map", 41: "unmap", 42: "advise", 43: "break"}
MEMORY = {1: "heap", 2: "own", 3: "stack", 4: "code", 5: "data", 6: "file", 7: "shared", 8: "recorder", 9: "not_known",
          10: "earlier"}
SAMPLE = ("time", "resident", "anonymous", "lazy_free", "huge", "user_us", "system_us", "faults", "threads")
WORD = (1 << 64) - 1
MOST_EVENTS, MOST_RUNS, MOST_BODY, MOST_TIME, MOST_BLOCK = 1 << 16, 1 << 22, 1 << 28, 1 << 56, 1 << 57
MOST_DEPTH, MOST_PATH = 1024, 4096
FIRST_PLACE = 1 << 63  # from there on the address of a node is this and the number of a place
# Names: bytes of a text, calls of a place, a line, bytes of all texts of a chunk; and of a file: texts, their bytes, places, calls.
MOST_TEXT, MOST_CALLS, MOST_LINE, MOST_TEXT_OF_CHUNK = 4096, 255, (1 << 31) - 1, 1 << 23
MOST_NAMES = (1 << 22, 1 << 26, 1 << 20, 1 << 21)
# What Python raises where a file has another form than it should.
ERRORS = (struct.error, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, zstandard.ZstdError)


class Event(typing.NamedTuple):
    time: int  # in units of 100 ns since the recording began
    thread: int
    op: str
    address: int
    size: int
    alignment: int  # its logarithm; of advise, the advice; 0: none
    stack: int  # an index of Trace.stacks; 0: none was taken
    nanoseconds: int  # that the call took; 0: it was not timed


class Request(typing.NamedTuple):
    """Of the program and its libraries to the kernel, the allocator apart."""
    time: int
    thread: int
    kind: str
    address: int
    size: int  # of break: by how much it grew, modulo 2^64
    detail: int  # of map: 1 shared, 2 of a file, 4 addresses only; of advise: the advice
    stack: int  # an index of Trace.stacks


class MemoryPart(typing.NamedTuple):
    kind: str
    name: str
    stack: int  # of who mapped it; 0: none
    mappings: int
    bytes: int  # of addresses
    resident: int


def require(is_so, what):
    if not is_so:
        raise ValueError(what)


def numbers(data):
    """Seven bits of a number a byte, the lowest first."""
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number & WORD
            number = shift = 0
        elif shift > 63:
            raise ValueError("a number is too long")
    require(shift == 0, "a column is too short")


def exactly(count, values):
    """So many of them; fewer are an error."""
    for _ in range(count):
        try:
            yield next(values)
        except StopIteration:
            raise ValueError("a column is too short") from None


def signed(number):
    return number >> 1 ^ -(number & 1)


def columns(body, most, rows, most_bytes=0):
    """Those up to a number, each of at most two numbers for a row, or of so many bytes."""
    found, at = {}, 0
    while at < len(body):
        column, coding, _unused, size, raw = struct.unpack_from("<BBHII", body, at)
        packed = body[at + 12 : at + 12 + size]
        require(len(packed) == size, "a column is longer than its chunk")
        at += 12 + size
        if column > most:
            continue
        require(coding == 1 and column not in found, "a column is compressed in an unknown way, or is there twice")
        require(raw <= max(20 * rows, most_bytes), "a column is longer than its rows can be")
        # A frame that tells its own size is decompressed to that, whatever the limit.
        require(zstandard.frame_content_size(packed) in (raw, -1), "a column cannot be decompressed")
        found[column] = zstandard.ZstdDecompressor().decompress(packed, max_output_size=raw)
        require(len(found[column]) == raw, "a column cannot be decompressed")
    return found


def rows_of(count, body):
    require(count <= MOST_EVENTS + 128 * len(body), "a table has more rows than its bytes can tell")
    return count


def is_page_size(size):
    return 512 <= size <= 1 << 30 and size & (size - 1) == 0


def sparse(data, count):
    """How many events to pass over, and a number: pairs."""
    values, pairs, at = [0] * count, numbers(data), 0
    for passed_over, value in zip(pairs, pairs):
        at += passed_over + 1
        require(at <= count, "a column has more values than there are events")
        values[at - 1] = value
    return values


class Trace:
    def __init__(self, path):
        self.start, self.end, self.damage = {}, None, ""
        self.threads, self.modules, self.marks, self.samples, self.relatives = {}, [], [], [], []
        self.requests = []  # each thread's in order
        self.memory = []  # (time, bytes of page tables, parts)
        self.names = [""]  # of memory
        self.places, self.made = {}, {}  # by the address of the nodes: what they stand for; names of code without a file
        self.stacks = [(0, 0)]  # (the caller's index, the address behind the call)
        self.blocks = []  # (summary, body, the number of stacks before it), still compressed
        self.residents = []  # (summary, body), still compressed
        self.symbols = {}  # (path, build id, offset in the file): [(function, source, line), ...], the outermost first
        self._names = [0, 0, 0, 0]  # so far: texts, their bytes, places, calls
        self._depths, self._ends = [0], {}  # of each stack its calls; of each thread its last time so far
        with open(path, "rb") as file:
            data = file.read()
        if len(data) < 16 or data[:12] != MAGIC or struct.unpack_from("<I", data, 12)[0] != VERSION:
            raise ValueError(f"{path} is no trace of version {VERSION}")
        self._most_threads = (1 << 12) + len(data) // 32
        at = 16
        while at < len(data) and not self.damage:
            try:
                kind, summary_size, body_size, body_check, head_check = struct.unpack_from("<4sIIII", data, at)
                summary = data[at + 20 : at + 20 + summary_size]
                body = data[at + 20 + summary_size : at + 20 + summary_size + body_size]
                require(summary_size <= 1 << 20 and body_size <= MOST_BODY, "a chunk is too long")
                if zlib.crc32(data[at : at + 16] + summary) != head_check or zlib.crc32(body) != body_check:
                    raise ValueError("a chunk does not match its check")
                self._take(kind, summary, body)
                at += 20 + summary_size + body_size
            except ERRORS as error:
                self.damage = f"damaged at byte {at}: {error}"
        if not self.damage and self.end is None:
            self.damage = "it has no end: what was recorded last may be missing"

    def _thread(self, number):
        require(0 <= number < self._most_threads, "a thread's number is larger than the file can tell of threads")
        return number

    @staticmethod
    def _time(time):
        require(0 <= time <= MOST_TIME, "a time is not possible")
        return time

    def _modules(self, modules):
        self._time(modules["time"])
        for module in modules["modules"]:
            begin, end = module["begin"], module["end"]
            require(0 <= begin < end and 0 <= module["offset"] <= WORD - (end - begin),
                    "a mapped file has impossible addresses")
            require(len(module["path"].encode()) <= MOST_PATH, "the name of a mapped file is too long")
        return modules

    def _take_places(self, places):
        for place in places:
            number, least, most = place["number"], place.get("least_calls", 0), place.get("most_calls", 0)
            require(0 <= number < 1 << 32 and 0 <= least <= most <= 1 << 56 and 0 <= place.get("line", 0) < 1 << 32,
                    "a place in the stacks has impossible numbers")
            require(len(place.get("function", "")) <= MOST_PATH and len(place.get("file", "")) <= MOST_PATH,
                    "the name of a function is too long")
            self.places[FIRST_PLACE + number] = place

    def _take_made(self, functions):
        for function in functions:
            require(0 <= function["address"] <= WORD and len(function["name"]) <= MOST_PATH,
                    "the name of made code is impossible")
            self.made[function["address"]] = function["name"]

    def _take(self, kind, summary, body):
        if kind == b"STRT":
            require(not self.start, "there is a second start")
            self.start = dict(json.loads(body))
            page = self.start.get("page_bytes", 0)
            require(page == 0 or is_page_size(page), "the page size is not possible")
        elif kind == b"DONE":
            self.end = dict(json.loads(body))
            self._time(self.end.get("time", 0))
        elif kind == b"THRD":
            self.threads.update((self._thread(thread["number"]), thread) for thread in json.loads(body))
        elif kind == b"MARK":
            self.marks += json.loads(body)
        elif kind == b"MODS":
            self.modules.append(self._modules(json.loads(body)))
        elif kind == b"PLAC":
            self._take_places(json.loads(body))
        elif kind == b"MADE":
            self._take_made(json.loads(body))
        elif kind == b"KIDS":
            relative = json.loads(body)
            require("/" not in relative["file"] and "\0" not in relative["file"] and
                    relative["file"] not in ("", ".", ".."), "a related trace is not named by a file name")
            self.relatives.append(relative)
        elif kind == b"EVNT":
            thread, count, first, last = struct.unpack_from("<IIQQ", summary)
            kinds = struct.unpack_from("<IIII", summary, 24)
            require(count <= MOST_EVENTS and first <= self._time(last) and sum(kinds) == count,
                    "a block of events contradicts its summary")
            if count:
                require(first >= self._ends.get(self._thread(thread), 0), "a thread's times run backward")
                self._ends[thread] = last
            self.blocks.append((summary, body, len(self.stacks)))
        elif kind == b"RESI":
            time, runs, page, _bytes = struct.unpack_from("<QIIQ", summary)
            require(self._time(time) <= MOST_TIME and runs <= MOST_RUNS and is_page_size(page), "pages are not possible")
            self.residents.append((summary, body))
        elif kind == b"STAK":
            self._take_stacks(summary, body)
        elif kind == b"SAMP":
            self._take_samples(summary, body)
        elif kind == b"MREQ":
            self._take_requests(summary, body)
        elif kind == b"PATH":
            self.names += [str(name) for name in json.loads(body)]
            require(all(len(name.encode()) <= MOST_PATH for name in self.names), "the name of a mapped file is too long")
        elif kind == b"VMAS":
            self._take_memory(summary, body)
        elif kind == b"SYMB":
            self._take_symbols(summary, body)

    def _take_stacks(self, summary, body):
        first, count = struct.unpack_from("<II", summary)
        require(first == len(self.stacks), "stacks are missing")
        table, address = columns(body, 2, rows_of(count, body)), 0
        parents, addresses = (exactly(count, numbers(table.get(i, b""))) for i in (1, 2))
        for back, difference in zip(parents, addresses):
            parent = len(self.stacks) - back
            require(0 <= parent < len(self.stacks), "a stack refers to a caller that comes after it")
            self._depths.append(self._depths[parent] + 1)
            require(self._depths[-1] <= MOST_DEPTH, "a stack has too many calls")
            address = (address + signed(difference)) & WORD
            self.stacks.append((parent, address))

    def _take_samples(self, summary, body):
        count, told = struct.unpack_from("<II", summary)
        table, row = columns(body, len(SAMPLE), rows_of(count, body)), [0] * len(SAMPLE)
        known = [exactly(count, numbers(table.get(i + 1, b""))) for i in range(min(told, len(SAMPLE)))]
        for _ in range(count):
            for i, differences in enumerate(known):
                row[i] = (row[i] + signed(next(differences))) & WORD
            sample = dict(zip(SAMPLE, row))
            # Two threads of the recorder take samples, so that one may come after a later one.
            sample["time"] = max(self._time(row[0]), self.samples[-1]["time"] if self.samples else 0)
            self.samples.append(sample)

    def _take_requests(self, summary, body):
        count, _told = struct.unpack_from("<II", summary)
        require(count <= 128 * len(body), "a table has more rows than its bytes can tell")
        table, time, address = columns(body, 7, count), 0, 0
        for row in zip(*(exactly(count, numbers(table.get(i, b""))) for i in range(1, 8))):
            time, address = (time + signed(row[0])) & WORD, (address + signed(row[3])) & WORD
            require(row[2] in REQUESTS and row[5] < 256, "a request has an unknown kind")
            require(row[6] < len(self.stacks), "a request refers to a stack that did not come before it")
            request = Request(self._time(time), self._thread(row[1]), REQUESTS[row[2]], address, row[4], row[5], row[6])
            require(request.kind == "break" or (request.size <= MOST_BLOCK and address + request.size <= WORD),
                    "a range of a request lies beyond the last address")
            self.requests.append(request)

    def _take_memory(self, summary, body):
        time, count, _told, resident, recorder, tables = struct.unpack_from("<QIIQQQ", summary)
        require(count <= 128 * len(body), "a table has more rows than its bytes can tell")
        require(resident <= MOST_BLOCK and recorder <= MOST_BLOCK, "more is resident than any machine has")
        table, parts = columns(body, 6, count), []
        for row in zip(*(exactly(count, numbers(table.get(i, b""))) for i in range(1, 7))):
            kind, name, stack, *rest = row
            require(name < len(self.names) and stack < len(self.stacks),
                    "a part of the memory refers to a name or a stack that did not come before it")
            parts.append(MemoryPart(MEMORY.get(kind, "not_known"), self.names[name], stack, *rest))
        require(sum(part.resident for part in parts) <= MOST_BLOCK, "more is resident than any machine has")
        self.memory.append((self._time(time), tables, parts))

    def _take_symbols(self, summary, body):
        counts = struct.unpack_from("<IIII", summary)
        require(max(counts) <= MOST_EVENTS, "a table of names has too many rows")
        table = columns(body, 4, 3 * max(counts), MOST_TEXT_OF_CHUNK)
        texts = [text.decode(errors="replace") for text in table.get(1, b"").split(b"\0")]
        require(texts.pop() == "" and len(texts) == counts[0], "names are missing")
        require(all(len(text) <= MOST_TEXT for text in texts), "a name is too long")
        self._names = [before + more for before, more in
                       zip(self._names, (counts[0], len(table.get(1, b"")), counts[2], counts[3]))]
        require(all(name <= most for name, most in zip(self._names, MOST_NAMES)), "there are too many names")
        texts.insert(0, "")
        files, places, calls = (exactly(rows * width, numbers(table.get(i, b""))) for i, rows, width in
                                ((2, counts[1], 2), (3, counts[2], 3), (4, counts[3], 3)))
        pairs = [(texts[path], texts[build_id]) for path, build_id in zip(files, files)]
        found = [(texts[function], texts[file], line) for function, file, line in zip(calls, calls, calls)]
        require(all(line <= MOST_LINE for _, _, line in found), "a line of a source is not possible")
        offset = at = 0
        for file, difference, count in zip(places, places, places):
            require(0 < count <= MOST_CALLS and at + count <= len(found), "a place has no calls, or too many")
            offset = (offset + signed(difference)) & WORD
            self.symbols.setdefault((*pairs[file], offset), found[at : at + count])
            at += count
        require(at == len(found), "a table of names contradicts its summary")

    def events(self):
        """A block that is damaged is left out from there, and .damage says so."""
        for summary, body, stacks_before in self.blocks:
            try:
                yield from self._events_of(summary, body, stacks_before)
            except ERRORS as error:
                self.damage = self.damage or f"a block of events is damaged: {error}"

    @staticmethod
    def _events_of(summary, body, stacks_before):
        thread, count, time, last = struct.unpack_from("<IIQQ", summary)
        table, address = columns(body, 7, count), 0
        ops = table.get(1, b"")
        require(len(ops) >= count, "a column is too short")
        times, turned = (exactly(count, numbers(table.get(i, b""))) for i in (2, 3))
        sizes, alignments = exactly(count, numbers(table.get(4, b""))), exactly(count, iter(table.get(5, b"")))
        stacks, timings = sparse(table.get(6, b""), count), sparse(table.get(7, b""), count)
        for i, op in enumerate(ops[:count]):
            time += next(times)
            address = (address + signed(next(turned))) & WORD
            event = Event(time, thread, OPS[op & 127], (address << 4 | address >> 60) & WORD,
                          0 if 16 <= op & 127 < 32 else next(sizes), next(alignments) if op & 128 else 0, stacks[i],
                          timings[i])
            require(time <= last, "an event is later than the last of its block")
            require(event.stack < stacks_before, "an event refers to a stack that did not come before it")
            is_range = op & 127 not in (16, 17, 18, 19, 35) and event.address != 0
            require(not is_range or (event.size <= MOST_BLOCK and event.address + event.size <= WORD),
                    "a block lies beyond the last address")
            yield event

    def resident(self, block):
        """Of one of .residents: its time, and (address, bytes) of what was in memory."""
        (time, count, page, _bytes), end, runs = struct.unpack_from("<QIIQ", block[0]), 0, []
        table = columns(block[1], 2, count)
        gaps, lengths = (exactly(count, numbers(table.get(i, b""))) for i in (1, 2))
        for gap, pages in zip(gaps, lengths):
            runs.append((end + gap * page, pages * page))
            end += (gap + pages) * page
            require(end <= WORD, "resident pages lie beyond the last address")
        return time, runs


if __name__ == "__main__":
    read = Trace(sys.argv[1])
    for each in sorted(read.events()):
        print(f"{each.time / 1e7:.7f} {each.thread} {each.op} {each.address:#x} {each.size} {each.alignment}")
    if read.damage:
        sys.exit(f"{sys.argv[1]}: {read.damage}")
