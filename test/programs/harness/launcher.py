# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: starts a program on a malloc, in a clean environment, and tells what it printed and used.
# Invariant: nothing started here outlives the call that started it, whatever interrupts the call.
# Must not know: what the program does, nor which malloc is which.
"""Launching: one command, one malloc, one clean environment."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HANG_SECONDS = 300
TAIL_LINES = 12


class ProgramFailed(Exception):
    """A program ended badly; the message says which, how, and shows its last lines."""


@dataclass(frozen=True)
class Usage:
    """What a run cost. `peak_kib` is the largest resident size of any one process; what could not be had is 0."""

    seconds: float
    cpu_seconds: float = 0.0
    peak_kib: int = 0
    peak_virtual_kib: int = 0  # of the command or server itself
    minor_faults: int = 0
    major_faults: int = 0
    waits: int = 0  # voluntary context switches
    preemptions: int = 0  # involuntary ones


@dataclass(frozen=True)
class Done:
    output: str
    usage: Usage


def tail(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines()[-TAIL_LINES:])


def clean_environment(home: Path) -> dict[str, str]:
    """An environment that makes output repeatable; options of Granary pass through."""
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(home),
        "TMPDIR": str(home),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    options = {name: value for name, value in os.environ.items()
               if name.startswith("GRANARY_") and name != "GR_TEST_LIBRARY"}  # that one is for the tests themselves
    return environment | options


def end_group(process: subprocess.Popen) -> None:
    """Ends a process and everything it started, and collects it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended by itself, with all its children
    process.wait()


def run_to_end(argv, folder: Path, environment: dict[str, str], stdin: Path | None = None,
               hang_seconds: float = HANG_SECONDS, under: Sequence = ()) -> str:
    """Runs a command in a process group of its own; returns what it printed, or raises ProgramFailed, which names the
    command and not what it runs `under`."""
    with open(stdin or os.devnull, "rb") as source:
        process = subprocess.Popen([str(word) for word in (*under, *argv)], cwd=folder, env=environment, stdin=source,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        raw, _ = process.communicate(timeout=hang_seconds)
    except subprocess.TimeoutExpired:
        raise ProgramFailed(f"{argv[0]} did not end within {hang_seconds:.0f} s") from None
    finally:
        end_group(process)
    output = raw.decode("utf-8", "replace")
    if process.returncode != 0:
        raise ProgramFailed(f"{argv[0]}: {describe_exit(process.returncode)}; it printed\n{tail(output)}")
    return output


def describe_exit(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


class Launcher:
    """Starts programs on one malloc. With `measure` (the compiled bench/suite/measure.cpp) usage is exact."""

    def __init__(self, preload: Path | None, extra: dict[str, str] | None = None, measure: Path | None = None,
                 hang_seconds: float = HANG_SECONDS):
        self.preload = preload
        self.extra = extra or {}
        self.measure = measure
        self.hang_seconds = hang_seconds

    def environment(self, folder: Path) -> dict[str, str]:
        return clean_environment(folder) | self.extra

    def preloaded(self, folder: Path) -> dict[str, str]:
        preload = {"LD_PRELOAD": str(self.preload)} if self.preload else {}
        return self.environment(folder) | preload

    def run(self, argv, folder: Path, stdin: Path | None = None, extra: dict[str, str] | None = None) -> Done:
        """Runs a command to its end on the malloc."""
        if self.measure:
            return self._run_measured(argv, folder, stdin, extra or {})
        began = time.monotonic()
        output = run_to_end(argv, folder, self.preloaded(folder) | (extra or {}), stdin, self.hang_seconds)
        return Done(output, Usage(time.monotonic() - began))

    def _run_measured(self, argv, folder: Path, stdin: Path | None, extra: dict[str, str]) -> Done:
        report = folder / "usage.json"
        output = run_to_end(argv, folder, self.environment(folder) | extra, stdin, self.hang_seconds,
                            under=(self.measure, report, self.preload or "-"))
        return Done(output, Usage(**json.loads(report.read_text())))

    def client(self, argv, folder: Path, stdin: Path | None = None) -> str:
        """Runs a command on the system's malloc: the load, not the thing under load."""
        return run_to_end(argv, folder, clean_environment(folder), stdin)
