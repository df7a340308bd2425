# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the list of real programs.
# Invariant: names are unique; each program's module says everything about it.
# Must not know: how programs are run or compared.
"""The catalogue of real programs, in the order in which they are run and reported."""

from harness.program import Program

from . import (compilers, ghostscript, git, interpreters, make, mariadb, memcached, nginx, php, poppler, redis, rocksdb,
               scripts, sqlite, z3)

PROGRAMS: dict[str, Program] = {program.name: program for program in (
    compilers.GCC,
    compilers.CLANG,
    interpreters.PYTHON,
    interpreters.PYTHON_SUITE,
    interpreters.PERL,
    php.PHP,
    scripts.PERL_HOSTS,
    scripts.GAWK_PARAGRAPHS,
    scripts.GAWK_COSTS,
    make.GNU_MAKE,
    git.GIT,
    sqlite.SQLITE,
    ghostscript.GHOSTSCRIPT,
    poppler.POPPLER,
    z3.Z3_SOLVER,
    rocksdb.ROCKSDB,
    redis.REDIS,
    memcached.MEMCACHED,
    nginx.NGINX,
    mariadb.MARIADB,
)}
