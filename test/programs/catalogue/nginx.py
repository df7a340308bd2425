# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: nginx under wrk, on a free port of the loopback.
# Invariant: one process, no file outside the trial's folder; every page is fetched and compared before the load.
# Must not know: how results are compared.
"""nginx: a pool for each connection and each request, cut from a few blocks; zlib's tables for compressed pages."""

import hashlib
import http.client
import shutil
import socket
import time
from pathlib import Path

from harness.launcher import Launcher, ProgramFailed
from harness.program import INPUTS, Outcome, Program, Work
from harness.server import Server

SERVER = "/usr/sbin/nginx"
WRK = "/usr/bin/wrk"
CONNECTIONS = 32
REQUESTS = 40_000
HANG_SECONDS = 60
PAGES = {"small.html": 40, "page.html": 600, "file.bin": 5000}  # lines


def prepare(work: Work) -> None:
    pages = work.prepared / "pages"
    pages.mkdir()
    for name, lines in PAGES.items():
        (pages / name).write_text("".join(f"<p>{line}: {line * 7919 % 1009}</p>\n" for line in range(lines)))


def free_port() -> int:
    """A port of the loopback on which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(port: int, name: str) -> bytes:
    """A page as it is sent, compressed or not; nothing if the server does not answer yet."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", f"/{name}", headers={"Accept-Encoding": "gzip"})
        return connection.getresponse().read()
    except (ConnectionError, TimeoutError):
        return b""  # the caller asks again until its deadline
    finally:
        connection.close()


def serve(launcher: Launcher, folder: Path, port: int) -> Server:
    configuration = folder / "nginx.conf"
    configuration.write_text((INPUTS / "nginx.conf").read_text().replace("PORT", str(port)))
    argv = [SERVER, "-p", folder, "-c", configuration, "-e", "stderr"]
    return Server(launcher, argv, folder, lambda: fetch(port, "small.html") != b"")


def load(launcher: Launcher, folder: Path, port: int) -> str:
    """The last words of wrk's script, which ends wrk when it has its replies; wrk's own end is the time-out."""
    said = launcher.client([WRK, "-t", 1, "-c", CONNECTIONS, "-d", HANG_SECONDS, "-s", INPUTS / "wrk.lua",
                            f"http://127.0.0.1:{port}", "--", REQUESTS], folder)
    last = said.splitlines()[-1]
    if last != "answered":
        raise ProgramFailed(f"wrk had not all its replies after {HANG_SECONDS} s; it printed\n{said}")
    return last


def run(work: Work, launcher: Launcher) -> Outcome:
    port = free_port()
    with work.trial() as folder:
        shutil.copytree(work.prepared / "pages", folder / "pages")
        with serve(launcher, folder, port) as server:
            output = "".join(f"{name} {hashlib.sha256(fetch(port, name)).hexdigest()}\n" for name in PAGES)
            began, cpu = time.monotonic(), server.cpu_seconds()
            output += load(launcher, folder, port) + "\n"
            return Outcome(output, server.usage(time.monotonic() - began, cpu))


NGINX = Program(
    name="nginx",
    summary=f"nginx under wrk: {CONNECTIONS} connections, a quarter of the replies compressed",
    files={SERVER: "nginx", WRK: "wrk"},
    probe=lambda: [SERVER, "-v"],
    prepare=prepare,
    run=run,
    in_tests=False,
)
