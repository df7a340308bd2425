# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: poppler's tools read a PDF: its text by pdftotext, its pages by pdftoppm.
# Invariant: no display; the text and the pixels are the output.
# Must not know: how results are compared.
"""poppler: the descendant of xpdf, which Wasik's thesis runs on 13 pages (6.1.9)."""

from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work, digest

GS = "/usr/bin/gs"
TO_TEXT = "/usr/bin/pdftotext"
TO_PIXELS = "/usr/bin/pdftoppm"
PAGES = 13
RESOLUTION = 75


def prepare(work: Work) -> None:
    work.setup([GS, "-q", "-sDEVICE=pdfwrite", "-o", "job.pdf", "-c", f"/Pages {PAGES} def", "-f", INPUTS / "job.ps"])


def run(work: Work, launcher: Launcher) -> Outcome:
    pdf = work.prepared / "job.pdf"
    script = f"{TO_TEXT} -layout {pdf} - && {TO_PIXELS} -r {RESOLUTION} {pdf} page"
    with work.trial() as folder:
        done = launcher.run(["/bin/sh", "-c", script], folder)
        return Outcome(done.output + "".join(map(digest, sorted(folder.glob("page-*.ppm")))), done.usage)


POPPLER = Program(
    name="poppler",
    summary=f"poppler: {PAGES} pages of PDF to text and to pixels",
    files={TO_TEXT: "poppler-utils", TO_PIXELS: "poppler-utils", GS: "ghostscript"},
    probe=lambda: [TO_PIXELS, "-v"],
    prepare=prepare,
    run=run,
    in_tests=False,
)
