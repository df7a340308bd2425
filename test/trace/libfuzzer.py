# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: so many runs of libFuzzer's program, beginning with one whole trace; from time to time with what it found before.
# Invariant: without a corpus a run is its seed; an input that fails stays in the folder where it is called, and how it is run again
#    is told.
# Must not know: what is fuzzed.
"""Usage: libfuzzer.py PROGRAM RUNS [CORPUS]   (CORPUS is kept for the next time)"""
import os
import subprocess
import sys
import tempfile

MOST_BYTES = 16384
SEED = 1


def fuzz(program, runs, corpus):
    os.makedirs(corpus, exist_ok=True)
    environment = {**os.environ, "TRACE_FUZZ_SEED": os.path.join(corpus, "whole")}
    words = [program, f"-runs={runs}", f"-seed={SEED}", f"-max_len={MOST_BYTES}", "-timeout=20", "-rss_limit_mb=2048",
             "-print_final_stats=1", f"-artifact_prefix={os.getcwd()}/", corpus]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr[-20000:])
        sys.exit(f"an input fails: {program} {os.getcwd()}/crash-... (timeout-..., oom-...)")
    stats = [line for line in done.stderr.splitlines() if line.startswith("stat::")]
    if not any(line.split()[-1] == str(runs) for line in stats if "number_of_executed_units" in line):
        sys.exit(f"not all runs were made: {stats}")
    print("\n".join(stats))


if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
if len(sys.argv) == 4:
    fuzz(sys.argv[1], int(sys.argv[2]), sys.argv[3])
else:
    with tempfile.TemporaryDirectory(prefix="granary-fuzz-") as folder:
        fuzz(sys.argv[1], int(sys.argv[2]), folder)
