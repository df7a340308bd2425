# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: Protocol Buffers, read without a schema.
# Invariant: independent of the command's writer.
# Must not know: what the messages mean.
"""fields(bytes): {field: [values]}; a value is a number, or bytes."""

import struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        elif kind == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError("a field goes beyond its message")
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"kind {kind}")
        found.setdefault(tag >> 3, []).append(value)
    return found


def packed(data):
    numbers, at = [], 0
    while at < len(data):
        number, at = varint(data, at)
        numbers.append(number)
    return numbers
