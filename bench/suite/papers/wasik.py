# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Wasik's thesis: its tables and figures.
# Invariant: numbers are the thesis', percentages made ratios.
# Must not know: what was measured here.
"""Wasik: Features of a Multi-Threaded Memory Allocator."""

from papers.exhibit import (CPUS, EXTERNAL, MEMORY, MEMORY_OVER_BASE, OVER_BASE, OVER_ITSELF, THROUGHPUT, TIME, TIME_OVER_BASE,
                            Exhibit, Number, Paper)

SOLARIS, SOLARIS_TREE, LINUX = "Solaris", "Solaris (search tree)", "Linux (Ptmalloc)"
COALESCING = "coalescing"
SOLARIS_MACHINE, OPTERON, ITANIUM = "setup A", "setup B", "setup C"
TO_EIGHT = (1, 2, 4, 8)
ONE_THREAD = ("espresso-like", "gcc", "gawk", "roboop-like")  # p2c cannot be had
SHORT = tuple(f"{case}-{number}" for case in ("recycle", "consume") for number in (1, 2, 4))  # threads or consumers

DRAWINGS = ("1.1", *(f"2.{number}" for number in range(1, 9)), *(f"3.{number}" for number in range(1, 13)), "5.1")
CHARACTERISTICS = (*(f"table 6.{number}" for number in range(1, 7)),
                   *(f"figure A.{number}" for number in range(1, 15) if number != 9))


def lock_free_over_locked(case: str) -> tuple[Number, ...]:
    """What lies between D and H, of curves that are lost; and the lock-free lists alone."""
    return tuple(Number((case,), THROUGHPUT, "H", other, None, "8 processors", (CPUS,)) for other in ("D", "F2"))


def summarised(subject: str, setup: str, default: str, time: float, throughput: float, memory: float, of_consume: float
               ) -> tuple[Number, ...]:
    """A row of table 7.2 or 7.3, its percentages made ratios."""
    return (Number(("recycle",), TIME, subject, default, time, f"{setup}, 1 to 8 threads", TO_EIGHT),
            Number(("larson",), THROUGHPUT, subject, default, throughput, f"{setup}, 1 to 8 threads", TO_EIGHT),
            Number(ONE_THREAD, MEMORY, subject, default, memory, f"{setup}, five programs", (1,)),
            Number(("consume",), MEMORY, subject, default, of_consume, f"{setup}, 1, 2 and 4 consumers", (2, 3, 4)))


