#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: parses what the library prints for machines: malloc_info's XML, statistics and options as JSON, statistics for
#    Prometheus.
# Invariant: the parsers are Python's own, for Prometheus a strict one and, where there is one, Prometheus' own; a report
#    that they reject fails, so does one without the expected names.
# Must not know: how the reports are written.
"""Usage: reports.py LIBRARY REPORTS_PROGRAM."""

import json
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import exposition

FIELDS = (
    "live_bytes live_blocks block_bytes magazine_bytes remote_bytes free_bytes run_bytes run_count direct_bytes "
    "direct_count tail_bytes retained_bytes metadata_bytes resident_bytes reserved_bytes heap_bytes superblocks "
    "global_superblocks heaps peak_heap_bytes peak_direct_bytes purged_bytes purge_calls rseq"
).split()
OPTIONS = "STATS VERBOSE RSEQ REGION RETAIN DIRECT MAGAZINE".split()


def run(report, status=0, **environment):
    """Returns what the program printed on stdout and stderr."""
    result = subprocess.run(
        [PROGRAM, report],
        env={**os.environ, "LD_PRELOAD": LIBRARY, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if result.returncode != status:
        raise RuntimeError(f"{report} ended with {result.returncode}: {result.stderr}")
    return result.stdout, result.stderr


def flatten(value):
    """Every name that has a value, anywhere in the document, upper case."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name.upper()
            yield from flatten(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from flatten(inner)
    elif isinstance(value, str):
        yield value.upper()


MANUAL = os.path.join(os.path.dirname(__file__), "../../man/granary.3.scd")


class Reports(unittest.TestCase):
    def test_malloc_info_is_xml(self):
        root = xml.etree.ElementTree.fromstring(run("malloc_info")[0])
        self.assertEqual(root.tag, "malloc")
        self.assertTrue(root.get("version"))
        self.assertGreater(len(root), 0, "nothing inside")

    def test_statistics_are_json(self):
        statistics = json.loads(run("statistics")[0])
        for field in FIELDS:
            self.assertIn(field, statistics)
        self.assertGreaterEqual(statistics["live_bytes"], 64 << 20)
        self.assertEqual(statistics["direct_count"], 1)
        small = statistics["live_bytes"] - statistics["run_bytes"] - statistics["direct_bytes"]
        others = statistics["magazine_bytes"] + statistics["remote_bytes"] + statistics["free_bytes"]
        self.assertEqual(statistics["block_bytes"], small + others)

    def test_json_has_the_size_classes(self):
        statistics = json.loads(run("statistics")[0])
        classes = statistics["classes"]
        self.assertEqual([row["kind"] for row in classes[-2:]], ["runs", "direct"])
        self.assertEqual((classes[-1]["live_blocks"], classes[-1]["live_bytes"]), (1, 64 << 20))
        for name in ("live_blocks", "live_bytes", "magazine_blocks", "free_blocks", "superblocks", "global_superblocks"):
            self.assertEqual(sum(row[name] for row in classes), statistics[name], name)
        self.assertEqual(sum(row["address_bytes"] for row in classes),
                         statistics["heap_bytes"] + statistics["direct_bytes"])
        self.assertEqual(sum(row["remote_blocks"] * row["block_size"] for row in classes), statistics["remote_bytes"])

    def test_statistics_for_prometheus(self):
        text = run("statistics_prometheus")[0]
        metrics = exposition.read(text)
        self.assertGreaterEqual(len(metrics), 30)
        for name in metrics:
            self.assertTrue(name.startswith("granary_"), name)
        self.assertEqual(metrics["granary_direct_blocks"].value(), 1)
        self.assertEqual(metrics["granary_class_live_bytes"].value(size="direct"), 64 << 20)
        self.assertGreaterEqual(metrics["granary_class_live_blocks"].value(size="112"), 1)
        for name in ("live_blocks", "live_bytes", "superblocks"):
            self.assertEqual(sum(metrics[f"granary_class_{name}"].samples.values()),
                             metrics[f"granary_{name}"].value(), name)

    def test_prometheus_has_every_field_that_json_has(self):
        fields = set(json.loads(run("statistics")[0])) - {"version", "classes"}
        others = {"run_count": "run_blocks", "direct_count": "direct_blocks"}
        metrics = {name.removesuffix("_total") for name in exposition.read(run("statistics_prometheus")[0])}
        self.assertEqual({f"granary_{others.get(field, field)}" for field in fields},
                         {name for name in metrics if not name.startswith("granary_class_")})

    def test_prometheus_takes_it(self):
        try:
            from prometheus_client.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("python3-prometheus-client is not installed")
        for text in (run("statistics_prometheus")[0], run("options", GRANARY_STATS="prometheus")[1]):
            families = list(text_string_to_metric_families(text))
            samples = {name: metric.samples for name, metric in exposition.read(text).items()}
            self.assertEqual({sample.name for family in families for sample in family.samples}, set(samples))
            for family in families:
                for sample in family.samples:
                    self.assertEqual(samples[sample.name][tuple(sorted(sample.labels.items()))], sample.value)

    def test_statistics_as_text(self):
        text = run("statistics_text")[0]
        self.assertGreaterEqual(len(text.splitlines()), 10)

    def test_the_manual_describes_every_statistic(self):
        rows = []
        for line in run("statistics_text")[0].splitlines():
            name, unit, meaning = line.split()[0], line[36:43].strip(), line[43:]
            rows.append(f"*{name}*{', bytes' if unit else ''}\n\t{meaning}\n")
        with open(MANUAL, encoding="utf-8") as file:
            section = file.read().split("# STATISTICS\n\n")[1].split("\nThese equations hold ")[0]
        self.assertEqual(section, "\n".join(rows))

    def test_the_manual_describes_every_statistic_of_a_class(self):
        metrics = exposition.read(run("statistics_prometheus")[0])
        series = {name.removeprefix("granary_class_"): metric.help for name, metric in metrics.items()
                  if name.startswith("granary_class_")}
        with open(MANUAL, encoding="utf-8") as file:
            section = file.read().split("## Of a size class\n\n")[1].split("\n\n## ")[0]
        described = dict(re.findall(r"^\*(\w+)\*(?:, bytes)?\n\t(.*)$", section, re.M))
        names = [name for name in json.loads(run("statistics")[0])["classes"][0] if name != "kind"]
        self.assertEqual(list(described), ["kind", *names])
        for name, text in series.items():
            self.assertEqual(described[name], text)

    def test_options_are_json(self):
        names = set(flatten(json.loads(run("options")[0])))
        for option in OPTIONS:
            self.assertTrue({option, "GRANARY_" + option} & names, f"{option} is not among {sorted(names)}")

    def test_options_show_the_environment(self):
        self.assertNotEqual(run("options")[0], run("options", GRANARY_RETAIN="3M")[0])

    def test_statistics_at_exit(self):
        self.assertEqual(run("options")[1], "")
        at_exit = run("options", GRANARY_STATS="json")[1]
        self.assertIn("live_bytes", json.loads(at_exit))
        self.assertGreaterEqual(len(run("options", GRANARY_STATS="text")[1].splitlines()), 10)

    def test_statistics_at_exit_for_prometheus(self):
        metrics = exposition.read(run("options", GRANARY_STATS="prometheus")[1])
        (labels, value), = metrics["granary_process_info"].samples.items()
        labels = dict(labels)
        self.assertEqual((value, labels["command"]), (1, f"{PROGRAM} options"))
        self.assertGreater(metrics["granary_reserved_bytes"].value(pid=labels["pid"]), 0)
        self.assertEqual([name for name in metrics if name.startswith("granary_class_")], [])
        odd = 'nothing "quoted" back\\slash'
        metrics = exposition.read(run(odd, status=2, GRANARY_STATS="prometheus")[1])
        (labels, value), = metrics["granary_process_info"].samples.items()
        self.assertEqual(dict(labels)["command"], f"{PROGRAM} {odd}")

    def test_statistics_at_exit_tell_whose_they_are(self):
        odd = 'nothing "quoted" back\\slash \n ä \udc80'
        command = f"{PROGRAM} " + odd.replace("\n", "?").replace("\udc80", "?")
        for arguments, expected in (("options", f"{PROGRAM} options"), (odd, command)):
            with subprocess.Popen([PROGRAM, arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "LD_PRELOAD": LIBRARY, "GRANARY_STATS": "json"}) as process:
                told = json.loads(process.communicate()[1])
            self.assertEqual((told["pid"], told["command"]), (process.pid, expected))
        first = run("nothing", GRANARY_STATS="text")[1].splitlines()[0]
        self.assertRegex(first, rf"^granary: statistics of process \d+: {re.escape(PROGRAM)} nothing$")

    def test_statistics_of_children_do_not_mix(self):
        """Many processes end at once, and write to one pipe."""
        count = 40
        shell = " & ".join([f"{PROGRAM} nothing"] * count) + " & wait"
        text = subprocess.run(["/bin/sh", "-c", shell], stderr=subprocess.PIPE, text=True, check=True,
                              env={**os.environ, "LD_PRELOAD": LIBRARY, "GRANARY_STATS": "text"}).stderr
        reports = text.split("granary: statistics of process ")[1:]
        # The shell may end without its own.
        self.assertGreaterEqual(len(reports), count)
        shapes = {tuple(line.split()[0] for line in report.splitlines()[1:]) for report in reports}
        self.assertEqual(len(shapes), 1, "lines of one report lie in another")

    def test_statistics_at_exit_only_to_standard_error(self):
        out, error = run("nothing", GRANARY_STATS="json")
        self.assertEqual(out, "")
        self.assertIn("live_bytes", json.loads(error))
        self.assertEqual(run("nothing_at_all", GRANARY_STATS="json"), ("", ""))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(2)
    LIBRARY = sys.argv.pop(1)
    unittest.main()
