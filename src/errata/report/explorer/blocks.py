"""Data of a page in compressed blocks: small in the file, unpacked by the browser as needed.

A block is deflated (zlib, RFC 1950), written in base64 and put into an element that no browser
runs. A block of columns holds arrays of numbers one after another, each where a multiple of 8 bytes
starts, in the byte order of every machine a browser runs on (little); a manifest says where.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PackedColumn",
    "compact_json",
    "compressed",
    "in_blocks",
    "packed_columns",
    "uncompressed",
    "unpacked_columns",
]

WHOLE = (np.uint8, np.uint16, np.uint32)
ALIGNED = 8
LEVEL = 6  # zlib's compromise; 9 takes three times as long for 2 % less


@dataclass(frozen=True)
class PackedColumn:
    """Where an array stands in a block: the browser's name of its type, first byte, and length."""

    type: str
    at: int
    length: int


def compressed(data: bytes) -> str:
    """Data deflated and in base64.

    >>> uncompressed(compressed(b"He go home . " * 100)) == b"He go home . " * 100
    True
    """
    return base64.b64encode(zlib.compress(data, LEVEL)).decode("ascii")


def uncompressed(text: str) -> bytes:
    """What was `compressed`."""
    return zlib.decompress(base64.b64decode(text))


def compact_json(data: object) -> bytes:
    """JSON without spaces, in UTF-8."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def packed_columns(columns: Mapping[str, NDArray[Any]]) -> tuple[dict[str, PackedColumn], bytes]:
    """Arrays one after another, whole numbers in the smallest type that holds them all.

    >>> manifest, data = packed_columns({"a": np.array([1, 300]), "b": np.array([0.5])})
    >>> manifest["b"], len(data)
    (PackedColumn(type='Float64Array', at=8, length=1), 16)
    >>> {name: column.tolist() for name, column in unpacked_columns(manifest, data).items()}
    {'a': [1, 300], 'b': [0.5]}
    """
    manifest: dict[str, PackedColumn] = {}
    pieces: list[bytes] = []
    at = 0
    for name, values in columns.items():
        array = _smallest(values.ravel())
        data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        manifest[name] = PackedColumn(_name(array.dtype), at, len(array))
        pieces.append(data + b"\0" * (-len(data) % ALIGNED))
        at += len(pieces[-1])
    return manifest, b"".join(pieces)


def unpacked_columns(manifest: Mapping[str, PackedColumn], data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays again."""
    return {
        name: np.frombuffer(data, _type(column.type), column.length, column.at)
        for name, column in manifest.items()
    }


def _smallest(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    top = int(values.max(initial=0))
    return values.astype(next(kind for kind in WHOLE if top <= np.iinfo(kind).max))


def _name(kind: np.dtype[Any]) -> str:
    return f"{'Float' if kind.kind == 'f' else 'Uint'}{kind.itemsize * 8}Array"


def _type(name: str) -> np.dtype[Any]:
    return np.dtype(name.removesuffix("Array").lower()).newbyteorder("<")


def in_blocks(several: list[Any], size: int) -> Iterable[list[Any]]:
    """A list in parts of so many."""
    return (several[start : start + size] for start in range(0, len(several), size))
