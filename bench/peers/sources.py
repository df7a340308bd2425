# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      where files come from: Debian's packages on this machine, and crates downloaded from crates.io.
# Invariant: a crate is returned only if its SHA-256 is the pinned one; it is downloaded once.
# Must not know: what becomes of the files.
"""Sources: installed packages and pinned crates."""

import functools
import hashlib
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from catalogue import Crate, DebianPackage

TIMEOUT = 60  # seconds without an answer


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


def download(crate: Crate, folder: Path) -> Path:
    """The crate's archive in `folder`."""
    archive = folder / f"{crate.name}-{crate.version}.crate"
    if archive.is_file() and sha256_of(archive) == crate.sha256:
        return archive
    try:
        with urllib.request.urlopen(crate.url, timeout=TIMEOUT) as answer:
            content = answer.read()
    except (urllib.error.URLError, OSError) as problem:
        raise Failed(f"{crate.url} cannot be downloaded: {problem}") from problem
    found = hashlib.sha256(content).hexdigest()
    if found != crate.sha256:
        raise Failed(f"{crate.url} has the SHA-256 {found}, not {crate.sha256}")
    folder.mkdir(parents=True, exist_ok=True)
    part = archive.with_suffix(".part")
    part.write_bytes(content)
    part.rename(archive)
    return archive


def unpack(archive: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-xzf", archive, "-C", folder, "--strip-components=1"], check=True)
