# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the five papers by the names of their suites.
# Invariant: one module for each.
# Must not know: what is in them.
"""The papers."""

from papers import boehm, hoard, jemalloc, lfmalloc, wasik
from papers.exhibit import Paper

PAPERS: dict[str, Paper] = {module.PAPER.suite: module.PAPER for module in (wasik, hoard, lfmalloc, jemalloc, boehm)}
