# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: filters of system calls (seccomp) for the process that asks for one.
# Invariant: the filter answers one call of this CPU's by the action, and lets all others pass.
# Must not know: what the filter is for.
import ctypes
import struct

ALLOW = 0x7fff0000
SET_NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2


def filter_call(number, action):
    libc = ctypes.CDLL(None)
    code = b"".join(struct.pack("HBBI", *each) for each in (
        (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, action), (0x06, 0, 0, ALLOW)))
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    assert libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    assert libc.prctl(SET_SECCOMP, FILTER, ctypes.create_string_buffer(program)) == 0
