"""Every run ends with a line and a code, in a process of its own, as a user sees it."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from unittest import mock

import pytest

import errata as errata_package
from command import Done, errata, errata_process, run
from errata.cli import main
from errata.cli.main import verbosity
from errata.cli.output import ProgressBar
from errata.core.errors import DataWarning
from errata.datasets.load import sample_file

with sample_file("gold.m2") as _gold:
    SAMPLE = _gold.parent
SAMPLE_SCORE = ("score", "--sample", "--resamples", "0")


def ended(done: Done, code: int = 2) -> str:
    """Return the messages of a run that ended with a code, few lines without a traceback."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 4, done.stderr
    assert len(done.stderr) < 3000
    return done.stderr


def shell(command: str) -> Done:
    """Run a shell command in which ``errata`` is ours."""
    command = command.replace("errata ", f"{sys.executable} -m errata ")
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii", "cp437", "utf-16", "koi8-r"])
def test_a_redirect_on_a_legacy_code_page_prints(encoding: str, tmp_path: Path) -> None:
    for name in "éж":
        (tmp_path / f"{name}.txt").write_text(SAMPLE.joinpath("noisy.txt").read_text())
    command = f"score --gold {SAMPLE}/gold.m2 é.txt ж.txt -m gleu --resamples 0 --format".split()
    where = {"env": {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}, "encoding": encoding}
    text = errata(*command, "json", cwd=tmp_path, **where).stdout
    assert encoding == "utf-16" or text.isascii()
    assert {row["system"] for row in json.loads(text)["tables"][0]["rows"]} == {"é", "ж"}
    errata(*command, "tsv", cwd=tmp_path, **where)
    start = errata_process if encoding == "cp1252" else errata
    text = start(*command, "table", cwd=tmp_path, **where).stdout
    assert "-----" in text or "─" in text
    shown = {name.encode(encoding, "backslashreplace").decode(encoding) for name in "éж"}
    assert set(text.split()) >= ({*"éж"} if encoding == "ascii" else shown)


@pytest.mark.parametrize("start", [errata, errata_process])
def test_a_name_that_is_not_utf8(tmp_path: Path, start: Callable[..., Done]) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    with open(name, "wb") as file:
        file.write(SAMPLE.joinpath("noisy.txt").read_bytes())
    command = ("score", "--gold", SAMPLE / "gold.m2", os.fsdecode(name), "-m", "gleu")
    strict = {"PYTHONIOENCODING": "utf-8:strict"}
    rest = ("table", "tsv", "latex", "markdown", "html")
    for form in ("json", *(rest if start is errata else ())):
        text = start(*command, "--resamples", "0", "--format", form, env=strict).stdout
        assert "caf" in text
        if form == "json":
            assert json.loads(text)["tables"][0]["rows"][0]["system"] == "caf\udce9"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell")
def test_streams_that_are_closed() -> None:
    done = shell(f"errata {' '.join(SAMPLE_SCORE)} -m gleu >&-")
    assert ended(done) == "errata: output: standard output is closed\n"
    done = shell("errata score --gold - x.txt <&-")
    assert ended(done).startswith("errata: <stdin>: cannot read the file: it is closed")
    done = shell(f"errata {' '.join(SAMPLE_SCORE)} -m gleu 2>&-")
    assert (done.returncode, "gleu" in done.stdout.lower()) == (0, True)
    done = shell("errata score --gold no-such x 2>&-")
    assert done.returncode == 2
    done = shell(f"errata convert {SAMPLE / 'gold.m2'} --only-source -o - >&-")
    ended(done)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell")
def test_nobody_reads_the_output() -> None:
    done = shell("{ errata data list; echo $? >&2; } | true")
    assert done.stderr.split() in (["141"], ["0"])  # it may have been quick enough
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(
        [sys.executable, "-m", "errata", "data", "list"], stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert process.communicate()[1] == b""
    assert process.returncode == 141


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_interrupting_is_130() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "errata", "score", "--gold", "-", "x.txt", "-v"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets what it starts in the background ignore the signal, tests among it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "errata: reading <stdin>\n"
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "errata: interrupted\n" in said
    assert "Traceback" not in said


def test_what_nobody_foresaw_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    code: dict[str, object] = {}  # of no file, so of no plug-in
    exec(r"def fail(*_, **__): raise RuntimeError('the cat\x1b[2J sat on it')", code)
    monkeypatch.setattr("errata.datasets.sample_corpus", code["fail"])
    done = errata(*SAMPLE_SCORE, code=70)
    assert done.stderr.startswith("errata: this is a fault of Errata (input_options.py:")
    assert r"RuntimeError: the cat\x1b[2J sat on it; please report it at http" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    for shown in (
        errata("--traceback", *SAMPLE_SCORE, code=70),
        errata(*SAMPLE_SCORE, code=70, env={"ERRATA_TRACEBACK": "1"}),
    ):
        assert shown.stderr.startswith("Traceback (most recent call last)")
        assert shown.stderr.endswith(done.stderr)


def test_too_little_memory_gives_no_wrong_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 8 GiB")

    monkeypatch.setattr("errata.datasets.sample_corpus", fail)
    said = errata(*SAMPLE_SCORE, code=2).stderr
    assert said.startswith("errata: out of memory: Unable to allocate 8 GiB; use fewer")
    assert "one sentence a line" not in said


def test_quiet_and_verbose(tmp_path: Path) -> None:
    """Before the command as well as behind it; the last word counts, and nothing stays loud."""
    (tmp_path / "g.m2").write_text("S a b\u2028 c\n\n")
    (tmp_path / "o.txt").write_text("a b c\n")
    line = "score --gold g.m2 o.txt -m gleu --resamples 0"
    usual = run(line, cwd=tmp_path)
    assert "warning: g.m2:" in usual.stderr
    result = usual.stdout.partition("next: ")[0]
    for words in (f"{line} -q", f"-q {line}", f"-v {line} -q", f"{line} -v -q"):
        quiet = run(words, cwd=tmp_path)
        assert (quiet.stdout, quiet.stderr) == (result, ""), words
    for words in (f"{line} --verbose", f"-v {line}", f"-q {line} -v"):
        loud = run(words, cwd=tmp_path)
        assert loud.stdout == usual.stdout
        assert {"errata: reading g.m2", "errata: reading o.txt"} <= {*loud.stderr.splitlines()}
        assert "NumPy" in loud.stderr.splitlines()[-1]
    assert run(line, cwd=tmp_path).stderr == usual.stderr
    written = run("convert g.m2 --only-source -o s.txt -v", cwd=tmp_path)
    assert "errata: wrote s.txt (9 bytes)\n" in written.stderr
    assert "NumPy" in run("data -v list").stderr


@pytest.mark.slow
def test_running_uncompiled_is_reported_once(tmp_path: Path) -> None:
    """A package without its compiled kernels, as an installation without a compiler leaves it."""
    package = Path(errata_package.__file__).parent
    left_out = shutil.ignore_patterns("*.so", "*.c", "__pycache__")
    shutil.copytree(package, tmp_path / "errata", ignore=left_out)
    line = "compare --sample -m gleu --resamples 40 --trials 0 --fail-if gleu<0.99"
    done = errata_process(*line.split(), env={"PYTHONPATH": str(tmp_path)}, code=1)
    assert done.stderr.count("the kernels run uncompiled") == 1
    assert "uncompiled" not in done.stdout


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
