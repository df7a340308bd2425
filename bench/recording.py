#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what granary record costs the compiler that it records: time and bytes, and those of heaptrack.
# Invariant: the ways take turns; times are CPU times of the program alone, as the kernel tells its parent, on one CPU,
#    and medians. heaptrack's are of the program and its interpreter.
# Must not know: how it records.
"""usage: recording.py BUILD [--rounds N] [--classes N]"""
import argparse
import glob
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile

# Starts a program on the last CPU, and writes what CPU time the kernel says that it took.
TIMED = """import os, sys
child = os.fork()
if child == 0:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    file.write(str(usage.ru_utime + usage.ru_stime))
sys.exit(os.waitstatus_to_exitcode(status))
"""
CC1PLUS = ["-quiet", "-O1", "-fpreprocessed", "big.ii", "-o", "/dev/null"]


def source(classes):
    """C++ that gives the compiler much to do with containers and templates."""
    yield "#include <algorithm>\n#include <functional>\n#include <map>\n#include <string>\n#include <unordered_map>\n"
    yield "#include <vector>\n"
    for i in range(classes):
        yield (f"struct S{i} {{ std::map<std::string, std::vector<int>> m; std::unordered_map<int, std::string> u;\n"
               f"std::function<int(int)> f; int a[{i + 1}]; }};\nint g{i}(S{i} &s) {{ std::sort(s.m[\"x{i}\"].begin(), "
               f"s.m[\"x{i}\"].end(), [](int a, int b) {{ return a > b + {i}; }});\n"
               f"s.u[{i}] = \"a\"; return s.f({i}) + (int)s.m.size(); }}\n")


def run(command, folder):
    """CPU seconds of it and its children, and what it said."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        said.seek(0)
        text = said.read().decode()
    if status != 0:
        sys.exit(f"{command[0]} failed: {text}")
    return usage.ru_utime + usage.ru_stime, text


def remove(folder, beginning):
    for path in glob.glob(os.path.join(folder, beginning + "*")):
        os.remove(path)


def counts(path):
    """Events, calls that got memory, and bytes, by the summaries of a trace's blocks alone."""
    with open(path, "rb") as file:
        data = file.read()
    at, events, calls, size = 16, 0, 0, 0
    while at < len(data):
        kind, summary, body = struct.unpack_from("<4sII", data, at)
        if kind == b"EVNT":
            events += struct.unpack_from("<I", data, at + 20 + 4)[0]
            calls += struct.unpack_from("<I", data, at + 20 + 24)[0]
            size += struct.unpack_from("<Q", data, at + 20 + 48)[0]
        at += 20 + summary + body
    return events, calls, size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--classes", type=int, default=30)
    options = parser.parse_args()
    granary = os.path.join(os.path.abspath(options.build), "granary")
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout
    program = [compiler.strip(), *CC1PLUS]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "big.cpp"), "w", encoding="ascii") as file:
            file.writelines(source(options.classes))
        run(["g++", "-E", "big.cpp", "-o", "big.ii"], folder)
        timed = ["/usr/bin/python3", "-c", TIMED, "seconds", *program]
        ways = {"plain": timed,
                **{f"record, stacks {stacks}": [granary, "record", "--stacks", stacks, "-o", "x.trace", *timed]
                   for stacks in ("none", "sampled", "all")},
                "heaptrack": ["heaptrack", "-o", "x.heaptrack", *program]}
        own, recorders, events, sizes = ({way: [] for way in ways} for _ in range(4))
        for number in range(options.rounds):
            for way, command in ways.items():
                remove(folder, "x.")
                seconds, said = run(command, folder)
                recorder = 0.0
                if way != "heaptrack":
                    with open(os.path.join(folder, "seconds"), encoding="ascii") as file:
                        seconds = float(file.read())
                if way.startswith("record"):
                    (trace,) = glob.glob(os.path.join(folder, "x.cc1plus.*.trace"))
                    events[way].append(counts(trace)[0])
                    recorder = float(re.search(r"the recorder used ([\d.]+) s", said)[1])
                    sizes[way].append(os.path.getsize(trace))
                elif way == "heaptrack":
                    (name,) = glob.glob(os.path.join(folder, "x.heaptrack*"))
                    sizes[way].append(os.path.getsize(name))
                own[way].append(seconds)
                recorders[way].append(recorder)
                print(f"round {number + 1}: {way}: {seconds:.3f} s of CPU time; the recorder's: {recorder:.2f} s", flush=True)
        plain = statistics.median(own["plain"])
        count = statistics.median(events["record, stacks none"])
        print(f"\n{'':24}{'CPU s':>8}{'over plain':>12}{'ns an event':>13}{'recorder s':>12}{'bytes':>12}{'an event':>10}")
        for way in ways:
            seconds = statistics.median(own[way])
            line = f"{way:24}{seconds:8.3f}"
            if way != "plain":
                # Of each round by itself: what disturbs one disturbs the other.
                ratio = statistics.median(one / other for one, other in zip(own[way], own["plain"]))
                cost = statistics.median(one - other for one, other in zip(own[way], own["plain"]))
                size = statistics.median(sizes[way])
                line += (f"{100 * (ratio - 1):11.1f}%{1e9 * cost / count:13.1f}{statistics.median(recorders[way]):12.2f}"
                         f"{size:12.0f}{size / count:10.2f}")
            print(line)
        print(f"\n{count:.0f} events, {count / plain / 1e6:.1f} million a second of the plain program's time")
        run(ways["record, stacks none"], folder)
        (trace,) = glob.glob(os.path.join(folder, "x.cc1plus.*.trace"))
        _, calls, size = counts(trace)
        print(f"calls that got memory: {calls} by granary record, {size} bytes asked for")
        (name,) = glob.glob(os.path.join(folder, "x.heaptrack*"))
        _, said = run(["heaptrack_print", "-f", name, "--print-peaks=0", "--print-allocators=0", "--print-temporary=0"],
                      folder)
        print("\n".join(line for line in said.splitlines() if line.startswith(("calls to", "total memory", "peak heap",
                                                                               "temporary"))))


if __name__ == "__main__":
    main()
