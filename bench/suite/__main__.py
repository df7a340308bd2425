# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the command line of the bench: `granary bench`, which is `python3 bench/suite`, too.
# Invariant: what is shown together was measured in one interleaved run, this one or the stored one that --from names;
#    what is unknown or missing is one line, and the rest goes on.
# Must not know: the workloads; the catalogue does.
"""Compares allocators on the benchmarks of five papers, on real programs and on servers. Trials are interleaved."""

import argparse
import datetime
import importlib.util
import math
import shlex
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "test" / "programs")]
sys.dont_write_bytecode = True

import check
import machine
import pieces
import report
from granary_results.results import Results
from harness.allocators import Allocator, Missing
from originals import Originals
from papers import PAPERS
from papers.exhibit import Paper
from peers import BUMP, SIX, Peers
from places import Places
from profiles import PROFILES, STANDARD, Profile
from schedule import OutOfTime, Schedule, tell
from subjects import OriginalSubject, Subject
from workloads import FAMILIES, SUITES, all_subjects, in_place


def names(text: str) -> list[str]:
    return list(dict.fromkeys(name for name in text.split(",") if name))


def thread_counts(text: str) -> tuple[int, ...]:
    counts = tuple(dict.fromkeys(int(word) for word in names(text)))
    if not counts or min(counts) < 1:
        raise ValueError
    return counts


# What has no meaning for a result that is stored already.
MEASURING = ("suite", "profile", "allocators", "only", "originals", "threads", "rounds", "json", "minutes", "resume")

UNFINISHED = 3  # the exit code when time was over


