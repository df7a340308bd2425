#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what heaptrack, memray, valgrind, gperftools' heap profiler and Granary tell of the same five programs, and what each costs.
# Invariant: a tool that is not installed is named and left out; each tool runs the same command. The tools take turns, but for
#    the slow ones, and a cost is the median of each round's own.
# Must not know: which tool should be ahead.
import argparse
import glob
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

parser = argparse.ArgumentParser(description="What each tool tells of five programs, and its CPU time over the plain program.")
parser.add_argument("granary", help="the command")
parser.add_argument("rounds", nargs="?", type=int, default=3, help="runs of each tool but the slow ones (default: 3)")
parser.add_argument("--quick", action="store_true", help="without the slow ones: massif, memcheck, gperftools")
parser.add_argument("programs", nargs="*", help="of python, cc1plus, sqlite, pool, perl (default: all)")
options = parser.parse_intermixed_args()
GRANARY = str(Path(options.granary).resolve())
ROUNDS = options.rounds
CHOSEN = options.programs
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_"))}
SLOW = ("massif", "memcheck", "gperftools")
SHOWN = 24  # lines of what a tool tells
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"

PYTHON = """import json
rows = [json.loads(json.dumps({"numbers": list(range(100)), "name": str(i)})) for i in range(20000)]
"""
SQL = ("create table t(a integer primary key, b text, c real); with recursive n(i) as (select 1 union all select i+1 from n "
       "where i<200000) insert into t select i, hex(randomblob(20)), i*0.5 from n; create index x on t(b); "
       "select count(*), sum(c) from t where b > '8';")
POOL = """#include <sys/mman.h>
#include <cstdlib>
#include <cstring>
struct Pool {
    static constexpr std::size_t kSlab = 64 << 20;
    char *at = nullptr, *end = nullptr;
    void *get(std::size_t bytes) {
        if (at == nullptr || at + bytes > end) {
            at = static_cast<char *>(mmap(nullptr, kSlab, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
            end = at + kSlab;
        }
        void *result = at;
        at += bytes;
        return result;
    }
};
int main() {
    Pool pool;
    for (int i = 0; i < 2000000; ++i) std::memset(pool.get(64), 1, 64);
    for (int i = 0; i < 1000; ++i) std::memset(std::malloc(100), 1, 100);
}
"""
COMPILED = "#include <map>\n#include <regex>\n#include <string>\nstd::map<std::string, std::regex> all;\n"
PERL = "sub cycle { my $node = {name => 'x' x 50}; $node->{self} = $node } cycle() for 1..20000;"


def programs(folder):
    (folder / "rows.py").write_text(PYTHON)
    (folder / "pool.cpp").write_text(POOL)
    (folder / "compiled.cpp").write_text(COMPILED)
    subprocess.run(["g++", "-O1", "-g", "pool.cpp", "-o", "pool"], cwd=folder, check=True)
    subprocess.run(["g++", "-E", "compiled.cpp", "-o", "compiled.ii"], cwd=folder, check=True)
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout.strip()
    return {"python": [sys.executable, "rows.py"],
            "cc1plus": [compiler, "-quiet", "-O1", "compiled.ii", "-o", "/dev/null"],
            "sqlite": ["sqlite3", ":memory:", SQL],
            "pool": ["./pool"],
            "perl": ["perl", "-e", PERL]}


