"""Run the command line: inside this process, which is quick, or as a process of its own.

Most tests ask what a command prints; those of exit codes under pipes, of start-up and of what is
imported need a real process.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

__all__ = ["Done", "errata", "errata_process"]

Done = subprocess.CompletedProcess[str]


def errata(
    *arguments: object,
    stdin: str = "",
    cwd: Path | None = None,
    code: int | None = 0,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run a command in this process; ``code`` is the exit code it must end with, if not None."""
    from errata.cli import main

    given = io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8")), "utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    status: object = 0
    with (
        contextlib.chdir(cwd or Path.cwd()),
        mock.patch.dict(os.environ, env or {}),
        mock.patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
        mock.patch.object(warnings, "showwarning", warnings.showwarning),
    ):
        # Warnings are errors in tests; a user sees them printed.
        warnings.resetwarnings()
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        for stream in (out, err):
            stream.flush()
    printed, said = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err))  # type: ignore[attr-defined]
    done = Done(["errata", *map(str, arguments)], int(status or 0), printed, said)
    return _checked(done, code)


def errata_process(
    *arguments: object,
    stdin: str = "",
    cwd: Path | None = None,
    code: int | None = 0,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run a command as a user does, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "errata", *map(str, arguments)],
        capture_output=True,
        text=True,
        input=stdin,
        check=False,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, **(env or {})},
    )
    return _checked(done, code)


def _checked(done: Done, code: int | None) -> Done:
    assert code is None or done.returncode == code, done.stderr or done.stdout
    return done
