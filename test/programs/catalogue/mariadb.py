# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: MariaDB: a SQL script whose results are compared, and sysbench.
# Invariant: socket only, a data folder of its own, never root's rights while it serves.
# Must not know: how results are compared.
"""MariaDB: a thread for each connection, blocks that cross threads, a large buffer pool beside them."""

import functools
import os
import pwd
import re
import shutil
import time
from pathlib import Path

from harness.allocators import Missing
from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work
from harness.server import Server, ask

SERVER = "/usr/sbin/mariadbd"
CLIENT = "/usr/bin/mariadb"
INSTALL = "/usr/bin/mariadb-install-db"
SYSBENCH = "/usr/bin/sysbench"
TABLES = ["--tables=2", "--table-size=10000"]
THREADS = 4
PROTOCOL_VERSION = b"\n"
LOG_SIZE = "--innodb-log-file-size=16M"


@functools.cache
def unprivileged() -> list[str]:
    """As root: --user= of an account that owns nothing else; otherwise nothing."""
    if os.geteuid() != 0:
        return []
    known = {entry.pw_name for entry in pwd.getpwall()}
    for user in ("mysql", "nobody"):
        if user in known:
            return [f"--user={user}"]
    raise Missing("mariadb: no unprivileged user; run: apt-get install mariadb-server")


def give_to_server(folder: Path) -> None:
    """Root gives the folder and all in it to the server's user."""
    for option in unprivileged():
        user = option.partition("=")[2]
        for path in [folder, *folder.rglob("*")]:
            shutil.chown(path, user)


def is_ready(folder: Path) -> bool:
    """A MariaDB server greets first: length and number of the packet, then the protocol's version."""
    return ask(folder / "socket", b"", 5)[4:] == PROTOCOL_VERSION


def serve(launcher: Launcher, folder: Path) -> Server:
    give_to_server(folder)
    argv = [SERVER, "--no-defaults", f"--datadir={folder / 'data'}", f"--socket={folder / 'socket'}",
            f"--pid-file={folder / 'pid'}", f"--tmpdir={folder}", "--skip-networking", "--innodb-buffer-pool-size=48M",
            LOG_SIZE, "--innodb-flush-log-at-trx-commit=0", "--skip-log-bin", *unprivileged()]
    return Server(launcher, argv, folder, lambda: is_ready(folder))


def client(folder: Path) -> list[str]:
    return [CLIENT, "--no-defaults", "--user=root", f"--socket={folder / 'socket'}"]


def scripted(launcher: Launcher, folder: Path) -> str:
    return launcher.client([*client(folder), "work"], folder, INPUTS / "mariadb.sql")


def sysbench(launcher: Launcher, folder: Path, script: str, *words: str) -> str:
    return launcher.client([SYSBENCH, script, f"--mysql-socket={folder / 'socket'}", "--mysql-user=root",
                            "--mysql-db=bench", *TABLES, *words], folder)


def prepare(work: Work) -> None:
    """A data folder with sysbench's tables, filled by a server on the system's malloc."""
    folder = work.prepared
    (folder / "data").mkdir()
    give_to_server(folder)
    work.setup([INSTALL, "--no-defaults", f"--datadir={folder / 'data'}", "--skip-test-db",
                "--auth-root-authentication-method=normal", LOG_SIZE, *unprivileged()])
    launcher = Launcher(None)
    with serve(launcher, folder):
        launcher.client([*client(folder), "--execute=CREATE DATABASE work; CREATE DATABASE bench"], folder)
        sysbench(launcher, folder, "oltp_common", "prepare")


def read(launcher: Launcher, folder: Path, events: int) -> tuple[str, float]:
    """Selects by key, as super-smack's select-key makes them: (what was done, seconds by sysbench's own clock)."""
    report = sysbench(launcher, folder, "oltp_point_select", f"--threads={THREADS}", f"--events={events}", "--time=0",
                      "run")
    return counts(report), float(re.search(r"total time: +([\d.]+)s", report)[1])


def counts(report: str) -> str:
    """The lines of a sysbench report that do not depend on time."""
    wanted = re.findall(r"^ +((?:total|transactions|total number of events): +\d+)", report, flags=re.MULTILINE)
    return "\n".join(re.sub(" +", " ", line) for line in wanted) + "\n"


def run(work: Work, launcher: Launcher) -> Outcome:
    with work.trial() as folder:
        shutil.copytree(work.prepared / "data", folder / "data")
        with serve(launcher, folder) as server:
            output = "" if work.in_bench() else scripted(launcher, folder)
            cpu = server.cpu_seconds()
            done, seconds = read(launcher, folder, 120000 if work.in_bench() else 8000)
            return Outcome(output + done, server.usage(seconds, cpu))


MARIADB = Program(
    name="mariadb",
    summary=f"MariaDB under sysbench: point selects on {THREADS} connections",
    files={SERVER: "mariadb-server", CLIENT: "mariadb-client", INSTALL: "mariadb-server", SYSBENCH: "sysbench"},
    probe=lambda: [SERVER, "--no-defaults", "--version"],
    prepare=prepare,
    run=run,
)
