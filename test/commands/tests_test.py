# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: make's targets test, test-rest and test-all, and .ci/run.
# Invariant: needs make and bash; a made-up make writes what ctest would have written.
# Must not know: any test, or another preset than the two parts of the release's tests.
"""Usage: tests_test.py."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRESETS = json.loads((ROOT / "CMakePresets.json").read_text())["testPresets"]

# Ends as it is told for its target; its tests pass if it ends well.
MAKE = """#!/bin/sh
echo "$1" >> asked
mkdir -p "build/preset-of-$1"
code=$(cat "code-of-$1")
printf 'Test project\\n 1/2 Test  #12: part.a ....   Passed    2.00 sec\\n 2/2 Test #3: part.b .... Passed 0.50 sec\\n\\
100%% tests passed, 0 tests failed out of 7\\n\\nTotal Test time (real) = 5.00 sec\\n' \\
    > "build/preset-of-$1/tests.log"
exit "$code"
"""


def presets_of(target: str) -> list[str]:
    """Those whose tests it runs, in order."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(["make", "-n", target], cwd=ROOT, env=clean, capture_output=True, text=True, check=True)
    return re.findall(r"^ctest --preset (\S+)$", done.stdout, re.MULTILINE)


class Make(unittest.TestCase):
    def test_all_is_every_preset_once(self):
        self.assertEqual(sorted(presets_of("test-all")),
                         sorted(preset["name"] for preset in PRESETS if not preset.get("hidden")))

    def test_all_is_both_parts(self):
        self.assertEqual(presets_of("test-all"), presets_of("test") + presets_of("test-rest"))

    def test_the_release_comes_first_and_in_two_parts(self):
        self.assertEqual(presets_of("test"), ["release"])
        self.assertEqual(presets_of("test-rest")[0], "release-long")
        filters = {preset["name"]: preset.get("filter") for preset in PRESETS}
        (words,) = filters["release"].values()
        self.assertEqual(filters["release"], {"exclude": words})
        self.assertEqual(filters["release-long"], {"include": words})


class GoingOn(unittest.TestCase):
    def test_what_comes_after_a_preset_that_failed_runs_all_the_same(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shutil.copy(ROOT / "Makefile", folder)
            for program, text in (("scripts/setup", ""), ("bin/cmake", ""),
                                  ("bin/ctest", 'echo "$2" >> asked\n[ "$2" != release-long ]\n')):
                (folder / program).parent.mkdir(exist_ok=True)
                (folder / program).write_text("#!/bin/sh\n" + text)
                (folder / program).chmod(0o755)
            clean = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
            done = subprocess.run(["make", "test-rest", "-k"], cwd=folder, capture_output=True, text=True,
                                  env=clean | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"})
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual((folder / "asked").read_text().split(), presets_of("test-rest"))


class ContinuousIntegration(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in (".ci", "bin"):
            (self.folder / name).mkdir()
        shutil.copy(ROOT / ".ci" / "run", self.folder / ".ci")
        make = self.folder / "bin" / "make"
        make.write_text(MAKE)
        make.chmod(0o755)

    def run_it(self, first: int, second: int) -> list[str]:
        """What it prints; its own exit code is that of the first that failed."""
        for target, code in (("test", first), ("test-rest", second)):
            (self.folder / f"code-of-{target}").write_text(str(code))
        done = subprocess.run([self.folder / ".ci" / "run"], capture_output=True, text=True,
                              env={"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, first or second)
        self.assertEqual((self.folder / "asked").read_text().split(), ["test", "test-rest"])
        return done.stdout.splitlines()

    def test_exit_codes(self):
        for first, second in ((0, 0), (2, 0), (0, 3), (2, 3)):
            with self.subTest(first=first, second=second):
                (self.folder / "asked").unlink(missing_ok=True)
                self.assertIn(f"exit code {first or second}", self.run_it(first, second)[-1])

    def test_it_closes_with_the_counts(self):
        *_, name, count, time, part, rest, _, _, _, _ = self.run_it(0, 0)
        self.assertEqual([name, count, time, part.split(), rest],
                         ["ci: preset-of-test:", "100% tests passed, 0 tests failed out of 7",
                          "Total Test time (real) = 5.00 sec", ["2.5", "s", "2", "part"], "ci: preset-of-test-rest:"])

    def test_counts_of_an_earlier_run_are_not_told(self):
        old = self.folder / "build" / "old"
        old.mkdir(parents=True)
        (old / "tests.log").write_text("100% tests passed, 0 tests failed out of 9\n")
        self.assertNotIn("out of 9", "".join(self.run_it(0, 0)))

    def test_a_preset_without_counts(self):
        make = self.folder / "bin" / "make"
        make.write_text(MAKE.replace("tests passed", "tests"))
        self.assertIn("ctest did not come to its end", self.run_it(2, 0))


if __name__ == "__main__":
    unittest.main()
