#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the quarantine costs: CPU time and peak memory of real programs under granary run --quarantine, over the
#    same under granary run; in turns.
# Invariant: all runs of a round do the same on one CPU; a ratio is the median of the rounds' own, its range their
#    quartiles.
# Must not know: how the quarantine works.
"""Usage: quarantine.py GRANARY SOURCES [ROUNDS]"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

GRANARY, SOURCES = (os.path.abspath(path) for path in sys.argv[1:3])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 7
SQL = """
create table t(a, b, c); insert into t select value, hex(value * 7919), value % 97 from generate_series(1, 400000);
create index i on t(b); create index j on t(c);
select count(*), min(b), max(a) from t where b like '3%'; select c, count(*), avg(a) from t group by c order by 3 limit 5;
"""
PERL = "my %h; for my $r (1 .. 6) { $h{$_ % 5000} = 'x' x ($_ % 90) for 1 .. 200000; } print scalar keys %h"
PYTHON = """
import json
for _ in range(12): data = [{"k": str(j), "v": [j] * 10} for j in range(8000)]; assert json.loads(json.dumps(data)) == data
print(len({str(i): [i] for i in range(300000)}))
"""
BASH = 'for i in $(seq 1 1000); do a="$a$i "; b=${a//1/x}; done; echo ${#b}'
AWK = 'BEGIN { for (r = 0; r < 4; r++) { for (i = 0; i < 200000; i++) a[i % 40000] = a[i % 40000] substr(i, 1, 2); split("", a) } }'
SCHEME = "(let loop ((i 0)) (if (< i 60) (begin (sort (map (lambda (x) (number->string (* x 7919))) (iota 5000)) string<?) (loop (+ i 1)))))"
PHP = "for ($r = 0; $r < 8; $r++) { $a = []; for ($i = 0; $i < 200000; $i++) $a[] = str_repeat('x', $i % 60); sort($a); } echo count($a);"


def commands(folder):
    text = os.path.join(folder, "text")
    with open(text, "w", encoding="ascii") as out:
        out.writelines(f"{i * 7919 % 1000003} line {i}\n" for i in range(400000))
    return {
        "gcc": ["g++", "-std=c++20", "-O2", f"-I{SOURCES}/src", f"-I{SOURCES}/include", "-S", "-o", "/dev/null",
                f"{SOURCES}/src/instance/instance.cpp"],
        "git": ["git", "-C", SOURCES, "log", "--stat", "-M", "-150"],
        "sqlite3": ["sqlite3", ":memory:", SQL],
        "perl": ["perl", "-e", PERL],
        "python3": ["/usr/bin/python3", "-c", PYTHON],
        "bash": ["bash", "-c", BASH],
        "gawk": ["gawk", AWK],
        "php": ["php", "-r", PHP],
        "xz": ["xz", "-k", "-c", "-3", text],
        "sort": ["sort", "-n", "--parallel=1", text],
        "guile": ["guile", "-c", SCHEME],
        "node": ["node", "-e", "let s = 0; for (let i = 0; i < 1e6; i++) s += JSON.parse('[' + i + ']')[0]; console.log(s)"],
    }


def one_run(options, command):
    process = subprocess.Popen([GRANARY, "run", "--quiet", *options, "--", *command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"quarantine.py: {command[0]} ended with status {status} under {options}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def interval(ratios):
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:5.2f} [{low:.2f} {high:.2f}]"


def main():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"{'program':8} {'alone':>18}   time                memory")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in commands(folder).items():
            if shutil.which(command[0]) is None:
                print(f"{name:8} is not installed", flush=True)
                continue
            rounds = [(one_run([], command), one_run(["--quarantine"], command)) for _ in range(ROUNDS)]
            seconds = statistics.median(alone[0] for alone, _ in rounds)
            kib = statistics.median(alone[1] for alone, _ in rounds)
            print(f"{name:8} {seconds:6.2f} s {kib / 1024:6.1f} MiB   {interval([b[0] / a[0] for a, b in rounds])}"
                  f"   {interval([b[1] / a[1] for a, b in rounds])}", flush=True)


main()
