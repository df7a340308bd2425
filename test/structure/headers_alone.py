# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: compiles each header alone, twice included, with warnings as errors; the C header also as C99.
# Invariant: a header that needs another includes it. A header that its own source includes first is compiled alone by that
#    source (the command's by `make lint`, which compiles each file apart), and left out here. With LAB or TOOL
#    their headers are compiled, not those of SRC and INCLUDE.
# Must not know: any header by name, but for the rule that *.h is C.
"""usage: headers_alone.py CC CXX SRC INCLUDE [lab=LAB] [tool=TOOL]"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
CPP = ["-xc++", "-std=c++20"]
LIBRARY = [*CPP, "-fno-exceptions", "-fno-rtti"]


def compile_alone(compiler, language, header, roots):
    text = f'#include "{header}"\n#include "{header}"\n'
    flags = [f"-I{root}" for root in roots] + WARNINGS + ["-fsyntax-only", *language, "-"]
    done = subprocess.run([compiler, *flags], input=text, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{header} does not compile alone:\n{done.stderr}"


# "heap/bin.hpp" of heap/bin.cpp, in whose first line of includes it stands.
def is_read_first(path, header):
    source = path.with_suffix(".cpp")
    if not source.exists():
        return False
    first = re.search(r'^#include\s+[<"]([^>"]+)[>"]', source.read_text(), re.M)
    return first is not None and first[1] == header


def jobs(c, cxx, src, include, *others):
    kinds = [(src, LIBRARY, [src, include]), (include, CPP, [include])]
    if others:
        named = dict(other.split("=", 1) for other in others)
        kinds = [(root, LIBRARY, [root, src, include]) if name == "lab" else (root, CPP, [root, include])
                 for name, root in named.items()]
    for root, language, roots in kinds:
        for path in sorted(pathlib.Path(root).rglob("*.h*")):
            header = path.relative_to(root).as_posix()
            if is_read_first(path, header):
                continue
            yield cxx, language, header, roots
            if path.suffix == ".h":
                yield c, ["-xc", "-std=c99"], header, roots


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compile_alone(*job), jobs(*sys.argv[1:])))
    failures = [result for result in results if result]
    print("\n".join(failures) if failures else f"{len(results)} headers compile alone")
    sys.exit(1 if failures or not results else 0)


if __name__ == "__main__":
    main()
