"""Options declared as fields of a dataclass: one instance, checked before the command runs."""

from __future__ import annotations

from dataclasses import dataclass

import click
import pytest

from errata.cli.params import argument, group, option, takes
from errata.core.errors import InputError


@dataclass(frozen=True)
class Inner:
    files: tuple[str, ...] = argument(metavar="FILE...", several=True)
    level: str = option("--level", default="both")
    length: int | None = option("--length", parse=len, needs=("files", "--level system|both"))


@dataclass(frozen=True)
class Outer:
    inner: Inner = group(Inner, needs={"level": "files or --sample"})
    sample: bool = option("--sample", default=False, excludes="files or --level system")


@click.command()
@takes(Outer)
def command(given: Outer) -> Outer:
    return given


def test_a_command_gets_one_instance() -> None:
    given = command.main(["a", "b", "--length", "abc"], standalone_mode=False)
    assert given == Outer(Inner(("a", "b"), "both", 3), sample=False)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--length x", "--length goes with FILE...; leave"),
        ("a --length x --level none", "--length goes with --level system|both"),
        ("--level none", "--level goes with FILE... or --sample"),
        ("a --sample", "--sample and FILE... are given"),
        ("--sample --level system", "--sample and --level system are given"),
    ],
)
def test_what_does_not_go_together_is_refused(line: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        command.main(line.split(), standalone_mode=False)
    assert str(refused.value).startswith(message)
