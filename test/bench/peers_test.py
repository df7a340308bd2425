# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: where the peers' sources come from: what is pinned, what cargo is asked, what is refused, what setup wants.
# Invariant: a made-up cargo puts made-up crates; no test needs the network.
# Must not know: how a peer is built or proven.
"""Usage: peers_test.py BUILD_FOLDER."""

import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

from support import ROOT, main

PEERS = ROOT / "bench" / "peers"
sys.path.insert(0, str(PEERS))  # before the folder of programs, which has a catalogue too

from catalogue import PEERS as CATALOGUE
from catalogue import Crate
from sources import MANIFEST, Failed, fetch

# cargo itself writes the name of its registry into each lock file.
GENERATED = PEERS / "Cargo.lock"
NO_FILES_OF_OURS = {".git", ".cache", "build", "__pycache__", "node_modules"}
HOSTS = re.compile("|".join(name.replace(" ", r"\.") for name in (
    "crates io", "deb debian org", "security debian org", "pypi org", "pythonhosted org", "registry npmjs",
    "proxy golang org", "docker io", "ghcr io")))

CONTENT = b"int main;\n"
SUM = "a" * 64
CRATE = Crate("made-up", "1.2.3", SUM)

# Keeps what it was asked, and puts a crate where it was told to unless, as cargo, it finds one there.
CARGO = """#!/bin/sh
echo "$@" >> "{asked}"
for folder; do :; done
place="$folder/made-up-1.2.3"
[ ! -f "$place/.cargo-checksum.json" ] || exit 0
mkdir -p "$place/source"
cp "{content}" "$place/source/file.c"
cp "{sums}" "$place/.cargo-checksum.json"
"""
FAILING = "#!/bin/sh\nprintf 'error: first\\nCaused by:\\n  it is raining\\n' >&2\nexit 101\n"


class Pinned(unittest.TestCase):
    def setUp(self):
        self.wanted = tomllib.loads(MANIFEST.read_text())["dependencies"]
        self.locked = {package["name"]: package for package in tomllib.loads(GENERATED.read_text())["package"]
                       if package["name"] in self.wanted}

    def test_each_version_is_one(self):
        for name, version in self.wanted.items():
            self.assertRegex(version, r"^=\d+\.\d+\.\d+$", name)

    def test_the_lock_file_has_them_with_checksums(self):
        self.assertEqual({name: "=" + package["version"].partition("+")[0] for name, package in self.locked.items()},
                         self.wanted)
        for name, package in self.locked.items():
            self.assertRegex(package["checksum"], "^[0-9a-f]{64}$", name)

    def test_the_catalogue_uses_these_and_no_others(self):
        used = {peer.origin for peer in CATALOGUE.values() if isinstance(peer.origin, Crate)}
        self.assertEqual(used, {Crate(name, package["version"], package["checksum"])
                                for name, package in self.locked.items()})


