# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: LFMalloc: its tables and figures.
# Invariant: numbers are the paper's, or a quotient of two of them.
# Must not know: what was measured here.
"""Dice, Garthwaite: Mostly Lock-Free Malloc."""

from papers.exhibit import CPUS, MEMORY, OVER_BASE, OVER_ITSELF, THROUGHPUT, Exhibit, Number, Paper

LFMALLOC, HOARD, LIBC, MTMALLOC = "LFMalloc", "Hoard", "libc", "mtmalloc"
LIBC_TREE = "libc (search tree)"
BY_CPU, BY_HASH = "mutex, heap by CPU", "mutex, heap by hash"
SIXTEEN = 16

# Table 3: pairs a millisecond with 1, 16 and 256 threads.
PAIRS = {LFMALLOC: (4548, 69911, 72163), BY_CPU: (2124, 33020, 30678), BY_HASH: (2012, 23742, 2060)}
THREADS = (1, SIXTEEN, 256)
FIGURE_1 = ("larson", "threadtest", "linux-scalability", "mmicro")


def of_pairs(top: str, bottom: str) -> tuple[Number, ...]:
    """One ratio of table 3 for each number of threads."""
    return tuple(Number(("mmicro-64",), THROUGHPUT, top, bottom, above / below,
                        "1 thread" if threads == 1 else f"{threads} threads", (threads,))
                 for threads, above, below in zip(THREADS, PAIRS[top], PAIRS[bottom]))


def with_64(what: str, top: str, bottom: str, above: float, below: float) -> Number:
    """Of table 2."""
    return Number(("mmicro",), what, top, bottom, above / below, "64 threads", (64,))


PAPER = Paper(
    suite="lfmalloc",
    title="Mostly Lock-Free Malloc",
    source="Dice, Garthwaite; ISMM 2002",
    machine="Sun E6500, 16 UltraSPARC-II of 400 MHz, 16 GB, Solaris 8",
    base=LIBC,
    # The base is the lab's plainest single heap. One that searches a tree as libc's malloc does (Wasik 4.1) stands beside it.
    stands_for={LFMALLOC: "lab:lfmalloc", BY_CPU: "lab:lfmalloc-mutex-cpu", BY_HASH: "lab:lfmalloc-mutex-hash",
                HOARD: "lab:hoard", LIBC: "lab:single", MTMALLOC: "lab:mtmalloc", LIBC_TREE: "lab:solaris-like"},
    without={},
    threads=(SIXTEEN, 256),
    exhibits=(
        Exhibit("figure 1", "Throughput over libc's in (a) larson and three more, (e) speedup over one thread", "4.2",
                says="LFMalloc is the fastest everywhere, often 10 times as fast as Hoard; larson falls at many threads, "
                     "without malloc, too; Hoard and LFMalloc scale as there are processors.",
                cases=FIGURE_1, views=(OVER_BASE, OVER_ITSELF),
                numbers=tuple(Number((case,), THROUGHPUT, LFMALLOC, HOARD, None, "16 processors", (CPUS,))
                              for case in FIGURE_1)),
        Exhibit("figure 2", "Control flow of a restartable critical section", "3.1",
                why_not="draws a mechanism, which is the kernel's today (rseq)"),
        Exhibit("table 1", "Example of an interrupted critical section", "3.1",
                why_not="tells what the kernel does; the preset `debug` interrupts our sequences everywhere"),
        Exhibit("table 2", "Execution characteristics: mmicro with 64 threads, 200 bytes", "4.3",
                says="Context switches, cycles, snoops and misses of cache and TLB go with it; a virtual machine tells "
                     "none of these. There the peaks are of the heap, here of the process.",
                cases=("mmicro",), views=(OVER_BASE,),
                numbers=(with_64(THROUGHPUT, LFMALLOC, HOARD, 70_749_108, 6_589_446),
                         with_64(THROUGHPUT, LFMALLOC, LIBC, 70_749_108, 102_111),
                         with_64(THROUGHPUT, HOARD, LIBC, 6_589_446, 102_111),
                         with_64(THROUGHPUT, MTMALLOC, LIBC, 844_454, 102_111),
                         with_64(THROUGHPUT, LFMALLOC, MTMALLOC, 70_749_108, 844_454),
                         with_64(MEMORY, LFMALLOC, HOARD, 4.1, 3.5))),
        Exhibit("table 3", "What synchronisation and processor identity contribute: mmicro, 64 bytes", "4.3",
                says="Processor identity makes it scale; the restartable sequence is worth a factor of two.",
                cases=("mmicro-64",), views=(OVER_BASE, OVER_ITSELF),
                numbers=(*of_pairs(LFMALLOC, BY_CPU), *of_pairs(BY_CPU, BY_HASH), *of_pairs(LFMALLOC, BY_HASH))),
    ))
