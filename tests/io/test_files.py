"""Bytes in and out: gzip, standard streams, and one message for what cannot be read or written."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from errata.core.errors import InputError
from errata.io.atomic import write_bytes, write_lines
from errata.io.files import read_bytes, stream_lines


def test_gzip_is_undone_by_content_and_made_by_name(tmp_path: Path) -> None:
    packed, hidden = tmp_path / "a.gz", tmp_path / "a"
    write_bytes(b"one\ntwo\n", packed)
    assert gzip.decompress(packed.read_bytes()) == b"one\ntwo\n"
    hidden.write_bytes(packed.read_bytes())
    for path in (packed, hidden):
        assert read_bytes(path) == b"one\ntwo\n"
        assert list(stream_lines(path)) == ["one\n", "two\n"]
    assert packed.read_bytes()[4:8] == bytes(4)  # no time in it: the same bytes, the same file


def test_what_was_printed_before_comes_before(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, "utf-8"))
    print("first")
    write_bytes(b"second\n", "-")
    print("third", flush=True)
    assert out.getvalue() == b"first\nsecond\nthird\n"


@pytest.mark.parametrize("name", ["no/such/folder", ".", "a\0b"])
def test_what_cannot_be_written(tmp_path: Path, name: str) -> None:
    for write in (write_bytes, lambda data, path: write_lines(["x"], path)):
        with pytest.raises(InputError, match=r"cannot write the file: .*check the path"):
            write(b"x", tmp_path / name)
