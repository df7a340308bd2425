# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: real clients of libgc at their own work: the test-suites of guile and ecl, tests of Macaulay2's packages, and an
#    expression that nix evaluates; each with several builds of libgc in turns.
# Invariant: the builds of a round run one after the other on one CPU, each in a new folder. What a client came to is
#    compared, not only how long it took.
# Must not know: which build is whose.
"""Used by collector.py. The test-suites are in the source packages of guile-3.0 and ecl, unpacked side by side in one folder."""

import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

INPUTS = Path(__file__).with_name("collector")
LIMIT = 900  # seconds for one run
LIMIT_OF_FILE = 30  # seconds for one file of guile's suite, when it is tried alone
NEEDED = {"guile": "guile-3.0", "ecl": "ecl", "nix-instantiate": "nix-bin", "M2": "macaulay2"}
ECL = ["(ext:install-bytecodes-compiler)", '(load "{suite}/doit.lsp")', "(in-package cl-test)",
       "(2am-ecl:run 'make-check)", "(ext:exit)"]


@dataclass
class Run:
    cpu: float  # seconds of the client itself, without the compilers that it starts
    wall: float  # seconds
    resident: float  # MiB
    results: set  # of guile and ecl the tests that did not pass


@dataclass
class Client:
    command: list  # the shell's words; {folder} is the folder of the run
    environment: dict
    results: object  # of what it wrote, and the folder of the run


def suite_of(folder, pattern):
    found = sorted(path for path in Path(folder).glob(pattern) if path.is_dir())
    if not found:
        sys.exit(f"collector.py: {folder} has no {pattern}; unpack the source packages of guile-3.0 and ecl there")
    return found[-1].resolve()


def cpu_seconds(process):
    """Of a process that has ended and that nobody has waited for."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(client, library, cpu):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+b") as out:
        def there(text):
            return text.replace("{folder}", folder)

        own = {name: there(value) for name, value in client.environment.items()}
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": folder, "XDG_CACHE_HOME": folder, "GC_MARKERS": "1",
                       **own, **library}
        began = time.monotonic()
        process = subprocess.Popen(["taskset", "-c", str(cpu), *map(there, client.command)], cwd=folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() > began + LIMIT:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.005)
        wall = time.monotonic() - began
        cpu_time = cpu_seconds(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it left running
        out.seek(0)
        text = out.read().decode(errors="replace")
        results = client.results(text, Path(folder))
        if process.returncode < 0 or not results:
            sys.exit(f"collector.py: {' '.join(client.command)[:80]} ended with {process.returncode}: {text[-300:]}")
        return Run(cpu_time, wall, usage.ru_maxrss / 1024, results)


def guile_words(suite, files):
    return Client(["guile", "--debug", "-L", str(suite), "--no-auto-compile", "-e", "main", "-s", f"{suite}/guile-test",
                   "--test-suite", f"{suite}/tests", "--log-file", "{folder}/log", *files],
                  {"TEST_SUITE_DIR": str(suite), "GUILE_LOAD_PATH": str(suite), "TMPDIR": "{folder}"}, guile_results)


def guile_results(text, folder):
    """Each test that did not pass, and that the suite came to its end. Numbers and addresses differ from run to run."""
    if "Totals for this test run" not in text:
        return set()
    lines = (folder / "log").read_text(errors="replace").splitlines()
    failed = {re.sub(r" - arguments.*", "", line) for line in lines if re.match(r"(U?FAIL|X?FAIL|UPASS|ERROR|UN\w+):", line)}
    return failed | {"end"}


def guile_files(suite):
    """The files that the installed guile comes through with the installed libgc: a suite may be newer than guile."""
    names = sorted(path.relative_to(suite / "tests").as_posix() for path in (suite / "tests").rglob("*.test"))

    def comes_through(name):
        client = guile_words(suite, [name])
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": folder, "XDG_CACHE_HOME": folder, **client.environment}
            try:
                done = subprocess.run([word.replace("{folder}", folder) for word in client.command], cwd=folder, env=environment,
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_OF_FILE, check=False)
            except subprocess.TimeoutExpired:
                return False
            return b"Totals for this test run" in done.stdout

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [name for name, good in zip(names, pool.map(comes_through, names)) if good], len(names)


def ecl_results(text, _):
    if not re.search(r"^Did \d+ tests", text, re.MULTILINE):
        return set()
    failed = text.partition("Failure details:")[2]
    return set(re.findall(r"^ ([A-Z0-9.*+/-]+):$", failed, re.MULTILINE)) | {"end"}


def packages_results(text, _):
    return set(re.findall(r"capturing check\(\d+, \"\w+\"\)|^error.*|^done$", text, re.MULTILINE)) if "done" in text else set()


def clients(suites):
    guile, ecl = suite_of(suites, "guile-3.0-*") / "test-suite", suite_of(suites, "ecl-*") / "src" / "tests"
    files, all_files = guile_files(guile)
    print(f"guile's own tests: {len(files)} of {all_files} files, those that the installed guile comes through", flush=True)
    store = {name: "{folder}/" + name for name in ("NIX_STORE_DIR", "NIX_STATE_DIR", "NIX_LOG_DIR", "NIX_CONF_DIR")}
    ecl_words = [word for form in ECL for word in ("-eval", form.replace("{suite}", str(ecl)))]
    return {
        "guile's own tests": guile_words(guile, files),
        "ecl's own tests": Client(["ecl", "-norc", *ecl_words], {"TEST_IMAGE": shutil.which("ecl")}, ecl_results),
        "nix evaluates a large expression": Client(
            ["nix-instantiate", "--eval", "--strict", "--json", str(INPUTS / "evaluation.nix")],
            {**store, "NIX_REMOTE": "local"}, lambda text, _: set(re.findall(r"^\{.*\}$", text, re.MULTILINE))),
        "Macaulay2 starts and tests packages": Client(["M2", "--script", str(INPUTS / "packages.m2")], {}, packages_results),
    }


def measure_on(cpu, chosen, libraries, turn):
    """Of each client: its runs with each library."""
    found = {}
    for name, client in chosen.items():
        order = list(libraries)[turn % len(libraries):] + list(libraries)[:turn % len(libraries)]
        found[name] = {library: run(client, libraries[library], cpu) for library in order}
    return found


def rounds_of(suites, libraries, rounds):
    """Of each client and library: its runs. guile's tests take as long as the others together, on another CPU."""
    everything = clients(suites)
    names = list(everything)
    halves = [{name: everything[name] for name in part} for part in (names[:1], names[1:])]
    runs = {name: {library: [] for library in libraries} for name in names}
    for turn in range(rounds):
        with concurrent.futures.ThreadPoolExecutor(len(halves)) as pool:
            begun = [pool.submit(measure_on, (place + turn) % os.cpu_count(), half, libraries, turn)
                     for place, half in enumerate(halves)]
            for name, found in (item for future in begun for item in future.result().items()):
                for library, one in found.items():
                    runs[name][library].append(one)
    return runs


