# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the stage on shown allocators: what holds after each step of each script, and what the papers' figures say.
# Invariant: what is checked was written by the allocators themselves. No test depends on time or on where memory lies.
# Must not know: how an allocator is built.
"""usage: show_test.py STAGE SHOWN_FOLDER SCRIPTS CHECK [ALLOCATOR]"""
import os
import pathlib
import subprocess
import sys
import tempfile

import steps

stage, shown, scripts, check = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
folder = tempfile.TemporaryDirectory()
require = steps.require


def library(allocator):
    return shown / f"liblab-{allocator}.so"


def run_stage(path, script):
    output = pathlib.Path(folder.name) / "steps.jsonl"
    done = subprocess.run([stage, "--library", path, "--script", script, "--output", output],
                          capture_output=True, text=True, check=False)
    return done, output


def played(allocator, name):
    done, output = run_stage(library(allocator), scripts / f"{name}.txt")
    require(done.returncode == 0, name, "on", allocator, "ends with", done.returncode, done.stderr)
    result = steps.Steps(output)
    require(result.head["allocator"] == allocator, "the head names", result.head["allocator"])
    return result


def after(all_steps, call):
    for step in all_steps.play():
        if step["call"] == call:
            return step
    raise steps.Wrong(f"no step {call}")


# Every script, one allocator.
def every_script(allocator):
    names = sorted(path.stem for path in scripts.glob("*.txt"))
    require(len(names) >= 14, "there are only", names)
    for name in names:
        for _ in played(allocator, name).play():
            pass


def hoard_figure_1():
    run = played("hoard", "hoard_figure_1")
    play = run.play()

    def until(call):
        return next(step for step in play if step["call"] == call)

    until("y8 = malloc(480)")
    one, two = run.heap("x1"), run.heap("y1")
    size = run.block("x1")["bytes"]
    superblocks = [key for key in run.containers if next(iter(run.around(run.containers[key]["place"]))).startswith(one)]
    require(one != two and len(superblocks) == 2, "heap 1 has", superblocks)
    numbers = run.places[one]["numbers"]
    require(numbers == {"u": 4 * size, "a": 16 * size}, "before the figure heap 1 has", numbers)
    require(run.places[two]["numbers"] == {"u": 8 * size, "a": 8 * size}, "heap 2 is not full")

    step = until("x9 = malloc(480)")
    require(run.container("x9") == run.container("x1"), "x9 does not lie in the fullest superblock")
    require("Hoard 000, figure 2, malloc line 4" in steps.cites(step), "malloc followed", steps.cites(step))
    step = until("free(y4)")
    require(run.places[two]["numbers"]["u"] == 7 * size, "y4 did not go back to heap 2")
    require(steps.events(step, "lock") == [{"kind": "lock", "place": two}], "y4 took other locks")
    step = until("free(x2)")
    require(run.places[one]["numbers"] == {"u": 4 * size, "a": 16 * size}, "x2 did not go back to heap 1")
    require("Hoard 000, figure 2, free line 9" not in steps.cites(step), "the threshold was crossed by x2")
    step = until("free(x9)")
    rules = steps.cites(step)
    for line in ("free line 9", "free lines 10 to 12"):
        require(f"Hoard 000, figure 2, {line}" in rules, "x9's rules are", rules)
    moved = [move for move in steps.events(step, "move") if move["to"].startswith("heap.0")]
    require(len(moved) == 1 and run.containers[moved[0]["what"]]["numbers"]["used"] == 0, "to heap 0 moved", moved)
    require(run.places[one]["numbers"] == {"u": 3 * size, "a": 8 * size}, "heap 1 has", run.places[one])


# The memory held after each call that begins so.
def held_after(allocator, begin):
    run = played(allocator, "blowup")
    return [run.held for step in run.play() if step["call"].startswith(begin)]


