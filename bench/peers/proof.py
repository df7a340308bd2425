# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: proof that a peer is really in use, in its right version and mode, and that programs run on it.
# Invariant: the same questions are put without the peer, where they must not get the peer's answers: a proof that
#    cannot fail is none. What it shows is kept; catalogue.py says what that does and does not prove.
# Must not know: how the library was made.
"""Usage: proof.py [--folder build/peers] [NAME...]   proves again what peers.json lists"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from catalogue import PEERS, Peer
from sources import Failed

HERE = Path(__file__).resolve().parent
PROVIDER = "file of "
TIMEOUT = 60

THREADS = ("import threading\n"
           "sums = []\n"
           "def work(): sums.append(sum(len(str(number) * (number % 50)) for number in range(20000)))\n"
           "threads = [threading.Thread(target=work) for _ in range(4)]\n"
           "for thread in threads: thread.start()\n"
           "for thread in threads: thread.join()\n"
           "print(sums)")
PROGRAMS = (("ls", "/"), ("git", "--version"), ("python3", "-c", THREADS), ("sh", "-c", "ls / | sort | wc -l"))


def environment(library: Path | None, extra: dict[str, str]) -> dict[str, str]:
    """This process's, without what would change the allocator, plus the peer's."""
    clean = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "GLIBC_TUNABLES")}
    clean["PYTHONMALLOC"] = "malloc"  # Python's own small blocks too
    return clean | ({"LD_PRELOAD": str(library)} if library else {}) | extra


def build_probe(folder: Path) -> Path:
    """Built each time: a second's work, never out of date. -fno-builtin: every call must reach the loader."""
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / "probe"
    command = ["gcc", "-std=gnu11", "-O1", "-fno-builtin", "-o", probe, HERE / "probe.c"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"probe.c does not compile: {done.stderr.strip().splitlines()[0]}")
    return probe


def run(command: tuple, library: Path | None, extra: dict[str, str]) -> str:
    """What the command prints; anything on stderr, such as a library that cannot be preloaded, is a failure."""
    try:
        done = subprocess.run(command, env=environment(library, extra), capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired as problem:
        raise Failed(f"`{Path(command[0]).name}` does not end in {TIMEOUT} s") from problem
    if done.returncode != 0 or done.stderr:
        words = done.stderr.strip().splitlines()[:1] or [f"ends with {done.returncode}"]
        raise Failed(f"`{Path(command[0]).name}`: {words[0]}")
    return done.stdout


def answers(probe: Path, library: Path | None, extra: dict[str, str]) -> dict[str, str]:
    return dict(line.split("=", 1) for line in run((probe,), library, extra).splitlines())


def check_answers(peer: Peer, library: Path | None, found: dict[str, str]) -> None:
    expected = library.resolve().name if library else "libc.so.6"
    providers = {key: Path(value).resolve() for key, value in found.items() if key.startswith(PROVIDER)}
    for key, file in providers.items():
        if file.name != expected or (library and file != library.resolve()):
            raise Failed(f"not in use: {key.removeprefix(PROVIDER)} comes from {file}")
    for key, value in peer.answers.items():
        if found.get(key) != value:
            raise Failed(f"{key} is {found.get(key, 'not answered')}, not {value}")


def check_contrast(peer: Peer, probe: Path, library: Path | None) -> None:
    """Without the library, and without the environment it needs, the answers must differ."""
    if library and peer.answers.items() <= answers(probe, None, peer.environment).items():
        raise Failed("its proof is none: the system's malloc answers the same")
    if peer.environment and peer.answers.items() <= answers(probe, library, {}).items():
        raise Failed("its proof is none: without its environment it answers the same")


def check_programs(peer: Peer, library: Path | None) -> None:
    for program in PROGRAMS:
        if run(program, library, peer.environment) != run(program, None, {}):
            raise Failed(f"`{program[0]}` prints something else on it")


def prove(peer: Peer, library: Path | None, probe: Path) -> dict[str, str]:
    """The probe's answers, or Failed."""
    found = answers(probe, library, peer.environment)
    check_answers(peer, library, found)
    check_contrast(peer, probe, library)
    check_programs(peer, library)
    return {"malloc": found[PROVIDER + "malloc"], "libc": found["gnu_get_libc_version"],
            **{key: found[key] for key in peer.answers}}


def main() -> int:
    parser = argparse.ArgumentParser(description="Proves again that each peer in peers.json is what it says.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--folder", type=Path, default=Path("build/peers"))
    options = parser.parse_args()
    failed = False
    try:
        listed = {entry["name"]: entry for entry in json.loads((options.folder / "peers.json").read_text())["peers"]}
        probe = build_probe(options.folder.resolve())
    except (OSError, Failed) as problem:
        print(f"proof: {problem}", file=sys.stderr)
        return 1
    for name in options.names or listed:
        try:
            if name not in listed:
                raise Failed("not in peers.json; run build.py")
            library = listed[name]["library"]
            shown = prove(PEERS[name], Path(library) if library else None, probe)
            print(f"{name:20} {', '.join(f'{key}: {value}' for key, value in shown.items())}")
        except Failed as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
