#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: reads the traces of `granary record`, for notebooks and scripts: docs/design/trace-format.md in Python.
# Invariant: what is read was checked; where a file is cut off or damaged, all before that is there and .damage says so.
# Must not know: anything that the format does not say.
"""trace = Trace("x.trace"); trace.start, .threads, .modules, .marks, .samples, .relatives, .stacks, .end, .damage;
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
SAMPLE = ("time", "resident", "anonymous", "lazy_free", "huge", "user_us", "system_us", "faults", "threads")
WORD = (1 << 64) - 1


class Event(typing.NamedTuple):
    time: int  # in units of 100 ns since the recording began
    thread: int
    op: str
    address: int
    size: int
    alignment: int  # its logarithm; of advise, the advice; 0: none
    stack: int  # an index of Trace.stacks; 0: none was taken
    nanoseconds: int  # that the call took; 0: it was not timed


def numbers(data):
    """Seven bits of a number a byte, the lowest first."""
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number & WORD
            number = shift = 0


def signed(number):
    return number >> 1 ^ -(number & 1)


def columns(body):
    found, at = {}, 0
    while at < len(body):
        column, _coding, _unused, size, raw = struct.unpack_from("<BBHII", body, at)
        found[column] = zstandard.ZstdDecompressor().decompress(body[at + 12 : at + 12 + size], max_output_size=raw)
        at += 12 + size
    return found


def sparse(data, count):
    """How many events to pass over, and a number: pairs."""
    values, pairs, at = [0] * count, numbers(data), 0
    for passed_over, value in zip(pairs, pairs):
        at += passed_over + 1
        values[at - 1] = value
    return values


class Trace:
    def __init__(self, path):
        self.start, self.end, self.damage = {}, None, ""
        self.threads, self.modules, self.marks, self.samples, self.relatives = {}, [], [], [], []
        self.stacks = [(0, 0)]  # (the caller's index, the address behind the call)
        self.blocks, self.residents = [], []  # (summary, body), still compressed
        with open(path, "rb") as file:
            data = file.read()
        if data[:12] != MAGIC or struct.unpack_from("<I", data, 12)[0] != VERSION:
            raise ValueError(f"{path} is no trace of version {VERSION}")
        at = 16
        while at < len(data) and not self.damage:
            try:
                kind, summary_size, body_size, body_check, head_check = struct.unpack_from("<4sIIII", data, at)
                summary = data[at + 20 : at + 20 + summary_size]
                body = data[at + 20 + summary_size : at + 20 + summary_size + body_size]
                if zlib.crc32(data[at : at + 16] + summary) != head_check or zlib.crc32(body) != body_check:
                    raise ValueError("a chunk does not match its check")
                self._take(kind, summary, body)
                at += 20 + summary_size + body_size
            except (struct.error, ValueError, zstandard.ZstdError) as error:
                self.damage = f"damaged at byte {at}: {error}"
        if not self.damage and self.end is None:
            self.damage = "it has no end: what was recorded last may be missing"

    def _take(self, kind, summary, body):
        if kind in (b"STRT", b"DONE"):
            setattr(self, "start" if kind == b"STRT" else "end", json.loads(body))
        elif kind == b"THRD":
            self.threads.update((thread["number"], thread) for thread in json.loads(body))
        elif kind == b"MARK":
            self.marks += json.loads(body)
        elif kind in (b"MODS", b"KIDS"):
            (self.modules if kind == b"MODS" else self.relatives).append(json.loads(body))
        elif kind in (b"EVNT", b"RESI"):
            (self.blocks if kind == b"EVNT" else self.residents).append((summary, body))
        elif kind == b"STAK":
            table, address = columns(body), 0
            for back, difference in zip(numbers(table[1]), numbers(table[2])):
                address = (address + signed(difference)) & WORD
                self.stacks.append((len(self.stacks) - back, address))
        elif kind == b"SAMP":
            table, row = columns(body), [0] * len(SAMPLE)
            for differences in zip(*(numbers(table[i + 1]) for i in range(len(SAMPLE)))):
                row = [(value + signed(difference)) & WORD for value, difference in zip(row, differences)]
                self.samples.append(dict(zip(SAMPLE, row)))

    def events(self):
        for summary, body in self.blocks:
            thread, count, time = struct.unpack_from("<IIQ", summary)
            table, address = columns(body), 0
            ops, times, turned = table.get(1, b""), numbers(table.get(2, b"")), numbers(table.get(3, b""))
            sizes, alignments = numbers(table.get(4, b"")), iter(table.get(5, b""))
            stacks, timings = sparse(table.get(6, b""), count), sparse(table.get(7, b""), count)
            for i, op in enumerate(ops):
                time += next(times)
                address = (address + signed(next(turned))) & WORD
                yield Event(time, thread, OPS[op & 127], (address << 4 | address >> 60) & WORD,
                            0 if 16 <= op & 127 < 32 else next(sizes), next(alignments) if op & 128 else 0, stacks[i],
                            timings[i])

    def resident(self, block):
        """Of one of .residents: its time, and (address, bytes) of what was in memory."""
        (time, _runs, page, _bytes), end, runs = struct.unpack_from("<QIIQ", block[0]), 0, []
        table = columns(block[1])
        for gap, pages in zip(numbers(table.get(1, b"")), numbers(table.get(2, b""))):
            runs.append((end + gap * page, pages * page))
            end += (gap + pages) * page
        return time, runs


if __name__ == "__main__":
    read = Trace(sys.argv[1])
    for each in sorted(read.events()):
        print(f"{each.time / 1e7:.7f} {each.thread} {each.op} {each.address:#x} {each.size} {each.alignment}")
    if read.damage:
        sys.exit(f"{sys.argv[1]}: {read.damage}")
