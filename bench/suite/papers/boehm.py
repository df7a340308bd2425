# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Boehm's parallel collector: its tables and figures, as far as mallocs are in them.
# Invariant: no number, for the text has lost them all; nor its numbers of tables and figures.
# Must not know: what was measured here.
"""Boehm: Fast Multiprocessor Memory Allocation and Garbage Collection."""

from papers.exhibit import OVER_BASE, OVER_ITSELF, Exhibit, Paper

VIEWS = (OVER_BASE, OVER_ITSELF)

PAPER = Paper(
    suite="boehm",
    title="Fast Multiprocessor Memory Allocation and Garbage Collection",
    source="Boehm; HPL-2000-165",
    machine="Pentium Pro, how many is lost; RedHat Linux",
    base="rh",
    stands_for={"Hoard": "lab:hoard", "rh": "lab:ptmalloc-like", "rh single": "lab:dlmalloc-like",
                "gc's allocator, blocks freed": "lab:boehm"},
    without={"gc": "the collectors are measured by bench/boehm.py, which docs/papers/boehm.md shows"},
    exhibits=(
        Exhibit("figure of mark stacks", "The markers' stacks and the global queue", "Parallel marking",
                why_not="a drawing; docs/papers/boehm.md, Its ideas and ours"),
        Exhibit("figure of thread-local values", "The two hash tables of thread-specific data", "Thread-specific data",
                why_not="a drawing; bench/identity/stack_hash.hpp is written after its words"),
        Exhibit("table 1", "Cost of thread-local storage", "Thread-specific data",
                elsewhere="docs/papers/boehm.md, Table 1: where a thread's data lies; docs/results/thread-identity.md"),
        Exhibit("figure of Ghostscript", "Throughput of Ghostscript by processors", "Measurements",
                says="Unfavourable to a collector, whose markers alone are parallel.",
                cases=("ghostscript",), views=(OVER_BASE,)),
        Exhibit("figure of MT_GCBench", "Throughput of MT_GCBench by processors", "Measurements",
                says="The collector beats malloc and free by a wide margin, and hardly falls behind separate processes.",
                cases=("mt-gcbench", "separate-processes"), views=VIEWS),
        Exhibit("figure of Larson", "Throughput of Larson, blocks written whole", "Measurements",
                cases=("larson-memset",), views=VIEWS),
        Exhibit("figure of Larson-small", "Throughput of Larson with small blocks", "Measurements",
                says="The parallel collector outperforms the parallel mallocs by far.",
                cases=("larson-small",), views=VIEWS),
    ))
