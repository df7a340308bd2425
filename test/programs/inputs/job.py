# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a Python program of many small objects: trees, dictionaries, JSON, regular expressions, pickles, sorting.
# Invariant: prints the same for the same rounds, whatever the malloc; no clock, no seed from outside.
# Must not know: the allocator.
import collections
import heapq
import json
import pickle
import random
import re
import sys
import zlib


class Node:
    __slots__ = ("left", "right", "key")

    def __init__(self, key):
        self.left = self.right = None
        self.key = key


def trees(rng):
    """Binary search trees, built and dropped."""
    root = Node(0)
    for _ in range(12000):
        node, key = root, rng.getrandbits(24)
        while True:
            side = "left" if key < node.key else "right"
            child = getattr(node, side)
            if child is None:
                setattr(node, side, Node(key))
                break
            node = child
    depth, level = 0, [root]
    while level:
        depth, level = depth + 1, [child for node in level for child in (node.left, node.right) if child]
    return depth


def records(rng):
    return [{"id": i, "name": f"name-{rng.getrandbits(40):x}", "tags": [f"t{rng.randrange(50)}" for _ in range(4)],
             "weight": rng.random(), "nested": {"a": i % 7, "b": [i, i + 1]}} for i in range(4000)]


def documents(rng):
    """Records through JSON, pickle and zlib and back."""
    rows = records(rng)
    text = json.dumps(rows)
    copy = pickle.loads(pickle.dumps(json.loads(text)))
    packed = zlib.compress(text.encode(), 3)
    return len(text), copy == rows, zlib.crc32(zlib.decompress(packed))


def words(rng):
    """Text cut into words, counted and joined."""
    syllables = ["ka", "to", "mi", "ren", "sul", "ba", "o", "ni", "ver", "ta"]
    text = " ".join("".join(rng.choices(syllables, k=rng.randint(1, 5))) for _ in range(30000))
    counts = collections.Counter(re.findall(r"\b(?:ka|to)\w*", text))
    swapped = re.sub(r"(\w+) (\w+)", r"\2 \1", text)
    return counts.most_common(2), zlib.crc32(swapped.encode())


def queues(rng):
    """A heap and a deque of tuples."""
    heap, window, total = [], collections.deque(maxlen=500), 0
    for i in range(20000):
        heapq.heappush(heap, (rng.random(), i, str(i)))
        window.append([i, (i, i)])
        if len(heap) > 3000:
            total += heapq.heappop(heap)[1]
    return total, len(window)


def numbers(rng):
    """Integers too large for a word, formatted and parsed."""
    product = 1
    for _ in range(900):
        product *= rng.getrandbits(31) | 1
    return int(str(product)[:500]) % 1000003


def main(rounds):
    sys.set_int_max_str_digits(0)
    for turn in range(rounds):
        rng = random.Random(turn)
        print(turn, trees(rng), documents(rng), words(rng), queues(rng), numbers(rng))


main(int(sys.argv[1]))
