# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary symbolize and granary record --embed-symbols: a trace keeps its names where the program's files are gone,
#    and files are found by path, below a sysroot, by build id and from a debuginfod server.
# Invariant: the server is one of this test's own; a file of another build gives no names.
# Must not know: the bytes of a trace.
import ctypes.util
import http.server
import os
import shutil
import struct
import subprocess
import sys
import threading

from support import SymbolsTest, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tool", "reading", "trace"))
GRANARY = os.path.abspath(sys.argv[2])
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("GRANARY_", "LD_", "DEBUGINFOD_"))}
PROGRAM = """
#include <cstdlib>
template <class T> static inline __attribute__((always_inline)) T *made(int n) {
    T *const one = static_cast<T *>(std::malloc(sizeof(T) + n));
    *(volatile char *)one = 1;
    return one;
}
template <class T> __attribute__((noinline)) static void *middle(int n) { return made<T>(n); }
int main() { for (int i = 0; i < 64; ++i) std::free(middle<long>(i)); return 0; }
"""
# gcc puts what is seldom executed into functions of their own: work.cold.
IN_PARTS = """
#include <stdlib.h>
__attribute__((cold, noinline)) static void *rare(int n) {
    void *const one = malloc(n + 4000);
    *(volatile char *)one = 1;
    return one;
}
__attribute__((noinline)) void *work(int n) {
    void *one = malloc(n);
    if (__builtin_expect(n % 7 == 3, 0)) {
        void *two = rare(n);
        void *three = malloc(9000);
        free(two);
        free(one);
        return three;
    }
    return one;
}
int main(int count, char **words) {
    for (int i = 0; i < 64; ++i) {
        void *block = work(i);
        if (block == words) abort();
        free(block);
    }
    return count == 0;
}
"""
NAMES = "main;void* middle<long>(int);made<long int>"


