# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: makes docs/gallery and docs/results/raw/gallery: records each program, reports, replays, takes the pictures, and
#    writes the page that shows them.
# Invariant: whatever the gallery says of a program is what the commands said of this recording.
# Must not know: how a chart is drawn.
"""usage: python3 bench/gallery BUILD [--only NAME,...] [--keep FOLDER]

BUILD has granary, and bench/workloads/larson (make bench). The pictures need node, chromium, pngquant and view's packages
(scripts/setup view bench; cd view && npm ci). FOLDER keeps traces and reports; what lies there is not recorded again."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "test" / "programs")]

from gallery import pages, thesis  # noqa: E402
from gallery.recording import record  # noqa: E402
from gallery.subjects import PROGRAMS  # noqa: E402

GALLERY = ROOT / "docs" / "gallery"
RESULTS = ROOT / "docs" / "results" / "raw" / "gallery"
MODULES = ROOT / "view"
WIDTH = 1000  # of the browser's window


def said(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def plain(text, build):
    """Without the places of this machine."""
    text = re.sub(r"/\S*/granary-\w+/prepared", "$PWD", text)
    text = re.sub(r"/\S*/bench/workloads/", "build/release/bench/workloads/", text)
    return text.replace(f"{build}/", "build/release/").replace(f"{ROOT}/", "")


def gather(subject, build, kept):
    """Records, reports and replays; the report's document, and what the replay said."""
    trace = kept / f"{subject.name}.trace"
    if not trace.exists():
        record(subject, build, trace)
    granary = build / "granary"
    said(granary, "report", trace, "-o", kept / f"{subject.name}.html")
    (RESULTS / f"{subject.name}.txt").write_text(plain(said(granary, "summary", trace), build))
    document = json.loads(said(granary, "summary", "--json", trace))
    replayed = ""
    if subject.replay:
        replayed = said(granary, "replay", "-q", "--with", subject.replay, "-o", kept / f"{subject.name}-replay.html", trace)
        (RESULTS / f"{subject.name}-replay.txt").write_text(replayed)
    return document, replayed


def take_pictures(subjects, kept, modules):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or sys.exit("there is no chromium")
    pngquant = shutil.which("pngquant") or sys.exit("there is no pngquant")
    wanted = []
    for subject in subjects:
        wanted += [kept / f"{subject.name}.html", subject.chart, WIDTH, GALLERY / f"{subject.name}.png"]
        if subject.replay:
            wanted += [kept / f"{subject.name}-replay.html", pages.REPLAY_CHART, WIDTH, GALLERY / f"{subject.name}-replay.png"]
    script = pathlib.Path(__file__).with_name("pictures.mjs")
    subprocess.run([str(word) for word in ["node", script, modules, browser, *wanted]], check=True)
    subprocess.run([pngquant, "--force", "--ext", ".png", "--strip", "--speed", "1", "--", *map(str, wanted[3::4])], check=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.removeprefix("usage: "))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--modules", type=pathlib.Path, default=MODULES, help="where playwright-core is installed")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else [subject.name for subject in PROGRAMS]
    subjects = [subject for subject in PROGRAMS if subject.name in only]
    with tempfile.TemporaryDirectory() as temporary:
        kept = (options.keep or pathlib.Path(temporary)).resolve()
        for folder in (kept, GALLERY, RESULTS):
            folder.mkdir(parents=True, exist_ok=True)
        gathered = {}
        for subject in subjects:
            print(subject.name, flush=True)
            gathered[subject] = gather(subject, options.build.resolve(), kept)
        shown = {subject: all_of_it for subject, all_of_it in gathered.items() if subject.in_gallery}
        take_pictures(shown, kept, options.modules.resolve())
    if len(subjects) == len(PROGRAMS):
        (GALLERY / "README.md").write_text(pages.gallery(shown))
        (RESULTS / "thesis.txt").write_text(thesis.tables({s.name: d for s, (d, _) in gathered.items()}))


if __name__ == "__main__":
    main()
