# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What:      a strict reader of Prometheus' text format 0.0.4, for the tests.
# Invariant: what it takes, Prometheus takes; each metric has one HELP, one TYPE and then all its samples.
# Must not know: which metrics there are.
"""read(text) returns {metric: Metric}; it raises ValueError for a line that is not as the format demands."""

import dataclasses
import re

METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})? (?P<value>[0-9]+)")
ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
RESERVED = ("_count", "_sum", "_bucket")


@dataclasses.dataclass
class Metric:
    help: str
    type: str = ""
    samples: dict = dataclasses.field(default_factory=dict)  # by a tuple of the labels, in order

    def value(self, **labels):
        return self.samples[tuple(sorted(labels.items()))]


def read_labels(text):
    labels = {}
    at = 0
    while text is not None and at < len(text):
        found = LABEL.match(text, at)
        if found is None or found[1] in labels or found[1].startswith("__"):
            raise ValueError(f"no label, or one twice: {text}")
        labels[found[1]] = re.sub(r"\\.", lambda escape: ESCAPES[escape[0]], found[2])
        at = found.end()
        if at < len(text):
            if text[at] != "," or at + 1 == len(text):
                raise ValueError(f"no comma between labels: {text}")
            at += 1
    return tuple(sorted(labels.items()))


def read_comment(line, metrics, current):
    words = line.split(" ", 3)
    if len(words) != 4 or METRIC.fullmatch(words[2]) is None:
        raise ValueError(f"neither HELP nor TYPE: {line}")
    _, keyword, name, rest = words
    if keyword == "HELP":
        if name in metrics:
            raise ValueError(f"a second HELP, or samples that lie apart: {line}")
        if rest != rest.strip() or not rest or re.search(r"\\[^\\n]", rest):
            raise ValueError(f"no help: {line}")
        metrics[name] = Metric(rest)
        return name
    if keyword != "TYPE" or name != current or metrics[name].type or rest not in ("gauge", "counter"):
        raise ValueError(f"no TYPE of the metric before: {line}")
    if (rest == "counter") != name.endswith("_total") or name.endswith(RESERVED):
        raise ValueError(f"not the name of a {rest}: {line}")
    metrics[name].type = rest
    return name


def read(text):
    if not text.endswith("\n"):
        raise ValueError("the last line does not end")
    metrics = {}
    current = None
    for line in text[:-1].split("\n"):
        if line.startswith("#"):
            current = read_comment(line, metrics, current)
            continue
        found = SAMPLE.fullmatch(line)
        if found is None or found["name"] != current or not metrics[current].type:
            raise ValueError(f"no sample of the metric before: {line}")
        labels = read_labels(found["labels"])
        if labels in metrics[current].samples:
            raise ValueError(f"a second sample with these labels: {line}")
        metrics[current].samples[labels] = int(found["value"])
    return metrics
