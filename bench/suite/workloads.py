# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the suite as a table: which workload belongs to which family and papers, and its size in each profile.
# Invariant: nothing here depends on an allocator; families count the same in the means, "controls" and "own" in none of
#    the project's goals.
# Must not know: how a workload is run or judged.
"""All subjects of the bench."""

from collections.abc import Iterator
from pathlib import Path

from catalogue import PROGRAMS

from originals import Originals
from profiles import Profile
from subjects import CompiledSubject, OriginalSubject, ProgramSubject, Subject, Workload

SUITES = ("wasik", "hoard", "lfmalloc", "jemalloc", "boehm")

FAMILIES = {
    "multithreaded": "the papers' multithreaded benchmarks",
    "single-threaded": "the papers' single-threaded programs, written anew",
    "programs": "real programs of the distribution",
    "servers": "real servers under load on this machine",
    "beyond": "cases that no paper measures",
    "controls": "controls without an allocator or without a shared heap",
    "own": "additions of this project: loops, single calls, variants; no goal counts them",
}

# Papers whose program or job it is; the names as in the catalogue of programs.
PROGRAMS_OF_PAPERS = {
    "ghostscript": ("wasik", "hoard", "jemalloc", "boehm"),
    "gcc": ("wasik",), "make": ("wasik",), "perl": ("wasik",), "perl-hosts": ("wasik",), "gawk": ("wasik",),
    "gawk-costs": ("wasik",), "poppler": ("wasik",),
    "mariadb": ("jemalloc",),  # super-smack's select-key
}

SERVERS = ("mariadb", "memcached", "nginx", "redis", "rocksdb")

OURS = ("clang", "git")  # programs beyond the papers' and the goals'

ONE = (1,)
MANY = 64  # threads: many more than CPUs, in the profiles from which something is concluded


def also_many(*threads: int) -> dict[str, tuple[int, ...]]:
    """A number of threads of one's own, and MANY where it pays."""
    return {"threads": threads, "sweeps": {"standard": (*threads, MANY), "paper": (*threads, MANY)}}


ONCE = {"smoke": 1, "standard": 1, "paper": 1}
BURST = {"smoke": ("--mib", "64"), "standard": ("--mib", "256"), "paper": ("--mib", "2048")}


def multithreaded() -> Iterator[Workload]:
    def workload(name: str, suites: tuple[str, ...], summary: str, program: str = "", **more) -> Workload:
        return Workload(name, "multithreaded", suites, program or name, summary, **more)

    larson = ("wasik", "hoard", "lfmalloc", "boehm")
    yield workload("threadtest", ("hoard", "lfmalloc"), "each thread allocates and frees its share of 100,000 objects")
    yield workload("shbench", ("hoard",), "random sizes of 8 to 100 bytes, freed in random order")
    yield workload("larson", larson, "a server's threads replace each other's blocks of 10 to 100 bytes")
    yield workload("larson-memset", ("boehm",), "larson, each block written whole", "larson", arguments=("--memset",))
    yield workload("larson-small", ("boehm",), "larson with the smallest blocks", "larson",
                   arguments=("--min", "8", "--max", "8"))
    yield workload("larson-wide", (), "larson with 5,000 blocks of 8 to 1,000 bytes a thread", "larson",
                   arguments=("--blocks", "5000", "--min", "8", "--max", "1000", "--generation", "20000"),
                   threads=(MANY,))
    yield workload("active-false", ("wasik", "hoard"), "does the allocator put two threads' blocks in one cache line?")
    yield workload("passive-false", ("wasik", "hoard"), "does it do so when blocks are handed over and freed?")
    yield workload("recycle", ("wasik",), "each thread frees and allocates blocks of its own")
    yield workload("consume", ("wasik",), "one thread allocates, the others free", threads=(2, 4),
                   sweeps={"standard": (2, 4, MANY), "paper": (2, 3, 4, 5, 6, 7, 8, MANY)})
    yield workload("malloc-test", ("jemalloc",), "pairs of malloc and free in each thread")
    yield workload("linux-scalability", ("lfmalloc",), "a pair of malloc and free again and again")
    yield workload("mmicro", ("lfmalloc",), "64 blocks of 200 bytes a thread")
    yield workload("mmicro-64", ("lfmalloc",), "64 blocks of 64 bytes a thread", "mmicro", arguments=("--size", "64"))
    yield workload("barnes-hut", ("hoard",), "an n-body simulation that builds its octree anew each step",
                   sizes={"smoke": ("--bodies", "2048"), "standard": ("--bodies", "32768")})
    yield workload("large-live", ("hoard",), "a solver with a large live heap, in BEMengine's place",
                   sizes={"smoke": ("--mib", "16"), "standard": ("--mib", "64"), "paper": ("--mib", "600")},
                   operations=ONCE, threads=(1, 2), sweeps={"paper": (1, 2, 4, 8, 14)})
    yield workload("mt-gcbench", ("boehm",), "GCBench in every thread, with explicit free",
                   operations={"smoke": 1, "standard": 4, "paper": 40}, most={"standard": 8})


def single_threaded() -> Iterator[Workload]:
    def workload(name: str, suites: tuple[str, ...], summary: str, **more) -> Workload:
        return Workload(name, "single-threaded", suites, name, summary, threads=ONE, **more)

    yield workload("sh6bench-like", ("jemalloc",), "groups of equal sizes, 1 to 1000 bytes, written whole")
    yield workload("gcbench", ("boehm",), "binary trees built and dropped, with explicit free",
                   operations={"smoke": 1, "standard": 1, "paper": 4})
    yield workload("cfrac-like", ("wasik", "jemalloc"), "continued-fraction factoring; a block for each number")
    yield workload("espresso-like", ("wasik", "hoard"), "minimises two-level logic")
    yield workload("roboop-like", ("wasik",), "robot kinematics in temporary matrices")
    yield workload("hypercube-like", ("wasik",), "messages through a hypercube, after Lindsay's profile")


