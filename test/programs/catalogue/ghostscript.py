# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Ghostscript turns PostScript into PDF, and the PDF into bitmaps.
# Invariant: the pixels are the output; the PDF carries a date and is not.
# Must not know: how results are compared.
"""Ghostscript: an interpreter with its own collector above malloc, and large buffers for bands."""

from harness.launcher import Launcher
from harness.program import INPUTS, Outcome, Program, Work, digest

GS = "/usr/bin/gs"


def run(work: Work, launcher: Launcher) -> Outcome:
    pages, resolution = (20, 100) if work.in_bench() else (6, 75)
    script = (f"{GS} -q -sDEVICE=pdfwrite -o job.pdf -c '/Pages {pages} def' -f {INPUTS / 'job.ps'} && "
              f"{GS} -q -sDEVICE=png16m -r{resolution} -o page-%02d.png job.pdf")
    with work.trial() as folder:
        done = launcher.run(["/bin/sh", "-c", script], folder)
        return Outcome(done.output + "".join(map(digest, sorted(folder.glob("page-*.png")))), done.usage)


GHOSTSCRIPT = Program(
    name="ghostscript",
    summary="ghostscript: PostScript to PDF to PNG",
    files={GS: "ghostscript"},
    probe=lambda: [GS, "--version"],
    run=run,
)
