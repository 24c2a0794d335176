"""Files put in their places together: all of them, or after an error none.

Every file is whole at any time. What cannot be undone by the run itself is a kill or a power cut
between two renames: some files are then of this run, and some of the one before. Each file that was
to be replaced has its former content beside it then (``.NAME.xxxxxxxx.old``), by which whoever
reads it is told.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

__all__ = ["left_by_a_kill", "name_beside", "put_in_place", "signals_wait"]

NAME_BYTES = 200  # of a temporary name, below what file systems allow
TURN_SECONDS = 10.0  # how long another run may take to put its files into the same folder
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def name_beside(target: Path, ending: str) -> Path:
    """A new hidden name in the folder of a file, for something that becomes it or was it."""
    return target.with_name(f"{_start(target)}{secrets.token_hex(4)}.{ending}")


def _start(target: Path) -> str:
    return f".{os.fsdecode(os.fsencode(target.name)[:NAME_BYTES])}."


def left_by_a_kill(path: str) -> list[Path]:
    """The former contents of a file that a killed run left beside it: it was one of several."""
    target = Path(os.path.realpath(path))
    start = _start(target)
    return [
        target.with_name(name)
        for name in os.listdir(target.parent)
        if name.startswith(start) and name.endswith(".old")
    ]


@contextmanager
def signals_wait() -> Iterator[None]:
    """Let what would end the program wait until what is done within is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in numbers:
            signal.signal(number, lambda number, _: arrived.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for number in dict.fromkeys(arrived):
            signal.raise_signal(number)


def put_in_place(ready: Mapping[Path, Path], *, replace: bool) -> None:
    """Put every temporary file in its place; if one fails, all are as they were.

    Without ``replace`` a file that is there by now, made by another run, is an error.
    """
    done: list[Path] = []
    kept: dict[Path, Path] = {}
    with _turns({target.parent for target in ready}) as folders:
        earlier = [old for target in ready for old in left_by_a_kill(str(target))]
        try:
            for target in ready if replace and len(ready) > 1 else ():
                if target.exists():
                    kept[target] = name_beside(target, "old")
                    _keep(target, kept[target])
            for target, temporary in ready.items():
                _place(temporary, target, replace)
                done.append(target)
        except BaseException:
            for target in done:
                os.replace(kept.pop(target), target) if target in kept else target.unlink()
            raise
        finally:
            for old in kept.values():
                with contextlib.suppress(OSError):
                    old.unlink()
        for old in earlier:  # what they warned of is over
            with contextlib.suppress(OSError):
                old.unlink()
        for folder in folders:
            with contextlib.suppress(OSError):  # so that the new names outlive a power cut
                os.fsync(folder)


def _keep(target: Path, old: Path) -> None:
    """Keep a file under a second name, or a copy of it where files have one name only."""
    try:
        os.link(target, old)
    except OSError:
        shutil.copy2(target, old)


def _place(temporary: Path, target: Path, replace: bool) -> None:
    if not replace:
        try:
            os.link(temporary, target)  # unlike a rename, never over another
            return
        except FileExistsError:
            raise
        except OSError:  # files have one name only here
            if target.exists():
                raise FileExistsError(
                    17, "File exists", str(temporary), None, str(target)
                ) from None
    os.replace(temporary, target)


@contextmanager
def _turns(folders: Iterable[Path]) -> Iterator[list[int]]:
    """Hold the folders open, one run at a time as far as the system allows it."""
    opened: list[int] = []
    try:
        for folder in sorted(folders):
            with contextlib.suppress(OSError):  # not every system opens folders, or locks them
                opened.append(os.open(folder, os.O_RDONLY))
                _lock(opened[-1])
        yield opened
    finally:
        for folder_open in opened:
            os.close(folder_open)  # which lets the next run in


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        return
    import fcntl

    end = time.monotonic() + TURN_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                return
            time.sleep(0.01)
