# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: runs one test of a page: with its packages installed in a copy of view/, and the browser.
# Invariant: the source tree stays as it is; without node, chromium or the packages the test is skipped, and says why.
# Must not know: what the tests test.
"""usage: run.py VIEW FOLDER NAME [GRANARY SYNTHETIC_TRACE]   (a copy of VIEW with its packages lies in FOLDER)"""
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
PARTS = ["build", "src", ".prettierrc.json", "index.html", "lab.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"]
PAGES = ["index.html", "lab.html"]
INSTALL = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def program(*names):
    found = next((path for path in map(shutil.which, names) if path), None)
    return found or skip(f"there is no {names[0]} (scripts/setup view)")


def copy(view, folder):
    """the sources, and packages as the lock file says; both only where they changed"""
    folder.mkdir(parents=True, exist_ok=True)
    lock = (view / "package-lock.json").read_bytes()
    installed = folder / "node_modules" / ".package-lock.json"
    fresh = folder / "package-lock.json"
    keep = installed.exists() and fresh.exists() and fresh.read_bytes() == lock
    for part in PARTS:
        source, target = view / part, folder / part
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
    if not keep:
        done = subprocess.run(INSTALL, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            fresh.unlink()
            skip(f"npm could not install the packages: {done.stderr.strip()[-300:]}")


def build(view, folder):
    """the types fit, and the pages in the repository are what their sources build"""
    for step in ("check", "build"):
        subprocess.run(["npm", "run", "--silent", step], cwd=folder, check=True)
    for page in PAGES:
        built, kept = ((root / "dist" / page).read_bytes() for root in (folder, view))
        if built != kept:
            sys.exit(f"view/dist/{page} is not what view/ builds: (cd view && npm ci && npm run build)")
        print(f"{page}: {len(built)} bytes, as in the repository")


def main():
    if len(sys.argv) not in (4, 6):
        sys.exit(__doc__)
    view, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    name = sys.argv[3]
    program("node")
    if name == "packages":
        program("npm")
        return copy(view, folder)
    if not (folder / "node_modules" / ".package-lock.json").exists():
        skip("the packages are not installed (test view.packages)")
    if name == "build":
        return build(view, folder)
    out = folder / "out" / name
    out.mkdir(parents=True, exist_ok=True)
    page = "lab.html" if name.startswith("lab_") else "index.html"
    settings = {"VIEW_PAGE": view / "dist" / page, "VIEW_CHROMIUM": program("chromium", "chromium-browser"),
                "VIEW_MODULES": folder, "VIEW_OUT": out}
    settings.update(zip(("VIEW_GRANARY", "VIEW_SYNTHETIC"), map(os.path.abspath, sys.argv[4:])))
    script = pathlib.Path(__file__).with_name(f"{name}.mjs")
    environment = {**os.environ, **{key: str(value) for key, value in settings.items()}}
    sys.exit(subprocess.run(["node", str(script)], env=environment).returncode)


if __name__ == "__main__":
    main()
