"""Run the command line: inside this process, which is quick, or as a process of its own.

Most tests ask what a command prints; those of exit codes under pipes, of start-up and of what is
imported need a real process.
"""

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

Done = subprocess.CompletedProcess[str]


def errata(
    *arguments: object,
    stdin: str = "",
    cwd: Path | None = None,
    code: int | None = 0,
    env: Mapping[str, str | None] | None = None,
    terminal: int | None = None,
    encoding: str = "utf-8",
) -> Done:
    """Run a command in this process; ``code`` is the exit code it must end with, if not None.

    ``env`` sets variables of the environment, or takes them away (None). With ``terminal`` the
    output claims to be a terminal of so many columns; ``encoding`` is that of the output.
    """
    from errata.cli.main import main

    if terminal is not None:
        env = {"TERM": "xterm", "NO_COLOR": None, "COLUMNS": str(terminal), **(env or {})}

    given = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin.encode("utf-8"))), "utf-8")  # type: ignore[arg-type]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding, newline="\n") for _ in range(2))
    out.isatty = lambda: terminal is not None  # type: ignore[method-assign]
    status: object = 0
    with (
        contextlib.chdir(cwd or Path.cwd()),
        mock.patch.dict(os.environ, _environment(env), clear=True),
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
    # Click takes ASCII for a mistake of the environment, and writes UTF-8.
    written = "utf-8" if encoding == "ascii" else encoding
    printed, said = (stream.buffer.getvalue().decode(written) for stream in (out, err))  # type: ignore[attr-defined]
    done = Done(["errata", *map(str, arguments)], int(status or 0), printed, said)
    return _checked(done, code)


def run(line: str, *more: object, **options: Any) -> Done:
    """Run a command given as one line, as a shell splits it."""
    return errata(*shlex.split(line), *more, **options)


def tables(line: str, *more: object, **options: Any) -> dict[str, dict[str, Any]]:
    """Run a command with ``--json`` and return its tables by name."""
    done = run(line, *more, "--json", **options)
    return {table["name"]: table for table in json.loads(done.stdout)["tables"]}


def refused(cases: str, cwd: Path | None = None) -> list[str]:
    """Run each line ``command | words`` and list those not refused in one line with these words.

    Words separated by ``...`` must all occur. A refused command prints nothing, exits with 2 and
    writes one short line, after warnings, notes or how the command is used.
    """
    may_precede = ("warning: ", "note: ", "notice: ", "Usage: ", "Try ")
    wrong = []
    for case in filter(None, map(str.strip, cases.splitlines())):
        line, _, wanted = case.rpartition(" | ")
        done = run(line, cwd=cwd, code=None)
        *before, last = done.stderr.splitlines() or [""]
        if (
            done.returncode != 2
            or done.stdout
            or not last.startswith(("errata: ", "Error: "))
            or not all(word.strip() in last for word in wanted.split("..."))
            or not all(each.startswith(may_precede) for each in before if each)
            or len(last) > 1000
            or "\x1b" in done.stderr
        ):
            wrong.append(f"{case[:300]}\n  exit code {done.returncode}: {done.stderr[:1000]}")
    return wrong


def errata_in_forms(forms: Iterable[str], *arguments: object, cwd: Path) -> dict[str, Done]:
    """Run a command once, and print its tables in several forms, as if it were run for each.

    Not for ``table``: some commands show a terminal fewer or other tables.
    """
    from errata.cli import output

    render, printed = output.render, dict.fromkeys(forms, "")
    assert "table" not in printed

    def in_all_forms(tables: Any, form: Any, **given: Any) -> str:
        for each in printed:
            printed[each] += render(tables, each, **given) + "\n"  # type: ignore[arg-type]
        return render(tables, form, **given)

    first = next(iter(printed))
    with mock.patch.object(output, "render", in_all_forms):
        done = errata(*arguments, "--format", first, cwd=cwd, code=None)
    assert done.stdout == printed[first]
    return {
        form: Done(done.args, done.returncode, text, done.stderr) for form, text in printed.items()
    }


def errata_process(
    *arguments: object,
    stdin: str = "",
    cwd: Path | None = None,
    code: int | None = 0,
    env: Mapping[str, str | None] | None = None,
    encoding: str = "utf-8",
) -> Done:
    """Run a command as a user does, in a process of its own."""
    command = ("-m", "errata", *map(str, arguments))
    done = _python(*command, stdin=stdin, cwd=cwd, env=_environment(env), encoding=encoding)
    return _checked(done, code)


def python_process(program: str, *, code: int = 0) -> Done:
    return _checked(_python("-c", program, stdin="", cwd=None, env=_environment(None)), code)


def _python(
    *arguments: str, stdin: str, cwd: Path | None, env: dict[str, str], encoding: str = "utf-8"
) -> Done:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        input=stdin,
        check=False,
        encoding=encoding,
        cwd=cwd,
        env=env,
    )


def _environment(changes: Mapping[str, str | None] | None) -> dict[str, str]:
    whole = {**os.environ, **(changes or {})}
    return {name: value for name, value in whole.items() if value is not None}


def _checked(done: Done, code: int | None) -> Done:
    assert code is None or done.returncode == code, done.stderr or done.stdout
    return done
