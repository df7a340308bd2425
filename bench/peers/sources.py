# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: where files come from: Debian's packages on this machine, and crates that cargo brings.
# Invariant: a crate is returned only if cargo found its SHA-256 to be the pinned one and none of its files has changed
#    since; it is fetched once.
# Must not know: what becomes of the files.
"""Sources: installed packages and pinned crates."""

import functools
import hashlib
import json
import shutil
import subprocess
from pathlib import Path

from catalogue import Crate, DebianPackage

MANIFEST = Path(__file__).resolve().with_name("Cargo.toml")


class Failed(Exception):
    """A peer cannot be had; the message is one line that says why and, if possible, what to do."""


@functools.cache
def installed_version(package: str) -> str | None:
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package]
    status, _, version = subprocess.run(query, capture_output=True, text=True).stdout.partition(" ")
    return version if status == "installed" else None


def require(packages: tuple[str, ...]) -> None:
    missing = [package for package in packages if installed_version(package) is None]
    if missing:
        raise Failed(f"not installed; run: apt-get install {' '.join(missing)}")


def packaged_file(package: DebianPackage) -> Path:
    listing = subprocess.run(["dpkg", "-L", package.name], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        if line.endswith(package.file):
            return Path(line).resolve()
    raise Failed(f"the package {package.name} has no file that ends in {package.file}")


def sha256_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def is_whole(place: Path, crate: Crate) -> bool:
    """Whether the sources there are the pinned ones, by the list of checksums that cargo leaves beside them."""
    try:
        listed = json.loads((place / ".cargo-checksum.json").read_text())
        return listed["package"] == crate.sha256 and all(sha256_of(place / name) == digest
                                                         for name, digest in listed["files"].items())
    except (OSError, ValueError):
        return False


def fetch_all(folder: Path) -> None:
    """Every crate of the manifest into `folder`, which then has nothing else."""
    command = ["cargo", "vendor", "--locked", "--versioned-dirs", "--manifest-path", str(MANIFEST), str(folder)]
    try:
        done = subprocess.run(command, cwd=MANIFEST.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except FileNotFoundError as problem:
        raise Failed("no cargo, which brings the sources; run: scripts/setup peers") from problem
    if done.returncode != 0:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        causes = [line for line in said if line.startswith("error")] + said[-1:]
        raise Failed(f"`cargo vendor` ends with {done.returncode}: {': '.join(dict.fromkeys(causes))}")


def fetch(crate: Crate, folder: Path) -> Path:
    """The crate's sources, in `folder`."""
    place = folder / f"{crate.name}-{crate.version}"
    if not is_whole(place, crate):
        shutil.rmtree(place, ignore_errors=True)  # cargo leaves alone what is there
        fetch_all(folder)
        if not is_whole(place, crate):
            raise Failed(f"{place} is not what Cargo.lock pins")
    return place
