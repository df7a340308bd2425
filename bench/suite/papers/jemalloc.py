# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the first jemalloc: its tables and figures.
# Invariant: numbers are the paper's, or a quotient of two of them. Its tables have no numbers; they have their program's
#    name.
# Must not know: what was measured here.
"""Evans: A Scalable Concurrent malloc(3) Implementation for FreeBSD."""

from papers.exhibit import (CPUS, MEMORY, MEMORY_OVER_BASE, OVER_BASE, OVER_ITSELF, RUNS, THROUGHPUT, TIME,
                            TIME_OVER_BASE, Exhibit, Number, Paper)

DLMALLOC, PHKMALLOC, JEMALLOC = "dlmalloc", "phkmalloc", "jemalloc"

# Three means each: of dlmalloc, phkmalloc, jemalloc.
Means = tuple[float, float, float]


def table(case: str, seconds: Means, kilobytes: Means, threads: tuple[int, ...] = (1,)) -> tuple[Number, ...]:
    """jemalloc over the two others in time and in memory."""
    return tuple(Number((case,), what, JEMALLOC, other, means[2] / means[place], "1 thread", threads)
                 for what, means in ((TIME, seconds), (MEMORY, kilobytes))
                 for place, other in enumerate((DLMALLOC, PHKMALLOC)))


VIEWS = (TIME_OVER_BASE, MEMORY_OVER_BASE)

PAPER = Paper(
    suite="jemalloc",
    title="A Scalable Concurrent malloc(3) Implementation for FreeBSD",
    source="Evans; BSDCan 2006",
    machine="two dual-core Opteron 275, FreeBSD-CURRENT of April 2006",
    base=PHKMALLOC,
    stands_for={JEMALLOC: "lab:jemalloc2006", PHKMALLOC: "lab:phkmalloc-like", DLMALLOC: "lab:dlmalloc-like"},
    stood_for={PHKMALLOC: "lab:single"},
    without={},
    threads=(4, 16, 17, 24, 32),  # it has 16 arenas
    exhibits=(
        Exhibit("figure 1", "Two allocations in one cache line", "Introduction", why_not="a drawing"),
        Exhibit("figure 2", "Threads hashed to arenas", "Introduction", why_not="a drawing"),
        Exhibit("figure 3", "Chunks and what lies in them", "Algorithms",
                why_not="a drawing; lab/allocators/jemalloc2006.hpp has it in text"),
        Exhibit("figure 4", "Size classes", "Algorithms", why_not="no measurement; the lab's jemalloc2006 has these"),
        Exhibit("figure 5", "States of runs by fullness", "Algorithms",
                why_not="a drawing; the lab's jemalloc2006 has these states"),
        Exhibit("figure 6", "malloc-test: allocations a second by threads, 512 bytes", "Experiments",
                says="phkmalloc and dlmalloc fall steeply from two threads on; jemalloc scales almost perfectly to as many "
                     "threads as processors and stays there, but above as many as arenas (16).",
                cases=("malloc-test",), views=(OVER_BASE, OVER_ITSELF, RUNS),
                numbers=tuple(Number(("malloc-test",), THROUGHPUT, JEMALLOC, PHKMALLOC, None, theirs_at, (threads,))
                              for theirs_at, threads in (("1 thread", 1), ("4 threads, 4 processors", CPUS),
                                                         ("10 threads at most", 64)))),
        Exhibit("figure 7", "super-smack on MySQL: queries a second by clients", "Experiments",
                says="Medians are much the same; phkmalloc drops suddenly above 75 clients, and phkmalloc and dlmalloc "
                     "vary wildly in the worst case.",
                cases=("mariadb",), views=(TIME_OVER_BASE, RUNS)),
        Exhibit("figure 8", "Run time and resident memory of five programs", "Experiments",
                says="The five tables below, scaled to the largest.", cases=("cfrac-like", "ghostscript", "sh6bench-like"),
                views=VIEWS),
        Exhibit("table cca", "A Perl script of regular expressions on C code", "Experiments",
                why_not="the script and its input cannot be had; `perl` of the catalogue is another job"),
        Exhibit("table cfrac", "Factoring", "Experiments", cases=("cfrac-like",), views=VIEWS,
                numbers=table("cfrac-like", (9.57, 11.45, 10.55), (2105, 2072, 2064))),
        Exhibit("table gs", "Ghostscript on 37 MB", "Experiments", cases=("ghostscript",), views=VIEWS,
                numbers=table("ghostscript", (31.06, 42.48, 34.24), (15001, 15464, 15616), ())),
        Exhibit("table sh6bench", "MicroQuill's benchmark, blocks written whole", "Experiments",
                cases=("sh6bench-like",), views=VIEWS,
                numbers=table("sh6bench-like", (3.35, 6.96, 4.50), (105467, 90047, 63314))),
        Exhibit("table smlng", "An SML/NG parser in Onyx", "Experiments",
                why_not="the program's sources for Onyx and its input cannot be had"),
        Exhibit("figure 9", "Memory of smlng by address and time", "Analysis",
                why_not="its program cannot be had; `granary report` draws the memory of any recorded program"),
    ))
