# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: memcached under a pipelining load generator of its own.
# Invariant: every reply byte goes into the output's hash; the load fits memcached's memory, so nothing is evicted.
# Must not know: how results are compared.
"""memcached: worker threads, slabs of its own cut from large blocks, buffers for each connection."""

import hashlib
import os
import socket
import time
from pathlib import Path

from harness.launcher import Launcher, ProgramFailed
from harness.program import Outcome, Program, Work
from harness.server import Server, ask

DAEMON = "/usr/bin/memcached"
THREADS = 4
CONNECTIONS = 8
KEYS = 4000
KEYS_IN_A_GET = 40


def serve(launcher: Launcher, folder: Path) -> Server:
    path = folder / "socket"
    user = ["-u", "root"] if os.geteuid() == 0 else []  # it refuses root unless told; the folder is private
    argv = [DAEMON, "-s", path, "-m", "256", "-t", THREADS, *user]
    return Server(launcher, argv, folder, lambda: ask(path, b"version\r\n", 7) == b"VERSION")


def value(key: int, turn: int) -> bytes:
    return b"%d:%d:" % (key, turn) + b"v" * ((key * 131 + turn * 17) % 1500)


def sets(connection: int, turn: int) -> bytes:
    """Pipelined sets of the connection's keys, the last with a reply to wait for."""
    pieces = []
    for key in range(KEYS):
        data = value(key, turn)
        pieces.append(b"set c%d-%d 0 0 %d noreply\r\n%s\r\n" % (connection, key, len(data), data))
    pieces.append(b"set end%d 0 0 1\r\n.\r\n" % connection)
    return b"".join(pieces)


def gets(connection: int) -> bytes:
    """Gets of all keys, many at a time, and one of a key that is not there, to know the end."""
    pieces = []
    for first in range(0, KEYS, KEYS_IN_A_GET):
        names = b" ".join(b"c%d-%d" % (connection, key) for key in range(first, first + KEYS_IN_A_GET))
        pieces.append(b"get " + names + b"\r\n")
    pieces.append(b"delete nothing\r\n")
    return b"".join(pieces)


def receive_until(connection: socket.socket, end: bytes, sink) -> None:
    last = b""
    while not last.endswith(end):
        piece = connection.recv(1 << 18)
        if not piece:
            raise ProgramFailed("memcached closed the connection")
        sink.update(piece)
        last = (last + piece)[-len(end):]


def load(path: Path, turns: int) -> str:
    """All connections set all their keys and read them back, turn after turn."""
    replies = hashlib.sha256()
    for turn in range(turns):
        connections = [socket.socket(socket.AF_UNIX) for _ in range(CONNECTIONS)]
        for number, connection in enumerate(connections):
            connection.connect(str(path))
            connection.sendall(sets(number, turn))
        for number, connection in enumerate(connections):
            receive_until(connection, b"STORED\r\n", replies)
            connection.sendall(gets(number))
            receive_until(connection, b"NOT_FOUND\r\n", replies)
            connection.close()
    return replies.hexdigest() + "\n"


def run(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder, serve(launcher, folder) as server:
        began, cpu = time.monotonic(), server.cpu_seconds()
        output = load(folder / "socket", 12 if work.in_bench() else 4)
        return Outcome(output, server.usage(time.monotonic() - began, cpu))


MEMCACHED = Program(
    name="memcached",
    summary=f"memcached: {THREADS} threads, {CONNECTIONS} connections, pipelined sets and gets",
    files={DAEMON: "memcached"},
    probe=lambda: [DAEMON, "-V"],
    run=run,
)
