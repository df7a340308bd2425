# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the allocators that Granary is compared with: where each comes from, how it is built, what it answers when
#    asked who it is.
# Invariant: a crate is what Cargo.lock pins, by version and SHA-256; a recipe is the project's own build with its own
#    release flags and the plain malloc entry points, nothing between program and allocator.
# Must not know: how to fetch, build or ask; sources.py, build.py and proof.py do.
"""The table of peers and their recipes."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class DebianPackage:
    """A package of Debian 12; `file` is how the library's path in it ends, empty for the system's own malloc."""

    name: str
    file: str = ""


@dataclass(frozen=True)
class Crate:
    """A package that cargo brings; only the C and C++ sources in it are used."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class Recipe:
    """Commands from a crate's sources to the library, run in `folder` of them. In them {source} is that folder, {here}
    this one, {jobs} the number of compile jobs."""

    packages: tuple[str, ...]  # of Debian, needed to build
    compiler: str
    folder: str
    steps: tuple[tuple[str, ...], ...]
    library: str
    compiled: str  # marks the fast path's compile line in the log, which says what flags were used
    environment: dict[str, str] = field(default_factory=dict)
    own_files: str = ""  # folder in {here} that takes part


@dataclass(frozen=True)
class Peer:
    """An allocator. `environment` is what a program on it must run with; `answers` are what probe.c must print."""

    name: str
    label: str  # the allocator's own version; empty: the Debian package's
    about: str
    origin: DebianPackage | Crate
    answers: dict[str, str]
    proves: str
    recipe: Recipe | None = None
    environment: dict[str, str] = field(default_factory=dict)


BOUND = "the loader bound all eight calls of a C program to this file"

LOCK = tomllib.loads(Path(__file__).with_name("Cargo.lock").read_text())["package"]


def pinned(name: str) -> Crate:
    """As Cargo.lock has it."""
    package, = (package for package in LOCK if package["name"] == name)
    return Crate(name, package["version"], package["checksum"])


MIMALLOC = pinned("libmimalloc-sys")
JEMALLOC = pinned("tikv-jemalloc-sys")
SNMALLOC = pinned("snmalloc-sys")
TCMALLOC = pinned("libtcmalloc-sys")
RPMALLOC = pinned("rpmalloc-sys")

CMAKE_BUILD = ("cmake", "--build", "out", "--parallel", "{jobs}", "--verbose")


def cmake(*options: str, source: str = ".") -> tuple[str, ...]:
    return ("cmake", "-S", source, "-B", "out", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options)


def mimalloc(line: str, number: str) -> Recipe:
    """`line` is the folder in the crate, `number` the one in the library's file name."""
    return Recipe(
        packages=("gcc", "g++", "cmake", "ninja-build"), compiler="gcc", folder=f"c_src/mimalloc/{line}",
        steps=(("cp", "-r", "{here}/mimalloc", "cmake"),
               cmake("-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++", "-DMI_BUILD_STATIC=OFF",
                     "-DMI_BUILD_OBJECT=OFF", "-DMI_BUILD_TESTS=OFF"),
               CMAKE_BUILD),
        library=f"out/libmimalloc.so.{number}", compiled="src/alloc.c", own_files="mimalloc")


