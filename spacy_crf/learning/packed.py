"""Data as bytes: msgpack, compressed or not, and read again within limits on memory."""

import gc
import zlib
from typing import Any

import srsly
from srsly import msgpack

LEVEL = 6  # of compression: 9 takes longer and saves nothing
MOST_TIMES, SPARE_BYTES = 32, 1 << 24  # what unpacking may make of a file, in bytes; models grow three- to sixfold
MOST_ITEMS, ITEMS_PER_BYTE = 1 << 20, 2  # members of lists and tables, in data and for each byte of a packed file


def pack(data: bytes) -> bytes:
    """Compress bytes; the same for the same bytes, given the same zlib."""
    packed = zlib.compress(data, LEVEL)
    return packed if len(data) <= _most_bytes(packed) else zlib.compress(data, 0)


def unpack(packed: bytes) -> bytes:
    """Return what `pack` was given, of which there is at most 32 times as much, and 16 MiB more.

    RAISES (ValueError): for more, and for what `pack` never made.
    """
    most, stream = _most_bytes(packed), zlib.decompressobj()
    data = stream.decompress(packed, most + 1)
    if len(data) > most:
        raise ValueError(f"{len(packed):,} bytes unpack to more than {most:,}")
    if not stream.eof or stream.unused_data:
        raise ValueError("compressed data is cut off, or something comes behind it")
    return data


def dumps(data: Any) -> bytes:
    """Return numbers, strings, arrays, lists and tables as msgpack."""
    found: bytes = srsly.msgpack_dumps(data)
    return found


def loads(data: bytes, n_packed: int = 0) -> Any:
    """Return what `dumps` was given. n_packed (int): bytes of the file that the data was packed in.

    RAISES (ValueError): for more than a million members of lists and tables, and two for each byte of the file; and
        for what is no such data.
    """
    most = left = MOST_ITEMS + ITEMS_PER_BYTE * n_packed

    def count(found: Any) -> Any:
        nonlocal left
        left -= 1 + len(found)
        if left < 0:
            raise ValueError(f"it has more than {most:,} members of lists and tables")
        return found

    was_enabled = gc.isenabled()
    gc.disable()  # it looks at every list as long as there are only more of them
    try:
        limits = {"max_array_len": most, "max_map_len": most}
        return msgpack.unpackb(data, raw=False, use_list=True, list_hook=count, object_hook=count, **limits)
    finally:
        if was_enabled:
            gc.enable()


def _most_bytes(packed: bytes) -> int:
    return SPARE_BYTES + MOST_TIMES * len(packed)