def beyond() -> Iterator[Workload]:
    def workload(name: str, summary: str, program: str = "", **more) -> Workload:
        return Workload(name, "beyond", (), program or name, summary, **more)

    yield workload("producer-consumer", "random sizes, many producers, many consumers", **also_many(2, 8))
    yield workload("thread-churn", "short threads that allocate and leave blocks behind", **also_many(2, 8))
    yield workload("free-only", "some threads only allocate, others only free", **also_many(2, 8))
    yield workload("burst-idle", "memory after a burst whose blocks are freed but for 5 %", threads=ONE, sizes=BURST,
                   operations=ONCE)
    yield workload("huge-realloc", "large and huge blocks that grow by realloc", threads=(1, 2))
    yield workload("fragmentation", "sizes that shift over a long run", threads=ONE,
                   sizes={"smoke": ("--mib", "8", "--phases", "40"), "standard": ("--mib", "64", "--phases", "200"),
                          "paper": ("--mib", "200", "--phases", "2000")},
                   operations=ONCE)
    yield workload("malloc-large", "blocks of 5 to 25 MiB, replaced at random and written whole", threads=ONE,
                   operations={"smoke": 40, "standard": 500, "paper": 5000})
    yield workload("xmalloc-test", "batches of mixed small sizes, freed by other threads", **also_many(2, 16))
    yield workload("rptest", "8 bytes to 16 KiB, half of them freed by another thread, with pauses", **also_many(2, 16))
    yield workload("mstress", "threads that build, transfer and drop structures of mixed size", **also_many(16),
                   operations={"smoke": 1, "standard": 8, "paper": 80})
    yield workload("small-live-set", "2 MB are live; one thread allocates, two free", threads=(3,),
                   operations={"smoke": 200_000, "standard": 8_000_000, "paper": 80_000_000})  # memory grows slowly
    yield workload("many-sizes", "lists of blocks, each of another size; little is live", threads=ONE)
    yield workload("alloc-test", "places that are filled and emptied, a few of them nearly always", **also_many(1, 8))
    yield workload("sh8bench-like", "mixed sizes, freed forwards and backwards", **also_many(8))
    yield workload("glibc-thread", "sizes after a power law, replaced at random", **also_many(8))
    yield workload("tiny-start", "a tiny process started again and again", threads=ONE,
                   operations={"smoke": 50, "standard": 500, "paper": 1000})


def controls() -> Iterator[Workload]:
    yield Workload("larson-without-malloc", "controls", ("lfmalloc",), "larson", "larson without its malloc and free",
                   arguments=("--without-malloc",))
    yield Workload("separate-processes", "controls", ("boehm",), "separate-processes",
                   "mt-gcbench in processes of one thread each", threads=(2, 8),
                   operations={"smoke": 2, "standard": 4, "paper": 40})


def own() -> Iterator[Workload]:
    yield Workload("malloc-test-consumers", "own", (), "malloc-test",
                   "half of the threads free what the others allocate", arguments=("--consumers",), threads=(2, 8))
    yield Workload("pairs", "own", ("hoard",), "pairs", "producers and consumers in pairs, which work at the same time",
                   threads=(2, 4, 8, 16))
    yield Workload("burst-idle-older", "own", (), "burst-idle", "burst-idle, the older blocks surviving", threads=ONE,
                   arguments=("--survivors", "older"), sizes=BURST, operations=ONCE)
    yield Workload("large-blocks", "own", (), "large-blocks", "blocks of 32 KiB to 1 MiB in many threads",
                   threads=(2, 64))
    yield Workload("latency", "own", (), "latency", "how long single calls take; the clock is in it", threads=(1, 2, 8))
    for size in (16, 64, 200, 1024, 4096):
        yield Workload(f"loop-{size}", "own", (), "loop", f"malloc, one word written, free: {size} bytes",
                       arguments=("--size", str(size)), threads=ONE)


def family_of(program: str) -> str:
    return "servers" if program in SERVERS else "own" if program in OURS else "programs"


def thread_counts(workload: Workload, profile: Profile, threads: tuple[int, ...]) -> tuple[int, ...]:
    """`threads`: the profile's, or what was asked for instead."""
    if fixed := workload.sweeps.get(profile.name) or workload.threads:
        return fixed
    most = workload.most.get(profile.name) if threads == profile.threads else None
    return threads if most is None else tuple(count for count in threads if count <= most)


def in_place(subjects: list[Subject], originals: Originals, counter: Path) -> list[Subject]:
    """The subjects with originals in the places of the workloads that they replace; of these nothing is left, so that a
    curve is of one program."""
    def original(subject: Subject) -> Subject:
        found = originals.complete.get(subject.label)
        return OriginalSubject(found, subject, originals.folder, counter) if found else subject

    return [original(subject) for subject in subjects]


def all_subjects(profile: Profile, threads: tuple[int, ...], folder: Path) -> list[Subject]:
    """Every workload with each of its numbers of threads, and every program."""
    compiled = [CompiledSubject(workload, count, profile, folder)
                for part in (multithreaded, single_threaded, beyond, controls, own) for workload in part()
                for count in thread_counts(workload, profile, threads)]
    programs = [ProgramSubject(program, family_of(program.name), PROGRAMS_OF_PAPERS.get(program.name, ()))
                for program in PROGRAMS.values() if program.in_bench]
    order = list(FAMILIES)
    return sorted([*compiled, *programs], key=lambda subject: order.index(subject.family))
