# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: of many processes: which have a trace, what is said of them in the end, and what their summaries say together.
# Invariant: what programs call is their own affair; only who they are is compared, and whose trace is the largest.
# Must not know: how it is recorded.
import os
import shutil
import subprocess
import unittest

from support import CLEAN, GRANARY, RecordTest, program

MANY = 40
WAYS = ("execve", "execvpe", "fexecve", "execv", "execvp", "execl", "execlp", "execle", "posix_spawn", "posix_spawnp")
# Starts itself, or the program that START names, with nothing but A in its environment, in the way that its word says.
STARTS = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    if (count == 3) return printf("last word: %s, of %d, A: %s\n", words[2], count, getenv("A")) < 0;
    const char *const way = words[1];
    char *const next[] = {words[0], "the", "end", NULL}, *const only[] = {"A=b", NULL};
    const char *const file = getenv("START") ? strdup(getenv("START")) : words[0];
    pid_t child;
    if (strcmp(way, "execve") == 0) return execve(file, next, only);
    if (strcmp(way, "execvpe") == 0) return execvpe(file, next, only);
    if (strcmp(way, "fexecve") == 0) return fexecve(open(file, O_RDONLY | O_CLOEXEC), next, only);
    if (strcmp(way, "execle") == 0) return execle(file, words[0], "the", "end", NULL, only);
    if (strcmp(way, "posix_spawn") == 0) return posix_spawn(&child, file, NULL, NULL, next, only) || wait(NULL) < 0;
    if (strcmp(way, "posix_spawnp") == 0) return posix_spawnp(&child, file, NULL, NULL, next, only) || wait(NULL) < 0;
    clearenv();
    putenv("A=b");
    if (strcmp(way, "execv") == 0) return execv(file, next);
    if (strcmp(way, "execvp") == 0) return execvp(file, next);
    if (strcmp(way, "execl") == 0) return execl(file, words[0], "the", "end", NULL);
    return execlp(file, words[0], "the", "end", NULL);
}
"""


class Families(RecordTest):
    def summary(self, *words):
        done = subprocess.run([GRANARY, "summary", *words], env=CLEAN, cwd=self.folder, capture_output=True, text=True,
                              check=True)
        return done.stdout

    def many(self, *options):
        churn = program("record_churn")
        return self.record(*options, "-o", "x.trace", "/bin/sh", "-c",
                           f"for i in $(/usr/bin/seq {MANY}); do /bin/echo $i; done; {churn} 5000 >/dev/null; : end")[1]

    def test_small_ones_of_many_are_left_out_and_counted(self):
        said = self.many()
        files = self.files()
        self.assertEqual(len(files), 2, files)
        self.assertIn("x.trace", files)
        self.assertIn("record_churn", files[0])
        self.assertIn(f"{MANY} × echo: ", said)
        self.assertIn("Of more than 16 traces, those of fewer than 1,000 events are left out; --keep-small keeps them.", said)
        lines = said.splitlines()
        root = next(i for i, line in enumerate(lines) if line.endswith(", x.trace"))
        self.assertIn("record_churn", lines[root + 1], "the largest first, below what made it")
        text = " ".join(self.summary("x.trace").split())
        self.assertIn(f"also started {MANY + 1} processes whose traces are not beside this one", text)

    def test_all_are_kept_on_demand(self):
        said = self.many("--keep-small")
        self.assertGreaterEqual(len(self.files()), MANY + 2)
        self.assertNotIn("left out", said)

    def test_a_few_are_all_kept_and_one_is_no_tree(self):
        _, said = self.record("-o", "x.trace", "/bin/sh", "-c", "/bin/echo 1; /bin/echo 2; : end")
        self.assertEqual(len(self.files()), 3)
        self.assertEqual(said.count("echo ("), 2, said)
        _, said = self.record("-o", "one.trace", "/bin/true")
        self.assertEqual(said.count("\n"), 1, said)

    def test_children_that_lose_the_recorders_variables(self):
        churn = program("record_churn")
        ways = {"env": f"/usr/bin/env -i {churn} 2000",
                "other library": f"LD_PRELOAD=libm.so.6 {churn} 2000",
                "unset": f"unset LD_PRELOAD GR_RECORDING; {churn} 2000; : end"}
        for way, text in ways.items():
            with self.subTest(way=way):
                self.record("--only", "record_churn", "-o", "x.trace", "/bin/bash", "-c", text)
                (name,) = self.files()
                self.assertGreaterEqual(self.trace(name).end["events"], 2000)
                os.unlink(os.path.join(self.folder, name))

    def build(self, text, name, *options):
        path = os.path.join(self.folder, name)
        subprocess.run(["gcc", "-O1", *options, "-x", "c", "-", "-o", path], input=text, text=True, check=True)
        return path

    def test_programs_that_do_not_load_the_recorders_library_are_missed_loudly(self):
        starts = self.build(STARTS, "starts")
        static = self.build("int main(void) { return 0; }", "alone", "-static")
        why = (": such a program cannot load the recorder's library, because it is static, has the rights of another user, "
               "or is for another libc or architecture")
        for way in WAYS:
            with self.subTest(way=way):
                _, said = self.record("-o", "x.trace", starts, way, environment={"START": static})
                name = "alone" if way != "fexecve" else "starts"  # what the program says it is
                self.assertIn(f"record: 1 started program was not recorded, {name}{why}\n", said)
        for way in ("execvpe", "posix_spawnp"):
            with self.subTest(way=way, by="name"):
                _, said = self.record("-o", "x.trace", starts, way,
                                      environment={"START": "alone", "PATH": f"/:{self.folder}:/bin"})
                self.assertIn(f"record: 1 started program was not recorded, alone{why}\n", said)
        _, said = self.record("-o", "x.trace", "/bin/sh", "-c", f"{static}; {static}; cd {self.folder}; ./alone; : end")
        self.assertIn(f"record: 3 started programs were not recorded, alone{why}\n", said)
        _, said = self.record("--only", "true", "-o", "x.trace", "/bin/sh", "-c", f"{static}; /bin/true")
        self.assertNotIn("not recorded", said, "only a program that is left out")
        if os.geteuid() == 0:
            other = os.path.join(self.folder, "other")
            shutil.copy("/bin/true", other)
            os.chown(other, 65534, -1)
            os.chmod(other, 0o4755)
            _, said = self.record("-o", "x.trace", "/bin/sh", "-c", f"{other}; : end")
            self.assertIn(f"record: 1 started program was not recorded, other{why}\n", said)
            as_nobody = ["setpriv", "--reuid=65534", "--clear-groups"]
            _, said = self.record("-o", "x.trace", *as_nobody, "/bin/true")
            self.assertIn(f"record: 1 started program was not recorded, true{why}\n", said, "it may not open the recording")
            os.chown(other, 0, -1)
            os.chmod(other, 0o4711)
            os.chown(self.folder, 65534, -1)
            said = subprocess.run([*as_nobody, GRANARY, "record", "-o", "y.trace", "/bin/sh", "-c", f"{other}; : end"],
                                  cwd=self.folder, env=CLEAN, capture_output=True, text=True, check=True).stderr
            self.assertIn(f"record: 1 started program was not recorded, other{why}\n", said, "its user may not read it")
        for path, code in ((static, 0o644), ("/lib64/ld-linux-x86-64.so.2", None), ("/bin/true", None)):
            if code is not None:
                os.chmod(path, code)
            if os.path.exists(path):
                _, said = self.record("-o", "x.trace", "/bin/sh", "-c", f"{path} /bin/true; : end")
                self.assertNotIn("not recorded", said, f"{path} is not started, or it loads the library")

    def test_each_function_that_starts_a_program(self):
        starts = self.build(STARTS, "starts")
        for way in WAYS:
            with self.subTest(way=way):
                output, _ = self.record("-o", "x.trace", starts, way)
                self.assertEqual(output, "last word: end, of 3, A: b\n")
                self.assertEqual(len(self.files()), 3)
                for name in self.files():
                    if name.endswith(".trace"):
                        os.unlink(os.path.join(self.folder, name))

    def test_a_process_with_process_ids_of_its_own_is_missed_loudly(self):
        unshare = ["unshare", "--pid", "--fork"]
        if subprocess.run([*unshare, "/bin/true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("only root makes namespaces")
        _, said = self.record("-o", "x.trace", *unshare, "/bin/true")
        self.assertIn("record: 1 process was not recorded: a process that has process ids of its own", said)

    def test_only(self):
        self.record("--only", "echo", "-o", "x.trace", "/bin/sh", "-c", "/bin/echo 1; /bin/ls; exec /bin/true")
        (name,) = self.files()
        self.assertRegex(name, r"^x\.echo\.\d+\.trace$")
        self.assertTrue(self.trace(name).start["program"].endswith("/echo"))
        _, said = self.record("--only", "no-such-program", "-o", "y.trace", "/bin/ls", code=1)
        self.assertIn("no program ran that --only names; these did: ls", said)
        self.assertEqual(self.files(), [name])

    def test_summary_of_many(self):
        for name, blocks in (("small", 1000), ("large", 20000)):
            self.record("-o", name, program("record_churn"), str(blocks))
        text = self.summary("small", "large")
        self.assertIn("2 traces", text.splitlines()[0])
        rows = [line.split()[:2] for line in text.splitlines() if "record_churn" in line]
        self.assertEqual(sorted(rows), [["large", "record_churn"], ["small", "record_churn"]])


if __name__ == "__main__":
    unittest.main(argv=["families"])