PEERS = {peer.name: peer for peer in (
    Peer("system", "", "glibc's malloc, with Debian's patches", DebianPackage("libc6"),
         answers={"malloc_info version": "1"},
         proves=f"{BOUND}; that malloc_info is glibc's; the version by gnu_get_libc_version"),
    Peer("jemalloc-debian", "", "jemalloc 5.3.0 as Debian builds it",
         DebianPackage("libjemalloc2", "/libjemalloc.so.2"),
         answers={"mallctl version": "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c",
                  "mallctl thread.allocated counts": "1"},
         proves=f"{BOUND}; its own version; that it counts the program's allocation as its own"),
    Peer("tcmalloc-gperftools", "", "the older tcmalloc, of gperftools 2.10; per-thread caches",
         DebianPackage("libtcmalloc-minimal4", "/libtcmalloc_minimal.so.4"),
         answers={"tc_version": "gperftools 2.10", "MallocExtension_GetOwnership": "1"},
         proves=f"{BOUND}; its own version; that it owns the program's block"),
    Peer("mimalloc-debian", "", "mimalloc 2.0.9 as Debian builds it",
         DebianPackage("libmimalloc2.0", "/libmimalloc.so.2.0"),
         answers={"mi_version": "209", "mi_is_in_heap_region": "1"},
         proves=f"{BOUND}; its own version; that it owns the program's block"),
    Peer("scudo", "", "LLVM's hardened allocator, the standalone one, with its default checks",
         DebianPackage("libclang-rt-14-dev", "/libclang_rt.scudo_standalone-x86_64.so"),
         answers={"malloc_info version": "scudo-1"},
         proves=f"{BOUND}; that malloc_info is scudo's; the version is the package's word"),
    Peer("mimalloc2", "2.3.2", "mimalloc, the second line", MIMALLOC, recipe=mimalloc("v2", "2.3"),
         answers={"mi_version": "20302", "mi_is_in_heap_region": "1"},
         proves=f"{BOUND}; its own version; that it owns the program's block"),
    Peer("mimalloc3", "3.3.2", "mimalloc, the third line", MIMALLOC, recipe=mimalloc("v3", "3.3"),
         answers={"mi_version": "30302", "mi_is_in_heap_region": "1"},
         proves=f"{BOUND}; its own version; that it owns the program's block"),
    Peer("jemalloc", "5.3.1", "jemalloc's latest release, configured as it configures itself", JEMALLOC,
         recipe=Recipe(
             packages=("gcc", "g++", "make"), compiler="gcc", folder="jemalloc",
             steps=(("cp", "../configure/configure", "configure"),
                    ("sh", "configure", f"--with-version={JEMALLOC.version.split('+')[1]}", "--disable-doc"),
                    ("make", "-j{jobs}", "build_lib_shared")),
             library="lib/libjemalloc.so.2", compiled="-o src/jemalloc.pic.o", environment={"CC": "gcc", "CXX": "g++"}),
         answers={"mallctl version": JEMALLOC.version.split("+")[1], "mallctl thread.allocated counts": "1"},
         proves=f"{BOUND}; its own version; that it counts the program's allocation as its own"),
    Peer("snmalloc", "0.7.6", "snmalloc's preload library without checks, by clang, which its authors advise", SNMALLOC,
         recipe=Recipe(
             packages=("clang-14", "lld-14", "cmake", "ninja-build"), compiler="clang++-14", folder="upstream",
             steps=(cmake("-DCMAKE_CXX_COMPILER=clang++-14", "-DSNMALLOC_BUILD_TESTING=OFF"),
                    (*CMAKE_BUILD, "--target", "snmallocshim")),
             library="out/libsnmallocshim.so", compiled="override/malloc.cc"),
         answers={"__malloc_end_pointer": "1"},
         proves=f"{BOUND}; that it knows the end of the program's block; it has no version to ask: that rests on the "
                "pinned source"),
    Peer("tcmalloc", "2025-06-16", "Google's tcmalloc in per-CPU mode; no thread runs its background work", TCMALLOC,
         recipe=Recipe(
             packages=("clang-14", "cmake", "ninja-build"), compiler="clang++-14", folder="c_src",
             steps=(cmake("-DCMAKE_CXX_COMPILER=clang++-14", "-DCMAKE_ASM_COMPILER=clang-14",
                          "-DTCMALLOC_SOURCE={source}", source="{here}/tcmalloc"),
                    CMAKE_BUILD),
             library="out/libtcmalloc.so", compiled="tcmalloc/tcmalloc.cc", own_files="tcmalloc"),
         environment={"GLIBC_TUNABLES": "glibc.pthread.rseq=0"},
         answers={"MallocExtension_Internal_GetPerCpuCachesActive": "1", "MallocExtension_Internal_GetOwnership": "1"},
         proves=f"{BOUND}; that its per-CPU caches are active, and are not without the environment; that it owns the "
                "program's block; it has no version to ask: the date is the crate's, the source is pinned"),
    Peer("rpmalloc", "1.4.3", "rpmalloc 1.4.3, not the current second line; by clang, its build's own choice", RPMALLOC,
         recipe=Recipe(
             packages=("clang-14", "ninja-build", "python3"), compiler="clang-14", folder="rpmalloc",
             steps=(("python3", "configure.py", "--toolchain", "clang", "--config", "release", "--arch", "x86-64"),
                    ("ninja", "-v", "-j", "{jobs}", "bin/linux/release/x86-64/librpmallocwrap.so")),
             library="bin/linux/release/x86-64/librpmallocwrap.so", compiled="rpmalloc/rpmalloc.c",
             environment={"CC": "clang-14"}),
         answers={"rpmalloc_config span_size": "65536", "rpmalloc_is_thread_initialized": "1"},
         proves=f"{BOUND}; the spans of the first line (the second's are 256 MiB); it has no version to ask: that "
                "rests on the pinned source's change log"),
)}
