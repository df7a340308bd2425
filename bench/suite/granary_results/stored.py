# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: text files that are compressed by gzip where their name ends in .gz.
# Invariant: reading looks at the content, not at the name; the same text gives the same bytes.
# Must not know: what the text says.
"""Reading and writing stored results."""

import atexit
import gzip
import io
import zlib
from pathlib import Path
from typing import BinaryIO

SUFFIX = ".gz"
MAGIC = b"\x1f\x8b"


def read(path: Path) -> str:
    """Raises OSError, or ValueError where the content is no text."""
    content = path.read_bytes()
    if content.startswith(MAGIC):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as problem:
            raise ValueError(f"the compressed file is damaged: {problem}") from None
    return content.decode()


def compressor(file: BinaryIO) -> gzip.GzipFile:
    """Without a name and a time, so that the bytes depend on the text only."""
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)


def content(text: str, path: Path) -> bytes:
    """The bytes of a file of this name."""
    plain = text.encode()
    if path.suffix != SUFFIX:
        return plain
    buffer = io.BytesIO()
    with compressor(buffer) as packed:
        packed.write(plain)
    return buffer.getvalue()


class Lines:
    """A file that is written line by line; what is written is in the file whenever a line is."""

    def __init__(self, path: Path):
        self.plain = path.open("wb")
        self.packed = compressor(self.plain) if path.suffix == SUFFIX else None
        if self.packed:
            atexit.register(self.packed.close)  # its last bytes say how long the content is

    def write(self, line: str) -> None:
        file = self.packed or self.plain
        file.write(f"{line}\n".encode())
        file.flush()  # a compressor flushes what it writes to, too
