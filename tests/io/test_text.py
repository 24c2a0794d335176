"""Plain text: one sentence per line, nothing dropped."""

from __future__ import annotations

import gzip
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.errors import DataWarning, InputError
from errata.io import read_text, write_text


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a b\nc\n", ("a b", "c")),
        (b"a b\r\nc\r\n", ("a b", "c")),
        (b"a b \r\n c\r\n", ("a b ", " c")),
        (b"a b\nc", ("a b", "c")),
        (b"\xef\xbb\xbfa b\nc\n", ("a b", "c")),
        (b" a  b \nc\t\n", (" a  b ", "c\t")),
        (b"a\n\nb\n\n\n", ("a", "", "b", "", "")),
        (b"\n", ("",)),
        (b"\r\n\r\n", ("", "")),
        (b"", ()),
        (gzip.compress("é\n".encode(), mtime=0), ("é",)),
    ],
)
def test_lines_are_kept_exactly(tmp_path, data, lines):
    (tmp_path / "text").write_bytes(data)
    assert read_text(tmp_path / "text") == lines


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