def blowup():
    private = held_after("private", "free(a")
    require(all(more > less for less, more in zip(private, private[1:])), "private does not grow:", private)
    for allocator in ("ptmalloc-like", "hoard"):
        held = held_after(allocator, "free(a")
        require(held[-1] == held[1], allocator, "grows:", held)
    first, last = held_after("ptmalloc-like", "free(a")[-1], held_after("ptmalloc-like", "free(b")[-1]
    require(first == last, "the heaps of ptmalloc-like had a region each before the batches:", first, last)
    run = played("ptmalloc-like", "blowup")
    step = after(run, "two = malloc(64)")
    require({event["place"] for event in steps.events(step, "lock")} == {"heaps", "heap.2"},
            "thread 2 of ptmalloc-like took", step["events"])
    first, last = held_after("hoard", "free(a")[-1], held_after("hoard", "free(b")[-1]
    require(last < 3 * first / 2, "heap 0 of hoard does not pass memory on:", first, last)


def contention():
    run = played("single", "contention")
    step = after(run, "c = malloc(64)")
    require(step["events"][-1] == {"kind": "wait", "place": "heap.1"}, "thread 2 of single does not wait:", step["events"])
    require(not any(block.get("name") == "c" for block in run.blocks.values()), "thread 2 of single has a block")
    step = run.steps[step["step"] + 1]
    require(step["call"] == "thread 2 goes on" and steps.events(step, "lock"), "thread 2 of single got no lock:", step)
    for allocator in ("hoard", "ptmalloc-like"):
        run = played(allocator, "contention")
        require(not any(steps.events(step, "wait") for step in run.play()), allocator, "waits")


def remote_free():
    for allocator in ("remote", "lockfree"):
        run = played(allocator, "remote_free")
        step = after(run, "free(a.0)")
        waiting = [block for block in run.blocks.values() if block["state"] == "remote"]
        require(len(waiting) == 1 and waiting[0]["place"].endswith(".remote"), allocator, "has", waiting)
        require("Wasik 001, 3.1.4" in steps.cites(step), allocator, "followed", steps.cites(step))
        locks = [lock for each in run.steps for lock in steps.events(each, "lock")]
        require(bool(locks) == (allocator == "remote"), allocator, "took", len(locks), "locks")
    run = played("owned", "remote_free")
    step = after(run, "free(a.0)")
    require({event["place"] for event in steps.events(step, "lock")} == {run.heap("a.1")}, "owned took other locks")
    require([block["state"] for block in run.blocks.values()].count("free") == 1, "owned does not free at once")
    run = played("buffered", "remote_free")
    after(run, "free(b)")
    require([block["state"] for block in run.blocks.values()].count("buffered") == 1, "buffered has no buffered block")


def superblock_life():
    run = played("lfmalloc", "superblock_life")
    kinds = []  # of the places of the first superblock, one after the other
    for step in run.play():
        if step["call"] == "free(a.0)":
            require([block["state"] for block in run.blocks.values()].count("remote") == 1, "no remote block")
            require("LFMalloc 004, 3.2.3, free lines 10 to 12" in steps.cites(step), "free followed", steps.cites(step))
        container = run.containers["s.1"]
        now = (container["place"].removeprefix("global."), container["block"])
        if not kinds or kinds[-1] != now:
            kinds.append(now)
    places = [place for place, _ in kinds]
    require(places[0].startswith("heap."), "it begins at", kinds)
    require("full" in places and "empty" in places, "it never was full and empty:", kinds)
    require(places.index("full") < places.index("empty"), "it was empty before it was full:", kinds)
    require(any(place.startswith("heap.") for place in places[places.index("full"):places.index("empty")]),
            "it did not go online again before it was empty:", kinds)
    require(kinds[-1][0].startswith("heap.") and kinds[-1][1] != kinds[0][1], "it never served another size:", kinds)


