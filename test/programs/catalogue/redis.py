# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: redis-server: a scripted load whose result is compared, and redis-benchmark.
# Invariant: no port, no file outside the trial's folder.
# Must not know: how results are compared.
"""Redis: one thread, many small blocks of many sizes; Debian links it to jemalloc."""

import time
from collections.abc import Iterator
from pathlib import Path

from harness.launcher import Launcher, ProgramFailed
from harness.program import Outcome, Program, Work
from harness.server import Server, ask

SERVER = "/usr/bin/redis-server"
KINDS = "set,get,incr,lpush,rpop,sadd,hset,zadd,lrange_100,mset"
SCRIPT_KEYS = 6000


def script() -> Iterator[str]:
    """Commands whose effect on the data does not depend on time or order of arrival."""
    for i in range(SCRIPT_KEYS):
        filler = "x" * (i * 37 % 700)
        yield f"SET string:{i} value-{i}-{filler}"
        yield f"HSET hash:{i % 50} field-{i} {i}-{filler[:60]}"
        yield f"RPUSH list:{i % 40} item-{i} {filler[:200]}z"
        yield f"ZADD sorted:{i % 30} {i * 7919 % 1009} member-{i}"
        yield f"SADD set:{i % 20} {i} member-{i}"
        yield f"APPEND string:{i // 2} more-{i}"
        if i % 3 == 0:
            yield f"DEL string:{i // 2} hash:{i % 53}"
        if i % 500 == 0:
            yield "SAVE"
            yield "DEBUG RELOAD"


def prepare(work: Work) -> None:
    (work.prepared / "commands").write_text("\r\n".join(script()) + "\r\n")


def serve(launcher: Launcher, folder: Path) -> Server:
    path = folder / "socket"
    argv = [SERVER, "--port", "0", "--unixsocket", path, "--dir", folder, "--save", "", "--appendonly", "no",
            "--enable-debug-command", "yes", "--daemonize", "no"]
    return Server(launcher, argv, folder, lambda: ask(path, b"PING\r\n", 5) == b"+PONG")


def scripted(launcher: Launcher, folder: Path, commands: Path) -> str:
    """The data's digest after the script; it must survive a reload."""
    client = ["/usr/bin/redis-cli", "-s", folder / "socket"]
    report = launcher.client([*client, "--pipe"], folder, stdin=commands)
    if "errors: 0," not in report:
        raise ProgramFailed(f"redis-cli --pipe reported errors:\n{report}")
    return "".join(launcher.client([*client, *words], folder) for words in (
        ["DBSIZE"], ["DEBUG", "DIGEST"], ["DEBUG", "RELOAD"], ["DEBUG", "DIGEST"], ["LRANGE", "list:7", "0", "20"],
        ["FLUSHALL"]))


def benchmark(launcher: Launcher, folder: Path, requests: int) -> str:
    """The kinds of request that redis-benchmark completed."""
    table = launcher.client(
        ["/usr/bin/redis-benchmark", "-s", folder / "socket", "--csv", "-n", requests, "-r", 40000, "-c", 20, "-P", 8,
         "-d", 180, "-t", KINDS], folder)
    return "".join(line.split(",")[0] + "\n" for line in table.splitlines())


def run(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder, serve(launcher, folder) as server:
        output = "" if work.in_bench() else scripted(launcher, folder, work.prepared / "commands")
        began, cpu = time.monotonic(), server.cpu_seconds()
        output += benchmark(launcher, folder, 60000 if work.in_bench() else 10000)
        return Outcome(output, server.usage(time.monotonic() - began, cpu))


REDIS = Program(
    name="redis",
    summary="redis-server under redis-benchmark",
    files={SERVER: "redis-server", "/usr/bin/redis-benchmark": "redis-tools"},
    probe=lambda: [SERVER, "--version"],
    prepare=prepare,
    run=run,
    links_a_malloc=True,
)
