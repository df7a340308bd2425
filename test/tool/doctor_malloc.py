#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary doctor on whose malloc a program would call.
# Invariant: what the doctor says of the loader's choice is what the loader does.
# Must not know: how symbols are read.
"""Usage: doctor_malloc.py GRANARY LIBRARY FIXTURES."""

import json
import re
import shutil
import subprocess

from support import CLEAN, LIBRARY, ToolTest, fixture, main


class Verdicts(ToolTest):
    def test_own(self):
        self.assert_verdict(fixture("own_malloc"), "no", "own-malloc")
        self.assert_verdict(fixture("hidden_malloc"), "partly", "own-malloc")
        self.assert_verdict(fixture("bundled"), "partly", "bundled-allocator")
        self.assert_verdict(fixture("own_delete"), "yes", "operator-new")

    def test_linked_allocator(self):
        self.assert_verdict(fixture("jemalloc_unused"), "yes", "linked-allocator")
        for name, verdict, called in (("statistics", "partly", "mallctl"), ("blocks", "no", "mallocx")):
            report = self.assert_verdict(fixture(f"jemalloc_{name}"), verdict, "linked-allocator")
            self.assertIn(called, report["summary"])
        self.assert_verdict(fixture("jemalloc_indirect"), "no", "linked-allocator")

    def test_collector(self):
        report = self.assert_verdict(fixture("collects"), "yes", "collector")
        self.assertIn("granary run --gc", json.dumps(report))
        self.assertNotIn("granary run --gc", json.dumps(self.diagnose(fixture("plain"))))

    def test_libraries(self):
        self.assert_verdict(fixture("library_malloc"), "yes", "library-malloc")
        self.assert_verdict(fixture("library_malloc_bound"), "partly", "library-malloc")
        self.assert_verdict(fixture("missing_library"), "no", "missing-library")

    def test_run_times(self):
        self.assert_verdict(fixture("sanitized"), "no", "sanitizer")
        self.assert_verdict(fixture("needs_sanitizer"), "no", "sanitizer")
        self.assert_verdict(fixture("go"), "partly", "go")

    def test_deep_binding(self):
        keep, drop = {"GRANARY_DEEPBIND": "keep"}, {"GRANARY_DEEPBIND": "drop"}
        self.assert_verdict(fixture("php"), "yes", "deepbind")
        self.assert_verdict(fixture("php"), "yes", "deepbind", environment=drop)
        self.assert_verdict(fixture("php"), "no", "deepbind", environment=keep)
        self.assertEqual(self.assert_verdict(fixture("opens"), "yes")["findings"], [])
        self.assert_verdict(fixture("opens"), "partly", "deepbind", environment=keep)
        self.assertEqual(self.assert_verdict(fixture("plain"), "yes", environment=keep)["findings"], [])

    def test_redis(self):
        redis = shutil.which("redis-server")
        if redis is None:
            self.skipTest("redis-server is not installed")
        report = self.diagnose(redis)
        with open(redis, "rb") as file:
            linked = b"libjemalloc.so" in file.read()
        self.assertEqual("linked-allocator" in [finding["kind"] for finding in report["findings"]], linked)


class Truth(ToolTest):
    """The loader itself is asked which malloc it takes."""

    def bound_to_library(self, name):
        environment = {**CLEAN, "LD_PRELOAD": LIBRARY, "LD_DEBUG": "bindings", "LD_BIND_NOW": "1"}
        program = fixture(name)
        result = subprocess.run([program], env=environment, stderr=subprocess.PIPE, errors="replace", check=True)
        pattern = rf"binding file (?:{re.escape(program)}|\S*libc\.so\.6) \[0\] to (\S+) \[0\]: normal symbol `malloc'"
        targets = set(re.findall(pattern, result.stderr))
        self.assertTrue(targets, "the loader bound no malloc")
        return targets == {LIBRARY}

    def test_the_preload_wins(self):
        for name in ("plain", "jemalloc_unused", "library_malloc"):
            self.assertTrue(self.bound_to_library(name), name)

    def test_the_programs_own_wins(self):
        self.assertFalse(self.bound_to_library("own_malloc"))


if __name__ == "__main__":
    main()