class Made(unittest.TestCase):
    """`bin` is searched for commands first."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()

    def command(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)


class Fetched(Made):
    def setUp(self):
        super().setUp()
        self.crates = self.folder / "crates"
        self.asked, self.content, self.sums = (self.folder / name for name in ("asked", "content", "sums"))
        self.content.write_bytes(CONTENT)
        self.list_sums(SUM)
        self.command("cargo", CARGO.format(asked=self.asked, content=self.content, sums=self.sums))
        path = mock.patch.dict(os.environ, {"PATH": f"{self.bin}:{os.environ['PATH']}"})
        path.start()
        self.addCleanup(path.stop)

    def list_sums(self, package: str) -> None:
        listed = {"source/file.c": hashlib.sha256(CONTENT).hexdigest()}
        self.sums.write_text(json.dumps({"files": listed, "package": package}))

    def calls(self) -> int:
        return len(self.asked.read_text().splitlines())

    def test_cargo_is_asked_once_for_what_is_locked(self):
        for _ in range(2):
            place = fetch(CRATE, self.crates)
            self.assertEqual((place / "source" / "file.c").read_bytes(), CONTENT)
        self.assertEqual(self.asked.read_text(),
                         f"vendor --locked --versioned-dirs --manifest-path {MANIFEST} {self.crates}\n")

    def test_what_was_changed_is_fetched_again(self):
        file = fetch(CRATE, self.crates) / "source" / "file.c"
        for damage in (lambda: file.write_text("changed"), file.unlink):
            damage()
            fetch(CRATE, self.crates)
            self.assertEqual(file.read_bytes(), CONTENT)
        self.assertEqual(self.calls(), 3)

    def test_another_version_is_another_crate(self):
        fetch(CRATE, self.crates)
        with self.assertRaisesRegex(Failed, "made-up-1.2.4 is not what Cargo.lock pins"):
            fetch(dataclasses.replace(CRATE, version="1.2.4"), self.crates)

    def test_what_is_not_pinned_is_refused(self):
        self.list_sums("b" * 64)
        with self.assertRaisesRegex(Failed, "made-up-1.2.3 is not what Cargo.lock pins"):
            fetch(CRATE, self.crates)

    def test_files_that_are_not_the_listed_ones_are_refused(self):
        self.content.write_text("other")
        with self.assertRaisesRegex(Failed, "is not what Cargo.lock pins"):
            fetch(CRATE, self.crates)

    def test_cargo_fails(self):
        self.command("cargo", FAILING)
        with self.assertRaises(Failed) as caught:
            fetch(CRATE, self.crates)
        self.assertEqual(str(caught.exception), "`cargo vendor` ends with 101: error: first: it is raining")

    def test_no_cargo(self):
        (self.bin / "cargo").unlink()
        with mock.patch.dict(os.environ, {"PATH": str(self.bin)}):
            with self.assertRaisesRegex(Failed, "no cargo.*scripts/setup peers"):
                fetch(CRATE, self.crates)


class Setup(Made):
    """Every package but cargo-web is installed."""

    def setUp(self):
        super().setUp()
        self.command("dpkg-query", "#!/bin/sh\nfor name; do :; done\n[ $name = cargo-web ] || printf installed\n")
        for name in ("sh", "bash", "cut", "head", "sort"):
            (self.bin / name).symlink_to(shutil.which(name))

    def missing(self, version: str | None) -> str:
        if version:
            self.command("cargo", f"#!/bin/sh\necho 'cargo {version}'\n")
        done = subprocess.run([shutil.which("bash"), ROOT / "scripts" / "setup", "--check", "peers"],
                              env={"PATH": str(self.bin)}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1 if done.stderr else 0)
        return done.stderr

    def setup_wants(self, version: str | None, wanted: bool) -> None:
        self.assertEqual("cargo-web" in self.missing(version), wanted, version)

    def test_a_cargo_that_is_new_enough_stays(self):
        for version in ("1.85.0", "1.95.0 (f2d3ce0bd 2026-03-21)", "1.100.2-nightly", "2.0.0"):
            self.setup_wants(version, False)

    def test_an_old_one_does_not(self):
        for version in ("0.66.0", "1.65.0", "1.84.1"):
            self.setup_wants(version, True)

    def test_none(self):
        self.setup_wants(None, True)


class Hosts(unittest.TestCase):
    def test_no_file_names_the_host_of_a_registry(self):
        found, seen = [], 0
        for folder, names, files in os.walk(ROOT):
            names[:] = [name for name in names if name not in NO_FILES_OF_OURS]
            for path in (Path(folder) / name for name in files if name != ".git"):
                text = path.read_bytes().decode(errors="replace")
                seen += 1
                if path != GENERATED and HOSTS.search(text):
                    found.append(f"{path.relative_to(ROOT)}: {HOSTS.search(text)[0]}")
        self.assertEqual(found, [])
        self.assertGreater(seen, 100)


if __name__ == "__main__":
    main()