PAPER = Paper(
    suite="wasik",
    title="Features of a Multi-Threaded Memory Allocator",
    source="Wasik; Waterloo 2008",
    machine="A: 8 Sparcs of 900 MHz, Solaris 8; B: 8 dual-core Opterons of 2.5 GHz, Linux; C: 8 of 64 Itaniums of "
            "1.3 GHz, Linux",
    base="A",
    # Of Solaris' malloc a single heap is what the text compares. One that searches a tree as it does (4.1) stands beside it.
    stands_for={"A": "lab:single", "B": "lab:threads", "C": "lab:containers", "D": "lab:owned", "E": "lab:restricted",
                "F1": "lab:buffered", "F2": "lab:remote", "G": "lab:varied", "H": "lab:lockfree",
                COALESCING: "lab:coalescing", "Hoard 3.6": "lab:hoard36", "Streamflow": "lab:streamflow",
                SOLARIS: "lab:single", SOLARIS_TREE: "lab:solaris-like", LINUX: "lab:ptmalloc-like"},
    without={},
    threads=(4,),
    exhibits=(
        Exhibit(", ".join(f"figure {number}" for number in DRAWINGS), "Address space, false sharing, each feature", "1 to 5",
                why_not="drawings; lab/allocators/ draw what each allocator has, in text"),
        Exhibit("table 3.1", "Combinations of features", "3.2", elsewhere="lab/README.md; each is built"),
        Exhibit(", ".join(CHARACTERISTICS), "How sixteen runs of programs allocate", "6, A", elsewhere="docs/papers/thesis.md"),
        Exhibit("figure A.9", "Lifetimes of short-lived blocks over a short time", "6.4.2, A",
                says="Blocks allocated together are freed together in the same order (a horizontal line), slowly in reverse "
                     "order (a vertical line), or at once after they were allocated over time (45 degrees); and groups of "
                     "lifetimes repeat.",
                elsewhere="bench/short_lived.py; docs/papers/thesis.md"),
        Exhibit("table 7.1", "Three machines", "7", elsewhere="the machine that docs/papers/reproduction.md names"),
        Exhibit("figure 7.1, figure 7.2, figure 7.3", "Recycle: runtime and speedup, setups A, B, C", "7.1.2",
                says="A and Solaris get slower with threads; C, F1, F2, G, H, coalescing and Hoard scale; B nearly does on "
                     "setup A and hardly on B and C, by active false sharing; D and E pay a lock each, which weighs most "
                     "on A. Ptmalloc hardly scales on B, on C up to five threads; Streamflow fairly well.",
                cases=("recycle",), views=(OVER_BASE, OVER_ITSELF), numbers=lock_free_over_locked("recycle")),
        Exhibit("figure 7.4, figure 7.5", "Consume: runtime, setups A, B, C", "7.1.3",
                says="A, B and C are poor, for the producer obtains each block by itself; D to H are alike and good; "
                     "coalescing is slightly slower; Hoard is slightly worse than F1; all vary.",
                cases=("consume",), views=(TIME_OVER_BASE,), numbers=lock_free_over_locked("consume")),
        Exhibit("figure 7.6", "False sharing, active and passive", "7.1.4",
                says="C and what follows it avoid the active kind, D and what follows it the passive one, too; Solaris and "
                     "Ptmalloc have both.",
                cases=("active-false", "passive-false"), views=(OVER_ITSELF,)),
        Exhibit("figure 7.7, figure 7.8, figure 7.9", "Larson: throughput and speedup, setups A, B, C", "7.1.5",
                says="All scale but A, Solaris and Ptmalloc; B and C are quick, for they take no lock; D and E are "
                     "slower, for they do.",
                cases=("larson",), views=(OVER_BASE, OVER_ITSELF)),
        Exhibit("figure 7.10, figure 7.11, figure 7.12", "Fragmentation in programs of one thread, Recycle, Consume", "7.2",
                says="Containers: less internal, far more external fragmentation; sizes that vary halve the latter; "
                     "coalescing: more internal, less external.",
                elsewhere="bench/fragmentation.py --with lab:single,lab:coalescing,lab:remote,lab:varied",
                counted=(Number((*ONE_THREAD, *SHORT), EXTERNAL, "F2", "A", 5.0, "on average"),
                         Number((*ONE_THREAD, *SHORT), EXTERNAL, "G", "F2", 0.5, "at most, in most programs"))),
        Exhibit("figure 7.13", "Memory of programs of one thread, over A's", "7.3.1",
                says="Containers need more, varied sizes less than fixed ones; GCC needs the same on all.",
                cases=ONE_THREAD, views=(MEMORY_OVER_BASE,)),
        Exhibit("figure 7.14", "Memory of recycle, consume and larson with 1, 2 and 4 threads", "7.3.2",
                says="Ptmalloc reserves 64 MB for each heap on setup B; Streamflow's table is large on 64 bits.",
                cases=("recycle", "consume", "larson"), views=(MEMORY_OVER_BASE,)),
        Exhibit("table 7.2", "F2 compared to the default allocator", "7.4",
                cases=("recycle", "larson", "consume", *ONE_THREAD), views=(),
                numbers=(*summarised("F2", SOLARIS_MACHINE, SOLARIS, 0.15, 27.27, 2.25, 1.10),
                         *summarised("F2", OPTERON, LINUX, 0.93, 4.38, 2.42, 0.69),
                         *summarised("F2", ITANIUM, LINUX, 0.98, 7.55, 1.82, 1.01))),
        Exhibit("table 7.3", "Coalescing compared to the default allocator", "7.4",
                cases=("recycle", "larson", "consume", *ONE_THREAD), views=(),
                numbers=(*summarised(COALESCING, SOLARIS_MACHINE, SOLARIS, 0.10, 29.97, 1.53, 1.10),
                         *summarised(COALESCING, OPTERON, LINUX, 0.58, 4.10, 2.19, 0.69),
                         *summarised(COALESCING, ITANIUM, LINUX, 0.78, 7.82, 1.53, 1.01))),
    ))
