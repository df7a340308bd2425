# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the facts about the machine that a reader of numbers must know.
# Invariant: nothing that identifies a host or a user.
# Must not know: what is measured.
"""Machine facts, for the head of every result."""

import os
import platform
from pathlib import Path


def cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def memory_mib() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20


def transparent_huge_pages() -> str:
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return setting.read_text().partition("[")[2].partition("]")[0] if setting.exists() else "not in this kernel"


def facts() -> dict[str, object]:
    return {
        "cpu": cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_mib": memory_mib(),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "transparent_huge_pages": transparent_huge_pages(),
        "load_average_before": round(os.getloadavg()[0], 2),
        "options": {name: value for name, value in os.environ.items() if name.startswith("GRANARY_")},
    }


def sentence(machine: dict[str, object]) -> str:
    return ("{cpus} CPUs {cpu}, {memory_mib} MiB, Linux {kernel}, {libc}, THP {transparent_huge_pages}, "
            "load {load_average_before} before").format(**machine)
