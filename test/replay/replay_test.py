# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary replay: what was in use at the peak and what was asked for, on each allocator; and what it refuses.
# Invariant: what a trace says is computed here anew, by a dictionary.
# Must not know: how a script is played.
"""Usage: replay_test.py GRANARY WRITE_TRACE LIBRARY."""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GRANARY, WRITE_TRACE, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:4])
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_"))}
PAGE = 4096


class Story:
    """Lines of a trace, and what is in use after each."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.live: dict[int, int] = {}
        self.time = 0
        self.next_address = 0x100000
        self.peak = 0

    def event(self, thread: int, op: str, address: int, size: int = 0, more: str = "") -> None:
        self.lines.append(f"event {thread} {self.time} {op} {address} {size} {more}")
        self.time += 1 + self.random.randrange(3)

    def obtain(self, thread: int, op: str, size: int, more: str = "") -> int:
        address = self.next_address
        self.next_address += (size + 31) // 16 * 16
        self.event(thread, op, address, size, more)
        self.live[address] = size
        self.peak = max(self.peak, sum(self.live.values()))
        return address

    def free(self, thread: int, address: int, op: str = "free") -> None:
        self.event(thread, op, address)
        del self.live[address]

    def resize(self, thread: int, address: int, size: int) -> int:
        self.free(thread, address, "reallocfree")
        return self.obtain(thread, "realloc", size)

    def one_of_them(self) -> int:
        return self.random.choice(list(self.live))

    def wander(self, threads: int, steps: int) -> "Story":
        for step in range(steps):
            thread = step if step < threads else self.random.randrange(threads)
            choice = self.random.random()
            if len(self.live) > 200 or (self.live and choice < 0.4):
                self.free(thread, self.one_of_them(), self.random.choice(["free", "delete", "delete[]"]))
            elif self.live and choice < 0.5:
                self.resize(thread, self.one_of_them(), int(2 ** self.random.uniform(0, 17)))
            elif choice < 0.55:
                self.obtain(thread, "aligned", self.random.randrange(1, 9000), f"0 {self.random.randrange(3, 14)}")
            else:
                self.obtain(thread, self.random.choice(["malloc", "calloc", "new", "new[]", "realloc"]),
                            int(2 ** self.random.uniform(0, 15)))
        return self


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = str(Path(folder.name) / "a.trace")

    def write(self, lines: list[str]) -> None:
        subprocess.run([WRITE_TRACE, self.trace], input="\n".join(lines), text=True, check=True)

    def granary(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([GRANARY, "replay", "--rounds", "1", *words], env=CLEAN, capture_output=True, text=True,
                              check=False, timeout=120)

    def play(self, story: Story, *words: str) -> dict:
        self.write(story.lines)
        done = self.granary(self.trace, "--json", "--with", f"system,{LIBRARY}", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def check(self, story: Story, *words: str) -> dict:
        told = self.play(story, *words)
        self.assertEqual(told["peak_bytes"], story.peak)
        self.assertEqual(told["end_bytes"], sum(story.live.values()))
        for one in told["allocators"]:
            self.assertEqual(one["live_at_peak_bytes"]["median"], story.peak, one["name"])
            self.assertEqual(one["failed"]["most"], 0)
        return told

    def assert_refused(self, done: subprocess.CompletedProcess, code: int, *words: str) -> None:
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_one_thread(self):
        self.check(Story(1).wander(1, 5000))

    def test_threads_that_free_each_others_blocks(self):
        self.check(Story(2).wander(8, 8000))

    def test_more_threads_than_there_are_cpus_and_each_is_brief(self):
        story = Story(3)
        for thread in range(300):
            kept = [story.obtain(thread, "malloc", 100 + thread) for _ in range(5)]
            story.free(thread, kept[0])
            if thread > 0:
                story.free(thread, story.one_of_them())
        told = self.check(story)
        self.assertEqual(told["threads"], 300)

    def test_a_block_that_many_threads_resize_in_turn(self):
        story = Story(4)
        block = story.obtain(0, "malloc", 10)
        for step in range(70000):  # more turns than an operation can count
            block = story.resize(step % 3 if step % 1000 < 3 else 0, block, 1 + step % 500)
        story.free(2, block)
        self.check(story)

    def test_pages_are_written_to_as_wanted(self):
        story = Story(5)
        for _ in range(20):
            story.obtain(0, "malloc", 1 << 20)
        every = self.check(story, "--touch", "all")["allocators"][0]
        none = self.check(story, "--touch", "none")["allocators"][0]
        self.assertGreaterEqual(every["resident_at_peak_bytes"]["median"], story.peak)
        self.assertLess(none["resident_at_peak_bytes"]["median"], story.peak / 10)

    def test_of_large_blocks_those_pages_that_the_recording_saw(self):
        story = Story(6)
        block = story.obtain(0, "malloc", 64 << 20)
        page = block // PAGE * PAGE
        story.lines.append(f"resident {story.time + 1} {page} {16 << 20}")
        story.time += 5
        story.obtain(0, "malloc", 1)
        told = self.check(story)["allocators"][0]["resident_at_peak_bytes"]["median"]
        self.assertAlmostEqual(told, 16 << 20, delta=1 << 20)

    def test_what_was_obtained_before_the_recording_began_is_left_out(self):
        story = Story(7).wander(2, 100)
        story.lines.append(f"event 0 {story.time} free 0x50 0")
        told = self.check(story)
        self.assertEqual(told["unknown_frees"], 1)

    # Some allocators free the block and give none where others give one of no bytes.
    def test_a_realloc_to_no_bytes_that_gave_a_block(self):
        story = Story(11)
        for _ in range(100):
            block = story.resize(0, story.obtain(0, "malloc", 100), 0)
            other = story.obtain(0, "malloc", 100)
            story.free(0, block)
            story.free(0, other)
        self.check(story)

    def test_more_memory_than_the_machine_has_is_refused(self):
        story = Story(12)
        story.obtain(0, "malloc", (1 << 40) - 1)
        self.write(story.lines)
        self.assert_refused(self.granary(self.trace, "--with", "system"), 1, "available", "--touch none")
        self.assertEqual(self.granary(self.trace, "--with", "system", "--touch", "none").returncode, 0)

    def test_no_more_is_written_to_than_the_process_had_in_memory(self):
        story = Story(13)
        story.obtain(0, "malloc", 1 << 32)
        story.lines.append(f"sample {story.time} {1 << 20} {1 << 20}")
        told = self.play(story)
        for one in told["allocators"]:
            self.assertLess(one["most_resident_bytes"]["most"], 256 << 20)

    def test_only_threads_that_did_something_are_started(self):
        story = Story(14)
        story.obtain(3000, "malloc", 100)
        self.assertEqual(self.check(story)["threads"], 1)

    def test_text_names_each_allocator_and_what_is_not_shown(self):
        self.write(Story(8).wander(1, 500).lines)
        done = self.granary(self.trace, "--with", f"{LIBRARY},system")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nsystem ", done.stdout)
        self.assertIn("does not show", done.stdout)

    def test_what_is_cut_off_is_played_and_said(self):
        self.write([*Story(9).wander(1, 500).lines, "unfinished"])
        done = self.granary(self.trace, "--with", "system")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("has no end", done.stderr)

    def test_refusals(self):
        self.write([])
        self.assert_refused(self.granary(self.trace), 1, "no events")
        self.assert_refused(self.granary(self.trace + ".none"), 1, "No such file")
        self.write(Story(10).wander(1, 10).lines)
        self.assert_refused(self.granary(self.trace, "--with", "nobody"), 2, "'nobody'", "system", "granary")
        self.assert_refused(self.granary(self.trace, "--with", "./none.so"), 2, "No such file")
        self.assert_refused(self.granary(self.trace, "--with", GRANARY), 2, "no malloc")
        self.assert_refused(self.granary(self.trace, "--with", ","), 2, "--with")
        self.assert_refused(self.granary(self.trace, "--touch", "some"), 2, "--touch")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
