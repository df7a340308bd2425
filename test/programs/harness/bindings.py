# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: proof, from the loader itself, that a program's malloc comes from the library it should.
# Invariant: every binding of malloc and free in the process is looked at, not only the program's own.
# Must not know: how the library works.
"""Bindings: asks the dynamic loader where malloc and free are bound."""

import re
from pathlib import Path

from .allocators import Allocator
from .launcher import ProgramFailed, clean_environment, run_to_end
from .program import Program

BINDING = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `(malloc|free)'")

PROBE_SECONDS = 60  # a probe does next to nothing; what hangs here shall not hold up all that comes after

Bindings = dict[tuple[str, str], set[str]]


def check(program: Program, allocator: Allocator, folder: Path) -> None:
    """Raises ProgramFailed unless all of the program's malloc and free are the allocator's."""
    expected = allocator.expected_library(program).resolve()
    bindings = observed(program, allocator, folder)
    if not bindings:
        raise ProgramFailed(f"{program.name}: binds no malloc at all; is it linked statically?")
    for (user, symbol), providers in bindings.items():
        for provider in providers:
            if not leads_to(bindings, provider, symbol, expected):
                raise ProgramFailed(f"{program.name}: {symbol} of {user} is {provider}'s, not {expected}'s")


def leads_to(bindings: Bindings, provider: str, symbol: str, expected: Path) -> bool:
    """An executable at a fixed address offers libraries, and itself, its own jump to malloc: then all that counts is
    where that jump leads."""
    jumps = bindings.get((provider, symbol), set()) - {provider}
    return Path(provider).resolve() == expected or {Path(jump).resolve() for jump in jumps} == {expected}


def observed(program: Program, allocator: Allocator, folder: Path) -> Bindings:
    """(user, symbol) to providers, for each binding in the program's probe."""
    log = folder / "bindings"
    environment = clean_environment(folder) | {
        "LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": str(log), "LD_BIND_NOW": "1"}
    preload = allocator.preload_for(program)
    if preload:
        environment |= {"LD_PRELOAD": str(preload)}
    run_to_end(program.probe(), folder, environment | allocator.environment, hang_seconds=PROBE_SECONDS)
    found: Bindings = {}
    for file in folder.glob("bindings.*"):
        for user, provider, symbol in BINDING.findall(file.read_text(errors="replace")):
            found.setdefault((user, symbol), set()).add(provider)
        file.unlink()
    return found
