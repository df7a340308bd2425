# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a daemon on a private socket: started, waited for, measured, stopped.
# Invariant: after the with statement the daemon is gone, and it ran on the library it was to run on.
# Must not know: the daemon's protocol.
"""Servers: context managers around daemons."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from .launcher import Launcher, ProgramFailed, Usage, end_group, tail

READY_SECONDS = 60
STOP_SECONDS = 30
POLL_SECONDS = 0.02


class Server:
    """Runs `argv` in `folder` until the with statement ends; `ready` says when it answers."""

    def __init__(self, launcher: Launcher, argv, folder: Path, ready):
        self.launcher = launcher
        self.argv = [str(word) for word in argv]
        self.folder = folder
        self.ready = ready
        self.log = folder / "server.log"

    def __enter__(self) -> "Server":
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.argv, cwd=self.folder, env=self.launcher.preloaded(self.folder),
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            self._wait_until_ready()
            self._check_library()
        except BaseException:
            end_group(self.process)
            raise
        return self

    def __exit__(self, kind, value, trace) -> None:
        asked = self.process.poll() is None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise self._failure(f"did not stop within {STOP_SECONDS} s") from value
        finally:
            end_group(self.process)
        if not asked or self.process.returncode not in (0, -signal.SIGTERM):
            raise self._failure(f"ended with code {self.process.returncode}") from value

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self.ready():
            if self.process.poll() is not None:
                raise self._failure(f"ended with code {self.process.returncode} before it was ready")
            if time.monotonic() > deadline:
                raise self._failure(f"not ready within {READY_SECONDS} s")
            time.sleep(POLL_SECONDS)

    def _check_library(self) -> None:
        library = self.launcher.preload
        if library and str(library.resolve()) not in Path(f"/proc/{self.process.pid}/maps").read_text():
            raise self._failure(f"{library} is not mapped: the preload had no effect")

    def _failure(self, what: str) -> ProgramFailed:
        return ProgramFailed(f"{self.argv[0]}: {what}; its log ends\n{tail(self.log.read_text(errors='replace'))}")

    def cpu_seconds(self) -> float:
        fields = self._stat()
        ticks = int(fields[11]) + int(fields[12])  # utime and stime
        return ticks / os.sysconf("SC_CLK_TCK")

    def _stat(self) -> list[str]:
        """The fields of /proc/PID/stat from the one after the name on."""
        return Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()

    def _sum(self, path: str, key: str) -> int:
        """The sum of a line of /proc/PID/PATH, which may name many files: a thread's each."""
        return sum(int(line.split()[1]) for file in Path(f"/proc/{self.process.pid}").glob(path)
                   for line in file.read_text().splitlines() if line.startswith(key))

    def usage(self, seconds: float, cpu_before: float = 0.0) -> Usage:
        """What the server used so far, for work that took `seconds`; ask before the with statement ends."""
        fields = self._stat()
        return Usage(
            seconds, self.cpu_seconds() - cpu_before,
            peak_kib=self._sum("status", "VmHWM:"), peak_virtual_kib=self._sum("status", "VmPeak:"),
            minor_faults=int(fields[7]), major_faults=int(fields[9]),
            waits=self._sum("task/*/status", "voluntary_ctxt_switches:"),
            preemptions=self._sum("task/*/status", "nonvoluntary_ctxt_switches:"))


def ask(path: Path, request: bytes, size: int) -> bytes:
    """The first `size` bytes that the daemon at a Unix socket replies; nothing if it does not answer yet."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1)
            connection.connect(str(path))
            connection.sendall(request)
            return connection.recv(size)
    except (FileNotFoundError, ConnectionError, TimeoutError):
        return b""  # the caller asks again until its deadline
