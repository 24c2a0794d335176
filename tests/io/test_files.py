"""Bytes in and out: gzip, standard streams, and one message for what cannot be read or written."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.data.tokens import Spelled
from errata.io.atomic import write_bytes, write_lines
from errata.io.files import read_bytes, read_lines, read_utf8_lines, stream_lines


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


PIECES = ["a", " ", "\n", "\r", "\r\n", "é", "\x85", "\u2028", "\x0b", "\ufeff", "😀"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example("")
@example("\n")
@example("a\nb")
@example("\ufeffa\n")
@example("\ufeff\ufeffa\n\ufeff")
@example("a\r\nb\r\n")
@example("a\u2028b\n")
def test_lines_are_the_same_as_bytes_and_as_strings(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("errata.io.files.DECODED_BYTES", 2)
        lines, findings = read_utf8_lines(path)
    assert (list(lines), findings) == read_lines(path)
    odd = any(mark in text for mark in "\r\x85\u2028\x0b")
    assert isinstance(lines, Spelled) != odd


def test_no_text_is_refused_as_bytes_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("a\nb é\n".encode("latin-1"))
    said = r"latin.txt:2: byte 3 of the line \(0xe9\) is not UTF-8"
    for piece in (1, 2**17):
        monkeypatch.setattr("errata.io.files.DECODED_BYTES", piece)
        with pytest.raises(InputError, match=said):
            read_utf8_lines(path)
    path.write_bytes("\ufeffé".encode() + b"\xe9\n")
    with pytest.raises(InputError, match=r"latin.txt:1: byte 6 of the line"):
        read_utf8_lines(path)
    path.write_bytes(b"a\nb\n")
    monkeypatch.setattr("errata.io.files.LARGEST", 3)  # what kernels can count
    assert read_utf8_lines(path) == (["a", "b"], [])
