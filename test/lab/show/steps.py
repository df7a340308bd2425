# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: reads what a shown allocator wrote, step by step, and checks after each step what is true of any allocator.
# Invariant: a block lies in one container, a container in one place; no two blocks overlap; the blocks that the script has
#    are used and no others have names; a heap's u is the sum of its used blocks; locks that a step takes it gives back.
# Must not know: any allocator.
import json
import re


class Wrong(Exception):
    pass


def require(condition, *what):
    if not condition:
        raise Wrong(" ".join(str(each) for each in what))


class Steps:
    def __init__(self, path):
        with open(path, encoding="utf-8") as lines:
            self.head = json.loads(next(lines))
            self.steps = [json.loads(line) for line in lines]
        self.places, self.containers, self.blocks, self.live = {}, {}, {}, set()
        self.pending, self.locked = {}, []
        self.held = 0

    # Yields each step after its changes were made and checked.
    def play(self):
        for number, step in enumerate(self.steps, 1):
            require(step["step"] == number, "step", step["step"], "stands where", number, "should")
            self.change(step)
            self.check(step)
            yield step

    def change(self, step):
        for kind in ("places", "containers", "blocks"):
            there = getattr(self, kind)
            for key, value in step[kind].items():
                if value is None:
                    require(key in there, key, "is gone and was never there")
                    del there[key]
                else:
                    require(there.get(key) != value, key, "was written and did not change")
                    there[key] = value
        self.held += sum(event["bytes"] for event in step["events"] if event["kind"] == "kernel")
        # A call in whose middle the thread stops is over when the thread goes on.
        if step["call"].endswith(" goes on"):
            self.call(self.pending.pop(step["thread"], ""))
        if step["call"].endswith(" stops") or (step["events"] and step["events"][-1]["kind"] == "wait"):
            self.pending.setdefault(step["thread"], step["call"].removesuffix(" stops"))
        else:
            self.call(step["call"])

    # What the script has afterwards.
    def call(self, call):
        if match := re.fullmatch(r"(\w+)\[(\d+)\] = \w+\(\d+\)", call):
            self.live |= {f"{match[1]}.{i}" for i in range(int(match[2]))}
        elif match := re.fullmatch(r"([\w.]+) = \w+\(.*\)", call):
            self.live.add(match[1])
        elif match := re.fullmatch(r"free\((\w+)\[\*\]\)", call):
            self.live = {name for name in self.live if not name.startswith(match[1] + ".")}
        elif match := re.fullmatch(r"free\((\w+)\[(\d+)\.\.(\d+)\]\)", call):
            self.live -= {f"{match[1]}.{i}" for i in range(int(match[2]), int(match[3]) + 1)}
        elif match := re.fullmatch(r"free\(([\w.]+)\)", call):
            self.live.discard(match[1])

    def check(self, step):
        for key, place in self.places.items():
            require(place["parent"] is None or place["parent"] in self.places, key, "has a parent that is not there")
        for key, container in self.containers.items():
            require(container["place"] in self.places, key, "stands in", container["place"], "which is not there")
        ends = {}
        used = dict.fromkeys(self.containers, 0)
        names = []
        for key, block in sorted(self.blocks.items(), key=lambda item: self.begin(item[1])):
            container = block["container"]
            require(container in self.containers, key, "lies in", container, "which is not there")
            require(block["place"] is None or block["place"] in self.places, key, "is in a list that is not there")
            begin = self.begin(block)
            require(begin >= ends.get(container, 0), key, "overlaps the block before it in", container)
            ends[container] = begin + block["bytes"]
            require(ends[container] <= self.containers[container]["bytes"], key, "ends behind", container)
            if block["state"] == "used":
                used[container] += 1
                require(block["place"] is None, key, "is used and in a list")
                names += [block["name"]] if "name" in block else []
        require(len(names) == len(set(names)), "a name is two blocks'")
        if self.head["script"] is not None:
            unsure = {word for call in self.pending.values() for word in re.findall(r"[\w.]+", call)}
            require(set(names) - unsure == self.live - unsure, "used:", sorted(names)[:9], "; the script has", sorted(self.live)[:9])
        for key, container in self.containers.items():
            require(container["numbers"]["used"] == used[key], key, "counts", container["numbers"], "and has", used[key])
            require(container.get("inside") is None or container["inside"] in self.containers, key, "lies in nothing")
        self.check_u()
        self.check_events(step)

    def begin(self, block):
        return block["offset"] if "offset" in block else block["index"] * block["bytes"]

    # The places from this one up to the outermost.
    def around(self, place):
        while place is not None:
            yield place
            place = self.places[place]["parent"]

    def check_u(self):
        sums = {key: 0 for key, place in self.places.items() if "u" in place.get("numbers", {})}
        for block in self.blocks.values():
            if block["state"] == "used":
                for place in self.around(self.containers[block["container"]]["place"]):
                    if place in sums:
                        sums[place] += block["bytes"]
        for key, total in sums.items():
            require(self.places[key]["numbers"]["u"] == total, key, "has u", self.places[key]["numbers"], "not", total)

    def check_events(self, step):
        for event in step["events"]:
            if event["kind"] == "lock":
                self.locked.append(event["place"])
            elif event["kind"] == "unlock":
                require(event["place"] in self.locked, event["place"], "is unlocked and was not locked")
                self.locked.remove(event["place"])
            elif event["kind"] == "rule":
                require(event["cite"] and event["text"], "a rule without a text")
            elif event["kind"] == "move":
                require(event["what"] in self.containers, event["what"], "moved and is not there")
                require(self.containers[event["what"]]["place"] == event["to"], event["what"], "moved elsewhere")
            elif event["kind"] == "wait":
                require(event["place"] in self.locked, event["place"], "is waited for and was not locked")
            else:
                require(event["kind"] == "kernel", "an event of kind", event["kind"])
        require(not self.locked or self.pending, self.locked, "stay locked")

    # For figures.
    def block(self, name):
        found = [block for block in self.blocks.values() if block.get("name") == name]
        require(len(found) == 1, name, "is", len(found), "blocks")
        return found[0]

    def container(self, name):
        return self.block(name)["container"]

    # The outermost place that a block's container stands in.
    def heap(self, name):
        return list(self.around(self.containers[self.container(name)]["place"]))[-1]


def cites(step):
    return [event["cite"] for event in step["events"] if event["kind"] == "rule"]


def events(step, kind):
    return [event for event in step["events"] if event["kind"] == kind]
