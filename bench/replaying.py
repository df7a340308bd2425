# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a replay beside the program that was recorded, on the allocator on which it ran: what was in use at the peak,
#    and how much memory it took.
# Invariant: programs of Debian packages that obtain their memory by malloc, recorded without stacks.
# Must not know: how a replay is made.
"""Usage: replaying.py BUILD-FOLDER > docs/results/raw/replay.txt"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GRANARY = Path(sys.argv[1]).resolve() / "granary"
ALLOCATORS = ("system", "granary")
ROUNDS = 3
MIB = 1 << 20

TABLE = """create table t(a,b);
with recursive c(x) as (select 1 union all select x+1 from c where x<400000) insert into t select x, 'row number '||x from c;
create index i on t(b); select count(*) from t where b like '%99%';"""
HASH = """my %h; for my $i (1..400000) { $h{"key$i"} = [$i, "v$i"]; }
my $s = 0; for (keys %h) { $s += $h{$_}[0]; delete $h{$_} if $s % 3 == 0; } print "$s\\n";"""
PROGRAMS = {
    "sqlite3": ["sqlite3", ":memory:", TABLE],
    "perl": ["perl", "-e", HASH],
    "git": ["git", "-C", str(ROOT), "log", "--stat", "-n", "300"],
}


def output_of(*words) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def most_anonymous(summary: dict) -> float:
    """Of the recorded program, as its resident set was sampled."""
    return max(value for section in summary["sections"] for chart in section["charts"]
               for series in chart.get("series", []) if series["name"] == "anonymous"
               for value in series["values"] if value is not None)


def row(name: str, command: list[str], allocator: str, trace: Path) -> str:
    subprocess.run([GRANARY, "record", "-q", "-o", trace, "--stacks", "none", "--allocator", allocator, *command],
                   check=True, stdout=subprocess.DEVNULL)
    recorded = most_anonymous(json.loads(output_of(GRANARY, "summary", "--json", trace)))
    told = json.loads(output_of(GRANARY, "replay", "--json", "--rounds", str(ROUNDS), "--with", allocator, trace))
    played, = told["allocators"]
    live, most = played["live_at_peak_bytes"]["median"], played["most_resident_bytes"]["median"]
    return (f"{name:<10}{allocator:<10}{told['operations']:>12}{told['peak_bytes']:>14}{int(live):>14}"
            f"{recorded / MIB:>12.1f}{most / MIB:>12.1f}{most / recorded:>8.2f}")


def main() -> None:
    print("A replay on the allocator that the recorded program used: bytes in use at the peak, recorded and played,")
    print(f"and most anonymous memory, MiB; medians of {ROUNDS} rounds.\n$ python3 bench/replaying.py build/release\n")
    print(f"{'':<10}{'':<10}{'operations':>12}{'peak':>14}{'played':>14}{'recorded':>12}{'played':>12}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in PROGRAMS.items():
            for allocator in ALLOCATORS:
                print(row(name, command, allocator, Path(folder) / "one.trace"), flush=True)


if __name__ == "__main__":
    main()
