"""Standard streams that are closed, full or a terminal, and the bar that is drawn on one."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from unittest import mock

import pytest

from errata.cli import main
from errata.cli.main import verbosity
from errata.cli.output import ProgressBar
from errata.core.errors import DataWarning


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@contextmanager
def on_terminal() -> Iterator[Terminal]:
    """Standard error on a terminal of 100 columns."""
    stream = Terminal()
    given = {"COLUMNS": "100", "TERM": "xterm"}
    with mock.patch.dict(os.environ, given), redirect_stderr(stream):
        yield stream


def drawn(*, after: float = 0.0) -> str:
    with on_terminal() as terminal, ProgressBar("gleu [b]", after=after) as progress:
        progress(1, 4)
        progress(3, 4)
    return terminal.getvalue()


def test_a_bar_shows_what_is_done_and_goes() -> None:
    text = drawn()
    for part in ("gleu [b]", "3/4", "━", "/s"):  # no markup
        assert part in text
    assert text.endswith("\x1b[2K")  # nothing of it stays
    assert ProgressBar("a\x1bb").label == r"a\x1bb"


def test_a_bar_is_shown_once_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(after=60) == ""
    clock = mock.Mock(monotonic=mock.Mock(side_effect=(10.0, 11.9, 12.0)))
    monkeypatch.setattr("errata.cli.output.time", clock)
    with on_terminal() as terminal, ProgressBar("x") as progress:
        progress(1, 4)
        assert terminal.getvalue() == ""
        progress(2, 4)
    assert "2/4" in terminal.getvalue()


def test_no_bar_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    token = verbosity.set(-1)
    try:
        assert drawn() == ""
    finally:
        verbosity.reset(token)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar("x", after=0) as progress:
        progress(1, 2)
        monkeypatch.setattr(sys, "stderr", None)
        progress(2, 2)
    assert stream.getvalue() == ""


def test_closed_streams_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(sys, name, None)
    main._prepare_streams()
    with pytest.raises(OSError, match="it is closed"):
        sys.stdin.read()
    with pytest.raises(OSError, match="standard output is closed"):
        sys.stdout.write("x")  # at once, and not when Python ends


def test_every_text_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = [io.TextIOWrapper(io.BytesIO(), "ascii") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    main._prepare_streams()
    for stream in streams:
        stream.write("−\udce9")
        stream.flush()
        assert stream.buffer.getvalue() == rb"\u2212\udce9"  # type: ignore[attr-defined]


def test_what_could_not_be_written_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError("no space left")

    monkeypatch.setattr(sys, "stdout", Full())
    main._drop("stdout")
    print("gone")
    sys.stdout.close()


@pytest.mark.parametrize(
    ("category", "text", "ours"),
    [
        (RuntimeWarning, "overflow encountered in exp", True),
        (RuntimeWarning, "something else", False),
        (UserWarning, "overflow encountered in exp", False),
        (DataWarning, "overflow encountered in exp", False),
    ],
)
def test_only_numbers_out_of_range_are_explained(
    category: type[Warning], text: str, ours: bool
) -> None:
    show = main._warner()
    with redirect_stderr(io.StringIO()) as said:
        for _ in range(2):
            show(text, category, "x.py", 1)
    assert (f"warning: {text}\n" in said.getvalue()) == (not ours)
    assert (f"too few to compute with ({text}); check" in said.getvalue()) == ours
    # Once, but for what is said of the user's data.
    assert said.getvalue().count("warning: ") == (2 if category is DataWarning else 1)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("rank nowhere.jsonl", 2),
        ("rank --sample --resamples 5 --unit judges", 0),  # which causes a warning
    ],
)
def test_messages_that_nobody_can_read_change_no_exit_code(line: str, code: int) -> None:
    """Where standard error is full or its reader gone: 1 would mean that a check failed."""
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "wb") as full, open(writer, "wb") as gone:
        for stream in (full, gone):
            command = [sys.executable, "-m", "errata", *line.split()]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stream, check=False)
            assert done.returncode == code
            assert bool(done.stdout) == (code == 0)
