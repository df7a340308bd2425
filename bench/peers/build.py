# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: makes every peer a library that can be preloaded, proves it, and writes peers.json for the benchmarks.
# Invariant: what was built by the same recipe with the same compiler stays; a peer that fails leaves the list and the
#    others go on; only proven peers are listed.
# Must not know: any one allocator; catalogue.py does.
"""Usage: build.py [--only NAME,...] [--folder build/peers] [--jobs N] [--list]"""

import argparse
import dataclasses
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from catalogue import PEERS, Crate, Peer, Recipe
from proof import build_probe, prove
from sources import Failed, fetch, installed_version, packaged_file, require, sha256_of

HERE = Path(__file__).resolve().parent
# What a caller's environment could change a build with.
FOREIGN = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LD_PRELOAD", "GLIBC_TUNABLES", "MAKEFLAGS", "MAKELEVEL",
           "MFLAGS")


@dataclasses.dataclass(frozen=True)
class Library:
    """A peer's library and how it came about; `path` is None for the system's own malloc."""

    path: Path | None
    version: str
    how: str
    compiler: str = ""
    flags: str = ""


def compiler_version(recipe: Recipe) -> str:
    done = subprocess.run([recipe.compiler, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def fingerprint(peer: Peer) -> str:
    """Changes with whatever could change the library."""
    recipe = peer.recipe
    parts = [repr(peer.origin), repr(recipe), compiler_version(recipe)]
    if recipe.own_files:
        parts += [file.name + file.read_text() for file in sorted((HERE / recipe.own_files).iterdir())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def flags_used(recipe: Recipe, log: Path) -> str:
    """From the fast path's compile line in the log; warnings, paths and dependency files are left out."""
    for line in log.read_text(errors="replace").splitlines():
        if " -c " in line and recipe.compiled in line:
            words = shlex.split(line)
            flags = [word for word in words if word.startswith("-") and not word.startswith(("-I", "-M", "-W"))]
            return shlex.join(flag for flag in flags if flag not in ("-c", "-o", "-w", "-pipe"))
    raise Failed(f"no compile line with {recipe.compiled} in {log}")


def run_steps(recipe: Recipe, source: Path, log: Path, jobs: int) -> None:
    names = {"source": source, "here": HERE, "jobs": jobs}
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN} | recipe.environment
    with log.open("w") as output:
        for step in recipe.steps:
            command = [word.format(**names) for word in step]
            print(f"$ {shlex.join(command)}", file=output, flush=True)
            done = subprocess.run(command, cwd=source, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT)
            if done.returncode != 0:
                raise Failed(f"`{command[0]}` ends with {done.returncode}; see {log}")


def recorded(file: Path) -> dict:
    """What an earlier run wrote; nothing if it did not come to that."""
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return {}


def build(peer: Peer, folder: Path, jobs: int) -> Library:
    """From the crate, unless it is there already."""
    recipe = peer.recipe
    require(recipe.packages)
    home = folder / peer.name
    stamp, library, log = home / "built.json", home / Path(recipe.library).name, home / "build.log"
    made_by = fingerprint(peer)
    built = recorded(stamp)
    if built.get("made_by") == made_by and library.is_file() and sha256_of(library) == built["library"]:
        return Library(library, peer.label, "built before", built["compiler"], built["flags"])
    crate = fetch(peer.origin, folder / "crates")
    shutil.rmtree(home, ignore_errors=True)
    begin = time.monotonic()
    shutil.copytree(crate, home / "source")
    source = home / "source" / recipe.folder
    run_steps(recipe, source, log, jobs)
    shutil.copy(source / recipe.library, library)
    compiler, flags = compiler_version(recipe), flags_used(recipe, log)
    stamp.write_text(json.dumps({"made_by": made_by, "library": sha256_of(library), "compiler": compiler,
                                 "flags": flags}))
    shutil.rmtree(home / "source")
    return Library(library, peer.label, f"built in {time.monotonic() - begin:.0f} s", compiler, flags)


def installed(peer: Peer) -> Library:
    require((peer.origin.name,))
    path = packaged_file(peer.origin) if peer.origin.file else None
    return Library(path, installed_version(peer.origin.name), f"installed ({peer.origin.name})")


def source_of(peer: Peer) -> dict[str, str]:
    origin = peer.origin
    if isinstance(origin, Crate):
        return {"registry": "cargo", "package": origin.name, "version": origin.version, "sha256": origin.sha256}
    return {"registry": "Debian 12", "package": origin.name, "version": installed_version(origin.name)}


def entry_of(peer: Peer, library: Library, shown: dict[str, str]) -> dict:
    """A peer as peers.json lists it."""
    return {
        "name": peer.name, "version": library.version, "about": peer.about, "source": source_of(peer),
        "library": str(library.path) if library.path else None,
        "library_sha256": sha256_of(library.path) if library.path else None,
        "environment": peer.environment, "compiler": library.compiler, "flags": library.flags,
        "proof": {"shows": shown, "proves": peer.proves},
    }


def make(peer: Peer, folder: Path, jobs: int, probe: Path) -> dict | None:
    """The peer's entry; one line says how it went."""
    print(f"{peer.name:20} {peer.label or installed_version(peer.origin.name) or '':22}", end=" ", flush=True)
    try:
        library = build(peer, folder, jobs) if peer.recipe else installed(peer)
        shown = prove(peer, library.path, probe)
    except (Failed, OSError, subprocess.SubprocessError) as problem:
        print(f"FAILED: {problem}", flush=True)
        return None
    print(f"{library.how}; proven", flush=True)
    return entry_of(peer, library, shown)


def listed(file: Path) -> dict[str, dict]:
    return {entry["name"]: entry for entry in recorded(file).get("peers", [])}


def print_list(file: Path) -> None:
    known = listed(file)
    for peer in PEERS.values():
        source = source_of(peer)
        state = "ready" if peer.name in known else "not made"
        print(f"{peer.name:20} {state:9} {source['registry']}: {source['package']} {source['version'] or 'missing'}")
        print(f"{'':20} {peer.about}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Makes the peers of the benchmarks and proves each.")
    parser.add_argument("--only", default="", metavar="NAME,...", help="these peers (default: all)")
    parser.add_argument("--folder", type=Path, default=Path("build/peers"), help="default: build/peers")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compile jobs (default: one per CPU)")
    parser.add_argument("--list", action="store_true", help="print the peers and make nothing")
    options = parser.parse_args()
    options.names = options.only.split(",") if options.only else list(PEERS)
    unknown = [name for name in options.names if name not in PEERS]
    if unknown:
        parser.error(f"no such peer: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    if options.jobs < 1:
        parser.error("--jobs: at least 1")
    return options


def main() -> int:
    options = parse_arguments()
    folder = options.folder.resolve()
    file = folder / "peers.json"
    if options.list:
        print_list(file)
        return 0
    try:
        probe = build_probe(folder)
    except Failed as problem:
        print(f"peers: {problem}", file=sys.stderr)
        return 1
    made = {name: make(PEERS[name], folder, options.jobs, probe) for name in options.names}
    entries = listed(file) | made
    ready = [entries[name] for name in PEERS if entries.get(name)]
    file.write_text(json.dumps({"peers": ready}, indent=1) + "\n")
    failed = [name for name, entry in made.items() if entry is None]
    print(f"{file}: {len(ready)} of {len(PEERS)} peers" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
