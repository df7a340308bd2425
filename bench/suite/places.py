# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: names files of this checkout, its build and its peers without saying where on the machine they lie.
# Invariant: what is named holds no path of these folders, however deep the text that had it.
# Must not know: what the texts are about.
"""Paths for a file that others read."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Places:
    """The checkout, and folders that may lie in it or elsewhere: those in it are named from its root, the others by
    their last name."""

    def __init__(self, folders: Iterable[Path], root: Path = ROOT):
        names = {f"{root}/": ""}
        for folder in (folder.absolute() for folder in folders):
            name = str(folder.relative_to(root)) if folder.is_relative_to(root) else folder.name
            names |= {f"{folder}/": f"{name}/", f"{folder.resolve()}/": f"{name}/"}
        self.names = dict(sorted(names.items(), key=lambda pair: -len(pair[0])))  # one may begin another

    def named(self, value: Any) -> Any:
        """The same value, as JSON can hold it, with paths so named in all its texts."""
        if isinstance(value, str):
            for path, name in self.names.items():
                value = value.replace(path, name)
            return value
        if isinstance(value, dict):
            return {key: self.named(each) for key, each in value.items()}
        return [self.named(each) for each in value] if isinstance(value, list) else value