def different(ours, theirs):
    """What one of them came to in each of its runs, and the other in none."""
    always = [set.intersection(*(one.results for one in side)) for side in (ours, theirs)]
    ever = [set.union(*(one.results for one in side)) for side in (ours, theirs)]
    return sorted(f"ours only: {x}" for x in always[0] - ever[1]) + sorted(f"theirs only: {x}" for x in always[1] - ever[0])


def show(suites, libraries, rounds, row):
    """libraries: the first is compared with each of the others."""
    missing = [f"{program} (package {package})" for program, package in NEEDED.items() if shutil.which(program) is None]
    if missing:
        sys.exit(f"collector.py: not installed: {', '.join(missing)}")
    runs = rounds_of(suites, libraries, rounds)
    first, *others = libraries
    for other in others:
        middles = {"cpu": [], "wall": [], "resident": []}
        for name, by in runs.items():
            for what, label, unit in (("cpu", "CPU time", "s"), ("wall", "wall time", "s"), ("resident", "most resident", "MiB")):
                pairs = [(getattr(a, what), getattr(b, what)) for a, b in zip(by[first], by[other])]
                ratios = [a / b for a, b in pairs]
                middles[what].append(statistics.median(ratios))
                row(f"{name}: {label} over {other}", ratios, f"{statistics.median(a for a, _ in pairs):.2f} {unit} against "
                    f"{statistics.median(b for _, b in pairs):.2f}")
            found = different(by[first], by[other])
            print(f"    results: {'the same' if not found else f'{len(found)} DIFFERENT: ' + '; '.join(found[:5])}", flush=True)
        for what, values in middles.items():
            print(f"clients, {what} over {other}: mean {statistics.mean(values):.2f}, most {max(values):.2f}", flush=True)
