# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: functions, inlined functions, files and lines of each instruction are those that another reader of debug
#    information tells, whichever compiler, linker and version of DWARF made the program, and wherever the debug information lies.
# Invariant: gcc and GNU ld are always there; other programs are tried where they are installed.
# Must not know: how names are found.
import os
import re
import shutil

from support import Place, SymbolsTest, main

HEADER = """
#include <cstdlib>
namespace deep { namespace er {
inline __attribute__((always_inline)) void *innermost(unsigned long bytes) {
    void *const block = std::malloc(bytes);
    *static_cast<volatile char *>(block) = 1;
    return block;
}
inline __attribute__((always_inline)) void *middle(unsigned long bytes) {
    return innermost(bytes + 3);
}
template <class T> struct Pool {
    __attribute__((noinline)) void *take(int count) {
        void *last = nullptr;
        for (int i = 0; i < count; ++i)
            last = middle(sizeof(T) * static_cast<unsigned>(i));
        return last;
    }
};
} }
"""
PROGRAM = """
#include "pool.hpp"
extern "C" void *of_other_unit(int);
static deep::er::Pool<long> pool;
__attribute__((noinline)) static void *local(int count) {
    const auto twice = [](int n) __attribute__((always_inline)) { return deep::er::middle(n * 2); };
    void *const block = twice(count);
    return count > 100 ? pool.take(count) : block;
}
int main(int count, char **) {
    void *const a = local(count * 200);
    void *const b = of_other_unit(count);
    return a == b;
}
"""
OTHER = """
#include <stdlib.h>
static inline __attribute__((always_inline)) void *inner(int n) {
    char *p = malloc(n + 10);
    *(volatile char *)p = 2;
    return p;
}
void *of_other_unit(int n) {
    void *first = inner(n);
    return n > 1000 ? inner(n * 7) : first;
}
void never_called_and_left_out(void) { abort(); }
"""
FUNCTIONS = "main|of_other_unit|_ZL5locali|_ZN4deep2er4Pool.*"
COMPILERS = {"gcc": "g++", "clang": "clang++"}
SECTIONS = ["-ffunction-sections", "-Wl,--gc-sections"]  # functions that are left out have addresses, too


class Lines(SymbolsTest):
    def setUp(self):
        super().setUp()
        for name, text in (("pool.hpp", HEADER), ("program.cpp", PROGRAM), ("other.c", OTHER)):
            self.write(name, text)

    def build(self, compiler, *options, program="program", link=()):
        compiling = [option for option in options if not option.startswith("-Wl,")]
        self.run_here(compiler, "-c", "-O2", *compiling, "other.c", "-o", f"{program}-other.o")
        self.run_here(COMPILERS[compiler], "-c", "-O2", *compiling, "program.cpp", "-o", f"{program}-program.o")
        self.link(compiler, program, *options, *link)

    def link(self, compiler, program, *options, to=None):
        self.run_here(COMPILERS[compiler], *options, f"{program}-other.o", f"{program}-program.o", "-o", to or program)

    def check(self, program="program", reference=None):
        addresses = self.code(reference or program, FUNCTIONS)
        wanted = self.reference(reference or program, addresses)
        # Behind a function there may be instructions that only fill up.
        wanted = {address: places for address, places in wanted.items() if places[0][2] != 0 and places[-1][0] != "??"}
        self.assertLessEqual({"main", "local(int)", "of_other_unit", "inner", "deep::er::innermost(unsigned long)",
                              "deep::er::middle(unsigned long)", "deep::er::Pool<long>::take(int)"},
                             {function for places in wanted.values() for function, _, _ in places})
        found = self.places(program, wanted)
        # Compilers give no linker's name to a lambda that was inlined everywhere; LLVM names its function alone.
        for places in found.values():
            places[:] = [Place("operator()" if re.search("::operator[(][)]$", function) else function, file, line)
                         for function, file, line in places]
        differences = [f"{address:#x}: {found[address]}, but {places}" for address, places in wanted.items()
                       if found[address] != places]
        self.assertEqual("\n".join(differences), "")

    def test_versions(self):
        for compiler in COMPILERS:
            for version in ("4", "5"):
                with self.subTest(compiler=compiler, version=version):
                    self.build(compiler, "-g", f"-gdwarf-{version}", *SECTIONS)
                    self.check()

    def check_linker(self, linker):
        if shutil.which(f"ld.{linker}") is None:
            self.skipTest(f"there is no ld.{linker}")
        pages = [] if linker == "gold" else [["-Wl,-z,separate-code"], ["-Wl,-z,noseparate-code"]]
        self.build("clang", "-g", "-fPIE", *SECTIONS)
        for layout in [["-pie"], ["-no-pie"], *pages]:
            with self.subTest(layout=layout):
                self.link("clang", "program", f"-fuse-ld={linker}", "-Wl,--gc-sections", *layout)
                self.check()

    def test_bfd(self):
        self.check_linker("bfd")

    def test_gold(self):
        self.check_linker("gold")

    def test_lld(self):
        self.check_linker("lld")

    def test_mold(self):
        self.check_linker("mold")

    def test_split(self):
        for compiler in COMPILERS:
            for version in ("4", "5"):
                with self.subTest(compiler=compiler, version=version):
                    options = ["-g", f"-gdwarf-{version}", "-fPIE", "-pie"]
                    self.build(compiler, *options, program="whole")
                    self.build(compiler, *options, "-gsplit-dwarf", program="split")
                    self.assertTrue(os.path.exists(self.path("split-other.dwo")))
                    self.check("split", reference="whole")

    def test_separate_file(self):
        """The debug information lies in a file that .gnu_debuglink names."""
        self.build("gcc", "-g")
        self.run_here("objcopy", "--only-keep-debug", "program", "program.debug")
        self.run_here("objcopy", "--strip-all", "--add-gnu-debuglink=program.debug", "program", "stripped")
        self.check("stripped", reference="program")
        os.mkdir(self.path(".debug"))
        os.rename(self.path("program.debug"), self.path(".debug/program.debug"))
        self.check("stripped", reference="program")

    def test_common_file(self):
        """What two programs have in common lies in a third file, by dwz (.gnu_debugaltlink)."""
        self.build("gcc", "-g", "-gdwarf-4")
        for copy in ("one", "two"):
            shutil.copy(self.path("program"), self.path(copy))
        self.run_here("dwz", "-m", "common.debug", "one", "two")
        self.check("one", reference="program")


if __name__ == "__main__":
    main()
