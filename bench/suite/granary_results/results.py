# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the results of a run: cases, allocators, trials, the command and the machine; to a JSON file and back.
# Invariant: a file holds every trial, failed ones too, and all that a reader needs to repeat or doubt it.
# Must not know: how a trial is run; how results are shown.
"""Results of a run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import shares, stored
from .intervals import Groups, Samples

FORMAT = "granary-bench 1"


# From the largest: name and how many of a figure's own make one.
Units = tuple[tuple[str, float], ...]
SECONDS: Units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
NANOSECONDS: Units = tuple((name, size * 1e9) for name, size in SECONDS)
KIBIBYTES: Units = (("GiB", 1024.0 ** 2), ("MiB", 1024.0), ("KiB", 1.0))


def in_units(value: float, units: Units) -> str:
    name, size = next(((name, size) for name, size in units if value >= size), units[-1])
    return f"{value / size:,.1f} {name}"


@dataclass(frozen=True)
class Metric:
    """A figure of a trial that is compared; lower is better. `for_allocating`: it has a mean over the cases that
    allocate much, too."""

    key: str
    title: str
    lower: str
    higher: str
    units: Units
    for_allocating: bool = False

    def shown(self, value: float) -> str:
        return in_units(value, self.units)



TWICE = "+"  # an allocator may be entered twice, as NAME and NAME+: a control

UNCOUNTED = ("controls", "own")  # families that no goal counts, nor a mean over families

# Means over families: all that goals count, and of these the cases that spend a tenth of their instructions or more in
# malloc and free.
ALL = "all that count"
ALLOCATING = "malloc >= 1/10"

METRICS = (
    Metric("cost", "Time for an operation", "faster", "slower", SECONDS, for_allocating=True),
    Metric("cpu_cost", "CPU time for an operation", "less CPU", "more CPU", SECONDS),
    Metric("peak_kib", "Peak memory", "less memory", "more memory", KIBIBYTES),
)


def one_line(failure: object) -> str:
    """The first line says what happened; the last, if there are more, is the program's last word on it."""
    first, *more = str(failure).strip().splitlines() or [""]
    return f"{first}: {more[-1].strip()}" if more else first


@dataclass
class Results:
    """`cases`: name to {label, threads, family, suites, summary}; `trials` as the schedule records them; `suite`: the
    paper that it was measured for, if it was for one; `originals`: of a run that had originals, program to what must be
    known of it."""

    command: str
    date: str
    profile: str
    machine: dict
    allocators: list[dict]
    cases: dict[str, dict]
    trials: list[dict] = field(default_factory=list)
    suite: str = ""
    originals: dict[str, str] = field(default_factory=dict)

    def samples(self, key: str, zeros: bool = False) -> Samples:
        """In the order of the cases; what a trial does not tell is left out, and what it told as nothing unless `zeros`
        are wanted."""
        found: Samples = {case: {} for case in self.cases}
        for trial in self.trials:
            if trial.get(key) or zeros and key in trial:
                found[trial["case"]].setdefault(trial["allocator"], {})[trial["round"]] = trial[key]
        return {case: by for case, by in found.items() if by}

    def names(self) -> list[str]:
        return [allocator["name"] for allocator in self.allocators]

    def controls(self) -> list[str]:
        """Allocators that are shown, but are no peers."""
        return [allocator["name"] for allocator in self.allocators if allocator.get("control")]

    def families(self, cases: Sequence[str]) -> dict[str, list[str]]:
        """Family to its cases, in order."""
        found: dict[str, list[str]] = {}
        for case in cases:
            found.setdefault(self.cases[case]["family"], []).append(case)
        return found

    def counted(self, cases: Sequence[str]) -> list[list[str]]:
        """The cases of each family that goals count."""
        return [group for family, group in self.families(cases).items() if family not in UNCOUNTED]

    def selections(self, metric: Metric) -> dict[str, Groups]:
        """What has a mean over families, by name; none that is empty."""
        cases = list(self.samples(metric.key))
        found = {ALL: self.counted(cases)}
        if metric.for_allocating:
            known = shares.load()
            found[ALLOCATING] = self.counted([case for case in cases
                                              if shares.is_enough(known.get(self.cases[case]["label"]))])
        return {name: groups for name, groups in found.items() if groups}

    def failures(self) -> dict[tuple[str, str], str]:
        return {(trial["case"], trial["allocator"]): trial["failed"] for trial in self.trials if "failed" in trial}

    def is_whole(self) -> bool:
        """Every trial is a round of a case and an allocator that are described."""
        names = self.names()
        return all(trial["case"] in self.cases and trial["allocator"] in names and isinstance(trial["round"], int)
                   for trial in self.trials)

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        head = {key: value for key, value in vars(self).items() if key != "trials"}
        lines = ",\n".join("  " + json.dumps(trial) for trial in self.trials)
        text = json.dumps({"format": FORMAT, **head}, indent=1)
        text = text[:-2] + ',\n "trials": [\n' + lines + "\n ]\n}\n"
        content = stored.content(text, path)
        if path.is_symlink() or (path.exists() and not path.is_file()):  # /dev/stdout
            path.write_bytes(content)
            return
        whole = path.with_name(path.name + ".new")  # who is killed here leaves the old one
        whole.write_bytes(content)
        whole.replace(path)

    @staticmethod
    def load(path: Path) -> "Results":
        """Raises ValueError, in one line, when the file is not one of ours."""
        try:
            data = json.loads(stored.read(path))
        except OSError as problem:
            raise ValueError(f"{path}: {problem.strerror}") from None
        except ValueError as problem:
            raise ValueError(f"{path}: {problem}") from None
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise ValueError(f"{path}: not a file that granary bench --json wrote")
        try:
            found = Results(**data)
            whole = found.is_whole()
        except (TypeError, LookupError):  # it lacks something
            whole = False
        if not whole:
            raise ValueError(f"{path}: a file of granary bench --json, but damaged or edited; measure again")
        return found
