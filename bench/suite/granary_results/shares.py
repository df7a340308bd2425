# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: which share of its instructions each case spends in malloc and free, as ../malloc_share.py counted it.
# Invariant: what was never counted has no share, and so is not in the selection of those that spend enough.
# Must not know: how the shares were counted; what is selected by them.
"""The table of shares, malloc_share.json."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("malloc_share.json")
ENOUGH = 0.1


@dataclass(frozen=True)
class Share:
    """`run` is what was counted: a command, or words about it."""

    share: float
    run: str
    date: str


def load(path: Path = TABLE) -> dict[str, Share]:
    """By the name of the workload or program; its numbers of threads share one."""
    return {label: Share(**facts) for label, facts in json.loads(path.read_text()).items()} if path.is_file() else {}


def save(shares: dict[str, Share], path: Path = TABLE) -> None:
    lines = [f" {json.dumps(label)}: {json.dumps({**dataclasses.asdict(share), 'share': round(share.share, 4)})}"
             for label, share in sorted(shares.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def is_enough(share: Share | None) -> bool:
    return share is not None and share.share >= ENOUGH
