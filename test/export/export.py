# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: each format of granary export, and granary diff, on one small trace whose numbers are written here.
# Invariant: 77 where the format's reader is not installed.
# Must not know: the command's sources.
"""Usage: export.py GRANARY WRITE_TRACE INLINED TEST."""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from decoders import fields, packed

GRANARY, WRITE_TRACE, INLINED = sys.argv[1:4]
SKIPPED = 77

# Stacks: 1 is the outermost; 2 and 3 are called by it. Times are in 100 ns. At the peak, 3000000 + 1000 + 64 are in use.
TRACE = """
stacks all
module 0 0x10000 0x20000 0 /test/program
stack 0 0x10010
stack 1 0x10020
stack 1 0x10030
thread 0 main
thread 1 worker
event 0 10000 malloc 0x1000 64 2
event 0 20000 new 0x2000 1000 3
event 1 30000 malloc 0x100000 3000000 2
event 1 40000 free 0x100000 0
event 0 50000 calloc 0x3000 500 3
event 0 60000 free 0x2000 0
event 0 70000 malloc 0x4000 32
mark 25000 0 second phase
sample 15000 2000000 1000000
sample 65000 4096000 1000000
"""
# Memory that was mapped without malloc, in two looks; the first has most. Kind 40 maps, 41 unmaps, 43 moves the break.
MAPPED = TRACE + """
request 12000 0 40 0x700000 8192 0 2
request 13000 1 40 0x800000 4096 0 2
request 14000 1 43 0x900000 100 0 3
request 60000 1 41 0x800000 4096 0 3
memory 15000 0 1 - 0 1 9000 5000 2 - 2 2 12288 9000 2 - 0 1 4096 70 8 - 0 1 500 500
memory 65000 0 1 - 0 1 9000 6000 2 - 2 1 8192 300 8 - 0 1 500 500
"""
PEAK = 64 + 1000 + 3000000
OUTER, TWO, THREE = "program+0x10", "program+0x20", "program+0x30"
NONE = "(no stack was taken)"


def run(*words, code=0):
    done = subprocess.run([GRANARY, *words], capture_output=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr.decode()}")
    if code:
        assert done.stderr.decode().count("\n") == 1, done.stderr
    return done.stdout


def same(found, wanted):
    assert found == wanted, f"\n  found  {found}\n  wanted {wanted}"


def made(name, text=TRACE):
    subprocess.run([WRITE_TRACE, name], input=text, text=True, check=True)
    return name


def reader(name):
    if shutil.which(name) is None:
        print(f"no {name} here")
        sys.exit(SKIPPED)
    return name


def folded():
    trace = made("trace")

    def lines(*options):
        text = run("export", trace, "--folded", *options).decode()
        return dict((line.rsplit(" ", 1)[0], int(line.rsplit(" ", 1)[1])) for line in text.splitlines())

    two, three = f"{OUTER};{TWO}", f"{OUTER};{THREE}"
    same(lines(), {two: 3000064, three: 1000})
    same(lines("--blocks"), {two: 2, three: 1})
    same(lines("--what", "end"), {two: 64, three: 500, NONE: 32})
    same(lines("--what", "total"), {two: 3000064, three: 1500, NONE: 32})
    same(lines("--what", "total", "--blocks"), {two: 2, three: 2, NONE: 1})
    # Without stacks all are one; of sampled ones, each stands for others.
    made("none", re.sub("(?m)^(stacks|stack) .*$|(?<=[0-9]) [23]$", "", TRACE))
    same(run("export", "none", "--folded").decode(), f"{NONE} {PEAK}\n")
    made("sampled", "stacks 1000\nstack 0 0x10\nevent 0 1 malloc 0x1000 1000 1\nevent 0 2 malloc 0x2000 1000\n")
    same(run("export", "sampled", "--folded").decode(), "0x10 1582\n")  # 1000 / (1 - 1/e)


