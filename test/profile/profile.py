# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what the profile says of script.cpp's allocations, when it is written, and when it is refused.
# Invariant: numbers that must be found are written here; functions are known by the program's own symbols.
# Must not know: the library's sources.
"""Usage: profile.py LIBRARY PROGRAM COLLECTOR TEST.   LIBRARY is - where it is linked into PROGRAM; COLLECTOR is -
where none was built."""

import collections
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
from decoders import fields, packed  # noqa: E402

LIBRARY, PROGRAM, COLLECTOR = sys.argv[1:4]
SKIPPED = 77
MIB = 1 << 20
SECONDS = 60
TYPES = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes"),
         ("peak_objects", "count"), ("peak_space", "bytes")]
# By function: allocated, live at the end, live at the peak; blocks and bytes of each.
SCRIPT = {
    "small_blocks": (1000, 100000, 600, 60000, 600, 60000),
    "tiny_blocks": (40, 60, 40, 60, 40, 60),
    "coarse_blocks": (100, 500000, 90, 450000, 90, 450000),
    "zeroed_blocks": (52, 16000 + 3 * MIB, 52, 16000 + 3 * MIB, 52, 16000 + 3 * MIB),
    "aligned_blocks": (5, 310392, 4, 309892, 4, 309892),
    "at_the_peak": (1, 200 * MIB, 0, 0, 1, 200 * MIB),
    "grown_block": (8, 295880 + 120 * MIB, 1, 640, 0, 0),
    "operators": (6, 2331, 4, 1110, 0, 0),
    "large_blocks": (11, 1000000 + 64 * MIB, 6, 600000, 0, 0),
    "for_another_thread": (500, 617000, 0, 0, 0, 0),
}
# Where nothing comes later, the peak was when that function had all.
SMALL_ALONE = (1000, 100000, 600, 60000, 1000, 100000)


def same(found, wanted):
    assert found == wanted, f"\n  found  {found}\n  wanted {wanted}"


def environment(library=LIBRARY, **options):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_"))}
    given = {f"GRANARY_{name}": value for name, value in options.items()}
    return {**kept, **given, **({"LD_PRELOAD": library} if library else {})}


def run(*words, code=0, library=LIBRARY, preexec=None, **options):
    done = subprocess.run([PROGRAM, *words], env=environment(library, **options), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=SECONDS, preexec_fn=preexec)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


