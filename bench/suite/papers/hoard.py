# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Hoard: its tables and figures.
# Invariant: numbers are the paper's, or a quotient of two of them.
# Must not know: what was measured here.
"""Berger, McKinley, Blumofe, Wilson: Hoard."""

from papers.exhibit import (CPUS, MEMORY_OVER_BASE, OVER_BASE, OVER_BASE_ALONE, SOLVER_OVER_BASE_ALONE, SOLVER_THROUGHPUT,
                            THROUGHPUT, TIME, TIME_OVER_BASE, Exhibit, Number, Paper)

HOARD, SOLARIS, PTMALLOC, MTMALLOC = "Hoard", "Solaris", "Ptmalloc", "MTmalloc"
SOLARIS_TREE = "Solaris (search tree)"
EIGHTH, HALF = "Hoard, f = 1/8", "Hoard, f = 1/2"
FOURTEEN = "14 processors"
OVER_ONE = "14 processors over 1"


def alone(case: str, hoard: float, solaris: float, threads: tuple[int, ...] = (1,)) -> Number:
    """A row of table 2, in seconds."""
    return Number((case,), TIME, HOARD, SOLARIS, hoard / solaris, "1 processor", threads)


def over(case: str, other: str, theirs: float | None) -> Number:
    """Of figure 3."""
    return Number((case,), THROUGHPUT, HOARD, other, theirs, FOURTEEN, (CPUS,))


def speedup(case: str, solaris: float, hoard: float) -> Number:
    """Of figure 3: seconds of Solaris on one processor (table 2) over those of Hoard on 14 (table 5)."""
    return Number((case,), THROUGHPUT, HOARD, SOLARIS, solaris / hoard, OVER_ONE, (CPUS,), alone=True)


def by_fraction(case: str, what: str, eighth: float, quarter: float, half: float) -> tuple[Number, Number]:
    """A row of table 5."""
    return tuple(Number((case,), what, top, HOARD, value / quarter, FOURTEEN, (CPUS,))
                 for top, value in ((EIGHTH, eighth), (HALF, half)))


