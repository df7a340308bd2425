# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the tables of what allocators show from outside: which figures are in them, how several trials become one.
# Invariant: numbers are chosen so that each wrong way of counting shows another cell.
# Must not know: how a table is shown.
"""Usage: black_box_test.py BUILD_FOLDER."""

import unittest

from support import failed, main, results, steady

import black_box
from granary_results.results import Results

MIB = 1 << 20


def run(figures: dict[str, dict[str, list[dict]]], threads: int = 2) -> Results:
    """Case to allocator to what each trial tells besides its metrics; each case is of a family of its own."""
    costs = {case: {name: steady(1, len(trials)) for name, trials in by.items()} for case, by in figures.items()}
    made = results(costs, {case: case for case in figures})
    for case in made.cases.values():
        case["threads"] = threads
    for trial in made.trials:
        trial.update(figures[trial["case"]][trial["allocator"]][trial["round"] - 1])
    return made


def only_table(made: Results, *titles: str) -> dict[str, list]:
    """The rows of the one table that has these titles."""
    (found,) = [table for table in black_box.tables(made) if set(titles) <= set(table.head)]
    return {name: [dict(zip(found.head, row))[title] for title in titles] for name, row in found.rows.items()}


class SharedLines(unittest.TestCase):
    def test_one_look_in_one_trial_is_not_lost(self):
        made = run({"false": {"granary": 3 * [{"shared_lines": 0}],
                              "system": [{"shared_lines": 0}, {"shared_lines": 0.003}, {"shared_lines": 0}],
                              "other": 3 * [{"shared_lines": 0.99}]}})
        self.assertEqual(only_table(made, "false"), {"granary": ["0"], "system": ["0.001"], "other": ["0.99"]})

    def test_one_thread_shares_with_nobody(self):
        self.assertNotIn("lines", str(black_box.tables(run({"a": {"granary": [{"shared_lines": 0}]}}, threads=1))))


class SingleCalls(unittest.TestCase):
    def test_malloc_and_free_have_medians_of_their_own(self):
        def trial(factor: int) -> dict:
            return {f"{call}_{key}_ns": factor * value for call, key, value in (
                ("malloc", "p50", 20), ("malloc", "p99", 300), ("malloc", "p999", 4_000), ("malloc", "max", 5_000_000),
                ("free", "p50", 10), ("free", "p99", 60), ("free", "p999", 700), ("free", "max", 80_000))}

        made = run({"latency": {"granary": [trial(1), trial(100), trial(2)], "system": [trial(3)]}})
        rows = only_table(made, "malloc p50", "malloc p99", "malloc p99.9", "malloc max", "free p50", "free p99",
                          "free p99.9", "free max")
        self.assertEqual(rows["granary"], ["40.0 ns", "600.0 ns", "8.0 µs", "10.0 ms", "20.0 ns", "120.0 ns", "1.4 µs",
                                           "160.0 µs"])
        self.assertEqual(rows["system"][0], "60.0 ns")

    def test_a_table_for_each_case(self):
        trials = {"granary": [{"malloc_p50_ns": 20}]}
        names = [table.name for table in black_box.tables(run({"latency/1": trials, "latency/8": trials}))
                 if "malloc p50" in table.head]
        self.assertEqual([case in name for name, case in zip(names, ("latency/1", "latency/8"), strict=True)],
                         [True, True])


class Memory(unittest.TestCase):
    TITLES = ("RSS / system", "VSZ / system")

    @staticmethod
    def trial(kib: int, virtual: int, requested: int = 0) -> dict:
        return {"peak_kib": kib, "peak_virtual_kib": virtual, "requested_peak_bytes": requested}

    def test_ratios_to_the_system_are_means_over_families(self):
        made = run({"a": {"granary": 3 * [self.trial(4000, 900)], "system": 3 * [self.trial(1000, 100)]},
                    "b": {"granary": 3 * [self.trial(1000, 100)], "system": 3 * [self.trial(1000, 100)]},
                    "own": {"granary": 3 * [self.trial(9000, 1)], "system": 3 * [self.trial(1, 1)]}})
        rows = only_table(made, *self.TITLES)
        self.assertEqual(rows["granary"], ["2.00 [2.00 2.00]", "3.00"])
        self.assertEqual(rows["system"], ["1.00 [1.00 1.00]", "1.00"])

    def test_without_the_system_there_are_no_ratios_to_it(self):
        made = run({"a": {"granary": [self.trial(64 << 10, 1, 32 * MIB)]}})
        self.assertEqual(only_table(made, *self.TITLES), {"granary": [None, None]})
        self.assertEqual(only_table(made, "RSS / requested (1 case)"), {"granary": ["2.00"]})

    def test_requests_of_little_do_not_count(self):
        made = run({"a": {"granary": 3 * [self.trial(32 << 10, 1, 32 * MIB)],
                          "system": [self.trial(kib << 10, 1, 32 * MIB) for kib in (32, 128, 64)]},
                    "b": {"granary": [self.trial(128 << 10, 1, 16 * MIB)], "system": []},
                    "c": {"granary": [self.trial(64 << 10, 1, 1)], "system": [self.trial(64 << 10, 1, 1)]}})
        rows = only_table(made, "RSS / requested (2 cases)")
        self.assertEqual(rows, {"granary": ["2.83"], "system": [None]})


class AfterBurst(unittest.TestCase):
    def test_what_stays_stands_beside_what_must(self):
        made = run({"burst": {"granary": [{"idle_rss_kib": 2048, "floor_kib": 1024}],
                              "system": [{"idle_rss_kib": kib, "floor_kib": 512} for kib in (4096, 9000, 8192)]}})
        self.assertEqual(only_table(made, "burst", "burst, pages in use"),
                         {"granary": ["2.0 MiB", "1.0 MiB"], "system": ["8.0 MiB", "512.0 KiB"]})


class Rows(unittest.TestCase):
    def test_every_allocator_has_one(self):
        made = run({"false": {"granary": [{"shared_lines": 0}], "system": []}})
        made.trials.append(failed(1, "false", "system", "crashed"))
        self.assertEqual(only_table(made, "false"), {"granary": ["0"], "system": [None]})

    def test_what_nobody_measured_has_no_table(self):
        made = run({"a": {"granary": [{}]}})
        self.assertEqual(black_box.tables(made), [])


if __name__ == "__main__":
    main()
