# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      Wasik's thesis: its tables and figures.
# Invariant: numbers are the thesis', percentages made ratios.
# Must not know: what was measured here.
"""Wasik: Features of a Multi-Threaded Memory Allocator."""

from papers.exhibit import (CPUS, MEMORY, MEMORY_OVER_BASE, OVER_BASE, OVER_ITSELF, THROUGHPUT, TIME, TIME_OVER_BASE,
                            Exhibit, Number, Paper)

SOLARIS, LINUX = "Solaris", "Linux (Ptmalloc)"
COALESCING = "coalescing"
SOLARIS_MACHINE, OPTERON, ITANIUM = "setup A", "setup B", "setup C"
TO_EIGHT = (1, 2, 4, 8)
CHAPTER_6 = "docs/thesis.md"
ONE_THREAD = ("espresso-like", "gcc", "gawk", "roboop-like")  # p2c cannot be had

DRAWINGS = {
    "figure 1.1": "Program address space", "figure 2.1": "Memory allocator heap", "figure 2.2": "Allocated object",
    "figure 2.3": "Internal and external fragmentation", "figure 2.4": "Fragmentation of memory",
    "figure 2.5": "External fragmentation", "figure 2.6": "Program-induced false sharing",
    "figure 2.7": "Active false sharing", "figure 2.8": "Passive false sharing", "figure 3.1": "Single heap",
    "figure 3.2": "Per-thread heaps", "figure 3.3": "Per-thread heaps with a global heap",
    "figure 3.4": "Per-thread heaps with ownership", "figure 3.5": "Passive false sharing avoided",
    "figure 3.6": "Header placement", "figure 3.7": "Active false sharing by containers",
    "figure 3.8": "External fragmentation by ownership of containers", "figure 3.9": "Super-containers",
    "figure 3.10": "Structures of free lists", "figure 3.11": "Thread-local free-list buffer",
    "figure 3.12": "Remote free list", "figure 5.1": "Header and trailer",
}
CHARACTERISTICS = {
    "table 6.1": "Allocations", "table 6.2": "Run times", "table 6.3": "Sizes of requests", "table 6.4": "Lifetimes",
    "table 6.5": "Times between calls", "table 6.6": "Footprint", "figure A.1": "Bin sizes", "figure A.2": "Bin sizes",
    "figure A.3": "Bin sizes over time", "figure A.4": "Bin sizes over time", "figure A.5": "Lifetimes, cumulative",
    "figure A.6": "Lifetimes, cumulative", "figure A.7": "Lifetimes over time", "figure A.8": "Lifetimes over time",
    "figure A.9": "Short lifetimes over time", "figure A.10": "Times between calls, cumulative",
    "figure A.11": "Times between calls, cumulative", "figure A.12": "Footprint over time",
    "figure A.13": "Footprint over time", "figure A.14": "Footprint over time",
}


def drawing(name: str) -> Exhibit:
    return Exhibit(name, DRAWINGS[name], f"chapter {name[7]}", why_not="a drawing; lab/README.md draws the parts in text")


def characteristic(name: str) -> Exhibit:
    return Exhibit(name, CHARACTERISTICS[name], "6.4, A" if "A" in name else "6", elsewhere=CHAPTER_6)


def lock_free_over_locked(case: str, setups: str) -> tuple[Number, ...]:
    """What lies between D and H, of curves that are lost; and the lock-free lists alone."""
    return tuple(Number((case,), THROUGHPUT, "H", other, None, f"{setups}, 8 processors", (CPUS,))
                 for other in ("D", "F2"))


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
    stands_for={"A": "lab:single", "B": "lab:threads", "C": "lab:containers", "D": "lab:owned", "E": "lab:restricted",
                "F1": "lab:buffered", "F2": "lab:remote", "G": "lab:varied", "H": "lab:lockfree",
                COALESCING: "lab:coalescing", "Hoard 3.6": "lab:hoard36", "Streamflow": "lab:streamflow",
                SOLARIS: "lab:single", LINUX: "lab:ptmalloc-like"},
    without={},
    threads=(4,),
    exhibits=(
        *map(drawing, DRAWINGS),
        Exhibit("table 3.1", "Combinations of features", "3.2", elsewhere="lab/README.md; each is built"),
        *map(characteristic, CHARACTERISTICS),
        Exhibit("table 7.1", "Three machines", "7", elsewhere="the machine that docs/reproduction.md names"),
        *(Exhibit(f"figure 7.{number}", f"Recycle: runtime and speedup, {setup}", "7.1.2", says=says,
                  cases=("recycle",), views=(OVER_BASE, OVER_ITSELF), numbers=lock_free_over_locked("recycle", setup))
          for number, setup, says in (
              (1, SOLARIS_MACHINE, "A and Solaris get slower with threads; B nearly scales; C, F1, F2, G, H, coalescing "
                                   "and Hoard do to six processors; D and E pay a lock each."),
              (2, OPTERON, "Locks weigh less, so D and E do well; B's active false sharing costs much; Ptmalloc hardly "
                           "scales."),
              (3, ITANIUM, "As B; Ptmalloc does well up to five threads, Streamflow scales fairly well."))),
        *(Exhibit(f"figure 7.{number}", f"Consume: runtime, {setups}", "7.1.3",
                  says="A, B and C are poor, for the producer obtains each block by itself; D to H are alike and good; "
                       "coalescing is slightly slower; Hoard is slightly worse than F1; all vary.",
                  cases=("consume",), views=(TIME_OVER_BASE,), numbers=lock_free_over_locked("consume", setups))
          for number, setups in ((4, "setups A and B"), (5, "setup C"))),
        Exhibit("figure 7.6", "False sharing, active and passive", "7.1.4",
                says="C and what follows it avoid the active kind, D and what follows it the passive one, too; Solaris and "
                     "Ptmalloc have both.",
                cases=("active-false", "passive-false"), views=(OVER_ITSELF,)),
        *(Exhibit(f"figure 7.{number}", f"Larson: throughput and speedup, {setup}", "7.1.5",
                  says="All scale but A, Solaris and Ptmalloc; B and C are quick, for they take no lock; D and E are "
                       "slower, for they do.",
                  cases=("larson",), views=(OVER_BASE, OVER_ITSELF))
          for number, setup in ((7, SOLARIS_MACHINE), (8, OPTERON), (9, ITANIUM))),
        *(Exhibit(f"figure 7.{number}", f"Fragmentation in {what}, by kind of container", "7.2",
                  says="Containers: less internal, far more external fragmentation; sizes that vary halve the latter; "
                       "coalescing: more internal, less external.",
                  elsewhere="bench/fragmentation.py --with lab:single,lab:coalescing,lab:remote,lab:varied")
          for number, what in ((10, "programs of one thread"), (11, "recycle"), (12, "consume"))),
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
