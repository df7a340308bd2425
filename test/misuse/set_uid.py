#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What:      a set-uid copy of a program linked with the library, run by another user, with options in the environment.
# Invariant: such a program ignores every option and says nothing; the same program without set-uid heeds them.
# Must not know: what the options do.
"""Usage: set_uid.py PROGRAM (linked with libgranary.a); exits 77 where no set-uid program can be made."""

import os
import shutil
import subprocess
import sys
import tempfile

NOBODY = 65534
SKIPPED = 77
OPTIONS = {
    "GRANARY_FOO": "bar",
    "GRANARY_RETAIN": "3M",
    "GRANARY_DIRECT": "nonsense",
    "GRANARY_STATS": "text",
    "GRANARY_VERBOSE": "1",
    "GRANARY_RSEQ": "off",
}


def run(program, options, **user):
    return subprocess.run(
        [program],
        env={**options, **{name: os.environ[name] for name in ("GLIBC_TUNABLES",) if name in os.environ}},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        **user,
    )


def compare(copy):
    nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    heeded = run(copy, OPTIONS, **nobody)
    assert "AT_SECURE=0" in heeded.stdout, heeded.stdout
    assert "granary: ignoring GRANARY_FOO=bar" in heeded.stderr, "without set-uid the options must be heeded"

    os.chmod(copy, 0o4755)
    ignored = run(copy, OPTIONS, **nobody)
    assert "AT_SECURE=1" in ignored.stdout, ignored.stdout
    assert ignored.stderr == "", f"a set-uid program must stay silent, but said: {ignored.stderr!r}"
    plain = run(copy, {}, **nobody)
    assert ignored.stdout == plain.stdout, f"options had an effect: {ignored.stdout!r}, without: {plain.stdout!r}"


def main(program):
    if os.geteuid() != 0:
        print("skipped: only root can make a set-uid copy and run it as another user")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            print(f"skipped: {folder} is mounted nosuid; set TMPDIR to a folder where set-uid works")
            return SKIPPED
        os.chmod(folder, 0o755)
        copy = os.path.join(folder, "options")
        shutil.copyfile(program, copy)
        os.chmod(copy, 0o755)
        compare(copy)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
