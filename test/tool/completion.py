#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary completion: what bash proposes, and that both scripts have all that the help has.
# Invariant: the script is read by a bash that knows nothing of bash-completion and of the user's files.
# Must not know: how the script is made.
"""Usage: completion.py GRANARY LIBRARY FIXTURES."""

import os
import re
import shutil
import subprocess
import unittest

from support import CLEAN, ToolTest, granary, main

# All words of one try are in the environment; the last is the one to complete.
COMPLETE = """
granary_script=$(cat)
eval "$granary_script"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_granary
printf '%s\\n' "${COMPREPLY[@]}"
"""
LIST = {"COMP_TYPE": "63"}  # what readline sets for a list on the screen
HANDED_ON = ("bench",)      # granary parses none of its words


def script(shell):
    result = granary("completion", shell)
    assert (result.returncode, result.stderr) == (0, ""), result
    return result.stdout


def help_of(*command):
    return granary(*command, "--help").stdout


def commands():
    return re.findall(r"^  ([a-z]+) ", help_of().split("Subcommands:")[1], re.M)


class Bash(ToolTest):
    def complete(self, *words, environment=None):
        result = subprocess.run(["bash", "--norc", "-c", COMPLETE, "bash", "granary", *words], input=script("bash"),
                                env={**CLEAN, **(environment or {})}, cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.stderr, "")
        return [line for line in result.stdout.splitlines() if line]

    def test_registers_itself(self):
        result = subprocess.run(["bash", "--norc", "-c", 'eval "$(cat)"; complete -p granary'], input=script("bash"),
                                stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(result.stdout, "complete -F _granary granary\n")

    def test_commands(self):
        self.assertEqual(self.complete("re"), ["record", "report", "replay"])
        self.assertEqual(self.complete(""), commands())

    def test_options(self):
        self.assertEqual(self.complete("why", "--"), ["--help", "--json", "--map", "--svg"])
        self.assertEqual(self.complete("why", "--j"), ["--json"])
        self.assertEqual(self.complete("--v"), ["--version"])

    def test_every_option_of_the_help(self):
        for command in set(commands()) - set(HANDED_ON):
            with self.subTest(command):
                known = self.complete(command, "--")
                listed = re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", help_of(command), re.M)
                self.assertTrue(listed)
                self.assertEqual(known, listed)

    def test_lists_have_descriptions_and_insertions_do_not(self):
        shown = self.complete("why", "--", environment=LIST)
        self.assertEqual(len(shown), 4)
        for line in shown:
            self.assertRegex(line, r"^--[a-z]+ +\(.+\)$")
        self.assertEqual(self.complete("why", "--j", environment=LIST), ["--json"])

    def test_enumerated_values(self):
        self.assertEqual(self.complete("record", "--stacks", ""), ["none", "sampled", "all"])
        self.assertEqual(self.complete("record", "--stacks", "=", "s"), ["sampled"])
        self.assertEqual(self.complete("record", "--stacks="), ["--stacks=none", "--stacks=sampled", "--stacks=all"])
        self.assertEqual(self.complete("replay", "--touch", ""), ["recorded", "all", "none"])
        self.assertEqual(self.complete("top", "--sort", "p"), ["peak"])
        self.assertEqual(self.complete("run", "--stats", "=", ""), ["text", "json", "prometheus"])
        self.assertEqual(self.complete("run", "--stats", "="), ["text", "json", "prometheus"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh"])

    def test_files(self):
        for name in ("one.trace", "one two.trace", "other"):
            self.write(name, "")
        for words in (("summary",), ("diff", "a.trace"), ("record", "-o"), ("record", "--output", "="),
                      ("leaks", "--suppressions"), ("replay", "--json"), ("summary", "--")):
            with self.subTest(words):
                self.assertEqual(sorted(self.complete(*words, "one")), ["one two.trace", "one.trace"])
        self.assertEqual(self.complete("record", "--output", "--"), [])
        self.assertEqual(self.complete("summary", "a.trace", "one"), [])

    def test_processes(self):
        own = str(os.getpid())
        for words in (("why",), ("top", "--sort", "peak"), ("leaks", "--pid"), ("leaks", "--pid", "="), ("doctor",)):
            with self.subTest(words):
                self.assertIn(own, self.complete(*words, own))

    def test_free_text(self):
        self.write("one.trace", "")
        self.assertEqual(self.complete("top", "--rows", ""), [])
        self.assertEqual(self.complete("run", "--set", ""), [])

    def test_programs_and_their_arguments(self):
        self.write("one.trace", "")
        for words in (("run",), ("record", "-o", "file"), ("leaks", "--json", "--"), ("run", "--stats", "=", "text")):
            with self.subTest(words):
                self.assertIn("python3", self.complete(*words, "python"))
                self.assertEqual(self.complete(*words, "cat", "on"), ["one.trace"])
                self.assertEqual(self.complete(*words, "cat", "--"), [])

    def test_operands_in_front_of_a_program(self):
        self.write("one.trace", "")
        self.assertEqual(self.complete("lab", ""), ["show"])
        self.assertEqual(self.complete("lab", "show", "--c"), ["--calls"])
        self.assertEqual(self.complete("lab", "show", "ho"), [])
        self.assertIn("python3", self.complete("lab", "show", "-o", "a.html", "hoard", "python"))
        self.assertEqual(self.complete("lab", "show", "hoard", "cat", "on"), ["one.trace"])
        self.assertEqual(self.complete("lab", "show", "hoard", "cat", "--"), [])

    def test_programs_by_bash_completion(self):
        """Where the helper exists, the program's words are its affair from the program on."""
        for helper in ("_command_offset", "_comp_command_offset"):
            with self.subTest(helper):
                told = subprocess.run(
                    ["bash", "--norc", "-c", f"{helper}() {{ COMPREPLY=(\"from:$1\"); }}\n" + COMPLETE, "bash",
                     "granary", "run", "--quiet", "git", "comm"],
                    input=script("bash"), stdout=subprocess.PIPE, text=True, check=True)
                self.assertEqual(told.stdout, "from:3\n")


class Zsh(unittest.TestCase):
    def test_every_command_and_option(self):
        text = script("zsh")
        self.assertTrue(text.startswith("#compdef granary\n"))
        for command in commands():
            self.assertIn(f"'{command}:", text)
            if command in HANDED_ON:
                continue
            part = text.split(f"\n        {command})\n")[1].split(";;")[0]
            for option in re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", help_of(command), re.M):
                self.assertRegex(part, rf"{option}(=-?)?\[")

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_syntax(self):
        result = subprocess.run(["zsh", "-n", "/dev/stdin"], input=script("zsh"), stderr=subprocess.PIPE, text=True,
                                check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class CommandLine(ToolTest):
    def test_other_shells(self):
        for arguments in ((), ("fish",), ("bash", "zsh")):
            result = granary("completion", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.one_line(result.stderr)


if __name__ == "__main__":
    main()
