# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      compiles each header alone, twice included, with warnings as errors; the C header also as C99.
# Invariant: a header that needs another includes it.
# Must not know: any header by name, but for the rule that *.h is C.
"""usage: headers_alone.py CC CXX LAB SRC INCLUDE [TOOL]"""
import concurrent.futures
import os
import pathlib
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


def jobs(c, cxx, lab, src, include, *tool):
    kinds = [(lab, LIBRARY, [lab, src, include]), (src, LIBRARY, [src, include]), (include, CPP, [include]), *((root, CPP, [root, include]) for root in tool)]
    for root, language, roots in kinds:
        for path in sorted(pathlib.Path(root).rglob("*.h*")):
            header = path.relative_to(root).as_posix()
            yield cxx, language, header, roots
            if path.suffix == ".h":
                yield c, ["-xc", "-std=c99"], header, roots


def main():
    if len(sys.argv) not in (6, 7):
        sys.exit(__doc__)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compile_alone(*job), jobs(*sys.argv[1:])))
    failures = [result for result in results if result]
    print("\n".join(failures) if failures else f"{len(results)} headers compile alone")
    sys.exit(1 if failures or not results else 0)


if __name__ == "__main__":
    main()
