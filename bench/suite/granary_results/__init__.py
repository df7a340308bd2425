# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the package that reads what `granary bench --json` wrote, and its statistics. The bench itself uses it, too.
# Invariant: importing it loads nothing; `granary_results.frames` alone needs pandas.
# Must not know: the bench around it.
"""Results of granary bench: `from granary_results import frames`, then `frames.read("RUN.json")`."""
