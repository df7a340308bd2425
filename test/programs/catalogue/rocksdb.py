# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: RocksDB under its own db_bench: random writes, reads, overwrites and scans by two threads.
# Invariant: a private folder; seeded keys, so the number of keys that are found is the same each time.
# Must not know: how results are compared.
"""RocksDB: skip lists in arenas, a block cache, and iterators, with flushes and compactions on threads of their own."""

import re

from harness.launcher import Launcher
from harness.program import Outcome, Program, Work

DB_BENCH = "/usr/bin/db_bench"
THREADS = 2
KEYS = 40_000
SMALL_TREE = [  # so that flushes and compactions happen within a second
    "--write_buffer_size=1048576", "--target_file_size_base=1048576", "--max_bytes_for_level_base=4194304",
    "--cache_size=4194304"]


def run(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder:
        command = [DB_BENCH, "--benchmarks=fillrandom,readrandom,overwrite,seekrandom,verifychecksum",
                   f"--db={folder / 'data'}", f"--threads={THREADS}", f"--num={KEYS}", "--seed=1", "--seek_nexts=10",
                   "--compression_type=snappy", "--progress_reports=false", *SMALL_TREE]
        done = launcher.run(command, folder)
        return Outcome(counts(done.output), done.usage)


def counts(report: str) -> str:
    """Name, operations and keys found of each part; the rest of the report are times."""
    lines = re.findall(r"^(\w+) +:.* (\d+ operations);[^(\n]*(\(.*\))?", report, flags=re.MULTILINE)
    return "".join(" ".join(line).rstrip() + "\n" for line in lines)


ROCKSDB = Program(
    name="rocksdb",
    summary=f"RocksDB under db_bench: {KEYS} keys on each of {THREADS} threads",
    files={DB_BENCH: "rocksdb-tools"},
    probe=lambda: [DB_BENCH, "--version"],
    run=run,
    in_tests=False,
)
