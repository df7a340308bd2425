# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: how much is measured: smoke, standard, paper.
# Invariant: a profile changes how long and how often, never what is compared or how it is judged.
# Must not know: any workload.
"""Profiles: how long a run of the suite takes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """`seconds` is what a trial of a compiled workload should take; its operations are then fixed by the system's
    malloc in that time, so that every allocator does the same work."""

    name: str
    summary: str
    seconds: float
    rounds: int
    warm_ups: int
    threads: tuple[int, ...]  # of the workloads whose threads are swept
    programs: bool  # the packages' programs and servers too
    calibrated: bool  # else each trial has its seconds, and does what it can


STANDARD = "standard"  # unless told otherwise

PROFILES = {profile.name: profile for profile in (
    Profile("smoke", "every compiled workload once; less than 5 minutes with every peer",
            seconds=0.1, rounds=1, warm_ups=0, threads=(2,), programs=False, calibrated=False),
    Profile(STANDARD, "all workloads, programs and servers; about 70 minutes with six allocators",
            seconds=0.5, rounds=6, warm_ups=1, threads=(1, 2, 8, 64), programs=True, calibrated=True),
    Profile("paper", "the same with the papers' sizes and threads; about 10 hours",
            seconds=4, rounds=6, warm_ups=1, threads=(1, 2, 4, 8, 14, 64, 256), programs=True, calibrated=True),
)}