def parse_arguments() -> argparse.Namespace:
    """An option of measuring that is not given is None."""
    parser = argparse.ArgumentParser(prog="granary bench", description=__doc__)
    parser.add_argument("--list", action="store_true",
                        help="print the workloads, suites, profiles and allocators, then exit")
    parser.add_argument("--suite", choices=[*SUITES, "all"],
                        help="one paper's benchmarks, also on its allocators, with its tables (default: all, no paper)")
    parser.add_argument("--profile", choices=PROFILES, help=f"how much to measure (default: {STANDARD})")
    parser.add_argument("--with", dest="allocators", type=names, metavar="NAMES",
                        help=f"allocators to measure (default: {','.join(SIX)}; smoke: all built; --suite: also "
                             "the paper's)")
    parser.add_argument("--only", type=names, metavar="NAMES",
                        help="measure only these workloads, programs or families")
    parser.add_argument("--originals", type=Path, metavar="DIR",
                        help="run the papers' own programs that you have built in DIR in place of those written anew")
    parser.add_argument("--threads", type=thread_counts, metavar="N,N",
                        help="numbers of threads for the workloads that scale")
    parser.add_argument("--rounds", type=int,
                        help="trials of each case on each allocator (default: set by the profile)")
    parser.add_argument("--json", type=Path, metavar="FILE",
                        help="write every trial to FILE, compressed if its name ends in .gz")
    parser.add_argument("--minutes", type=float, metavar="N",
                        help=f"stop after N minutes, with exit code {UNFINISHED} if trials are left; see --resume")
    parser.add_argument("--resume", action="store_true", default=None,
                        help="continue the run that is stored in the --json file, if the file exists")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE",
                        help="show the result stored in FILE; measure nothing")
    parser.add_argument("--html", type=Path, metavar="FILE",
                        help="write one self-contained page with tables and pictures")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write the pictures of that page as SVG files")
    parser.add_argument("--check", type=Path, metavar="FILE",
                        help="exit with 1 if Granary is worse than in this stored result")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help=argparse.SUPPRESS)
    parser.add_argument("--peers", type=Path, default=ROOT / "build" / "peers" / "peers.json", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.build = arguments.build.absolute()  # trials run elsewhere
    arguments.words = sys.argv[3:] if sys.argv[1:2] == ["--build"] else sys.argv[1:]  # without the command's own
    if arguments.rounds is not None and arguments.rounds < 1:
        parser.error("--rounds: must be at least 1")
    if arguments.resume and arguments.json is None:
        parser.error("--resume: no run is named; add --json FILE")
    return arguments


def asked_of(arguments: argparse.Namespace) -> Profile:
    return PROFILES[arguments.profile or STANDARD]


def paper_of(arguments: argparse.Namespace) -> Paper | None:
    return PAPERS.get(arguments.suite)


def threads_of(arguments: argparse.Namespace) -> tuple[int, ...]:
    """Of the workloads that scale: a paper's own, too."""
    profile, paper = asked_of(arguments), paper_of(arguments)
    if arguments.threads or not paper or not paper.threads:
        return arguments.threads or profile.threads
    return tuple(sorted({*profile.threads, *paper.threads}))


def chosen_subjects(arguments: argparse.Namespace, originals: Originals | None) -> list[Subject]:
    profile = asked_of(arguments)
    subjects = all_subjects(profile, threads_of(arguments), arguments.build / "bench" / "workloads")
    if originals:
        subjects = in_place(subjects, originals, arguments.build / "bench" / "controls" / "libgranary-requested.so")
    if arguments.suite not in (None, "all"):
        subjects = [subject for subject in subjects if arguments.suite in subject.suites]
    if not arguments.only:
        return [subject for subject in subjects if subject.in_profile(profile)]
    known = {word for subject in subjects for word in (subject.name, subject.label, subject.family)}
    for word in arguments.only:
        if word not in known:
            tell(f"{word}: no such workload, program or family; see --list")
    wanted = set(arguments.only)
    return [subject for subject in subjects if wanted & {subject.name, subject.label, subject.family}]


def chosen_allocators(arguments: argparse.Namespace, peers: Peers) -> list[Allocator]:
    paper = paper_of(arguments)
    usual = peers.names() if arguments.profile == "smoke" else SIX
    wanted = arguments.allocators or [*(paper.allocators() if paper else ()), *usual]
    found = []
    for name in wanted:
        try:
            found.append(peers.get(name))
        except Missing as problem:
            tell(problem)
    return found


def listing(arguments: argparse.Namespace, peers: Peers) -> str:
    profile = asked_of(arguments)
    rows = []
    subjects = all_subjects(profile, (1,), arguments.build / "bench" / "workloads")
    for family, summary in FAMILIES.items():
        rows += ["", f"{family}: {summary}"]
        rows += dict.fromkeys(" ".join([f"  {subject.label:22}", subject.summary, *map("[{}]".format, subject.suites)])
                              for subject in subjects if subject.family == family)
    rows += ["", "suites:", *(f"  {paper.suite:22} {paper.title} ({paper.source})" for paper in PAPERS.values())]
    rows += ["", "profiles:", *(f"  {each.name:22} {each.summary}" for each in PROFILES.values())]
    rows += ["", "allocators:"]
    rows += [f"  {name:22} {peers.facts(name).get('version', '')}" for name in
             [*peers.names(), BUMP, *peers.lab_names()]]
    return "\n".join(rows[1:])


def measure(arguments: argparse.Namespace, peers: Peers) -> tuple[Results, bool]:
    """The run, and whether it is over."""
    profile = asked_of(arguments)
    originals = Originals(arguments.originals.absolute()) if arguments.originals else None
    for line in originals.without_inputs() if originals else ():
        tell(line)
    subjects, allocators = chosen_subjects(arguments, originals), chosen_allocators(arguments, peers)
    if not subjects or not allocators:
        raise Missing("nothing is left to measure; choose other workloads or allocators, see --list")
    places = Places([arguments.build, arguments.peers.parent, *([originals.folder] if originals else [])])
    results = Results(
        command=places.named(shlex.join(["granary", "bench", *arguments.words])),
        date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        profile=profile.name, machine=places.named(machine.facts()),
        allocators=places.named([{**peers.facts(allocator.name), "name": allocator.name} for allocator in allocators]),
        cases={subject.name: {"label": subject.label, "threads": subject.threads, "family": subject.family,
                              "suites": list(subject.suites), "summary": subject.summary} for subject in subjects},
        suite=arguments.suite if paper_of(arguments) else "",
        originals=originals.told({subject.label for subject in subjects}) if originals else {})
    if arguments.resume and arguments.json.exists():
        results = pieces.go_on(Results.load(arguments.json), results)
        operations = pieces.operations(results)
        for subject in subjects:
            subject.fix_operations(operations.get(subject.name))
    saved = pieces.Saved(results, arguments.json)
    schedule = Schedule(subjects, allocators, arguments.rounds or profile.rounds, profile.warm_ups,
                        seen=lambda record: saved.add(places.named(record)),
                        failures=pieces.failures(results), done=pieces.whole_rounds(results),
                        seconds=math.inf if arguments.minutes is None else arguments.minutes * 60)
    over = True
    try:
        schedule.run()
    except KeyboardInterrupt:
        tell("interrupted; the trials so far are shown and stored")
    except OutOfTime:
        over = False
        tell("the time is over; the trials so far are shown and stored; continue with --resume")
    finally:
        results.originals |= {subject.original.program: subject.told for subject in subjects
                              if isinstance(subject, OriginalSubject) and subject.told}
        saved.save()
    return results, over


def read(arguments: argparse.Namespace) -> Results:
    """The stored run."""
    for name in MEASURING:
        if getattr(arguments, name) is not None:
            option = "with" if name == "allocators" else name
            raise ValueError(f"--{option} cannot be used with --from, which measures nothing; leave out one")
    return Results.load(arguments.source)


def check_that_pictures_can_be_drawn(arguments: argparse.Namespace) -> None:
    """Asked before anything is measured."""
    if not (arguments.html or arguments.pictures) or importlib.util.find_spec("matplotlib"):
        return
    missing = "no pictures: python3-matplotlib is not installed; run: scripts/setup bench"
    if arguments.pictures:
        raise Missing(missing)
    tell(f"{missing}; the page will have its tables only")


def conclude(arguments: argparse.Namespace, results: Results, stored: Results | None) -> int:
    print(f"{results.profile}: {len(results.trials)} trials; {machine.sentence(results.machine)}\n")
    print(report.text(results))
    if arguments.html or arguments.pictures:
        from draw import page  # its libraries take a second to load
        page.write(arguments.html, results, arguments.pictures)
    if stored is None:
        return 0
    worse = check.regressions(results, stored)
    print("", *(f"regression: {line}" for line in worse) if worse else [f"no regression against {arguments.check}"],
          sep="\n")
    return 1 if worse else 0


def main() -> int:
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that daemons are stopped
    peers = Peers(arguments.build, arguments.peers)
    if arguments.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for `| head`
        print(listing(arguments, peers))
        return 0
    try:
        check_that_pictures_can_be_drawn(arguments)
        stored = Results.load(arguments.check) if arguments.check else None
        results, over = (read(arguments), True) if arguments.source else measure(arguments, peers)
        found = conclude(arguments, results, stored)
        return found if over else UNFINISHED
    except (Missing, ValueError, OSError) as problem:
        tell(problem)
        return 2


if __name__ == "__main__":
    sys.exit(main())
