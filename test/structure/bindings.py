# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: asks the loader whose malloc a preloaded program, libc and the C++ runtime get.
# Invariant: every reference to a name of the malloc family that the loader resolves goes to the library.
# Must not know: the library's versions; only the loader's answer counts.
"""usage: bindings.py LIBRARY"""
import os
import re
import subprocess
import sys

FAMILY = "malloc calloc realloc free memalign aligned_alloc posix_memalign _Znwm _ZdlPv _ZdlPvm".split()
PROGRAM = ["/usr/bin/apt-get", "--version"]  # in every Debian, and it uses the C++ runtime


def bindings(library):
    environment = {**os.environ, "LD_PRELOAD": library, "LD_DEBUG": "bindings", "LD_BIND_NOW": "1"}
    done = subprocess.run(PROGRAM, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(PROGRAM)} failed on the library with {done.returncode}: {done.stderr[-500:]}")
    return re.findall(r"binding file (\S+) .*?to (\S+) .*?symbol `(\w+)'", done.stderr)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = [(user, target, name) for user, target, name in bindings(sys.argv[1]) if name in FAMILY]
    wrong = [f"{user} gets {name} from {target}" for user, target, name in found
             if os.path.realpath(target) != os.path.realpath(sys.argv[1])]
    users = {os.path.basename(user) for user, _, _ in found}
    wrong += [f"{user} was not seen to bind anything" for user in ("libc.so.6", "libstdc++.so.6") if user not in users]
    print("\n".join(wrong) if wrong else f"{len(found)} references of {len(users)} files bind to the library")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