PAPER = Paper(
    suite="hoard",
    title="Hoard: A Scalable Memory Allocator for Multithreaded Applications",
    source="Berger, McKinley, Blumofe, Wilson; ASPLOS 2000",
    machine="Sun Enterprise 5000, 14 UltraSparcs of 400 MHz, 2 GB, Solaris 7",
    base=SOLARIS,
    # The base is the lab's plainest single heap. One that searches a tree as Solaris' malloc does (Wasik 4.1) stands beside it.
    stands_for={HOARD: "lab:hoard", SOLARIS: "lab:single", PTMALLOC: "lab:ptmalloc-like", MTMALLOC: "lab:mtmalloc",
                SOLARIS_TREE: "lab:solaris-like", EIGHTH: "lab:hoard:f=1/8", HALF: "lab:hoard:f=1/2"},
    without={},
    threads=(14,),
    exhibits=(
        Exhibit("figure 1", "Allocation and freeing in Hoard", "3.2",
                says="Hoard returns a freed block to the superblock's owner; a superblock that is empty enough moves to the "
                     "global heap, where every thread finds it.",
                elsewhere="lab.claims.tests hoard_example_test, which runs the example on three classes of allocator"),
        Exhibit("figure 2", "Pseudo-code for Hoard's malloc and free", "3",
                why_not="no measurement; lab/allocators/hoard.hpp is made of it"),
        Exhibit("table 1", "The benchmarks", "5", elsewhere="bench/README.md, What stands in for what"),
        Exhibit("table 2", "Runtimes on one processor", "5.1",
                says="6.2 % slower than Solaris on average, most of it by shbench.",
                cases=("espresso-like", "ghostscript", "threadtest", "shbench", "active-false", "passive-false",
                       "large-live", "barnes-hut"),
                views=(TIME_OVER_BASE,),
                numbers=(alone("espresso-like", 7.887, 6.806), alone("ghostscript", 3.993, 3.610, ()),
                         alone("threadtest", 15.599, 16.549), alone("shbench", 18.995, 12.730),
                         alone("active-false", 18.959, 18.844), alone("passive-false", 18.955, 18.898),
                         alone("large-live", 614.94, 678.30), alone("barnes-hut", 190.66, 192.51))),
        Exhibit("figure 3", "Speedup over the Solaris allocator on one processor", "5.2",
                says="Hoard scales linearly in threadtest and larson, nearly so in shbench; Solaris and MTmalloc slow "
                     "down; Ptmalloc peaks at 6 processors, and in larson is slower on 14 than on one; barnes-hut hardly "
                     "allocates. Up to 60 times as fast as Solaris (the abstract, which does not say where).",
                cases=("threadtest", "shbench", "larson", "barnes-hut"), views=(OVER_BASE_ALONE,),
                numbers=(over("threadtest", PTMALLOC, 3.78), over("shbench", PTMALLOC, 1.85),
                         over("larson", PTMALLOC, 18), over("barnes-hut", SOLARIS, 1.2),
                         *(over(case, SOLARIS, None) for case in ("threadtest", "shbench", "larson")),
                         speedup("threadtest", 16.549, 1.28), speedup("shbench", 12.730, 1.50),
                         speedup("barnes-hut", 192.51, 16.13))),
        Exhibit("figure 3e", "Speedup of BEMengine over the Solaris allocator on one processor", "5.2",
                says="Hoard is well ahead of Ptmalloc and Solaris; Ptmalloc behaves pathologically; MTmalloc crashes.",
                cases=("large-live",), views=(OVER_BASE_ALONE,),
                numbers=(speedup("large-live", 678.30, 87.49), over("large-live", PTMALLOC, None),
                         over("large-live", SOLARIS, None))),
        Exhibit("figure 3f", "Speedup of BEMengine's solver alone", "5.2",
                says="The solver hardly allocates: Hoard and Solaris perform equally well.",
                cases=("large-live",), views=(SOLVER_OVER_BASE_ALONE,),
                numbers=(Number(("large-live",), SOLVER_THROUGHPUT, HOARD, SOLARIS, None, FOURTEEN, (CPUS,)),)),
        Exhibit("section 4.2", "Pairs of a producer and a consumer, the worst case of a heap's lock", "4.2",
                says="Each malloc and each free of a pair is serialised: a slowdown of at most two, which does not grow with "
                     "the processors.",
                cases=("pairs",), views=(OVER_BASE,)),
        Exhibit("figure 4", "Speedup where allocators share cache lines falsely", "5.3",
                says="Hoard scales nearly linearly in both; Ptmalloc and MTmalloc to about 4 processors; Solaris not at "
                     "all.",
                cases=("active-false", "passive-false"), views=(OVER_BASE_ALONE,)),
        Exhibit("table 3", "Objects that could be falsely shared, on 14 processors", "5.3",
                says="None in any of five programs: superblocks came empty from the global heap.",
                elsewhere="bench/counts.py --with lab:hoard,lab:hoard:e=0; lines that two threads share are counted by "
                          "address, for every allocator, in active-false and passive-false"),
        Exhibit("table 4", "Fragmentation, and what the programs request", "5.4",
                says="A/U from 1.02 to 1.24, but for espresso (1.47) and shbench (3.17).",
                elsewhere="bench/fragmentation.py --with lab:hoard,granary,system"),
        Exhibit("table 5", "Runtime on 14 processors with other empty fractions", "5.5",
                says="Very little change.",
                cases=("threadtest", "shbench", "large-live", "barnes-hut", "larson"), views=(MEMORY_OVER_BASE,),
                numbers=(*by_fraction("threadtest", TIME, 1.27, 1.28, 1.19),
                         *by_fraction("shbench", TIME, 1.45, 1.50, 1.44),
                         *by_fraction("large-live", TIME, 86.85, 87.49, 88.03),
                         *by_fraction("barnes-hut", TIME, 16.52, 16.13, 16.41),
                         *by_fraction("larson", THROUGHPUT, 4_407_654, 4_416_303, 4_352_163))),
        Exhibit("table 6", "Fragmentation on 14 processors with other empty fractions", "5.5",
                says="Only larson's grows, from 1.22 to 1.61 at f = 1/2.",
                variants=(EIGHTH, HALF),
                elsewhere="bench/fragmentation.py --with lab:hoard:f=1/8,lab:hoard,lab:hoard:f=1/2"),
        Exhibit("table of the taxonomy", "Five classes of allocators (its number is lost)", "6.1",
                says="A single heap does not scale; pure private heaps blow up without bound, those with ownership by the "
                     "number of processors, Hoard by a constant.",
                elsewhere="test/lab/claims, and docs/design/blowup.md"),
    ))
