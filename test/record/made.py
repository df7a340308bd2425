# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a stack leads through code that the program made while it ran, and has the name that the program tells perf.
# Invariant: the program of C makes its code itself; node is tried where it is installed.
# Must not know: how a stack is taken.
import os
import platform
import shutil
import subprocess
import sys
import unittest

from support import GRANARY, RecordTest

# push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) void work(void) { *(volatile char *)malloc(70000) = 1; }
int main(void) {
    static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return 77;
    memcpy(made, code, sizeof code);
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    fprintf(map, "%lx %zx made while it ran\\n", (unsigned long)made, sizeof code);
    fclose(map);
    puts(path);
    ((void (*)(void (*)(void)))made)(work);
    return 0;
}
"""
SCRIPT = """
function keepBuffers(n) { const kept = []; for (let i = 0; i < n; i++) kept.push(Buffer.alloc(300000 + i)); return kept; }
function outerWork(n) { return keepBuffers(n).length; }
console.log(process.pid, outerWork(10) + outerWork(20));
"""

JAVA = """
public class App {
    static java.nio.ByteBuffer keep(int bytes) { return java.nio.ByteBuffer.allocateDirect(bytes); }
    static int outer(int bytes) { return keep(bytes).capacity(); }
    public static void main(String[] words) { System.out.println(ProcessHandle.current().pid() + " " + outer(5000000)); }
}
"""


class Made(RecordTest):
    def folded(self):
        return subprocess.run([GRANARY, "export", "trace", "--folded", "--what", "total"], cwd=self.folder, check=True,
                              capture_output=True, text=True).stdout

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    @unittest.skipUnless(platform.machine() == "x86_64", "the code is of x86-64")
    def test_own_code(self):
        program = os.path.join(self.folder, "program")
        subprocess.run(["gcc", "-O1", self.write("program.c", SOURCE), "-o", program], check=True, capture_output=True)
        output, _ = self.record("-q", "--stacks", "all", "-o", "trace", program)
        os.remove(output.strip())
        self.assertRegex(self.folded(), r"(?m)main;made while it ran;work 70000$")

    def test_node(self):
        node = shutil.which("node")
        if node is None:
            self.skipTest("there is no node")
        script = self.write("app.js", SCRIPT)
        output, _ = self.record("-q", "--stacks", "all", "-o", "trace", node, "--perf-basic-prof",
                                "--interpreted-frames-native-stack", script)
        os.remove(f"/tmp/perf-{output.split()[0]}.map")
        self.assertRegex(self.folded(), r"node::Start[^\n]*;[^;\n]*outerWork[^;\n]*;[^;\n]*keepBuffers[^;\n]*;")

    def test_java(self):
        """Functions that are interpreted have one name; those that were compiled have their own."""
        if shutil.which("javac") is None:
            self.skipTest("there is no javac")
        self.write("App.java", JAVA)
        subprocess.run(["javac", "App.java"], cwd=self.folder, check=True, capture_output=True)
        output, _ = self.record("-q", "--stacks", "all", "-o", "trace", "java", "-XX:+PreserveFramePointer", "-Xcomp",
                                "-XX:-Inline", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,App::*",
                                "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-cp", ".", "App")
        os.remove(f"/tmp/perf-{output.split()[0]}.map")
        self.assertRegex(self.folded(), r"(?m)JavaMain;[^\n]*;[^;\n]*App.main[^;\n]*;[^;\n]*App.outer[^;\n]*;"
                                        r"[^;\n]*App.keep[^;\n]*;[^\n]*Unsafe_AllocateMemory")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
