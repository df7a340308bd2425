#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the resident memory of twelve programs is made of, as granary record tells it, and how much of it is known.
# Invariant: of each program the process that had most resident counts, at the look where most was. A program that is not
#    installed is one line. The programs' work is small and always the same.
# Must not know: how the recorder tells kinds apart.
"""usage: /usr/bin/python3 resident.py BUILD [PROGRAM]...    (needs Debian's python3-zstandard)"""
import argparse
import getpass
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool", "reading", "trace"))
sys.dont_write_bytecode = True
import granary_trace  # noqa: E402  pylint: disable=wrong-import-position

JAVA = """import java.util.*; class Work { public static void main(String[] a) { Map<Integer, String> m = new HashMap<>();
for (int i = 0; i < 400000; i++) m.put(i, "value " + i); System.out.println(m.size()); } }"""
NODE = "const m = new Map(); for (let i = 0; i < 400000; i++) m.set(i, {v: 'value ' + i}); console.log(m.size)"
PYTHON = "d = {i: 'value %d' % i for i in range(400000)}; import json, decimal, email; print(len(json.dumps(d)))"
PERL = "my %h; $h{$_} = \"value $_\" for 1..300000; print scalar(keys %h), \"\\n\""
RUBY = "h = {}; 300000.times { |i| h[i] = \"value #{i}\" }; puts h.size"
PHP = "$h = []; for ($i = 0; $i < 400000; $i++) $h[$i] = \"value $i\"; echo count($h), \"\\n\";"
SQL = """create table t(a integer primary key, b text); with recursive c(x) as (select 1 union all select x + 1 from c
where x < 300000) insert into t select x, 'value ' || x from c; create index i on t(b); select count(*) from t;"""
CPP = "#include <map>\n#include <regex>\n#include <iostream>\nint main() { std::regex r(\"a+\"); std::map<int, int> m; }\n"
PAGE = "%!PS\n/Times-Roman findfont 20 scalefont setfont 1 1 60 { 10 mul 50 exch moveto (granary) show } for showpage\n"

# What is recorded of each: a line of the shell, and the names of the programs.
PROGRAMS = {
    "java": ("java Work.java", "java"),
    "node": ("node work.js", "node"),
    "python3": ("/usr/bin/python3 work.py", None),
    "cc1plus": ("g++ -O1 -c work.cpp", "cc1plus"),
    "redis": ("redis-server --port 0 --unixsocket $PWD/socket --save '' >/dev/null & "
              "until redis-cli -s socket ping >/dev/null 2>&1; do sleep 0.1; done; "
              "redis-benchmark -s socket -q -n 100000 -r 100000 -t set,lpush >/dev/null; redis-cli -s socket shutdown nosave",
              "redis-server"),
    "postgres": ("initdb -D data >/dev/null && (echo 'create table t as select x, x::text as y from "
                 "generate_series(1, 200000) x'; echo 'select count(*), max(y) from t') | postgres --single -D data postgres "
                 ">/dev/null", "postgres"),
    "perl": ("perl work.pl", None),
    "ruby": ("ruby work.rb", "ruby"),
    "gs": ("gs -q -dBATCH -dNOPAUSE -sDEVICE=png16m -r300 -sOutputFile=work.png work.ps", None),
    "git": ("git init -q r && cd r && i=0 && while [ $i -lt 200 ]; do seq $i 20000 > f$i; i=$((i + 1)); done && git add . && "
            "git -c user.name=a -c user.email=a@b commit -q -m x && git repack -q -a -d", "git"),
    "sqlite3": ("sqlite3 work.db < work.sql", None),
    "php": ("php work.php", None),
}
FILES = {"Work.java": JAVA, "work.js": NODE, "work.py": PYTHON, "work.pl": PERL, "work.rb": RUBY, "work.php": "<?php " + PHP,
         "work.sql": SQL, "work.cpp": CPP, "work.ps": PAGE}
KINDS = ("heap", "own", "stack", "code", "data", "file", "shared", "earlier", "not_known")


def looks_of(path):
    """Bytes by kind at the look where most was resident; None: there was none."""
    trace = granary_trace.Trace(path)
    best = None
    for _time, _tables, parts in trace.memory:
        sums = dict.fromkeys((*KINDS, "recorder"), 0)
        for part in parts:
            sums[part.kind] += part.resident
        if best is None or sum(sums[kind] for kind in KINDS) > sum(best[kind] for kind in KINDS):
            best = sums
    return best


def as_user(folder):
    """postgres refuses to run as root."""
    if getpass.getuser() != "root":
        return []
    shutil.chown(folder, "postgres", "postgres")
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def measure(granary, line, only):
    with tempfile.TemporaryDirectory(prefix="granary-resident-") as folder:
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        prefix = as_user(folder) if only == "postgres" else []
        options = ["--only", only] if only else []
        done = subprocess.run([*prefix, granary, "record", "-q", "--keep-small", *options, "-o", "x.trace", "sh", "-c",
                               line if only else "exec " + line],
                              cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "HOME": folder})
        if done.returncode != 0:
            return None, done.stderr.strip().splitlines()[-1:]
        found = [looks_of(path) for path in glob.glob(os.path.join(folder, "*.trace"))]
        found = [sums for sums in found if sums]
        return (max(found, key=lambda sums: sum(sums[kind] for kind in KINDS)) if found else None), ["no look"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    arguments = parser.parse_args()
    granary = os.path.join(os.path.abspath(arguments.build), "granary")
    print("Resident memory in MiB where most was resident, without the recording's own (last column).")
    print(f"{'program':10}{'resident':>10}" + "".join(f"{kind:>10}" for kind in KINDS) + f"{'known':>9}{'recorder':>10}")
    for name in arguments.programs:
        line, only = PROGRAMS[name]
        if shutil.which(line.split()[0]) is None:
            print(f"{name:10} is not installed")
            continue
        sums, said = measure(granary, line, only)
        if sums is None:
            print(f"{name:10} failed: {' '.join(said)}")
            continue
        whole = sum(sums[kind] for kind in KINDS)
        print(f"{name:10}{whole / 2**20:10.2f}" + "".join(f"{sums[kind] / 2**20:10.2f}" for kind in KINDS) +
              f"{(whole - sums['not_known']) / whole:9.1%}{sums['recorder'] / 2**20:10.2f}", flush=True)


if __name__ == "__main__":
    main()