def mapped():
    trace = made("mapped", MAPPED)

    def lines(*options):
        text = run("export", trace, "--folded", "--mapped", *options).decode()
        return dict((line.rsplit(" ", 1)[0], int(line.rsplit(" ", 1)[1])) for line in text.splitlines())

    two, three = f"{OUTER};{TWO}", f"{OUTER};{THREE}"
    same(lines(), {two: 9000, NONE: 70})
    same(lines("--what", "end"), {two: 300})
    same(lines("--what", "total"), {two: 12288, three: 100})
    same(lines("--blocks"), {two: 2, NONE: 1})
    same(lines("--blocks", "--what", "total"), {two: 2, three: 1})
    same(run("export", made("trace"), "--folded", "--mapped"), b"")
    for what, resident in (("peak", [9000, 70]), ("end", [300])):
        run("export", trace, "--pprof", "--what", what, "-o", "profile.gz")
        with gzip.open("profile.gz") as file:
            profile = fields(file.read())
        texts = [text.decode() for text in profile[6]]
        types = [texts[fields(one)[1][0]] for one in profile[1]]
        same(types[4:], ["mapped_space", "mapped_resident"])
        values = [packed(fields(one)[2][0]) for one in profile[2]]
        same({len(row) for row in values}, {len(types)})
        same([sum(column) for column in zip(*values)][1], 3000064 + 1500 + 32)
        same(sorted(row[4] for row in values if row[4]), [100, 12288])
        same(sorted((row[5] for row in values if row[5]), reverse=True), resident)
    run("export", trace, "--perfetto", "-o", "track")
    with open("track", "rb") as file:
        packets = [fields(one) for one in fields(file.read())[1]]
    tracks = [fields(track) for packet in packets for track in packet.get(60, [])]
    number = next(track[1] for track in tracks if track.get(2) == [b"resident, mapped without malloc"])
    same([(packet[8][0], event[30][0]) for packet in packets for event in map(fields, packet.get(11, [])) if event[11] == number],
         [(1_500_000, 9070), (6_500_000, 300)])


def pprof():
    for what, two, three, none in (("peak", 3000064, 1000, 0), ("end", 64, 500, 32)):
        run("export", made("trace"), "--pprof", "--what", what, "-o", "profile.gz")
        with gzip.open("profile.gz") as file:
            profile = fields(file.read())
        texts = [text.decode() for text in profile[6]]
        same(texts[0], "")
        types = [tuple(texts[fields(one)[field][0]] for field in (1, 2)) for one in profile[1]]
        same(types, [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
                     ("inuse_space", "bytes")])
        mapping = fields(profile[3][0])
        same((mapping[2], mapping[3], texts[mapping[5][0]]), ([0x10000], [0x20000], "/test/program"))
        functions = {fields(one)[1][0]: texts[fields(one)[2][0]] for one in profile[5]}
        locations = {}
        for one in map(fields, profile[4]):
            locations[one[1][0]] = functions[fields(one[4][0])[1][0]]
        samples = {}
        for one in map(fields, profile[2]):
            samples[tuple(locations[number] for number in packed(one[1][0]))] = packed(one[2][0])
        same({stack: (values[0], values[1], values[3]) for stack, values in samples.items()},
             {(TWO, OUTER): (2, 3000064, two), (THREE, OUTER): (2, 1500, three), (NONE,): (1, 32, none)})
        same(texts[profile[14][0]], "inuse_space")