class Symbols:
    """The functions of the program, by where they lie in it."""

    def __init__(self):
        text = subprocess.run(["nm", "-S", "--defined-only", PROGRAM], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in text.splitlines()]
        self.functions = [(int(row[0], 16), int(row[1], 16), row[3]) for row in rows if len(row) == 4 and row[2] in "tT"]
        headers = subprocess.run(["readelf", "-lW", PROGRAM], capture_output=True, text=True, check=True).stdout
        self.loads = [tuple(int(n, 16) for n in found) for found in
                      re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", headers)]

    def at(self, offset):
        for begin, address, size in self.loads:
            if begin <= offset < begin + size:
                offset += address - begin
                break
        for begin, size, name in self.functions:
            if begin <= offset < begin + size:
                return name
        return None


class Profile:
    def __init__(self, path):
        with gzip.open(path) as file:
            self.message = fields(file.read())
        self.texts = [text.decode() for text in self.message[6]]
        same(self.texts[0], "")
        same([tuple(self.texts[fields(one)[field][0]] for field in (1, 2)) for one in self.message[1]], TYPES)
        same(self.texts[self.message[14][0]], "inuse_space")
        self.mappings = {one[1][0]: one for one in map(fields, self.message[3])}
        self.locations = {one[1][0]: one for one in map(fields, self.message.get(4, []))}
        self.samples = [(packed(one.get(1, [b""])[0]), packed(one[2][0])) for one in map(fields, self.message.get(2, []))]
        self.mean = self.message[12][0]
        self.comments = [self.texts[number] for number in self.message.get(13, [])]

    def file_of(self, location):
        return self.texts[self.mappings[location[2][0]][5][0]] if 2 in location else None

    def by_function(self):
        """The sums by the innermost function of the program's own; and those that have one nowhere else."""
        symbols = Symbols()
        sums = collections.defaultdict(lambda: [0] * len(TYPES))
        for stack, values in self.samples:
            name = None
            for location in (self.locations[number] for number in stack):
                if self.file_of(location) == os.path.realpath(PROGRAM):
                    mapping = self.mappings[location[2][0]]
                    found = symbols.at(location[3][0] - mapping[2][0] + mapping.get(4, [0])[0])
                    name = found if found in (*SCRIPT, "in_a_child", "many_small_blocks") else None
                if name is not None:
                    break
            sums[name] = [one + other for one, other in zip(sums[name], values)]
        return {name: tuple(values) for name, values in sums.items()}


def started(what, *words, **options):
    process = subprocess.Popen([PROGRAM, what, *words], env=environment(**options), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    same(process.stdout.readline(), "ready\n")
    return process


def ended(process):
    _, said = process.communicate("x")
    same(process.returncode, 0)
    return said


def wait_for(condition):
    limit = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < limit, "it never came"
        time.sleep(0.01)


def exact():
    """Each block sampled: each function's sums are those of the script."""
    same(ended(started("script", "profile.gz", PROFILE="1")), "")
    profile = Profile("profile.gz")
    sums = profile.by_function()
    for name, wanted in SCRIPT.items():
        assert sums.get(name) == wanted, f"{name}: found {sums.get(name)}, wanted {wanted}"
    same((profile.mean, profile.comments), (1, []))
    same(os.listdir("."), ["profile.gz"])
    # Stacks begin where the program calls, in no function of the library's.
    if LIBRARY:
        for stack, _ in profile.samples:
            assert not stack or profile.file_of(profile.locations[stack[0]]) != os.path.realpath(LIBRARY)
        outer = [stack for stack, _ in profile.samples if len(stack) > 2]
        assert len(outer) > len(SCRIPT), "stacks end too soon"


def sampled():
    """Of 175 MB a block every 4096 bytes; five deviations of what is drawn."""
    run("sampled", "profile.gz", PROFILE="4K")
    sums = Profile("profile.gz").by_function()["many_small_blocks"]
    for found, wanted, samples in ((sums[0], 2015000, 161.5e6 / 4096), (sums[1], 161.5e6, 161.5e6 / 4096),
                                   (sums[2], 15000, 1.5e6 / 4096), (sums[3], 1.5e6, 1.5e6 / 4096)):
        assert abs(found - wanted) < 5 * wanted / samples ** 0.5, (found, wanted)


def files():
    """Where the profile goes, and what of the program's files stands in it."""
    os.mkdir("folder")
    same(run("dump", PROFILE="on", PROFILE_FOLDER=os.path.abspath("folder")).stdout, "0\n")
    same(run("dump", PROFILE="on").stdout, "0\n")
    (inside,) = os.listdir("folder")
    (here,) = [name for name in os.listdir(".") if name != "folder"]
    for name in (inside, here):
        assert re.fullmatch(r"granary\.\d+\.0\.pb\.gz", name), name
    with open("there.gz", "w", encoding="ascii") as file:
        file.write("old")
    same(run("dump", "there.gz", PROFILE="on").stdout, "0\n")
    profile = Profile("there.gz")
    same(profile.mean, 512 << 10)
    ids = {profile.texts[one[5][0]]: profile.texts[one[6][0]] for one in profile.mappings.values()}
    for path in (os.path.realpath(PROGRAM), os.path.realpath(LIBRARY)):
        notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
        same(ids[path], (re.findall(r"Build ID: (\w+)", notes) or [""])[0])
    assert abs(profile.message[9][0] / 1e9 - time.time()) < 24 * 3600


def a_signal():
    """Each time the signal comes there is another file, whatever the program is doing."""
    process = started("signal", PROFILE="1,USR2")

    def written(number):
        return f"granary.{process.pid}.{number}.pb.gz"

    for number in range(3):
        process.send_signal(signal.SIGUSR2)
        wait_for(lambda name=written(number): os.path.exists(name))
    same(ended(process), "")
    same(sorted(os.listdir(".")), [written(number) for number in range(3)])
    for number in range(3):
        same(Profile(written(number)).by_function()["small_blocks"], SMALL_ALONE)


def switched():
    """A program that was started without a profile begins one, stops it, and goes on."""
    process = started("switch", "profile.gz")
    sums = Profile("profile.gz").by_function()
    for name in ("coarse_blocks", "large_blocks", "tiny_blocks"):
        blocks, size = SCRIPT[name][:2]
        same((name, *sums[name][:4]), (name, blocks, size, *SCRIPT[name][2:4]))
    same({name for name in sums if name in SCRIPT}, {"coarse_blocks", "large_blocks", "tiny_blocks"})
    same(ended(process), "")


def reset():
    """What was sampled before is forgotten, and what of it is freed later is not counted."""
    run("reset", "profile.gz", PROFILE="1")
    profile = Profile("profile.gz")
    sums = profile.by_function()
    same({name for name in sums if name in SCRIPT}, {"coarse_blocks"})
    same(sums["coarse_blocks"][:4], SCRIPT["coarse_blocks"][:4])
    # Nothing is below none.
    for _, values in profile.samples:
        assert all(0 <= value < 1 << 40 for value in values), values
        assert values[2] <= values[0] and values[3] <= values[1], values


def storm():
    """Switched while threads allocate and fork; the last profile has what came last, each block of it."""
    for options in ({}, {"PROFILE": "500"}, {"JUNK": "all"}, {"PROFILE": "1", "ZERO": "on"}):
        run("storm", **options)
        same(Profile("last.gz").by_function()["small_blocks"][:4], SMALL_ALONE[:4])
        same(Profile("child.gz").by_function()["in_a_child"], (30, 60000, 30, 60000, 30, 60000))


def every():
    """Each time so many bytes were allocated there is another file."""
    run("megabytes", PROFILE="1,every=1M")
    names = sorted(os.listdir("."), key=lambda name: int(name.split(".")[2]))
    # Of 10,000,000 bytes, and what the program's start allocates.
    assert 9 <= len(names) <= 10, names
    same([name.split(".")[2] for name in names], [str(number) for number in range(len(names))])
    for number, name in enumerate(names):
        allocated = sum(values[1] for _, values in Profile(name).samples)
        assert (number + 1) * MIB <= allocated < (number + 1) * MIB + 200000, (name, allocated)


def errors():
    """What the functions refuse."""
    import errno  # pylint: disable=import-outside-toplevel
    import resource  # pylint: disable=import-outside-toplevel

    def said(*lines, **options):
        done = run("errors", **options)
        same((done.stdout, done.stderr), ("".join(f"{line}\n" for line in lines), ""))

    none = f"{errno.ENOTSUP} {errno.ENOTSUP}"
    said(none, errno.EINVAL, 0, "0 0")
    said("0 0", errno.EINVAL, 0, "0 0", PROFILE="4K")
    said(none, errno.EINVAL, errno.ENOTSUP, none, library=COLLECTOR)
    said(none, errno.EINVAL, errno.ENAMETOOLONG, none, PROFILE_FOLDER="/" + "x" * 1500)
    said(none, errno.EINVAL, errno.ENOTSUP, none,
         preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)))


