# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what it costs a thread to learn who it is, as a table of what identity/thread_identity.cpp measures.
# Invariant: what an empty call costs in the same round is subtracted from every time and every count.
# Must not know: how a way works.
"""Usage: thread_identity.py [--build build/release] [--json FILE]"""

import argparse
import json
import subprocess
from pathlib import Path

from record import Record, interval, print_table

ROOT = Path(__file__).resolve().parent.parent
EMPTY = "empty"
MEANINGS = {
    "tls-local-exec": "a variable of the program itself: offset in the instruction",
    "tls-initial-exec": "of a library loaded at the start: offset in a table (Granary's own variables)",
    "tls-descriptor": "of any library: a call through a descriptor (-mtls-dialect=gnu2)",
    "tls-global-dynamic": "of any library: a call of __tls_get_addr",
    "stack-hash": "Boehm's: a cache by the page of the stack pointer",
    "stack-hash-missed": "and the table of threads behind it",
    "pthread_self": "a library call, without any data",
    "pthread_getspecific": "a library call that returns the thread's data",
    "gettid": "a system call",
    "sched_getcpu": "the CPU: a library call that reads rseq's area",
    "getcpu": "the CPU: the kernel's vDSO",
    "rseq-cpu_id": "the CPU: a load from rseq's area (Granary: the concurrency id beside it)",
    "rdpid": "the CPU: an instruction",
    "rdtscp": "the CPU and the clock: an instruction",
}


def beyond_empty(measured: dict, empty: dict, field: str) -> str:
    median, low, high = interval([own - base for own, base in zip(measured[field], empty[field])])
    return f"{median:.1f} [{low:.1f}, {high:.1f}]".replace("-0.0", "0.0")


def row(name: str, measured: dict, empty: dict) -> list:
    return [name, measured["instructions"] - empty["instructions"], beyond_empty(measured, empty, "in_a_row"),
            beyond_empty(measured, empty, "alone")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=Path, help="write every value to FILE")
    options = parser.parse_args()
    record = Record(options.json)
    program = options.build / "bench" / "identity" / "thread-identity"
    done = subprocess.run([program], stdout=subprocess.PIPE, check=True)
    ways = json.loads(done.stdout)
    for name, measured in ways.items():
        record.write({"way": name, **measured})
    empty = ways.pop(EMPTY)
    print("Beyond an empty call: instructions in user space; nanoseconds, median and its 95 % interval")
    print_table(["way", "instructions", "ns, calls in a row", "ns, each call alone"],
                [row(name, measured, empty) for name, measured in ways.items()])
    print()
    for name in ways:
        print(f"{name + ':':21} {MEANINGS[name]}")


if __name__ == "__main__":
    main()