def cpu_of(words, folder, **variables):
    """CPU seconds of a command and of all that it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=folder, env={**CLEAN, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def text_of(words, folder):
    done = subprocess.run(words, cwd=folder, env=CLEAN, capture_output=True, text=True, check=False)
    return done.stdout + (done.stderr if done.returncode else "")


def first_lines(text, begin=""):
    lines = [line.rstrip() for line in text[max(text.find(begin), 0):].splitlines() if line.strip()]
    return "\n".join("        " + line[:150] for line in lines[:SHOWN])


def size_of(folder, patterns):
    return sum(os.path.getsize(path) for pattern in patterns for path in glob.glob(str(folder / pattern)))


# Of each: the command before the program's, variables, the files that it writes, what shows them, and where that text begins.
TOOLS = {
    "heaptrack": (["heaptrack", "-o", "t"], {}, ["t.zst", "t.gz"], lambda f: text_of(["heaptrack_print", "-s0", "-n3", "t.zst"], f),
                  "PEAK MEMORY"),
    "memray": (["-m", "memray", "run", "-q", "-f", "--native", "-o", "t.bin"], {}, ["t.bin"],
               lambda f: text_of([sys.executable, "-m", "memray", "stats", "-n3", "t.bin"], f), "Peak memory"),
    "massif": (["valgrind", "-q", "--tool=massif", "--massif-out-file=t.massif"], {}, ["t.massif"],
               lambda f: text_of(["ms_print", "--threshold=10", "t.massif"], f), "->"),
    "memcheck": (["valgrind", "-q", "--leak-check=full", "--log-file=t.memcheck"], {}, ["t.memcheck"],
                 lambda f: (f / "t.memcheck").read_text(), ""),
    "gperftools": ([], {"LD_PRELOAD": TCMALLOC, "HEAPPROFILE": "t.heap"}, ["t.heap*"],
                   lambda f: text_of(["google-pprof", "--text", "--inuse_space", "PROGRAM", "LAST"], f), ""),
    "granary record": ([GRANARY, "record", "-q", "-o", "t.trace"], {}, ["t.trace", "t.*.trace"],
                       lambda f: text_of([GRANARY, "summary", "t.trace"], f), "How much is in use"),
    "granary record --stacks all": ([GRANARY, "record", "-q", "--stacks", "all", "-o", "t.trace"], {}, ["t.trace", "t.*.trace"],
                                    lambda f: text_of([GRANARY, "summary", "t.trace"], f), "How much is in use"),
    "granary leaks": ([GRANARY, "leaks"], {}, [], None, ""),
}


def shown(name, folder, words, done):
    show = TOOLS[name][3]
    if show is None:
        return done.stdout + done.stderr
    if name != "gperftools":
        return show(folder)
    dumps = sorted(glob.glob(str(folder / "t.heap*")))
    program = shutil.which(words[0], path=CLEAN["PATH"]) or words[0]
    return text_of(["google-pprof", "--text", "--inuse_space", program, dumps[-1]], folder) if dumps else "nothing was written"


def is_there(name):
    if name == "memray":
        return subprocess.run([sys.executable, "-m", "memray", "--version"], capture_output=True, check=False).returncode == 0
    return os.path.exists(TCMALLOC) if name == "gperftools" else shutil.which(TOOLS[name][0][0]) is not None


def command(name, words):
    if name == "memray":
        return [sys.executable, *TOOLS[name][0], *words[1:]]
    return [*TOOLS[name][0], *words]


def are_there(program):
    for name in TOOLS:
        if (name == "memray" and program != "python") or (options.quick and name in SLOW):
            continue
        if is_there(name):
            yield name
        else:
            print(f"    {name}: not installed")


def compare(program, words, folder):
    plain, costs, added = [], {}, {}
    for number in range(ROUNDS):
        plain.append(cpu_of(words, folder)[0])
        seconds = {}
        for name in are_there(program) if number == 0 else costs:
            if number > 0 and name in SLOW:
                continue
            seconds[name], done = cpu_of(command(name, words), folder, **TOOLS[name][1])
            costs.setdefault(name, []).append(seconds[name] / plain[-1])
            if number == 0:
                print(f"    {name}: {size_of(folder, TOOLS[name][2]) / 2**20:.1f} MiB written")
                print(first_lines(shown(name, folder, words, done), TOOLS[name][4]), flush=True)
            for path in folder.glob("t.*"):
                path.unlink()
        for other in ("heaptrack", "memray"):
            if other in seconds:
                ours = seconds["granary record --stacks all"] - plain[-1]
                added.setdefault(other, []).append(ours / (seconds[other] - plain[-1]))
    print(f"== {program}: {statistics.median(plain):.2f} s of CPU time; times of that, with each tool:")
    for name, ratios in costs.items():
        print(f"    {statistics.median(ratios):6.1f} {name}")
    for other, ratios in added.items():
        print(f"    {statistics.median(ratios):6.2f} of what {other} adds is added by granary record --stacks all "
              f"(rounds: {', '.join(f'{ratio:.2f}' for ratio in sorted(ratios))})", flush=True)


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for program, words in programs(folder).items():
            if not CHOSEN or program in CHOSEN:
                print(f"== {program}")
                compare(program, words, folder)


if __name__ == "__main__":
    main()
