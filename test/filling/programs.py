# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What:      real programs whose blocks are filled.
# Invariant: what a program prints and writes is what it is without Granary.
# Must not know: how blocks are filled.
"""Usage: programs.py LIBRARY."""

import os
import shutil
import subprocess
import sys
import tempfile

LIBRARY = sys.argv[1]
SKIPPED = 77
SECONDS = 300
FILLED = ({"JUNK": "all"}, {"JUNK": "free", "ZERO": "on"}, {"JUNK": "all", "PROFILE": "1000"}, {"ZERO": "on"})
PYTHON = """
import collections, hashlib, json, random, re, threading
numbers = [random.Random(1).randrange(10 ** 9) for _ in range(20000)]
words = collections.Counter(re.findall("..", json.dumps(numbers)))
found = []
workers = [threading.Thread(target=lambda: found.append(sorted(map(str, numbers))[:5])) for _ in range(4)]
for worker in workers: worker.start()
for worker in workers: worker.join()
print(sum(numbers), words.most_common(3), found, hashlib.sha256(str(numbers).encode()).hexdigest())
"""
SQL = """
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
    insert into t select i, printf('%06d', (i * 7919) % 30011), i / 7.0 from n;
create index by_b on t(b);
select count(*), sum(a), min(b), max(b), round(total(c), 3) from t;
select group_concat(b) from (select b from t where a % 100 = 0 order by b);
update t set b = b || b where a % 3 = 0; delete from t where a % 5 = 0; vacuum; pragma integrity_check;
"""
SOURCE = """
#include <stdio.h>
#include <string.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(int count, char **words) { printf("%d %s\\n", fib(10 + count), words[0]); return (int)strlen(words[0]) & 1; }
"""


def commands(folder):
    """What is run, and the file that it leaves, or None."""
    source = os.path.join(folder, "small.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(SOURCE)
    yield [sys.executable, "-c", PYTHON], None, {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "1"}
    if shutil.which("sqlite3"):
        yield ["sqlite3", ":memory:", SQL], None, {}
    if shutil.which("gcc"):
        yield ["gcc", "-O2", "-c", source, "-o", os.path.join(folder, "small.o")], os.path.join(folder, "small.o"), {}


def result(command, file, environment):
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=SECONDS)
    written = None
    if file:
        with open(file, "rb") as made:
            written = made.read()
        os.remove(file)
    return done.returncode, done.stdout, done.stderr, written


def main():
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_"))}
    with tempfile.TemporaryDirectory(prefix="granary-filling-") as folder:
        for command, file, variables in commands(folder):
            plain = {**clean, **variables}
            wanted = result(command, file, plain)
            assert wanted[0] == 0, (command[0], wanted)
            for options in FILLED:
                given = {f"GRANARY_{name}": value for name, value in options.items()}
                found = result(command, file, {**plain, **given, "LD_PRELOAD": LIBRARY})
                assert found == wanted, f"{command[0]} with {options}:\n  found  {found}\n  wanted {wanted}"


if __name__ == "__main__":
    main()
