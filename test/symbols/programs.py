# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the names that a trace has of a program's code are those that two other readers of debug information tell, and
#    heaptrack, and the known calls of the program have their names and lines: for each language, compiler, linker, version of
#    DWARF and place of the debug information of the table.
# Invariant: gcc and GNU ld are always there; a row whose programs are not installed is skipped, and says which is missing.
#    Where debug information lies in files that a reader does not find, it reads the program as it was before.
# Must not know: how names are found.
"""Usage: programs.py PLACES GRANARY [all]: the rows that are built quickly, or all. Prints what it compared."""
import collections
import os
import re
import shutil
import subprocess
import sys

from support import SymbolsTest, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tool", "reading", "trace"))
try:
    import granary_trace
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

GRANARY = os.path.abspath(sys.argv[2])
WANTS_ALL = "all" in sys.argv[3:]
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_", "DEBUGINFOD_"))}

C = {"main": "main", "outer": "outer", "middle": "middle", "innermost": "innermost"}
CPP = {"main": "main", "outer": "chain::outer(unsigned long)", "middle": "chain::middle(unsigned long)",
       "innermost": "chain::Pool<long>::innermost(unsigned long)"}
RUST = {"main": "chain::main", "outer": "chain::chain::outer", "middle": "chain::chain::middle",
        "innermost": "chain::chain::Pool<T>::innermost"}
D = {"main": "D main", "outer": "chain.outer(ulong)", "middle": "chain.middle(ulong)",
     "innermost": "chain.Pool!(long).Pool.innermost(ulong)"}
# Go runs C on another stack than its own functions.
GO = {**C, "main": "main.main"}

GCC, GPP, CLANG, CLANGPP = (("-O2", "-g", compiler) for compiler in ("gcc", "g++", "clang", "clang++"))
PIE, FIXED = ("-fPIE", "-pie"), ("-fno-PIE", "-no-pie")
TOGETHER = ("-Wl,-z,noseparate-code",)  # code and constants in the same pages

Row = collections.namedtuple("Row", "name calls source compiler linker options information is_quick", defaults=("file", False))
ROWS = [
    Row("C, gcc, bfd, DWARF 5", C, "chain.c", GCC, "bfd", ("-gdwarf-5", *PIE), is_quick=True),
    Row("C, gcc, bfd, DWARF 4, no PIE", C, "chain.c", GCC, "bfd", ("-gdwarf-4", *FIXED)),
    Row("C, gcc, lld, DWARF 4, noseparate-code", C, "chain.c", GCC, "lld", ("-gdwarf-4", *PIE, *TOGETHER), is_quick=True),
    Row("C, gcc, mold, DWARF 5", C, "chain.c", GCC, "mold", ("-gdwarf-5", *PIE)),
    Row("C, clang, lld, DWARF 5, no PIE", C, "chain.c", CLANG, "lld", ("-gdwarf-5", *FIXED)),
    Row("C, clang, mold, DWARF 4, no PIE, noseparate-code", C, "chain.c", CLANG, "mold", ("-gdwarf-4", *FIXED, *TOGETHER)),
    Row("C++, gcc, bfd, DWARF 4, noseparate-code", CPP, "chain.cpp", GPP, "bfd", ("-gdwarf-4", *PIE, *TOGETHER)),
    Row("C++, gcc, mold, DWARF 5", CPP, "chain.cpp", GPP, "mold", ("-gdwarf-5", *PIE)),
    Row("C++, clang, gold, DWARF 4, no PIE", CPP, "chain.cpp", CLANGPP, "gold", ("-gdwarf-4", *FIXED)),
    Row("C++, clang, lld, DWARF 5", CPP, "chain.cpp", CLANGPP, "lld", ("-gdwarf-5", *PIE), is_quick=True),
    Row("C++, clang, bfd, DWARF 5, noseparate-code", CPP, "chain.cpp", CLANGPP, "bfd", ("-gdwarf-5", *PIE, *TOGETHER)),
    Row("C, gcc, bfd, DWARF 4, split", C, "chain.c", GCC, "bfd", ("-gdwarf-4", *PIE), "split"),
    Row("C++, gcc, gold, DWARF 5, split", CPP, "chain.cpp", GPP, "gold", ("-gdwarf-5", *PIE), "split"),
    Row("C++, clang, lld, DWARF 5, split", CPP, "chain.cpp", CLANGPP, "lld", ("-gdwarf-5", *PIE), "split"),
    Row("C, gcc, bfd, stripped", C, "chain.c", GCC, "bfd", ("-rdynamic", *PIE), "dynamic symbols", is_quick=True),
    Row("C++, clang, lld, stripped", CPP, "chain.cpp", CLANGPP, "lld", ("-rdynamic", *PIE), "dynamic symbols"),
    Row("C, clang, bfd, DWARF 5, debug link", C, "chain.c", CLANG, "bfd", ("-gdwarf-5", *PIE), "debug link"),
    Row("C++, gcc, bfd, DWARF 4, build id", CPP, "chain.cpp", GPP, "bfd", ("-gdwarf-4", *PIE, "-Wl,--build-id"), "build id"),
    Row("C++, gcc, bfd, DWARF 4, dwz", CPP, "chain.cpp", GPP, "bfd", ("-gdwarf-4", *PIE), "dwz"),
    Row("Rust, bfd", RUST, "chain.rs", ("rustc", "-g", "-C", "opt-level=2"), "bfd", ()),
    Row("Rust, lld, no PIE", RUST, "chain.rs", ("rustc", "-g", "-C", "opt-level=2"), "lld", ("-C", "relocation-model=static")),
    Row("Go, with C by cgo", GO, "go/chain.go", ("go", "build"), "", ()),
    Row("D, gdc, bfd", D, "chain.d", ("gdc", "-O2", "-g"), "bfd", ()),
    Row("D, ldc, lld", D, "chain.d", ("ldc2", "-O2", "-g"), "lld", ()),
]
BEYOND_HEAPTRACK = ("split", "build id")  # it reads no .dwo files, and has no option for a folder; stacks of Go end at C
NOT_INLINED = ("main", "outer", "innermost")  # what symbols alone can tell


