#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what granary leaks costs: CPU time of real programs alone, in the processes that are looked at, and with the
#    command, which then reads symbols; in turns.
# Invariant: all runs of a round do the same; a ratio is that of the medians, and its range the rounds' own.
# Must not know: how leaks are found.
"""Usage: leaks.py GRANARY SOURCES [ROUNDS]"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile

GRANARY, SOURCES = (os.path.abspath(path) for path in sys.argv[1:3])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
SQL = """
create table t(a, b, c); insert into t select value, hex(value * 7919), value % 97 from generate_series(1, 400000);
create index i on t(b); create index j on t(c);
select count(*), min(b), max(a) from t where b like '3%'; select c, count(*), avg(a) from t group by c order by 3 limit 5;
select count(*) from t x join t y on x.b = y.b;
"""
COMMANDS = {
    "gcc": ["g++", "-std=c++20", "-O2", f"-I{SOURCES}/src", f"-I{SOURCES}/include", "-S", "-o", "/dev/null",
            f"{SOURCES}/src/instance/instance.cpp"],
    "git": ["git", "-C", SOURCES, "log", "--stat", "-M", "-300"],
    "sqlite3": ["sqlite3", ":memory:", SQL],
}


def cpu_seconds(command, environment=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def one_round(command):
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "GRANARY_LEAKS": folder,
            "LD_PRELOAD": os.path.join(os.path.dirname(GRANARY), "libgranary-gcmalloc.so"),
        }
        prefix = [GRANARY, "leaks", "--output", os.path.join(folder, "told"), "--"]
        return cpu_seconds(command), cpu_seconds(command, environment), cpu_seconds(prefix + command)


def ratio(alone, others):
    each = sorted(b / a for a, b in zip(alone, others))
    return f"{statistics.median(others) / statistics.median(alone):5.2f} ({each[0]:.2f} to {each[-1]:.2f})"


def main():
    print("program   alone     processes                  with the command")
    for name, command in COMMANDS.items():
        alone, processes, whole = zip(*(one_round(command) for _ in range(ROUNDS)))
        print(f"{name:8} {statistics.median(alone):5.2f} s   {statistics.median(processes):5.2f} s"
              f" {ratio(alone, processes)}   {statistics.median(whole):5.2f} s {ratio(alone, whole)}", flush=True)


main()
