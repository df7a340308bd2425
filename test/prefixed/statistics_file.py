#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What:      GRANARY_STATS_FILE in a process that has both libgranary and libgranary-prefixed.
# Invariant: the test waits for what must happen; no time decides but the one after which it gives up.
# Must not know: how and by which thread a file is written.
"""Usage: statistics_file.py LIBRARY SERVER_PROGRAM FOLDER, where FOLDER has exposition.py."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE = 60  # seconds


def read_all(paths):
    """Returns the text of each file as soon as all exist."""
    end = time.monotonic() + PATIENCE
    while not all(os.path.exists(path) for path in paths):
        if time.monotonic() > end:
            raise TimeoutError(f"not all are written: {paths}")
        time.sleep(0.01)
    return [open(path, encoding="utf-8").read() for path in paths]


class BothLibraries(unittest.TestCase):
    def written(self, name, prefixed_name):
        """Returns the process number and the texts of the two files, which the end of the process removes."""
        with tempfile.TemporaryDirectory() as folder:
            environment = {"LD_PRELOAD": LIBRARY, "GRANARY_STATS_FILE": os.path.join(folder, name),
                           "GRANARY_STATS_INTERVAL": "1"}
            with subprocess.Popen([PROGRAM], env={**os.environ, **environment}, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
                self.addCleanup(server.kill)
                process = int(server.stdout.readline())
                names = [each.replace("%p", str(process)) for each in (name, prefixed_name)]
                texts = read_all([os.path.join(folder, each) for each in names])
                self.assertEqual(server.communicate()[1], "")
            self.assertEqual((server.returncode, os.listdir(folder)), (0, []))
        return process, texts

    def test_each_has_its_file_for_prometheus(self):
        process, texts = self.written("granary.%p.prom", "granary.%p.prefixed.prom")
        own, prefixed = (exposition.read(text) for text in texts)
        self.assertGreater(own["granary_live_bytes"].value(pid=str(process)), 1 << 20)
        labels = {"pid": str(process), "library": "granary-prefixed"}
        self.assertGreater(prefixed["granary_live_bytes"].value(**labels), 1 << 20)
        # Prometheus refuses two files with one series.
        self.assertFalse(set(own["granary_process_info"].samples) & set(prefixed["granary_process_info"].samples))

    def test_each_has_its_file_of_json(self):
        process, texts = self.written("granary.json", "granary.prefixed.json")
        own, prefixed = (json.loads(text) for text in texts)
        self.assertEqual((own["pid"], prefixed["pid"]), (process, process))
        self.assertEqual((own.get("library"), prefixed["library"]), (None, "granary-prefixed"))

    def test_each_has_its_file_of_text(self):
        process, (own, prefixed) = self.written("granary", "granary.prefixed")
        self.assertTrue(own.startswith(f"granary: statistics of process {process}: "), own)
        self.assertTrue(prefixed.startswith(f"granary-prefixed: statistics of process {process}: "), prefixed)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv.pop(3))
    import exposition

    PROGRAM = sys.argv.pop(2)
    LIBRARY = sys.argv.pop(1)
    unittest.main()
