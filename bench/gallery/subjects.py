# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the programs of the gallery and of docs/papers/thesis.md: their commands, and which chart of each is shown.
# Invariant: a command runs in a folder of its own, with {inputs} for test/programs/inputs; it needs no network.
# Must not know: how a program is recorded, and what is made of its trace.
"""What is recorded. A server has a load: commands that it gets when it answers, the last of which ends it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from catalogue import mariadb, make, redis, scripts
from harness.program import Work


@dataclass(frozen=True, eq=False)
class Subject:
    name: str
    title: str
    command: str
    setting: dict[str, str] = field(default_factory=dict)  # of the environment
    options: str = ""  # of granary record
    load: tuple[str, ...] = ()
    answers: str = ""  # a command that succeeds when the server answers
    before: str = ""  # a command that is not recorded
    prepare: Callable[[Work], None] | None = None
    section: str = ""  # of the report: its answer is quoted
    chart: str = ""  # the picture
    remark: str = ""  # what to look at in it
    replay: str = ""  # allocators that it is replayed on
    in_gallery: bool = True


def input_of(lines) -> Callable[[Work], None]:
    def prepare(work: Work) -> None:
        (work.prepared / "input").write_text("\n".join(lines()) + "\n")
    return prepare


PROGRAMS = (
    Subject("gcc", "gcc compiles a C++ file of twenty standard headers",
            "$(g++ -print-prog-name=cc1plus) -quiet -imultiarch x86_64-linux-gnu -D_GNU_SOURCE -std=c++20 -O1 "
            "-DINSTANTIATIONS=1 {inputs}/large.cpp -o large.s",
            section="fragmentation", chart="Memory by blocks allocated",
            remark="The lower stretches are the heap. The upper ones are tables that double in size, which glibc maps "
                   "separately. After 3.5 million blocks a phase of the compiler frees much of some stretches."),
    Subject("redis", "redis under load",
            "redis-server --port 0 --unixsocket {folder}/socket --save '' --appendonly no",
            answers="redis-cli -s socket ping",
            load=(f"redis-benchmark -q -s socket -n 30000 -r 40000 -c 20 -P 8 -d 180 -t {redis.KINDS}",
                  "redis-cli -s socket shutdown nosave"),
            section="footprint", chart="Bytes in use, and resident",
            remark="Each kind of request is a step. While redis reads lists, it allocates and frees its replies."),
    Subject("python3", "python3 with trees, JSON, regular expressions and pickles; each object by malloc",
            "/usr/bin/python3 {inputs}/job.py 2", setting={"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"},
            section="origins", chart="Call stacks (estimated from sampled stacks)", replay="system,granary"),
    Subject("sqlite3", "sqlite3 with a hundred thousand rows, indexes and joins",
            "sqlite3 -batch load.db < {inputs}/load.sql", section="sizes", chart="Sizes over time",
            remark="Each statement asks for sizes of its own. Some statements make no call for a long time."),
    Subject("ghostscript", "ghostscript makes PNGs of a PDF of twenty pages",
            "gs -q -sDEVICE=png16m -r100 -o page-%02d.png job.pdf",
            before="gs -q -sDEVICE=pdfwrite -o job.pdf -c '/Pages 20 def' -f {inputs}/job.ps",
            section="lifetimes", chart="Lifetimes by the time of allocation",
            remark="Each of the twenty pages is a column. The line that falls from left to right at the top shows "
                   "blocks that live to the end."),
    Subject("mariadb", "mariadb with a thread for each of eight connections",
            f"mariadbd --no-defaults --datadir={{folder}}/data --socket={{folder}}/socket --tmpdir={{folder}} "
            f"--skip-networking --innodb-buffer-pool-size=48M {mariadb.LOG_SIZE} --skip-log-bin "
            + " ".join(mariadb.unprivileged()),
            prepare=mariadb.prepare, answers="mariadb-admin --no-defaults -u root -S socket ping",
            load=("sysbench oltp_read_write --mysql-socket=socket --mysql-user=root --mysql-db=bench "
                  f"{' '.join(mariadb.TABLES)} --threads=8 --events=2000 --time=0 run",
                  "mariadb-admin --no-defaults -u root -S socket shutdown"),
            section="threads", chart="Frees per second, of own blocks and of other threads' blocks",
            remark="The threads of connections free their own blocks. The main thread frees other threads' blocks when "
                   "the server ends."),
    Subject("larson-glibc", "larson with four threads on glibc's malloc", "{workloads}/larson --threads 4 --ops 1000000",
            section="fragmentation", chart="Memory over time",
            remark="The lower stretch is the heap in which the main thread allocated the first blocks. It empties "
                   "while the threads replace these blocks, and its pages stay resident. Above it are the arenas that "
                   "the threads fill meanwhile."),
    Subject("larson-granary", "larson with four threads on Granary", "{workloads}/larson --threads 4 --ops 1000000",
            options="--allocator granary", section="fragmentation", chart="Memory over time",
            remark="New blocks mostly take the place of freed ones, whichever thread freed them."),
    Subject("perl", "perl makes zone files of a hosts file", "/usr/bin/perl {inputs}/hosts.pl < input",
            setting=scripts.REPEATABLE, prepare=input_of(scripts.hosts), in_gallery=False),
    Subject("gawk", "gawk adjusts paragraphs to a width",
            "gawk -v width=64 -v indent=6 -f {inputs}/paragraphs.awk < input", prepare=input_of(scripts.text),
            in_gallery=False),
    Subject("make", "make -n on forty modules of sixty sources", "make -n -f {inputs}/tree.mk TREE={folder}",
            prepare=make.prepare, in_gallery=False),
)
