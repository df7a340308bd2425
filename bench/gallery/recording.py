# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: records a subject: prepares it, runs it under granary record, and a server's load beside it.
# Invariant: what is started here has ended when the call returns, and the trace is whole.
# Must not know: what is made of the trace.
"""From a subject to its trace."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from gallery.subjects import Subject
from harness.program import INPUTS, Work

READY_SECONDS = 60
STOP_SECONDS = 60
POLL_SECONDS = 0.1


def shown(subject: Subject) -> list[str]:
    """What a reader types for the same result."""
    words = " ".join(f"{name}={value}" for name, value in subject.setting.items())
    options = f"{subject.options} " if subject.options else ""
    record = f"{words} granary record {options}-o {subject.name}.trace -- {subject.command}".strip()
    record = record.replace("{inputs}", "test/programs/inputs").replace("{workloads}/", "build/release/bench/workloads/")
    record = record.replace("{folder}", "$PWD").strip()
    before = [subject.before.replace("{inputs}", "test/programs/inputs")] if subject.before else []
    return before + [record + (" &" if subject.load else ""), *subject.load]


def shell(command: str, folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}; it printed\n{done.stdout[-2000:]}")


def serve(subject: Subject, command: str, folder: Path, environment: dict[str, str]) -> None:
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=folder, env=environment, stdout=log, stderr=log,
                                  stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + READY_SECONDS
        while subprocess.run(subject.answers, shell=True, cwd=folder, capture_output=True).returncode != 0:
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{subject.name} does not answer; its log ends\n{(folder / 'log').read_text()[-2000:]}")
            time.sleep(POLL_SECONDS)
        for load in subject.load:
            shell(load, folder, environment)
        if server.wait(STOP_SECONDS) != 0:
            sys.exit(f"{subject.name} ended with {server.returncode}; its log ends\n{(folder / 'log').read_text()[-2000:]}")
    finally:
        if server.poll() is None:
            server.terminate()
            server.wait()


def record(subject: Subject, build: Path, trace: Path) -> None:
    environment = {**os.environ, **subject.setting, "LC_ALL": "C.UTF-8"}
    with Work("bench") as work:
        if subject.prepare:
            subject.prepare(work)
        folder = work.prepared
        places = {"{inputs}": INPUTS, "{folder}": folder, "{workloads}": build / "bench" / "workloads"}
        command, before = subject.command, subject.before
        for place, path in places.items():
            command, before = (text.replace(place, str(path)) for text in (command, before))
        if before:
            shell(before, folder, environment)
        made = work.root / "trace"
        command = f"{build}/granary record -q {subject.options} -o {made} -- {command}"
        if subject.load:
            serve(subject, command, folder, environment)
        else:
            shell(command, folder, environment)
        shutil.move(made, trace)