def at_exit():
    """The end of the program writes the last file and says its name; a child that ends without exit writes none."""
    done = run("children", PROFILE="1,USR1,exit")
    names = sorted(os.listdir("."))
    said = sorted(line.removeprefix("granary: profile written to ") for line in done.stderr.splitlines())
    for name in said:
        assert name in names, (said, names)
        assert "small_blocks" in Profile(name).by_function()
    assert said, done.stderr
    process = started("signal", PROFILE="1,USR2,exit", PROFILE_FOLDER="/nowhere")
    assert "no profile written to /nowhere/granary." in ended(process)


def children():
    """A child goes on with what its parent had."""
    run("children", PROFILE="1")
    profiles = [Profile(name).by_function() for name in os.listdir(".")]
    same(len(profiles), 2)
    parent, child = sorted(profiles, key=lambda sums: "in_a_child" in sums)
    same(parent["small_blocks"], SMALL_ALONE)
    same(child["small_blocks"], SCRIPT["small_blocks"])
    same(child["in_a_child"], (30, 60000, 30, 60000, 30, 60000))
    assert "in_a_child" not in parent


def refusals():
    """Where there is no profile, one line says why."""
    import errno  # pylint: disable=import-outside-toplevel
    import resource  # pylint: disable=import-outside-toplevel

    def refused(line, code, **options):
        done = run("dump", **options)
        same(done.stdout, f"{code}\n")
        same(done.stderr.count("\n"), 1 if line else 0)
        assert line in done.stderr, done.stderr

    refused("", errno.ENOTSUP)
    refused("", errno.ENOTSUP, PROFILE="off")
    for wrong in ("", "x", "4K,", "4K,NONE", "4K,9", "4K,65", "2T", "4K,USR2x"):
        refused("expected on, off or bytes up to 1T", errno.ENOTSUP, PROFILE=wrong)
    refused("the limit on address space (RLIMIT_AS) or data (RLIMIT_DATA) is too low", errno.ENOTSUP, PROFILE="on",
            preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)))
    refused("the limit on address space (RLIMIT_AS) or data (RLIMIT_DATA) is too low", errno.ENOTSUP, PROFILE="on",
            preexec=lambda: resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30)))
    if COLLECTOR != "-":
        refused("a collector serves malloc", errno.ENOTSUP, PROFILE="on", library=COLLECTOR)
    refused("the C library reserves this signal", 0, PROFILE="on,33")
    done = run("dump", "/nowhere/at/all", PROFILE="on")
    same((done.stdout, done.stderr), (f"{errno.ENOENT}\n", ""))
    process = started("signal", PROFILE="on,12", PROFILE_FOLDER="/nowhere")
    process.send_signal(signal.SIGUSR2)
    line = process.stderr.readline()
    assert "no profile written to /nowhere/granary." in line and "GRANARY_PROFILE_FOLDER" in line, line
    same(ended(process), "")


