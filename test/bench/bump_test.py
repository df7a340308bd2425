# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the control that is an allocator: it serves real programs, keeps to its limit, and is measured only where
#    it is named.
# Invariant: its entry points are called in a process of their own, a Python that runs on it.
# Must not know: how fast it is.
"""Usage: bump_test.py BUILD_FOLDER."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, WithMeasure, main

from harness.allocators import Missing
from harness.program import Work
from peers import BUMP, SIX, Peers
from profiles import PROFILES
from subjects import CompiledSubject, Workload

PEERS = Peers(BUILD, Path("/no/such/list.json"))
DECLARED = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
WORD, POINTER = ctypes.c_size_t, ctypes.c_void_p
for name, words in {"malloc": 1, "calloc": 2, "aligned_alloc": 2, "memalign": 2, "valloc": 1, "pvalloc": 1}.items():
    function = getattr(libc, name)
    function.restype, function.argtypes = POINTER, [WORD] * words
libc.realloc.restype, libc.realloc.argtypes = POINTER, [POINTER, WORD]
libc.free.restype, libc.free.argtypes = None, [POINTER]
libc.malloc_usable_size.restype, libc.malloc_usable_size.argtypes = WORD, [POINTER]
libc.posix_memalign.argtypes = [POINTER, WORD, WORD]
"""


class EntryPoints(unittest.TestCase):
    def calls(self, script: str) -> None:
        done = subprocess.run([sys.executable, "-c", DECLARED + script], capture_output=True, text=True, timeout=60,
                              env={"LD_PRELOAD": str(PEERS.get(BUMP).library)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_blocks_are_apart_and_aligned(self):
        self.calls("""
sizes = [size for size in (0, 1, 7, 8, 9, 100, 4096, 200_000, 300_000) for _ in range(20)]
blocks = [libc.malloc(size) for size in sizes]
assert all(block % 16 == 0 for block in blocks)
ends = sorted((block, block + libc.malloc_usable_size(block)) for block in blocks)
assert all(end < begin for (_, end), (begin, _) in zip(ends, ends[1:]))
assert all(libc.malloc_usable_size(block) >= size for block, size in zip(blocks, sizes))
""")

    def test_alignment(self):
        self.calls("""
for power in range(31):
    assert libc.aligned_alloc(1 << power, 10) % (1 << power) == 0
assert libc.memalign(48, 10) % 64 == 0 and libc.valloc(1) % 4096 == 0
assert libc.malloc_usable_size(libc.pvalloc(1)) >= 4096
block = POINTER()
assert libc.posix_memalign(ctypes.byref(block), 256, 10) == 0 and block.value % 256 == 0
assert libc.posix_memalign(ctypes.byref(block), 24, 10) == 22
""")

    def test_contents(self):
        self.calls("""
block = libc.realloc(None, 5)
ctypes.memmove(block, b"bytes", 5)
libc.free(libc.malloc(5))
moved = libc.realloc(block, 500_000)
assert moved != block and ctypes.string_at(moved, 5) == b"bytes"
assert libc.realloc(moved, 3) == moved
assert ctypes.string_at(libc.calloc(1000, 3), 3000) == bytes(3000)
""")

    def test_limit(self):
        self.calls("""
half = 2 << 30
assert libc.malloc(half - (64 << 20))
assert libc.malloc(half - (64 << 20))
for failing in (lambda: libc.malloc(half), lambda: libc.malloc(2**64 - 1), lambda: libc.calloc(2**32, 2**32),
                lambda: libc.aligned_alloc(2**63, 1), lambda: libc.pvalloc(2**64 - 1)):
    ctypes.set_errno(0)
    assert failing() is None and ctypes.get_errno() == 12
assert libc.malloc(100)
""")


class Workloads(WithMeasure):
    def test_threads_run_on_it(self):
        workload = Workload("larson", "multithreaded", (), "larson", "")
        subject = CompiledSubject(workload, 2, PROFILES["smoke"], BUILD / "bench" / "workloads")
        with Work("bench") as work:
            with work.trial() as folder:
                subject.prove(PEERS.get(BUMP), folder)
            self.assertGreater(subject.trial(work, self.measure, PEERS.get(BUMP))["operations"], 0)


class Named(unittest.TestCase):
    def test_only_there_it_is_measured(self):
        self.assertNotIn(BUMP, (*PEERS.names(), *SIX))

    def test_twice(self):
        self.assertEqual(PEERS.get("bump+").name, "bump+")
        self.assertTrue(PEERS.facts("bump+")["control"])

    def test_where_it_is_not_built(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(Missing, "^bump: .*make bench$"):
            Peers(Path(folder), PEERS.listing).get(BUMP)


if __name__ == "__main__":
    main()
