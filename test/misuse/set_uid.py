#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a set-uid copy of a program linked with the library, run by another user, with options in the environment.
# Invariant: such a program ignores every option, and files, and says nothing, but for the options that it was compiled
#    with; the same program without set-uid heeds them.
# Must not know: what the options do.
"""Usage: set_uid.py PROGRAM COMPILED (linked with libgranary.a); exits 77 where no set-uid program can be made."""

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
    "GRANARY_OPTIONS_FILE": "/no/such/file",
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
    assert "granary: ignoring /no/such/file" in heeded.stderr, "without set-uid the file must be looked for"

    os.chmod(copy, 0o4755)
    ignored = run(copy, OPTIONS, **nobody)
    assert "AT_SECURE=1" in ignored.stdout, ignored.stdout
    assert ignored.stderr == "", f"a set-uid program must stay silent, but said: {ignored.stderr!r}"
    plain = run(copy, {}, **nobody)
    assert ignored.stdout == plain.stdout, f"options had an effect: {ignored.stdout!r}, without: {plain.stdout!r}"


def compare_compiled(copy):
    nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    os.chmod(copy, 0o4755)
    for options in ({}, OPTIONS):
        found = run(copy, options, **nobody)
        assert "AT_SECURE=1" in found.stdout and f"RETAIN={3 << 20}\n" in found.stdout, found.stdout
        assert "JUNK=allocate\n" in found.stdout and "NEW_BYTE=a5\n" in found.stdout, found.stdout
        assert "RSEQ=on" in found.stdout or "GLIBC_TUNABLES" in os.environ, found.stdout
        assert found.stderr.splitlines() == ["granary: ignoring gr_options: FOO=1: unknown option; see 'granary options'"]


def main(program, compiled):
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
        shutil.copyfile(compiled, copy)
        os.chmod(copy, 0o755)
        compare_compiled(copy)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