def known_lines(source):
    """By function: the line that calls the next one."""
    with open(os.path.join(SOURCES, source), encoding="ascii") as file:
        return {found[1]: number for number, line in enumerate(file, 1) if (found := re.search(r"// in (\w+)$", line))}


def as_in_source(function):
    """As Rust's author wrote it where a reader left a part as the linker has it."""
    for escape, letter in (("$LT$", "<"), ("$GT$", ">"), ("$u7b$", "{"), ("$u7d$", "}"), ("..", "::")):
        function = function.replace(escape, letter)
    return re.sub(r"::h[0-9a-f]{16}$", "", function).replace("::_{", "::{")


def without_templates(function):
    """As heaptrack shows it."""
    return re.sub(r"<.*>", "<>", function)


class Programs(SymbolsTest):
    table = []

    @classmethod
    def tearDownClass(cls):
        head = ("program", "known calls", "places", "as GNU", "as LLVM", "heaptrack")
        widths = [max(len(str(row[i])) for row in [head, *cls.table]) for i in range(len(head))]
        for row in [head, *cls.table]:
            print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())

    def test_rows(self):
        for row in ROWS:
            if not (row.is_quick or WANTS_ALL):
                continue
            with self.subTest(row.name):
                missing = self.missing(row)
                if missing:
                    self.table.append((row.name, f"skipped: there is no {missing}", "", "", "", ""))
                    continue
                os.makedirs(self.path(row.name))
                self.compare(row, self.path(row.name))

    @staticmethod
    def missing(row):
        compiler = next(word for word in row.compiler if not word.startswith("-"))
        programs = [compiler, "llvm-addr2line", *([f"ld.{row.linker}"] if row.linker else []),
                    *(["dwz"] if row.information == "dwz" else [])]
        return next((program for program in programs if shutil.which(program) is None), "")

    def run_in(self, folder, *words, text=""):
        done = subprocess.run(words, cwd=folder, env=CLEAN, input=text, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def build(self, row, folder, *more):
        source = os.path.join(SOURCES, row.source)
        if row.compiler[0] == "go":
            self.run_in(folder, *row.compiler, "-o", "program", source)
        elif row.compiler[0] == "rustc":
            linker = ("-C", f"link-arg=-fuse-ld={row.linker}")
            self.run_in(folder, *row.compiler, *linker, *row.options, source, "-o", "program")
        elif row.compiler[0] == "ldc2":
            self.run_in(folder, *row.compiler, f"--linker={row.linker}", source, "-of=program")
        else:
            *options, compiler = row.compiler if row.compiler[-1] in ("gcc", "g++", "clang", "clang++") else reversed(row.compiler)
            # By way of a file of its own, as .dwo files have its name.
            self.run_in(folder, compiler, *options, *[word for word in row.options if not word.startswith("-Wl,")], *more, "-c",
                        source, "-o", "program.o")
            self.run_in(folder, compiler, *row.options, f"-fuse-ld={row.linker}", "program.o", "-o", "program")

    def lay_out(self, row, folder):
        """Puts the debug information where the row wants it, and returns the program that other readers are asked about."""
        def run(*words):
            return self.run_in(folder, *words)
        shutil.copy(os.path.join(folder, "program"), os.path.join(folder, "whole"))
        if row.information == "split":
            self.build(row, folder, "-gsplit-dwarf")
            self.assertTrue(os.path.exists(os.path.join(folder, "program.dwo")))
        elif row.information == "dynamic symbols":
            run("strip", "program")
            return "program"
        elif row.information == "debug link":
            run("objcopy", "--only-keep-debug", "program", "program.debug")
            run("objcopy", "--strip-all", "--add-gnu-debuglink=program.debug", "program")
        elif row.information == "build id":
            build_id = run("readelf", "-n", "program").split("Build ID: ")[1].split()[0]
            debug = os.path.join("symbols", ".build-id", build_id[:2], f"{build_id[2:]}.debug")
            os.makedirs(os.path.join(folder, os.path.dirname(debug)))
            run("objcopy", "--only-keep-debug", "program", debug)
            run("strip", "program")
        elif row.information == "dwz":
            shutil.copy(os.path.join(folder, "program"), os.path.join(folder, "other"))
            run("dwz", "-m", "common.debug", "program", "other")
        return "whole"

    def record(self, row, folder):
        """What the trace says: by address in the program's file its calls, the outermost first; and where the stacks of the
        known calls are."""
        program = os.path.join(folder, "program")
        self.run_in(folder, GRANARY, "record", "-q", "--stacks", "all", "-o", "trace", program)
        debug = ("--debug", "symbols") if row.information == "build id" else ()
        self.run_in(folder, GRANARY, "symbolize", *debug, "trace")
        trace = granary_trace.Trace(os.path.join(folder, "trace"))
        self.assertEqual(trace.damage, "")
        segments = [[int(number, 16) for number in found] for found in re.findall(
            r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R?W? ?E", self.run_in(folder, "readelf", "-lW", "program"))]
        named = {offset: [(function, os.path.basename(source), line) for function, source, line in calls]
                 for (path, _, offset), calls in trace.symbols.items() if path == program}
        pieces = [piece for moment in trace.modules for piece in moment["modules"] if piece["path"] == program]
        places = {}
        for _, behind in trace.stacks[1:]:
            for offset in {behind - piece["begin"] + piece["offset"] for piece in pieces if piece["begin"] < behind <= piece["end"]}:
                call = next(offset - 1 - begin + address for begin, address, size in segments if begin < offset <= begin + size)
                places[call] = named.get(offset, [])
        return places

    def told(self, reader, folder, program, addresses):
        """By address the calls, the outermost first."""
        printed = self.run_in(folder, reader, "-a", "-i", "-f", "-C", "-e", program,
                              text="".join(f"{address:#x}\n" for address in addresses))
        printed = self.run_in(folder, "c++filt", "-s", "dlang", text=printed).splitlines()
        found, at = {}, 0
        while at < len(printed):
            if re.fullmatch("0x[0-9a-f]+", printed[at]):
                calls = found.setdefault(int(printed[at], 16), [])
                at += 1
                continue
            file, line = printed[at + 1].split(" (discriminator")[0].rsplit(":", 1)
            number = 0 if line == "?" else int(line)
            calls.insert(0, (as_in_source(printed[at]), os.path.basename(file) if number else "", number))
            at += 2
        return {address: [call for call in calls if call[0] != "??"] for address, calls in found.items()}

    def heaptrack(self, folder):
        """The functions of all stacks; none: heaptrack is not there."""
        if shutil.which("heaptrack") is None or shutil.which("heaptrack_print") is None:
            return None
        self.run_in(folder, "heaptrack", "-o", "heaptrack", os.path.join(folder, "program"))
        self.run_in(folder, "heaptrack_print", "-f", "heaptrack.zst", "-F", "stacks")
        with open(os.path.join(folder, "stacks"), encoding="utf-8") as file:
            text = self.run_in(folder, "c++filt", "-s", "dlang", text=re.sub(r" \d+$", "", file.read(), flags=re.M))
        return {without_templates(as_in_source(re.sub(r" \([^()]*\)$", "", call)))
                for stack in text.splitlines() for call in stack.split(";")}

    def compare(self, row, folder):
        self.build(row, folder)
        reference = self.lay_out(row, folder)
        places = self.record(row, folder)
        has_lines = row.information != "dynamic symbols"
        lines = known_lines(row.source)
        source = os.path.basename(row.source)
        wanted = {(name, source if has_lines else "", lines[call] if has_lines else 0)
                  for call, name in row.calls.items() if has_lines or call in NOT_INLINED}
        found = wanted & {call for calls in places.values() for call in calls}
        # Each inlined call stands behind the function that it is in.
        if has_lines:
            self.assertIn([row.calls["outer"], row.calls["middle"]], [[name for name, _, _ in calls] for calls in places.values()])
        self.assertEqual(found, wanted, sorted(places.items()))
        gnu, llvm = (self.told(reader, folder, reference, places) for reader in ("addr2line", "llvm-addr2line"))
        self.assertEqual([f"{address:#x}: {calls}, but GNU {gnu[address]}, LLVM {llvm[address]}"
                          for address, calls in sorted(places.items()) if calls not in (gnu[address], llvm[address])], [])
        theirs = self.heaptrack(folder)
        text = "not installed"
        if theirs is not None:
            names = {without_templates(name) for name, _, _ in wanted}
            text = f"{len(names & theirs)} of {len(names)}"
            if row.information not in BEYOND_HEAPTRACK and row.calls is not GO:
                self.assertLessEqual(names, theirs)
        self.table.append((row.name, f"{len(found)} of {len(wanted)}", len(places),
                           *(sum(calls == reader[address] for address, calls in places.items()) for reader in (gnu, llvm)), text))


if __name__ == "__main__":
    main()