def run_states():
    run = played("jemalloc2006", "run_states")
    seen = {place["label"] for step in run.play() for key, place in run.places.items()
            if any(container["place"] == key for container in run.containers.values())}
    require({"current run", "full runs", "Q75", "Q50", "Q25", "Q0"} <= seen, "runs were in", seen)
    first = next(block["container"] for block in run.steps[0]["blocks"].values() if block.get("name") == "first")
    moves = [move["to"].split(".")[-1] for step in run.steps for move in steps.events(step, "move")
             if move["what"] == first]
    require(moves == ["full", "Q75", "Q50", "Q25", "Q0"], "the first run went to", moves)
    require(list(run.steps[-1]["containers"].values()) == [None], "the last free did not destroy the run")


def program():
    output = pathlib.Path(folder.name) / "program.jsonl"
    environment = os.environ | {"LD_PRELOAD": str(library("hoard")), "GRANARY_LAB_SHOW": str(output),
                                "GRANARY_LAB_SHOW_CALLS": "30"}
    done = subprocess.run(["sh", "-c", "ls / >&2; exec ls /"], env=environment, capture_output=True, check=False)
    require(done.returncode == 0 and done.stdout, "the program does not run:", done.stderr)
    run = steps.Steps(output)
    require(run.head["script"] is None and run.head["program"].startswith("sh"), "the head is", run.head)
    require(0 < len(run.steps) <= 30, len(run.steps), "steps")
    require(all(step["line"] is None for step in run.play()), "a program's step has a line")


def refusals(silent):
    def refused(path, text):
        script = pathlib.Path(folder.name) / "script.txt"
        script.write_text(text, encoding="utf-8")
        done, _ = run_stage(path, script)
        require(done.returncode == 2 and done.stderr.count("\n") == 1, text, "is not refused:", done)
        return done.stderr

    said = refused(silent, "1: a = malloc 8\n")
    require("smallest: this allocator does not tell" in said, "the smallest is refused by", said)
    for text, line, what in (("1: free a\n", 1, "a is not in use"), ("\n1: a = malloc 8\n1: a = malloc 8\n", 3, "a is in use"),
                             ("threads 2\n3: a = malloc 8\n", 2, "3: is no thread"),
                             ("1: a = malloc x\n", 1, "has numbers"), ("1: nonsense\n", 1, "unknown command"),
                             ("repeat 2 {\n1: a = malloc 8\n", 1, "a { without a }"),
                             ("1: end\n1: a = malloc 8\n", 2, "has ended"), ("a = malloc 8\n", 1, "no thread"),
                             ("1: a[2] = malloc 8\n1: free a[2]\n", 2, "beyond what was allocated"),
                             ("threads 2\n1: a = malloc 8\n1: b = malloc 8 stop\n1: free a\n", 4, "write `1: go`"),
                             ("1: a = malloc 8 stop\n", 1, "needs a `go`"), ("1: end stop\n", 1, "stands behind one"),
                             ("1: repeat 30000 { a = malloc 8; free a }\n", 1, "more than")):
        said = refused(library("hoard"), text)
        require(f"script.txt:{line}: " in said and what in said, repr(text), "is refused by", said)


def plain(path):
    text = pathlib.Path(path).read_bytes()
    for word in (b"granary_lab_stage_functions", b"tell_rule", b"Hoard 000, figure 2", b"GRANARY_LAB_SHOW"):
        require(word not in text, path, "has", word)
        require(word == b"tell_rule" or word in library("hoard").read_bytes(), "the shown library has no", word)


arguments = sys.argv[5:]
try:
    {"every_script": every_script, "hoard_figure_1": hoard_figure_1, "blowup": blowup, "contention": contention, "remote_free": remote_free,
     "superblock_life": superblock_life, "run_states": run_states, "program": program, "refusals": refusals,
     "plain": plain}[check](*arguments)
except steps.Wrong as wrong:
    sys.exit(f"{check} {' '.join(arguments)}: {wrong}")
