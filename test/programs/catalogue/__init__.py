# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the list of real programs.
# Invariant: names are unique; each program's module says everything about it.
# Must not know: how programs are run or compared.
"""The catalogue of real programs, in the order in which they are run and reported."""

from harness.program import Program

from . import compilers, ghostscript, git, interpreters, mariadb, memcached, redis, sqlite

PROGRAMS: dict[str, Program] = {program.name: program for program in (
    compilers.GCC,
    compilers.CLANG,
    interpreters.PYTHON,
    interpreters.PYTHON_SUITE,
    interpreters.PERL,
    git.GIT,
    sqlite.SQLITE,
    ghostscript.GHOSTSCRIPT,
    redis.REDIS,
    memcached.MEMCACHED,
    mariadb.MARIADB,
)}