def go_pprof():
    go = reader("go")
    run("export", made("trace"), "--pprof", "-o", "profile.gz")
    done = subprocess.run([go, "tool", "pprof", "-raw", "profile.gz"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PPROF_TMPDIR": os.getcwd(), "GOTOOLCHAIN": "local"})
    assert done.returncode == 0, done.stderr
    rows = [line.split(":")[0].split() for line in done.stdout.splitlines() if re.match(r" +\d+ +\d+ +\d+ +\d+:", line)]
    same(sorted(tuple(map(int, row)) for row in rows), [(1, 32, 0, 0), (2, 1500, 1, 1000), (2, 3000064, 2, 3000064)])


def perfetto():
    run("export", made("trace"), "--perfetto", "-o", "track")
    with open("track", "rb") as file:
        packets = [fields(one) for one in fields(file.read())[1]]
    counters, threads, values, instants = {}, {}, {}, []
    for packet in packets:
        for track in map(fields, packet.get(60, [])):
            if 8 in track:
                counters[track[2][0].decode()] = track[1][0]
            for thread in map(fields, track.get(4, [])):
                threads[track[1][0]] = thread[5][0].decode()
        for event in map(fields, packet.get(11, [])):
            if event[9] == [4]:
                values.setdefault(event[11][0], []).append((packet[8][0], (event.get(30) or event[44])[0]))
            else:
                instants.append((packet[8][0], event[11][0], event[23][0].decode()))
    same(sorted(threads.values()), ["main", "worker"])
    live = values[counters["bytes in use"]]
    same(max(value for _, value in live), PEAK)
    same(live[-1], (7_000_000, 64 + 500 + 32))
    same(values[counters["blocks in use"]][-1][1], 3)
    same(values[counters["resident"]], [(1_500_000, 2000000), (6_500_000, 4096000)])
    same([(time, threads[track], name) for time, track, name in sorted(instants)],
         [(2_500_000, "main", "second phase"), (3_000_000, "worker", "allocates 2.86 MiB")])


def heaptrack():
    heaptrack_print = reader("heaptrack_print")
    for name in ("heap.gz", "heap.zst"):
        run("export", made("trace"), "--heaptrack", "-o", name)
        text = subprocess.run([heaptrack_print, name], capture_output=True, text=True, check=True).stdout
        same(re.search(r"calls to allocation functions: (\d+)", text)[1], "5")
        same(re.search(r"temporary memory allocations: (\d+)", text)[1], "1")
        same(re.search(r"peak heap memory consumption: (\S+)", text)[1], "3.00M")
        same(re.search(r"peak RSS .*: (\S+)", text)[1], "4.10M")
        same(re.search(r"total memory leaked: (\S+)", text)[1], "596B")


ARROW = """
import json, sys
import pyarrow.ipc
table = pyarrow.ipc.open_file(sys.argv[1]).read_all()
table.validate(full=True)
print(json.dumps(table.to_pylist()))
"""


def arrow():
    python = os.environ.get("GRANARY_ARROW_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import pyarrow.ipc"], capture_output=True, check=False).returncode:
        print(f"{python} has no pyarrow")
        sys.exit(SKIPPED)
    run("export", made("trace"), "--arrow", "-o", "table.arrow")
    rows = json.loads(subprocess.run([python, "-c", ARROW, "table.arrow"], capture_output=True, check=True).stdout)
    same([(row["op"], row["size"], row["thread"], row["stack"]) for row in rows],
         [("malloc", 64, 0, f"{OUTER};{TWO}"), ("new", 1000, 0, f"{OUTER};{THREE}"),
          ("malloc", 3000000, 1, f"{OUTER};{TWO}"), ("free", 0, 1, ""), ("calloc", 500, 0, f"{OUTER};{THREE}"),
          ("free", 0, 0, ""), ("malloc", 32, 0, "")])
    same([row["time_ns"] for row in rows], [1_000_000 * i for i in range(1, 8)])
    same([row["address"] for row in rows], [0x1000, 0x2000, 0x100000, 0x100000, 0x3000, 0x2000, 0x4000])
    run("export", made("mapped", MAPPED), "--arrow", "--mapped", "-o", "mapped.arrow")
    with_calls = json.loads(subprocess.run([python, "-c", ARROW, "mapped.arrow"], capture_output=True, check=True).stdout)
    own = [row for row in with_calls if row["op"].startswith("own ")]
    same([(row["op"], row["size"], row["address"], row["thread"], row["time_ns"], row["stack"]) for row in own],
         [("own mmap", 8192, 0x700000, 0, 1_200_000, f"{OUTER};{TWO}"), ("own mmap", 4096, 0x800000, 1, 1_300_000, f"{OUTER};{TWO}"),
          ("own brk", 100, 0x900000, 1, 1_400_000, f"{OUTER};{THREE}"),
          ("own munmap", 4096, 0x800000, 1, 6_000_000, f"{OUTER};{THREE}")])
    same([row for row in with_calls if row not in own], rows)
    same([row["time_ns"] for row in with_calls], sorted(row["time_ns"] for row in with_calls))
    # More than a batch of them.
    made("many", "stacks all\n" + "".join(f"event 0 {i} malloc {16 * i + 16} {i}\n" for i in range(70000)))
    run("export", "many", "--arrow", "-o", "many.arrow")
    rows = json.loads(subprocess.run([python, "-c", ARROW, "many.arrow"], capture_output=True, check=True).stdout)
    same([row["size"] for row in rows], list(range(70000)))


def inlined():
    run("record", "-q", "--stacks", "all", "-o", "inlined", INLINED)
    stacks = run("export", "inlined", "--folded").decode()
    assert re.search("main;outer;middle;inner 12345\n", stacks), stacks


# A place of Python that the trace does not tell, and an address that stands for one of a library that it does not tell.
UNTOLD = """
stacks all
stack 0 0x10010
stack 1 0x80000000000000d3
stack 1 0x4000000000000123
event 0 10000 malloc 0x1000 64 2
event 0 20000 malloc 0x100000 3000000 3
"""


def untold():
    """No output shows an address that the recorder made up."""
    trace, other = made("trace", UNTOLD), made("other", UNTOLD.replace("64 2", "6400000 2").replace("3000000", "9000000"))
    run("export", trace, "--pprof", "-o", "profile.gz")
    with gzip.open("profile.gz") as file:
        profile = fields(file.read())
    same([fields(one).get(3, [0])[0] & 1 << 63 for one in profile[4]], [0, 0, 0])
    run("report", trace, "-o", "page.html")
    outputs = {"folded": run("export", trace, "--folded"), "perfetto": run("export", trace, "--perfetto"),
               "arrow": run("export", trace, "--arrow"), "pprof": b"\n".join(profile[6]),
               # heaptrack shows the address of a call only where the call has no name.
               "heaptrack": b"\n".join(re.findall(rb"(?m)^s .*$", gzip.decompress(run("export", trace, "--heaptrack")))),
               "summary": run("summary", trace), "page": json.dumps(document_in("page.html")).encode(),
               "diff": run("diff", trace, other, "--json")}
    for name, output in outputs.items():
        if name != "perfetto":  # has no stacks
            assert b"unknown function (Python)" in output and b"unknown function (library)" in output, (name, output)
        assert b"00000000d3" not in output, (name, output)
        assert b"0000000123" not in output, (name, output)


def refusals():
    trace = made("trace")
    run("export", trace, code=2)
    run("export", trace, "--pprof", "--folded", code=2)
    run("export", trace, "--heaptrack", "--what", "end", code=2)
    run("export", trace, "--pprof", "--what", "total", code=2)
    run("export", trace, "--pprof", "--blocks", code=2)
    run("export", trace, "--pprof", "--mapped", code=2)
    run("export", trace, "--heaptrack", "--mapped", "-o", "heap.gz", code=2)
    run("export", trace, "--heaptrack", "-o", "heap", code=2)
    run("export", "absent", "--folded", code=1)
    with open("text", "w", encoding="ascii") as file:
        file.write("no trace, but a text that is long enough to be one")
    run("export", "text", "--folded", "-o", "out", code=1)
    run("diff", trace, "text", code=1)
    run("diff", trace, code=2)
    run("export", trace, "--folded", "-o", "absent/out", code=125)
    run("export", trace, "--arrow", "-o", "/dev/full", code=125)
    same(sorted(os.listdir(".")), ["text", "trace"])


GROWN = TRACE + "event 0 80000 malloc 0x5000 100000 2\nevent 0 90000 malloc 0x9000000 5000000 3\nmark 85000 0 late\n"


def document_in(page):
    with open(page, encoding="utf-8") as file:
        packed = re.search(r'<script id="document"[^>]*>([^<]*)</script>', file.read())[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def charts_of(document):
    return {chart["title"]: chart for section in document["sections"] for chart in section["charts"]}


def diff():
    made("a"), made("b", GROWN.replace("0x10", "0x70").replace("0x20000", "0x80000"))
    charts = charts_of(json.loads(run("diff", "a", "b", "--json")))

    def rows(title):
        return {row[0]: row[1:4] for row in charts[title]["rows"]}

    same(rows("Bytes")["in use at the peak"], [PEAK, 5100596, 5100596 - PEAK])
    same(rows("Bytes")["in use at the end"], [596, 5100596, 5100000])
    same(rows("Counts")["successful allocations"], [5, 7, 2])
    same(rows("Bytes allocated, by size class"),
         {"blocks of 4.77 MiB": [0, 5000000, 5000000], "blocks of 100 KiB": [0, 100000, 100000]})
    # No function has a name here: all that is known of a call is its file.
    same(rows("Bytes allocated, by function"), {"unknown function (program)": [3001564, 8101564, 5100000]})
    same(rows("Bytes allocated, by thread's name"), {"(the first)": [1596, 5101596, 5100000]})
    assert "In use at the peak: from 2.86 MiB to 4.86 MiB, 70 % more." in " ".join(run("diff", "a", "b").decode().split())
    assert "No function had more" in run("diff", "a", "a").decode()
    # Where stacks were sampled, what is told by function is an estimate.
    made("a", TRACE.replace("stacks all", "stacks 1000")), made("b", GROWN.replace("stacks all", "stacks 1000"))
    document = json.loads(run("diff", "a", "b", "--json"))
    assert re.search(r"Largest growth: unknown function \(program\), from about \S+ MiB to about \S+ MiB\.$",
                     " ".join(document["story"])), document["story"]
    sites = next(section for section in document["sections"] if section["id"] == "sites")
    same({chart["title"].endswith(" (estimated from sampled stacks)") for chart in sites["charts"]}, {True})
    assert "By the sampled stacks, no function had more" in " ".join(run("diff", "a", "a").decode().split())


def diff_mapped():
    made("a", MAPPED), made("b", MAPPED.replace("2 - 2 2 12288 9000", "2 - 2 2 20480 16000"))
    charts = charts_of(json.loads(run("diff", "a", "b", "--json")))

    def rows(title):
        return {row[0]: row[1:4] for row in charts[title]["rows"]}

    same(rows("Resident memory, by kind"),
         {"the allocator's heap": [5000, 5000, 0], "mapped by the program or a library, without malloc": [9070, 16070, 7000]})
    same(rows("Resident, mapped without malloc, by function"), {"unknown function (program)": [9000, 16000, 7000]})
    same(rows("Addresses mapped without malloc, by function"), {"unknown function (program)": [12288, 20480, 8192]})
    text = " ".join(run("diff", "a", "b").decode().split())
    assert "Resident, mapped without malloc: from 8.86 KiB to 15.7 KiB, 77.2 % more. Largest growth: unknown function (program)" in text, text
    assert "What the resident memory was for was not recorded in both traces." in run("diff", "a", made("trace")).decode()


def diff_page():
    made("a"), made("b", GROWN)
    text = run("diff", "a", "b", "-o", "page.html").decode()
    document = document_in("page.html")
    same(document, json.loads(run("diff", "a", "b", "--json")))
    same(document["compared"], ["A: a", "B: b"])
    answers = " ".join(section["answer"] for section in document["sections"])
    same(len(document["story"]), 3)
    # A ends after 7 ms, B after 9.
    assert "The runs took 7 ms and 9 ms: a tenth of one is not the same time as a tenth of the other" in answers, answers
    same(len([row for row in charts_of(document)["Peak of the bytes in use, by part of the run"]["rows"]
              if "(A: " in row[0] and "; B: " in row[0]]), 10)
    assert all(sentence in answers for sentence in document["story"]), document["story"]
    assert all(" ".join(section["answer"].split()) in " ".join(text.split()) for section in document["sections"])
    same([(mark["time"], mark["text"]) for mark in document["marks"]],
         [(0.0025, "A: second phase"), (0.0025, "B: second phase"), (0.0085, "B: late")])
    charts = charts_of(document)
    # By part of the longer run's time, to 9 ms. What is in use at a point's begin counts for it; A ends after 7 ms.
    in_use = charts["Bytes in use over time"]
    same([series["name"] for series in in_use["series"]], ["A", "B"])
    a, b = (series["values"] for series in in_use["series"])
    at = {millisecond: next(i for i, end in enumerate(in_use["at"]) if end * 1000 > millisecond + 0.5)
          for millisecond in range(1, 9)}
    same([a[at[i]] for i in range(1, 8)], [64, 1064, PEAK, 1064, 1564, 564, None])
    same([b[at[i]] for i in range(1, 9)], [64, 1064, PEAK, 1064, 1564, 564, 596, 100596])
    same((max(value for value in a if value is not None), max(b), b[-1]), (PEAK, 5100596, 5100596))
    same(max(value for value in charts["Bytes resident over time"]["series"][1]["values"] if value is not None), 4096000)
    same(charts["Blocks in use over time"]["series"][1]["values"][-1], 5)
    same(document["overview"], in_use)
    parts = charts["Peak of the bytes in use, by part of each run"]
    same((len(parts["edges"]), parts["series"][1]["values"][-1]), (11, 5100596))
    # The largest size below the edge, in its bucket.
    sizes = charts["Bytes allocated, by requested size"]
    found = [{edge: value for edge, value in zip(sizes["edges"][1:], series["values"]) if value}
             for series in sizes["series"]]
    same(found[0], {32: 32, 64: 64, 512: 500, 1024: 1000, 3 << 20: 3000000})
    same(found[1], {**found[0], 112 << 10: 100000, 5 << 20: 5000000})
    # All that is known of a call is its file, but for the block without a stack, which is the program itself.
    flame = charts["Call stacks that grew or shrank from A to B"]
    same([document["frames"][number]["name"] for number in flame["frames"][1:]], ["unknown function (program)"])
    same({measure["name"]: sum(measure["values"]) for measure in flame["measures"]},
         {"more at the peak": 5100596 - PEAK, "more allocated": 5100000, "more at the end": 5100000})
    sites = charts["Functions that changed most, by bytes allocated"]
    same((sites["labels"], [series["values"] for series in sites["series"]]),
         (["unknown function (program)"], [[3001564], [8101564]]))
    # Of two that are the same nothing is left to be shown by function, and B has its place all the same.
    run("diff", "a", "a", "-o", "same.html")
    assert "a tenth of one is not the same" not in json.dumps(document_in("same.html"))
    charts = charts_of(document_in("same.html"))
    assert not any(title.startswith(("Call s", "Threads that")) for title in charts), charts.keys()
    same(charts["Bytes in use over time"]["series"][0]["values"], charts["Bytes in use over time"]["series"][1]["values"])
    run("diff", "a", "b", "-o", "absent/page.html", code=125)
    run("diff", "a", "b", "-o", "/dev/full", code=125)
    run("diff", "a", "absent", "-o", "none.html", code=1)
    same(sorted(os.listdir(".")), ["a", "b", "page.html", "same.html"])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    globals()[sys.argv[4]]()
    os.chdir("/")
