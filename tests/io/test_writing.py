"""Files are written whole or not at all, over nothing that must stay, and sets all together."""

from __future__ import annotations

import errno
import gzip
import os
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from errata.core.errors import InputError
from errata.io import atomic
from errata.io.atomic import file_set, write_bytes, write_lines
from errata.io.files import read_bytes


def left(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write_set(contents: dict[Path, bytes], *, force: bool = True, read: Path | None = None) -> None:
    """Write files as one set, perhaps after reading one."""
    with file_set(force=force):
        if read is not None:
            read_bytes(read)
        for path, content in contents.items():
            write_bytes(content, path)


def full_disk(monkeypatch: pytest.MonkeyPatch, *, after: int = 0) -> None:
    """Let the disk be full when the next file but ``after`` is flushed to it."""
    calls = iter(range(1000))

    def fsync(_: int) -> None:
        if next(calls) >= after:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", fsync)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"old")
    full_disk(monkeypatch)
    with pytest.raises(InputError, match=r"a: cannot write the file: No space left"):
        write_bytes(b"new" * 9000, tmp_path / "a")
    full_disk(monkeypatch, after=1)
    with pytest.raises(InputError, match="b: cannot write the file: No space left"):
        write_set({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert left(tmp_path) == {"a": b"old"}


def test_modes_are_kept_and_new_files_follow_the_umask(tmp_path: Path) -> None:
    kept, new = tmp_path / "kept", tmp_path / "new"
    kept.write_bytes(b"old")
    kept.chmod(0o640)
    before = os.umask(0o027)
    try:
        write_bytes(b"x", kept)
        write_bytes(b"x", new)
    finally:
        os.umask(before)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    kept.chmod(0o604)
    write_bytes(b"y", kept)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o604


def test_links_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    for content in (b"new", b"newer"):  # a link to nothing, then to a file
        write_bytes(content, tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert left(tmp_path / "there") == {"file": content}


def test_very_long_names(tmp_path: Path) -> None:
    name = "日" * 80 + ".txt"
    write_lines(["x"], tmp_path / name)
    assert left(tmp_path) == {name: b"x\n"}


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_what_is_named_compressed_is_compressed(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"gold.m2{ending}"
    write_lines(["x" * 1000], path)
    once = path.read_bytes()
    assert len(once) < 200
    assert read_bytes(path) == b"x" * 1000 + b"\n"
    write_lines(["x" * 1000], path)
    assert path.read_bytes() == once


def test_a_set_is_written_at_its_end_or_not_at_all(tmp_path: Path) -> None:
    with file_set():
        write_bytes(b"1", tmp_path / "a")
        write_bytes(b"2", tmp_path / "b")
        assert not left(tmp_path).keys() & {"a", "b"}
    assert left(tmp_path) == {"a": b"1", "b": b"2"}
    with pytest.raises(InputError, match="no/c"):
        write_set({tmp_path / "a": b"3", tmp_path / "no" / "c": b"4"})
    assert left(tmp_path) == {"a": b"1", "b": b"2"}


def test_what_exists_needs_force_and_what_was_read_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "soft").symlink_to("a")
    os.link(tmp_path / "a", tmp_path / "hard")
    before = left(tmp_path)
    with pytest.raises(InputError, match="a: the file exists; give --force"):
        write_set({tmp_path / "a": b"2"}, force=False)
    for name in ("a", "soft", "hard", "../" + tmp_path.name + "/a"):
        with pytest.raises(InputError, match="is an input of this command"):
            write_set({tmp_path / name: b"2"}, read=tmp_path / "a")
    assert left(tmp_path) == before
    write_set({tmp_path / "a": b"2"})
    assert (tmp_path / "a").read_bytes() == b"2"


def test_two_outputs_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(InputError, match="two outputs have this name"):
        write_set({tmp_path / "a": b"1", tmp_path / "link": b"2"})
    (tmp_path / "link").unlink()
    assert left(tmp_path) == {}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device")
def test_devices_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    write_bytes(b"x", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(InputError, match="/dev/full: cannot write the file: No space left"):
        write_bytes(b"x", "/dev/full")
    with file_set():
        write_bytes(b"x", "/dev/null")


def test_a_read_only_file_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "a").chmod(0o444)
    if os.access(tmp_path / "a", os.W_OK):
        pytest.skip("this user may write everything")
    with pytest.raises(InputError, match="read-only"):
        write_bytes(b"2", tmp_path / "a")


@pytest.mark.parametrize("links", [True, False])
def test_a_file_made_meanwhile_is_not_replaced_without_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """Two runs write one name: the second finds it taken, however late the first wrote."""

    def write_while_another_does() -> None:
        with file_set():
            for name in "ab":
                write_bytes(b"mine", tmp_path / name)
            (tmp_path / "b").write_bytes(b"another's")

    with pytest.raises(InputError, match="b: the file exists; give --force"):
        write_while_another_does()
    assert left(tmp_path) == {"b": b"another's"}

    def taken(source: Path, target: Path) -> None:
        target.write_bytes(b"another's")
        raise OSError(errno.EEXIST if links else errno.EPERM, "no link")

    monkeypatch.setattr(atomic.os, "link", taken)
    with pytest.raises(InputError, match="c: the file exists; give --force"):
        write_set({tmp_path / "c": b"mine"}, force=False)
    assert left(tmp_path) == dict.fromkeys("bc", b"another's")


KILLED = """
import os
import sys
from errata.io import atomic as placing
from errata.io.atomic import file_set, write_bytes
replace = os.replace
def once(source, target):
    replace(source, target)
    os.kill(os.getpid(), 9)
placing.os.replace = once
with file_set(force=True):
    for name in "abc":
        write_bytes(b"new", os.path.join(sys.argv[1], name))
"""


def test_a_killed_run_leaves_whole_files(tmp_path: Path) -> None:
    """A run was killed when it had put the first of three files in place."""
    for name in "abc":
        (tmp_path / name).write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -9
    assert [read_bytes(tmp_path / name) for name in "abc"] == [b"new", b"old", b"old"]
    write_set({tmp_path / name: b"newer" for name in "abc"})
    assert [read_bytes(tmp_path / name) for name in "abc"] == [b"newer"] * 3


@pytest.mark.parametrize("together", [True, False])
def test_lines_stream_as_they_are_written_whole(tmp_path: Path, together: bool) -> None:
    """The same bytes; nothing appears if a line fails, and nothing is left beside."""
    path = tmp_path / "out.txt"

    def broken() -> Iterator[str]:
        yield "one"
        raise InputError("cannot go on")

    def write(lines: Iterable[str]) -> int:
        with file_set() if together else nullcontext():
            return write_lines(lines, path)

    with pytest.raises(InputError, match="cannot go on"):
        write(broken())
    with pytest.raises(InputError, match=r":2: U\+D800"):
        write(["one", "\ud800"])
    assert list(tmp_path.iterdir()) == []
    assert write(f"zeile {k} ä" for k in range(1000)) == 1000
    assert path.read_text(encoding="utf-8").splitlines() == [f"zeile {k} ä" for k in range(1000)]
    assert list(tmp_path.iterdir()) == [path]
    if together:
        with pytest.raises(InputError, match="the file exists"):
            write(iter(["new"]))
    assert write_lines(["a"], tmp_path / "a.gz") == 1
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"a\n"
    with pytest.raises(InputError, match="cannot write"):
        write_lines(["a"], tmp_path / "nowhere" / "a.txt")


def test_lines_stream_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert write_lines(["a", "b"], "-") == 2
    assert capfdbinary.readouterr().out == b"a\nb\n"


def test_opening_a_file_lists_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of 20,000 files each open took 30 ms."""
    (tmp_path / "a").write_bytes(b"text")
    monkeypatch.setattr(os, "listdir", None)
    monkeypatch.setattr(os, "scandir", None)
    assert read_bytes(tmp_path / "a") == b"text"


@pytest.mark.long
def test_a_bomb_takes_little_memory(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bomb.gz", "wb") as file:
        for _ in range(300):
            file.write(bytes(1 << 20))
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (900 << 20,) * 2);"
        "from errata.cli.main import main; main(['rank', sys.argv[1]])"
    )
    limits = os.environ | {"ERRATA_MAX_BYTES": "100M", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program, str(tmp_path / "bomb.gz")]
    done = subprocess.run(command, capture_output=True, text=True, env=limits)
    assert (done.returncode, "memory" in done.stderr) == (2, False), done.stderr
