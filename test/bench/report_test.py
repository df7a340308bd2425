# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the text that the bench prints: what it says of clear differences, of none, of failures, of families.
# Invariant: numbers are chosen so that each wrong way of counting prints another text.
# Must not know: how trials are run.
"""Usage: report_test.py BUILD_FOLDER."""

import unittest
from unittest import mock

from support import failed, main, results, steady

import report
from granary_results import shares
from granary_results.results import ALLOCATING, METRICS
from granary_results.shares import Share
from report import OURS

ROUNDS = 6
COST = METRICS[0]


def run(**factors: float):
    """Cases by family: Granary's cost against the system's 1."""
    return results({family: {"granary": steady(factor, ROUNDS), "system": steady(1, ROUNDS)}
                    for family, factor in factors.items()}, {family: family for family in factors})


class Means(unittest.TestCase):
    def test_families_outside_the_goals_are_shown_and_not_counted(self):
        rows = dict(map(tuple, report.mean_rows(run(servers=1.5, beyond=1.5, own=0.1, controls=1), COST)[1:]))
        self.assertEqual(list(rows), ["servers", "beyond", "own", "controls", "all that count"])
        self.assertIn("0.10", rows["own"])
        self.assertIn("1.50", rows["all that count"])

    def test_nothing_counts(self):
        self.assertNotIn("all that count", [row[0] for row in report.mean_rows(run(own=0.1), COST)])
        self.assertIn("No goal counts", report.verdict_line(run(own=0.1), COST))


class Allocating(unittest.TestCase):
    """Cases that spend a tenth of their instructions in malloc and free, or more."""

    @staticmethod
    def text(**known: float) -> str:
        """A loss, a gain and a control that is no case of any mean."""
        table = {label: Share(share, "", "") for label, share in known.items()}
        with mock.patch.object(shares, "load", return_value=table):
            return report.text(run(servers=1.5, beyond=0.5, own=0.1))

    def test_they_have_a_mean_and_a_verdict_of_time_alone(self):
        text = self.text(servers=0.1, beyond=0.09, own=0.9)
        self.assertRegex(text, rf"\nall that count +0\.87 .*\n{ALLOCATING} +1\.50 \[1\.50 1\.50\]\n")
        self.assertIn("best single peer, system: 0.87 ", text)
        self.assertIn(f"best single peer where {ALLOCATING}, system: 1.50 [1.50 1.50], slower.", text)
        self.assertEqual(text.count(ALLOCATING), 2)

    def test_what_has_no_share_is_none_of_them(self):
        self.assertIn(f"where {ALLOCATING}, system: 0.50 [0.50 0.50], faster.", self.text(beyond=0.5))
        self.assertNotIn(ALLOCATING, self.text(own=0.9))

    def test_threads_share_the_share_of_their_workload(self):
        measured = run(servers=1.5)
        measured.cases["servers"]["label"] = "larson"
        self.assertIn(ALLOCATING, measured.selections(COST))


class Verdict(unittest.TestCase):
    def test_losses_are_called_so(self):
        self.assertIn("best single peer, system: 1.50 [1.50 1.50], slower.", report.text(run(servers=1.5, own=0.1)))

    def test_the_bars_of_single_cases_leave_out_what_does_not_count(self):
        text = report.text(run(servers=1.5, beyond=1.5, own=3))
        self.assertIn("Against the best peer of each case: 1.50 [1.50 1.50].\n"
                      "Cases above 1.05 of their best peer by the whole interval: servers 1.50 [1.50 1.50], "
                      "beyond 1.50 [1.50 1.50].", text)
        self.assertIn("Cases above 1.05 of their best peer by the whole interval: none.",
                      report.text(run(servers=1.04)))

    def test_granary_failed(self):
        measured = run(servers=0.5, beyond=0.5)
        for trial in measured.trials:
            if (trial["case"], trial["allocator"]) == ("beyond", OURS):
                del trial["cost"]
        self.assertIn("granary did not complete every case", report.verdict_line(measured, COST))

    def test_an_entry_that_is_granary_too_is_no_peer(self):
        measured = run(servers=1)
        measured.allocators += [{"name": "granary+"}]
        self.assertEqual(report.peers_of(measured), ["system"])

    def test_a_control_is_shown_and_is_no_peer(self):
        measured = results({"case": {"granary": steady(1.5, ROUNDS), "system": steady(1, ROUNDS),
                                     "bump": steady(0.1, ROUNDS), "bump+": steady(0.1, ROUNDS)}})
        for allocator in measured.allocators[2:]:
            allocator["control"] = True
        self.assertEqual(report.peers_of(measured), ["system"])
        text = report.text(measured)
        self.assertIn("/ bump", text)
        self.assertRegex(text, r"\ncase +1\.5 s +system +1\.50 ")
        self.assertIn("best single peer, system: 1.50 ", text)


class Text(unittest.TestCase):
    def test_failures_have_their_reason(self):
        measured = run(servers=1)
        measured.trials.append(failed(1, "servers", "system", "exit code 134; it printed\n    a\n    abort: bad"))
        self.assertIn("  servers on system: exit code 134; it printed: abort: bad", report.text(measured))

    def test_black_box_figures_are_there_with_and_without_granary(self):
        for name in ("granary", "other"):
            measured = results({"case": {name: steady(1, ROUNDS), "system": steady(2, ROUNDS)}})
            measured.cases["case"]["threads"] = 2
            measured.trials[0]["shared_lines"] = 0.5
            self.assertRegex(report.text(measured), rf"two threads.*\n +case\n{name} +0\.5\nsystem +-\n")

    def test_without_granary_or_without_others_there_are_medians(self):
        for name in ("granary", "system"):
            measured = results({"case": {name: steady(2e-9, ROUNDS)}})
            self.assertIn("2.0 ns", report.text(measured))
            self.assertNotIn("best peer", report.text(measured))

    def test_nothing_measured(self):
        self.assertEqual(report.text(run()).count("medians"), len(METRICS))


if __name__ == "__main__":
    main()
