"""Options that had another name: still understood, with a notice on standard error.

They are rewritten before a command sees them, so no command carries two spellings of one thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from errata.cli.running import loudness, tell

__all__ = ["RENAMED", "with_new_names"]

_RANKER = {"-m": "--ranker", "--method": "--ranker"}
# Command -> old spelling -> new one; what follows a blank is put before the option's value.
RENAMED: dict[str, dict[str, str]] = {
    "score": {"--sentences": "--by-sentence"},
    "check": {"--all": "--every"},
    "rank": {**_RANKER, "--plot": "--figure"},
    "agree": {**_RANKER, "--weights": "--kappa-weights"},
    "plan": _RANKER,
    "meta": {
        "--method": "--ranker",
        "--scatter": "--figure scatter=",
        "--map": "--figure significance=",
    },
    "reproduce": {"--extractor": "--extract"},
    "difficulty": {"--map": "--figure", "--leave-out": "--exclude-own", "--top": "--examples"},
    "stress": {"--plot": "--figure", "--output": "--damage"},
}


def with_new_names(command: str, arguments: Sequence[str]) -> list[str]:
    """The arguments of a command as they are spelt today.

    >>> with_new_names("rank", ["x.xml", "--ranker=trueskill"])
    ['x.xml', '--ranker=trueskill']
    """
    return list(_rewritten(RENAMED.get(command, {}), arguments))


def _rewritten(renamed: dict[str, str], arguments: Sequence[str]) -> Iterator[str]:
    rest = iter(arguments)
    # The options are not parsed yet, and -q in front of the command is.
    quiet = loudness.get() < 0 or not {"-q", "--quiet"}.isdisjoint(arguments)
    for argument in rest:
        if argument == "--":
            yield argument
            break
        old, equals, value = argument.partition("=")
        if old not in renamed and argument[:2] in renamed and not argument.startswith("--"):
            old, equals, value = argument[:2], "=", argument[2:]  # -mVALUE
        if old not in renamed:
            yield argument
            continue
        new, _, before = renamed[old].partition(" ")
        if not quiet:
            tell(f"notice: {old} is called {new} {before}".rstrip() + " now")
        if equals:
            yield f"{new}={before}{value}"
        else:
            yield new
            if before:
                yield from (before + value for value in (next(rest, None),) if value is not None)
    yield from rest
