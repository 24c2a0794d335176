"""Files as bytes and as lines: bounded, compressed by content or name, nothing dropped."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import errata
from errata.core.errors import DataWarning, InputError
from errata.io import read_text, write_text
from errata.io.atomic import write_bytes, write_lines
from errata.io.files import READ_BYTES, read_bytes, stream_lines
from errata.io.judgments import read_judgments
from errata.io.scores import read_score_file

READERS = pytest.mark.parametrize(
    "read",
    [
        read_bytes,
        read_text,
        lambda path: list(stream_lines(path)),
        lambda path: list(read_judgments(path)),
        read_score_file,
    ],
    ids=["bytes", "text", "lines", "judgments", "scores"],
)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs the devices of Unix")
@READERS
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/urandom"])
def test_devices_are_refused(tmp_path: Path, read, device: str) -> None:
    (tmp_path / "link").symlink_to(device)
    for path in (device, tmp_path / "link"):
        with pytest.raises(InputError, match="a device and not a file"):
            read(path)


@READERS
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read, pack) -> None:
    """A gzip file of 12 MB held 8 GB."""
    monkeypatch.setenv("ERRATA_MAX_BYTES", "100k")
    path = tmp_path / "x"
    path.write_bytes(pack(b"a,b\n" * 30_000))
    with pytest.raises(InputError, match=r"more than 102,400 bytes; .*set ERRATA_MAX_BYTES"):
        read(path)
    path.write_bytes(pack(b"x" * 200_000))  # one line
    with pytest.raises(InputError, match="more than 102,400 bytes"):
        read(path)
    monkeypatch.setenv("ERRATA_MAX_BYTES", "1M")
    assert len(read_bytes(path)) == 200_000


@pytest.mark.slow
def test_a_spreadsheet_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openpyxl")
    monkeypatch.setenv("ERRATA_MAX_BYTES", "100k")
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 10_000_000)
    with pytest.raises(InputError, match="more than 102,400 bytes"):
        read_score_file(tmp_path / "x.xlsx")


def test_standard_input_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_MAX_BYTES", "1k")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 2000)))
    with pytest.raises(InputError, match="<stdin>: the input holds more than 1,024 bytes"):
        read_bytes("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        read_bytes("-")


MANY_DIGITS = "9" * 5000
LARGE_NUMBERS = {
    "weights": (f"{MANY_DIGITS}\n" * 2, "difficulty --sample --annotator 0 --weights FILE"),
    "j.csv": (f"judge,sentence,system,rank\na,{MANY_DIGITS},A,{MANY_DIGITS}\n", "rank FILE"),
    "s.tsv": (f"A\t{MANY_DIGITS}\nB\t1\n", "meta --scores x --human FILE"),
    "s.json": (f'{{"tables": [{MANY_DIGITS}]}}', "meta --scores x --human FILE"),
    "c.toml": (f"a = {MANY_DIGITS}\n", "data --catalogue FILE list"),
    "gold.m2": (
        f"S a b\nA {MANY_DIGITS} 1|||X|||y|||REQUIRED|||-NONE-|||{MANY_DIGITS}\n",
        "check --gold FILE",
    ),
}


@pytest.mark.parametrize("name", LARGE_NUMBERS)
def test_numbers_of_thousands_of_digits(tmp_path: Path, name: str) -> None:
    text, command = LARGE_NUMBERS[name]
    (tmp_path / name).write_text(text)
    done = errata(*command.replace("FILE", str(tmp_path / name)).split(), code=2)
    assert len(done.stderr or done.stdout) < 2000


@pytest.mark.parametrize(
    "size", [0, 1, READ_BYTES - 1, READ_BYTES, READ_BYTES + 1, 3 * READ_BYTES + 7]
)
def test_all_of_a_file_is_read_piece_by_piece(tmp_path: Path, size: int) -> None:
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    plain, packed = tmp_path / "a.txt", tmp_path / "a.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content, 1))
    assert read_bytes(plain) == read_bytes(packed) == content


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


@pytest.mark.parametrize("bad", [["a\nb"], ["a", "b\r"], ["\ufeffa"]])
def test_what_a_line_cannot_hold_is_refused(tmp_path, bad):
    with pytest.raises(InputError, match=r"line end|byte order mark"):
        write_text(bad, tmp_path / "text")
    assert not (tmp_path / "text").exists()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=8),
        max_size=5,
    ),
    st.sampled_from(["text", "text.gz"]),
)
def test_round_trip_is_exact(tmp_path_factory, lines, name):
    path = tmp_path_factory.getbasetemp() / name
    if lines and lines[0].startswith("\ufeff"):
        return
    write_text(lines, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert read_text(path) == tuple(lines)
