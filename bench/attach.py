#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: attaches granary record to programs under load, again and again, and counts what goes wrong.
# Invariant: a program fails if it ends, or if whoever loads it says so. An attachment fails if granary does, or if its trace
#    has a block that comes twice and goes at most once, or lost calls.
# Must not know: how granary attaches.
"""usage: attach.py BUILD [--times N] [--seconds S] [PROGRAM]... (default: all)"""
import argparse
import collections
import itertools
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tool", "reading", "trace"))
import granary_trace  # noqa: E402  pylint: disable=wrong-import-position

PYTHON_LOOP = """
import json, time
while True:
    rows = [{"name": str(i), "list": list(range(i % 50))} for i in range(100)]
    assert json.loads(json.dumps(rows)) == rows
    time.sleep(0.002)
"""
THREADS = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static void *work(void *number) {
    unsigned seed = (unsigned)(size_t)number;
    unsigned char *held[100] = {0};
    size_t sizes[100] = {0};
    for (;;) {
        for (int i = 0; i < 50; ++i) {
            seed = seed * 1103515245 + 12345;
            unsigned at = seed / 65536 % 100;
            for (size_t j = 0; j < sizes[at]; ++j)
                if (held[at][j] != (unsigned char)at) abort();
            free(held[at]);
            sizes[at] = seed / 65536 % 500 + 1;
            held[at] = malloc(sizes[at]);
            memset(held[at], (int)at, sizes[at]);
        }
        struct timespec moment = {0, 50000000};
        nanosleep(&moment, 0);
    }
    return 0;
}
int main(void) {
    pthread_t threads[100];
    for (size_t i = 0; i < 100; ++i) pthread_create(&threads[i], 0, work, (void *)i);
    pthread_join(threads[0], 0);
}
"""


class Load:
    """A command that is run again and again; if one fails, that is kept."""

    def __init__(self, *command, **options):
        self.failure, self.runs, self.is_over = "", 0, False
        self.thread = threading.Thread(target=self.run, args=(command, options))
        self.thread.start()

    def run(self, command, options):
        while not self.is_over and not self.failure:
            done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
            self.runs += 1
            if done.returncode != 0 or "rror" in done.stdout:
                self.failure = f"{command[0]} ended with {done.returncode}: {done.stdout[-300:]}"

    def end(self):
        self.is_over = True
        self.thread.join()


class Program:
    """What is attached to: a process, and whoever loads it."""

    def __init__(self, folder):
        self.folder = folder
        self.load = None
        self.child = self.start()

    def start(self):
        raise NotImplementedError

    def spawn(self, *command, **options):
        return subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, **options)

    def failure(self):
        if self.child.poll() is not None:
            return f"it ended with {self.child.returncode}"
        return self.load.failure if self.load else ""

    def end(self):
        if self.load:
            self.load.end()
        self.child.send_signal(signal.SIGINT)
        self.child.wait()


class Redis(Program):
    def start(self):
        child = self.spawn("redis-server", "--port", "7999", "--save", "")
        while subprocess.run(["redis-cli", "-p", "7999", "ping"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             check=False).returncode != 0:
            time.sleep(0.1)
        self.load = Load("redis-benchmark", "-p", "7999", "-q", "-n", "20000", "-t", "set,get,lpush,lpop,sadd,zadd")
        return child


class Python(Program):
    def start(self):
        return self.spawn("/usr/bin/python3", "-c", PYTHON_LOOP, env={**os.environ, "PYTHONMALLOC": "malloc"})

    def end(self):
        self.child.kill()
        self.child.wait()


class Threads(Python):
    def start(self):
        source = os.path.join(self.folder, "threads.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(THREADS)
        subprocess.run(["cc", "-O2", "-w", "-pthread", "-o", "threads", source], cwd=self.folder, check=True)
        return self.spawn("./threads")


class Postgres(Program):
    """As the user postgres, whose processes are of another user than the recorder, which is root."""

    def start(self):
        folder = sorted(os.listdir("/usr/lib/postgresql"))[-1]
        self.binaries = f"/usr/lib/postgresql/{folder}/bin"
        data = os.path.join(self.folder, "data")
        os.chmod(self.folder, 0o777)
        self.postgres("initdb", "-D", data)
        options = f"-p 7998 -k {self.folder} -c listen_addresses="
        self.postgres("pg_ctl", "-D", data, "-o", options, "-l", os.path.join(self.folder, "log"), "-w", "start")
        with open(os.path.join(data, "postmaster.pid"), encoding="ascii") as file:
            self.process = int(file.readline())
        place = ("-h", self.folder, "-p", "7998")
        self.postgres("createdb", *place, "bench")
        self.postgres("pgbench", *place, "-i", "-q", "bench")
        self.load = Load(os.path.join(self.binaries, "pgbench"), *place, "-c", "4", "-C", "-T", "3", "bench", user="postgres",
                         cwd=self.folder)
        return self

    def postgres(self, name, *words):
        subprocess.run([os.path.join(self.binaries, name), *words], user="postgres", cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def pid(self):
        return self.process

    def poll(self):
        return None if os.path.exists(f"/proc/{self.process}") else -1

    returncode = -1

    def end(self):
        self.load.end()
        self.postgres("pg_ctl", "-D", os.path.join(self.folder, "data"), "-m", "fast", "stop")


PROGRAMS = {"redis": Redis, "python": Python, "postgres": Postgres, "threads": Threads}


def flaw_of(path):
    """What is wrong in a trace, and its events."""
    trace = granary_trace.Trace(path)
    if trace.damage:
        return trace.damage, 0
    live, twice = set(), 0
    events = sorted(trace.events(), key=lambda event: event.time)
    for _, moment in itertools.groupby(events, key=lambda event: event.time):
        changes = collections.Counter()  # in one moment, whose events have no order among threads
        for event in moment:
            if event.op in ("malloc", "calloc", "realloc", "aligned_alloc", "new", "new[]") and event.address:
                changes[event.address] += 1
            elif event.op in ("free", "realloc_free", "delete", "delete[]"):
                changes[event.address] -= 1
        for address, change in changes.items():
            twice += change > (address not in live)
            (live.add if change > 0 or (change == 0 and address in live) else live.discard)(address)
    if twice or trace.end["lost"]:
        return f"{twice} blocks came twice, {trace.end['lost']} calls lost", len(events)
    return "", len(events)


def attach(granary, program, seconds):
    """One attachment: what went wrong, its events, and the seconds that it took."""
    trace = os.path.join(program.folder, "x.trace")
    began = time.monotonic()
    done = subprocess.run([granary, "record", "-o", trace, "--pid", str(program.child.pid), "--seconds", str(seconds)],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    took = time.monotonic() - began - seconds
    if done.returncode != 0 or "continues with" in done.stdout:
        return done.stdout.strip(), 0, took
    flaw, events = flaw_of(trace)
    for name in os.listdir(program.folder):
        if name.endswith(".trace"):
            os.remove(os.path.join(program.folder, name))
    return program.failure() or flaw, events, took


def measure(granary, name, times, seconds):
    folder = tempfile.mkdtemp(prefix="granary-attach-")
    program = PROGRAMS[name](folder)
    good, all_events, all_took = 0, 0, []
    try:
        for i in range(times):
            flaw, events, took = attach(granary, program, seconds)
            good += not flaw
            all_events += events
            all_took.append(took)
            if flaw:
                print(f"{name}: {i + 1}: {flaw}", flush=True)
            if program.failure():
                break
    finally:
        if not program.failure():
            program.end()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{name}: {good} of {times} attachments, {all_events} events, without a flaw; beside its {seconds} s the median "
          f"took {statistics.median(all_took):.2f} s and the slowest {max(all_took):.2f} s", flush=True)
    return good == times


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=0)
    words = parser.parse_intermixed_args()
    granary = os.path.join(os.path.abspath(words.build), "granary")
    results = [measure(granary, name, words.times, words.seconds) for name in words.programs or PROGRAMS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
