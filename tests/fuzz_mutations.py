"""Sound files with something wrong in them: bytes, tokens, lines, parts of other files."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable

LARGEST = 200_000  # bytes of a mutated file

# What readers trip over: numbers that are none, separators, marks, halves of things.
TOKENS = (
    b"", b" ", b"nan", b"inf", b"-inf", b"1e999", b"-1", b"0", b"1_000", b"\xd9\xa3", b"true",
    b"null", b"9" * 20, b"9" * 400, b"9" * 5000, b"0." + b"0" * 400 + b"1", b"1" + b"0" * 4400,
    b"-0.0", b"\x00", b"\x1b[2J", b"\xe2\x80\xa8", b"\xc2\x85", b"\x1c", b"\r", b"\r\n",
    b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"e\xcc\x81",
    b"\xc3\xa9", b"\xe2\x80\xae", b"\xc2\xa0", b",", b";", b"\t", b"|||", b"||", b"\"", b"'",
    b"=", b"=1+1", b"<", b">", b"&", b"&amp;", b"&#0;", b"<!DOCTYPE a>", b"<!--", b"]]>", b"{",
    b"}", b"[", b"]", b"[" * 3000, b":", b"S ", b"A ", b"\n", b"\n\n", b"-NONE-", b"noop",
    b"A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0", b"system", b"sentence", b"rank",
    b"score", b"judge", b"signature", b"ranks", b"skipped", b"# ", b"###", b"PK\x03\x04",
    b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\x00", b"2147483648", b"99999999", b"1e308", b"1e-320",
)  # fmt: skip


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """A file with one to six things wrong: bytes, tokens, lines, or a part of another file."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        data = rng.choice(MUTATIONS)(data, others, rng)
    return data[:LARGEST]


def _span(data: bytes, rng: random.Random, most: int = 40) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randrange(most))


def _byte(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes((rng.randrange(256),)) + data[at + 1 :]


def _insert(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _delete(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng, 200)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 30)) + data[end:]


def _cut(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _token(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    """Replace one word, cell or value by something odd."""
    marks = b' \t\n,;|"<>=:{}[]'
    edges = [0, *(i + 1 for i, byte in enumerate(data[:5000]) if byte in marks), len(data)]
    k = rng.randrange(len(edges) - 1) if len(edges) > 1 else 0
    start, end = edges[k], max(edges[k], edges[min(k + 1, len(edges) - 1)] - 1)
    return data[:start] + rng.choice(TOKENS) + data[end:]


def _lines(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    i, j = (rng.randrange(len(lines)) for _ in range(2))
    kind = rng.randrange(5)
    if kind == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 1:
        del lines[i]
    elif kind == 2:
        lines.insert(i, lines[j])
    elif kind == 3:
        lines[i] += lines[j]
    else:
        rng.shuffle(lines)
    return b"\n".join(lines)


def _splice(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    other = rng.choice(others)
    start, end = _span(other, rng, 300)
    at = rng.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _pack(data: bytes, _: list[bytes], rng: random.Random) -> bytes:
    packed = gzip.compress(data[:5000], 1)
    return packed if rng.random() < 0.3 else _byte(packed, [], rng)


MUTATIONS: tuple[Callable[[bytes, list[bytes], random.Random], bytes], ...] = (
    _byte, _byte, _insert, _insert, _delete, _repeat, _cut, _token, _token, _token, _lines, _lines,
    _splice, _pack,
)  # fmt: skip
