# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      makes a browser's picture small: a palette of at most 256 colours, close to those that it has.
# Invariant: size and place of everything stay; common colours stay, and a channel of others
#            changes by at most half of the step that the palette needs.
# Must not know: what the picture shows.
"""PNG to PNG, for pictures without interlacing, with eight bits a channel and no transparency."""

import collections
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}  # by the kind of colour
STEPS = (1, 4, 8, 12, 16, 24, 32, 64)
COLOURS = 256
KEPT = 96


def chunks(data):
    at = len(SIGNATURE)
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        yield kind, data[at + 8:at + 8 + length]
        at += length + 12


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def paeth(left, up, corner):
    """PNG's own guess: the neighbour that is nearest to left + up - corner."""
    guess = left + up - corner
    return min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]


def unfiltered(kind, line, above, channels):
    for at in range(len(line)):
        left = line[at - channels] if at >= channels else 0
        corner = above[at - channels] if at >= channels else 0
        guess = (0, left, above[at], (left + above[at]) // 2, paeth(left, above[at], corner) if kind == 4 else 0)[kind]
        line[at] = (line[at] + guess) & 255
    return line


def pixels(data):
    """Width, height, and each line's pixels as (red, green, blue)."""
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", dict(chunks(data))[b"IHDR"])
    if depth != 8 or interlaced or colour not in CHANNELS:
        raise ValueError("not a picture of a browser")
    channels = CHANNELS[colour]
    raw = zlib.decompress(b"".join(body for kind, body in chunks(data) if kind == b"IDAT"))
    line, lines = bytearray(width * channels), []
    for row in range(height):
        start = row * (width * channels + 1)
        line = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + width * channels]), line, channels)
        lines.append(list(zip(line[0::channels], line[1::channels], line[2::channels])))
    return width, height, lines


def rounded(colours, step):
    """What each colour becomes; the most common ones, as grounds and letters have, stay."""
    return {colour: colour if at < KEPT else tuple(min(255, (part + step // 2) // step * step) for part in colour)
            for at, (colour, _) in enumerate(colours.most_common())}


def small(data):
    width, height, lines = pixels(data)
    colours = collections.Counter(pixel for line in lines for pixel in line)
    kept = next(kept for kept in (rounded(colours, step) for step in STEPS) if len(set(kept.values())) <= COLOURS)
    palette = sorted(set(kept.values()))
    place = {colour: palette.index(near) for colour, near in kept.items()}
    raw = b"".join(b"\0" + bytes(place[pixel] for pixel in line) for line in lines)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return (SIGNATURE + chunk(b"IHDR", head) + chunk(b"PLTE", bytes(part for colour in palette for part in colour))
            + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))
