# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Question: how many of some workers live on in one container that has room for two of their peaks? Each handles
#    large requests while the others are idle. What an idle worker keeps and the kernel cannot take, the others lack.
# Invariant: the same program on every allocator, which take turns; the container is a memory cgroup without swap; only
#    reports, never judges. Needs root.
# Must not know: how an allocator gives memory back.
"""Usage: container_memory.py [--build build/release] [--limit 1024] [--workers 4] [--rows 270000] [--rounds 3]"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from record import allocators, environment, print_table
from places import ROOT

MIB = 1 << 20
CGROUPS = Path("/sys/fs/cgroup")
SECONDS_BETWEEN = 4.0
# Two requests with nothing between them, then idle until its standard input ends.
WORKER = r"""
import sys
for _ in range(2):
    answer = [str(i) * 20 + "x" * (1000 + i % 700) for i in range(int(sys.argv[1]))]
    sum(map(len, answer))
    del answer
print("done", flush=True)
sys.stdin.read()
"""


class Container:
    """A memory cgroup, of the second version or of the first."""

    def __init__(self, limit: int):
        second = (CGROUPS / "cgroup.controllers").exists()
        self.folder = (CGROUPS if second else CGROUPS / "memory") / "granary-bench"
        self.folder.mkdir(exist_ok=True)
        (self.folder / ("memory.max" if second else "memory.limit_in_bytes")).write_text(str(limit))
        self.peak_file = self.folder / ("memory.peak" if second else "memory.max_usage_in_bytes")

    def enter(self) -> None:
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def peak(self) -> int:
        return int(self.peak_file.read_text())


@contextlib.contextmanager
def container(limit: int) -> Iterator[Container]:
    made = Container(limit)
    try:
        yield made
    finally:
        made.folder.rmdir()


def run(library: Path | None, options: argparse.Namespace) -> tuple[int, int]:
    """How many workers were alive at the end, and the container's peak."""
    with container(options.limit * MIB) as inside:
        words = ["/usr/bin/python3", "-c", WORKER, str(options.rows)]
        workers = []
        for _ in range(options.workers):
            workers.append(subprocess.Popen(words, env=environment(library, {"PYTHONMALLOC": "malloc"}),
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=inside.enter))
            workers[-1].stdout.readline()  # it is done, or was killed
            time.sleep(SECONDS_BETWEEN)
        alive = sum(worker.poll() is None for worker in workers)
        peak = inside.peak()
        for worker in workers:
            worker.communicate()
    return alive, peak


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--limit", type=int, default=1024, metavar="MIB", help="of the container")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rows", type=int, default=270000, help="of an answer; 270000 are some 400 MiB")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    libraries = allocators(options.build.resolve() / "libgranary.so")
    found: dict[str, list[tuple[int, int]]] = {}
    try:
        for number in range(options.rounds):
            for name, library in libraries.items():
                print(f"\r\033[Kround {number + 1}, {name}", end="", file=sys.stderr, flush=True)
                found.setdefault(name, []).append(run(library, options))
    except (OSError, subprocess.SubprocessError) as problem:
        sys.exit(f"container_memory.py: no memory cgroup can be made: {problem}; run it as root, outside a container")
    print("\r\033[K", end="", file=sys.stderr)
    print_table(["", f"workers of {options.workers} alive", "peak of the container, MiB"],
                [[name, " ".join(str(alive) for alive, _ in runs), f"{statistics.median(peak for _, peak in runs) / MIB:.0f}"]
                 for name, runs in found.items()])
    return 0


if __name__ == "__main__":
    sys.exit(main())
