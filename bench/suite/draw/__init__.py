# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the page and the pictures of a run, in HTML and SVG; matplotlib draws.
# Invariant: what is drawn is what the text says, by the same functions; they are not in this folder.
# Must not know: how anything is measured.