class Symbolize(SymbolsTest):
    def setUp(self):
        super().setUp()
        self.write("program.cpp", PROGRAM)
        self.build("-g", "-O2")

    def build(self, *options):
        self.run_here("g++", *options, "-Wl,--build-id", "program.cpp", "-o", "program")

    def granary(self, *words, code=0, **variables):
        """What it printed, and what it complained about."""
        done = subprocess.run([GRANARY, *words], cwd=self.folder, env={**CLEAN, **variables}, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
        return done.stdout, done.stderr

    def record(self, *options):
        self.granary("record", "-q", "--stacks", "all", "-o", "trace", *options, self.path("program"))

    def has_names(self, trace="trace"):
        return NAMES in self.granary("export", trace, "--folded")[0]

    def hide_program(self, *to):
        os.makedirs(os.path.dirname(self.path(os.path.join(*to))), exist_ok=True)
        os.rename(self.path("program"), self.path(os.path.join(*to)))

    def split_program(self):
        """Where its debug information lies by build id; the program has none any more."""
        notes = self.run_here("readelf", "-n", "program")
        build_id = notes.split("Build ID: ")[1].split()[0]
        link = f"symbols/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
        os.makedirs(os.path.dirname(self.path(link)))
        self.run_here("objcopy", "--only-keep-debug", "program", link)
        self.run_here("strip", "program")
        return build_id, link

    def test_names_stay(self):
        self.record()
        before = self.granary("export", "trace", "--folded")[0]
        self.assertIn(NAMES, before)
        printed, said = self.granary("symbolize", "trace", "-o", "named")
        self.assertRegex(printed, r"^named: \d+ of \d+ places in the code have names\n$")
        self.assertEqual(said, "")
        self.hide_program("elsewhere", "program")
        self.assertFalse(self.has_names("trace"))
        self.assertEqual(self.granary("export", "named", "--folded")[0], before)
        self.assertEqual(os.stat(self.path("named")).st_mode & 0o777, 0o600)
        printed, said = self.granary("symbolize", "named")
        self.assertIn(f"granary: {self.path('program')} is not there; say with --sysroot", said)
        self.assertEqual(said.count(self.path("program")), 1)
        self.assertTrue(self.has_names("named"), "names that a file gave before stay")

    def test_record(self):
        self.record("--embed-symbols")
        self.hide_program("elsewhere", "program")
        self.assertTrue(self.has_names())

    def test_summary_shortens(self):
        self.record()
        self.assertIn("made<…>", self.granary("summary", "trace")[0])
        self.assertNotIn("<long", self.granary("summary", "trace")[0])
        self.assertIn("made<long int>", self.granary("summary", "--whole-names", "trace")[0])

    def test_reader_in_python(self):
        try:
            import granary_trace  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            self.skipTest(str(error))
        self.record("--embed-symbols")
        trace = granary_trace.Trace(self.path("trace"))
        self.assertEqual(trace.damage, "")
        calls = {tuple((function, os.path.basename(source), line) for function, source, line in calls)
                 for (path, _, _), calls in trace.symbols.items() if path == self.path("program")}
        self.assertIn((("void* middle<long>(int)", "program.cpp", 8), ("made<long int>", "program.cpp", 4)), calls)

    def test_part_of_a_function(self):
        self.write("program.c", IN_PARTS)
        self.run_here("gcc", "-g", "-O2", "program.c", "-o", "program")
        self.assertIn("work.cold", self.run_here("nm", "program"))
        self.record()
        stacks = [line.rsplit(" ", 1)[0] for line in
                  self.granary("export", "trace", "--folded", "--what", "total")[0].splitlines()]
        self.assertTrue([stack for stack in stacks if stack.endswith("main;work;rare")], stacks)
        self.assertTrue([stack for stack in stacks if stack.endswith("main;work")], stacks)
        self.assertFalse([stack for stack in stacks if "cold" in stack], stacks)

    def test_sysroot(self):
        self.record()
        self.hide_program("root" + self.path("program"))
        self.granary("symbolize", "--sysroot", "root", "trace")
        self.assertTrue(self.has_names())

    def test_other_build(self):
        self.record()
        self.build("-g", "-O1")
        said = self.granary("symbolize", "trace")[1]
        why = f"{self.path('program')} has another build id than the recorded file"
        self.assertIn(f"granary: {why}; say with", said)
        self.assertFalse(self.has_names())
        note = f"Some functions have no names: {why}. `granary symbolize` looks for such files elsewhere."
        summary = " ".join(self.granary("summary", "trace")[0].split())
        self.assertIn(note, summary)
        compared = " ".join(self.granary("diff", "trace", "trace")[0].split())
        self.assertIn(f"note: A: {note} note: B: {note}", compared)
        for chosen in ("--pprof", "--folded", "--heaptrack", "--arrow"):
            self.assertEqual(self.granary("export", chosen, "-o", "other.gz", "trace")[1], f"granary: {note}\n", chosen)
        os.remove(self.path("program"))
        summary = " ".join(self.granary("summary", "trace")[0].split())
        self.assertIn(f"Some functions have no names: {self.path('program')} is not there. ", summary)

    def test_debug_information_that_zstd_compressed(self):
        try:
            self.run_here("objcopy", "--compress-debug-sections=zstd", "program")
        except AssertionError as error:
            self.skipTest(f"this objcopy does not know zstd: {error}")
        self.record()
        self.assertTrue(self.has_names())
        with open(self.path("program"), "rb") as file:
            whole = file.read()
        table, = struct.unpack_from("<Q", whole, 0x28)
        headers = [struct.unpack_from("<IIQQQQIIQQ", whole, at) for at in range(table, len(whole) - 63, 64)]
        compressed = [(offset, size) for _, _, flags, _, offset, size, *_ in headers if flags & 0x800]
        self.assertTrue(compressed)
        # The size of what it becomes, its first bytes, all of it: what is broken has no lines, and nothing else happens.
        for place, spoilt in ((8, struct.pack("<Q", 1 << 63)), (8, struct.pack("<Q", 1)), (24, b"\xff" * 8), (0, None)):
            spoilt_file = bytearray(whole)
            for offset, size in compressed:
                content = spoilt or os.urandom(size)
                spoilt_file[offset + place:offset + place + len(content)] = content
            with open(self.path("program"), "wb") as file:
                file.write(spoilt_file)
            folded = self.granary("export", "trace", "--folded")[0]
            self.assertIn("main;void* middle<long>(int) ", folded)

    def test_debug_information_by_build_id(self):
        _, link = self.split_program()
        self.record()
        self.assertFalse(self.has_names())
        os.mkdir(self.path("flat"))
        shutil.copy(self.path(link), self.path("flat/program.debug"))
        for folder in ("symbols", "flat"):
            self.granary("symbolize", "--debug", folder, "-o", "named", "trace")
            self.assertTrue(self.has_names("named"), folder)
        self.hide_program("elsewhere", "program")
        for folder in ("symbols", "flat"):
            self.granary("symbolize", "--debug", folder, "-o", "named", "trace")
            self.assertTrue(self.has_names("named"), f"from the debug information alone, in {folder}")

    def test_server(self):
        if ctypes.util.find_library("debuginfod") is None:
            self.skipTest("there is no libdebuginfod")
        build_id, link = self.split_program()
        self.record()
        served = {f"/buildid/{build_id}/executable": self.path("elsewhere/program"),
                  f"/buildid/{build_id}/debuginfo": self.path(link)}
        self.hide_program("elsewhere", "program")

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                path = served.get(self.path)
                self.send_response(200 if path else 404)
                content = b""
                if path:
                    with open(path, "rb") as file:
                        content = file.read()
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        variables = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}",
                     "DEBUGINFOD_CACHE_PATH": self.path("cache")}
        self.granary("symbolize", "--debuginfod", "trace", **variables)
        self.assertTrue(self.has_names())

    def test_refusals(self):
        self.record()
        said = self.granary("symbolize", "--debuginfod", "trace", code=2)[1]
        self.assertRegex(said, r"\Agranary: symbolize: --debuginfod: no server is named; set DEBUGINFOD_URLS[^\n]*\n\Z")
        self.granary("symbolize", "--debug", "nowhere", "trace", code=2)
        self.granary("symbolize", "program", code=1)
        self.granary("symbolize", "-o", "nowhere/named", "trace", code=125)


if __name__ == "__main__":
    main()
