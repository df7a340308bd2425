# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the package that reads results: installed by pip into a fresh environment, and docs/papers/lab.ipynb run in it.
# Invariant: the network is not asked: pip finds everything on the machine, or the test is skipped. The package is built
#    from a copy.
# Must not know: what the notebook computes, beyond the table of lab/README.md and the outputs that it is stored with.
"""Usage: notebook_test.py BUILD_FOLDER. scripts/setup notebook installs what it needs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT, SUITE, main, results, steady

import lab_table
from granary_results.results import Results

NOTEBOOK = ROOT / "docs" / "papers" / "lab.ipynb"
RUN = ROOT / "docs" / "results" / "raw" / "lab.json.gz"
NEEDED = "import ensurepip, ipykernel, matplotlib, nbclient, pandas, setuptools, venv, wheel"
EXECUTE = """
import sys
import nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": sys.argv[2]}})
client.execute()
nbformat.write(notebook, sys.argv[3])
"""
FRAMES = """
import sys
from granary_results import frames
run = frames.read(sys.argv[1])
print(frames.trials(run)[["round", "case", "allocator", "cost"]].to_csv(index=False))
print(frames.table(frames.ratios(run, over="two")).to_csv())
print(frames.means(run, over="two")["value"].round(3).to_dict())
for wrong in (lambda: frames.ratios(run, over="three"), lambda: frames.medians(run, "no_such")):
    try:
        wrong()
    except ValueError as problem:
        print(problem)
"""


def interpreter() -> str | None:
    """Debian's packages are seen by Debian's Python, which need not be the first in PATH."""
    for found in (sys.executable, "/usr/bin/python3"):
        if Path(found).exists() and subprocess.run([found, "-c", NEEDED], capture_output=True, check=False).returncode == 0:
            return found
    return None


def words_of(notebook: dict) -> list[list[str]]:
    """What each cell of code prints, without spaces, which differ between versions of pandas."""
    return [" ".join("".join(output["text"]) for output in cell["outputs"] if output.get("name") == "stdout").split()
            for cell in notebook["cells"] if cell["cell_type"] == "code"]


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        python = interpreter()
        if python is None:
            raise unittest.SkipTest("pandas, matplotlib or Jupyter's packages are not installed: scripts/setup notebook")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.environment = {**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1", "JUPYTER_DATA_DIR": str(cls.folder / "data"),
                           "IPYTHONDIR": str(cls.folder / "ipython"), "MPLCONFIGDIR": str(cls.folder / "matplotlib")}
        cls.environment.pop("PYTHONPATH", None)
        cls.python = str(cls.folder / "venv/bin/python")
        shutil.copytree(SUITE, cls.folder / "suite", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        cls.run_in_folder(python, "-m", "venv", "--system-site-packages", cls.folder / "venv")
        cls.run_in_folder(cls.python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation",
                          cls.folder / "suite")
        cls.run_in_folder(cls.python, "-m", "ipykernel", "install", "--sys-prefix")

    @classmethod
    def run_in_folder(cls, *words) -> str:
        """Not where the sources are: what is imported is what was installed."""
        done = subprocess.run(words, cwd=cls.folder, env=cls.environment, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def test_frames_of_a_run(self):
        run = results({"a": {"one": steady(1, 3), "two": steady(2, 3)}, "b": {"one": steady(8, 3), "two": steady(2, 3)},
                       "c": {"two": steady(2, 3)}, "d": {"one": steady(1, 3)}})
        for name in ("run.json", "run.json.gz"):
            run.save(self.folder / name)
            told = self.run_in_folder(self.python, "-c", FRAMES, self.folder / name)
            for expected in ("1,a,one,1\n", "3,c,two,2\n", "one,0.50 [0.50 0.50],4.00 [4.00 4.00],-\n",
                             "two,1.00 [1.00 1.00],1.00 [1.00 1.00],1.00 [1.00 1.00]\n", "'one': 1.414",
                             "three: not an allocator of the run; it has one, two\n", "no trial of the run has 'no_such'"):
                self.assertIn(expected, told)

    def test_a_file_that_is_no_run_is_refused_in_one_line(self):
        (self.folder / "other.json").write_text("{}")
        script = "import sys\nfrom granary_results import frames\ntry:\n    frames.read(sys.argv[1])\n" \
                 "except ValueError as problem:\n    print(problem)\n"
        told = self.run_in_folder(self.python, "-c", script, self.folder / "other.json")
        self.assertEqual(told, f"{self.folder}/other.json: not a file that granary bench --json wrote\n")

    def test_the_notebook_runs_and_prints_what_it_is_stored_with(self):
        self.run_in_folder(self.python, "-c", EXECUTE, NOTEBOOK, NOTEBOOK.parent, self.folder / "run.ipynb")
        done = json.loads((self.folder / "run.ipynb").read_text())
        self.assertEqual(words_of(done), words_of(json.loads(NOTEBOOK.read_text())))
        pictures = [output for cell in done["cells"] for output in cell.get("outputs", ())
                    if "image/png" in output.get("data", {})]
        self.assertEqual(len(pictures), 2)


class Stored(unittest.TestCase):
    def test_the_table_is_that_of_the_lab(self):
        notebook = json.loads(NOTEBOOK.read_text())
        table, = (words for cell, words in zip((cell for cell in notebook["cells"] if cell["cell_type"] == "code"),
                                               words_of(notebook)) if "table" in cell["metadata"].get("tags", ()))
        printed = " ".join(table) + " "
        run = Results.load(RUN)
        for line in lab_table.table([run]).splitlines()[2:]:
            name, _, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
            if cells[0] != "-":
                self.assertIn(f"lab:{name.strip('`')} {' '.join(cells)} ", printed)
        self.assertEqual(printed.count("lab:"), len(run.names()))


if __name__ == "__main__":
    main()