def pprof():
    """pprof finds the program's functions by the profile alone."""
    go = shutil.which("go")
    if go is None:
        print("no go here")
        sys.exit(SKIPPED)
    ended(started("script", "profile.gz", PROFILE="1"))
    for index, wanted in ((1, "alloc_space"), (3, "inuse_space"), (5, "peak_space")):
        done = subprocess.run([go, "tool", "pprof", "-top", "-nodefraction=0", "-unit=B", f"-sample_index={wanted}",
                               "profile.gz"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PPROF_TMPDIR": os.getcwd(), "GOTOOLCHAIN": "local"})
        assert done.returncode == 0, done.stderr
        found = {row.split()[5]: row.split()[3] for row in done.stdout.splitlines() if len(row.split()) >= 6}
        for name in ("small_blocks", "zeroed_blocks"):
            same(found.get(name), f"{SCRIPT[name][index]}B")


def main():
    test = {one.__name__.replace("a_signal", "signal"): one for one in
            (exact, sampled, files, a_signal, switched, reset, storm, every, errors, at_exit, children, refusals, pprof)}[sys.argv[4]]
    global PROGRAM, LIBRARY  # pylint: disable=global-statement
    PROGRAM, LIBRARY = os.path.abspath(PROGRAM), "" if LIBRARY == "-" else os.path.abspath(LIBRARY)
    with tempfile.TemporaryDirectory(prefix="granary-profile-") as folder:
        os.chdir(folder)
        test()


if __name__ == "__main__":
    main()
