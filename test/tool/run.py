#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary run: exit codes, signals, the command line, what the program finds in its environment.
# Invariant: whatever the program does and is given passes through unchanged.
# Must not know: what the library does.
"""Usage: run.py GRANARY LIBRARY FIXTURES."""

import json
import os
import signal
import subprocess

from support import CLEAN, GRANARY, LIBRARY, ToolTest, fixture, granary, main, run_program


class Collector(ToolTest):
    def test_the_folder_of_the_librarys_neighbour_comes_first(self):
        result = run_program("--gc", "sh", "-c", "echo $LD_LIBRARY_PATH; echo $LD_PRELOAD",
                             environment={"LD_LIBRARY_PATH": "/other"})
        folder = os.path.join(os.path.dirname(os.path.realpath(LIBRARY)), "libgc")
        self.assertEqual(result.stdout, f"{folder}:/other\n\n")
        self.assertTrue(os.path.exists(os.path.join(folder, "libgc.so.1")))

    def test_without_it_nothing_runs(self):
        library = os.path.join(self.folder, "libgranary.so")
        os.link(os.path.realpath(LIBRARY), library)
        result = granary("run", "--gc", "--library", library, "echo", "ran")
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.one_line(result.stderr)


class ExitCodes(ToolTest):
    def test_the_programs_own(self):
        for code in (0, 1, 2, 42, 125, 126, 127, 255):
            result = run_program("sh", "-c", f"exit {code}")
            self.assertEqual((result.returncode, result.stderr), (code, ""))

    def test_not_found(self):
        for program in ("no-such-program-here", "/no/such/program", ""):
            result = run_program(program)
            self.assertEqual(result.returncode, 127, program)
            self.one_line(result.stderr)

    def test_not_executable(self):
        result = run_program(self.write("plain", "echo hello\n", 0o644))
        self.assertEqual(result.returncode, 126)
        self.one_line(result.stderr)

    def test_a_folder(self):
        result = run_program(self.folder)
        self.assertEqual(result.returncode, 126)
        self.one_line(result.stderr)

    def test_wrong_command_line(self):
        for arguments in (
            (),
            ("frobnicate",),
            ("run",),
            ("run", "--"),
            ("run", "--bogus", "true"),
            ("run", "--stats=xml", "true"),
            ("run", "--set"),
            ("run", "--set", "RETAIN", "true"),
            ("run", "--set", "=1", "true"),
            ("run", "--set", "A-B=1", "true"),
            ("doctor",),
            ("doctor", "a", "b"),
            ("options", "extra"),
        ):
            result = granary(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stdout, "")
            self.one_line(result.stderr)

    def test_stdout_full(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for arguments in (("--version",), ("--help",), ("doctor", fixture("plain"))):
                command = [GRANARY, *arguments]
                result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(result.returncode, 125, arguments)
                self.one_line(result.stderr)

    def test_stderr_closed(self):
        for arguments, code in (((fixture("static"),), 0), (("no-such-program-here",), 127), (("--bogus",), 2)):
            shell = ["sh", "-c", 'exec "$@" 2>&-', "sh"]
            result = subprocess.run([*shell, GRANARY, "run", "--library", LIBRARY, *arguments], check=False)
            self.assertEqual(result.returncode, code, arguments)

    def test_help_and_version(self):
        for line in ("--help", "run --help", "doctor -h", "options --help", "version --help", "--version", "version"):
            arguments = line.split()
            result = granary(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
            self.assertIn("granary", result.stdout)


class Signals(ToolTest):
    def test_the_program_dies_by_its_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGABRT):
            self.assertEqual(run_program("sh", "-c", f"ulimit -c 0; kill -{int(number)} $$").returncode, -number)

    def test_the_program_is_the_process_that_was_started(self):
        script = "trap 'echo caught; exit 3' USR1; echo $$; while :; do :; done"
        command = [GRANARY, "run", "--library", LIBRARY, "sh", "-c", script]
        with subprocess.Popen(command, env=CLEAN, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(int(process.stdout.readline()), process.pid)
            process.send_signal(signal.SIGUSR1)
            self.assertEqual(process.communicate()[0], "caught\n")
            self.assertEqual(process.returncode, 3)

    def test_ignored_signals_stay_ignored(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        result = run_program("sh", "-c", "kill -HUP $$; echo alive", preexec_fn=ignore)
        self.assertEqual((result.returncode, result.stdout), (0, "alive\n"))

    def test_standard_input(self):
        command = [GRANARY, "run", "--library", LIBRARY, "cat"]
        self.assertEqual(subprocess.check_output(command, input="through\n", text=True), "through\n")


class Arguments(ToolTest):
    def test_all_of_them_reach_the_program(self):
        words = ["--stats", "--help", "-q", "--", "[a,b]", "{x}", "", "a b", "--set", "-h", "\n", "ö", "="]
        for start in ((), ("--",), ("--quiet", "--")):
            result = run_program(*start, "printf", "<%s>", *words)
            self.assertEqual(result.stdout, "".join(f"<{word}>" for word in words))
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_program_whose_name_begins_with_a_dash(self):
        self.write("-odd", "#!/bin/sh\necho odd\n")
        path = {"PATH": self.folder + ":" + CLEAN["PATH"]}
        self.assertEqual(run_program("--", "-odd", environment=path).stdout, "odd\n")

    def test_a_text_without_a_first_line_is_the_shells(self):
        result = run_program(self.write("script", "echo $LD_PRELOAD\n"))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, LIBRARY + "\n", ""))


class Environment(ToolTest):
    def variables(self, *arguments, **options):
        result = run_program(*arguments, "env", "-0", **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return dict(entry.split("=", 1) for entry in result.stdout.split("\0") if entry)

    def options(self, *arguments, **options):
        variables = self.variables(*arguments, **options)
        return {name: value for name, value in variables.items() if name.startswith("GRANARY_")}

    def test_only_the_preload_is_added(self):
        self.assertEqual(self.variables(), {**CLEAN, "LD_PRELOAD": LIBRARY})

    def test_preload_kept(self):
        for before in ("libm.so.6", "libm.so.6:libdl.so.2", "libm.so.6 libdl.so.2"):
            self.assertEqual(self.variables(environment={"LD_PRELOAD": before})["LD_PRELOAD"], f"{LIBRARY}:{before}")
        self.assertEqual(self.variables(environment={"LD_PRELOAD": ""})["LD_PRELOAD"], LIBRARY)

    def test_preload_not_doubled(self):
        before = f"{LIBRARY}:libm.so.6"
        self.assertEqual(self.variables(environment={"LD_PRELOAD": before})["LD_PRELOAD"], before)

    def test_options(self):
        self.assertEqual(self.options("--stats"), {"GRANARY_STATS": "text"})
        self.assertEqual(self.options("--stats=text"), {"GRANARY_STATS": "text"})
        self.assertEqual(self.options("--stats=json"), {"GRANARY_STATS": "json"})
        self.assertEqual(self.options("--stats=prometheus"), {"GRANARY_STATS": "prometheus"})
        self.assertEqual(self.options("--no-rseq"), {"GRANARY_RSEQ": "off"})
        self.assertEqual(self.options("--junk"), {"GRANARY_JUNK": "all"})
        self.assertEqual(self.options("--set", "retain=1M"), {"GRANARY_RETAIN": "1M"})
        self.assertEqual(self.options("--set", "GRANARY_RETAIN=1M"), {"GRANARY_RETAIN": "1M"})
        both = self.options("--set", "RETAIN=1M", "--set=DIRECT=64M", environment={"GRANARY_RETAIN": "2M"})
        self.assertEqual(both, {"GRANARY_RETAIN": "1M", "GRANARY_DIRECT": "64M"})

    def test_a_former_name(self):
        # The program is a shell that starts nothing else: each process that runs on Granary says it.
        result = run_program("--set", "breath=8M", "sh", "-c", 'printf %s "$GRANARY_BREATH"')
        self.assertEqual(result.stdout, "8M")
        self.assertEqual(result.stderr, "granary: GRANARY_BREATH is now called GRANARY_REUSE; the value is used\n")

    def test_odd_values_stay_as_they_are(self):
        result = run_program("--set", "X=[a,b]=c d", "sh", "-c", 'printf %s "$GRANARY_X"')
        self.assertEqual(result.stdout, "[a,b]=c d")


class Warnings(ToolTest):
    def test_told_once_and_run_all_the_same(self):
        for name, word in (("static", "static"), ("own_malloc", "malloc"), ("jemalloc_statistics", "jemalloc")):
            result = run_program(fixture(name))
            self.assertEqual((result.returncode, result.stdout), (0, ""))
            self.assertIn(word, self.one_line(result.stderr))

    def test_quiet(self):
        for flag in ("--quiet", "-q"):
            result = run_program(flag, fixture("static"))
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_nothing_said_when_all_is_well(self):
        result = run_program(fixture("plain"))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))


class Statistics(ToolTest):
    def test_at_exit(self):
        result = run_program("--stats", fixture("plain"))
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("live_bytes", [line.split()[0] for line in result.stderr.splitlines()])

    def test_json(self):
        result = run_program("--stats=json", fixture("plain"))
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("live_bytes", json.loads(result.stderr))

    def test_of_a_program_that_closes_stderr_at_its_end(self):
        # As all of coreutils do, to notice a full disk.
        self.assertIn("live_bytes", json.loads(run_program("--stats=json", "ls", "/dev/null").stderr))

    def test_without_rseq(self):
        result = run_program("--stats=json", "--no-rseq", fixture("plain"))
        self.assertEqual(json.loads(result.stderr)["rseq"], 0)


if __name__ == "__main__":
    os.chdir("/")
    main()
