"""Shard, Piece; files behind patterns."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from errata.core.errors import InputError, shorten
from errata.core.stats import plural
from errata.io.corpus import CorpusFiles
from errata.io.files import RemoteFile, file_error, is_url, list_url_files


@dataclass(frozen=True)
class Piece:
    """One stretch of one file, from byte ``start`` to ``stop``; a compressed file is one piece.

    ``mark`` changes with the file: a digest of the text, or a Parquet file's etag or time. The
    piece begins with line ``first_line`` of the file, after ``before`` of its sentences; ``groups``
    are the row groups of a Parquet file.
    """

    uri: str
    size: int
    mark: str
    start: int
    stop: int
    first_line: int = 1
    groups: tuple[int, ...] = ()
    before: int = 0


@dataclass(frozen=True)
class Shard:
    """Pieces of files by role, of the same sentences; ``first`` counts over all shards."""

    index: int
    first: int
    sentences: int
    pieces: Mapping[str, tuple[Piece, ...]]

    def to_json(self) -> dict[str, Any]:
        """Plain data, for a manifest."""
        pieces = {role: [*map(asdict, several)] for role, several in self.pieces.items()}
        numbers = {key: getattr(self, key) for key in ("index", "first", "sentences")}
        return {**numbers, "pieces": pieces}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Shard:
        """What `to_json` gave, also after it was written and read."""
        pieces = {
            role: tuple(Piece(**{**one, "groups": tuple(one["groups"])}) for one in several)
            for role, several in data["pieces"].items()
        }
        return cls(data["index"], data["first"], data["sentences"], pieces)


# ---- The files behind patterns, in natural order, and whether they are still the same.

_NUMBER = re.compile(r"([0-9]+)")


def natural_sort_key(name: str) -> tuple[list[tuple[str, int]], str]:
    """A key that sorts names with the numbers in them by value.

    >>> sorted(["out-10.txt", "out-9.txt", "out-09.txt"], key=natural_sort_key)
    ['out-09.txt', 'out-9.txt', 'out-10.txt']
    """
    parts = _NUMBER.split(name)
    numbers = [int(number) for number in parts[1::2]]
    return [*zip(parts[::2], [*numbers, -1], strict=True)], name


def list_files(
    patterns: Sequence[str], storage: Mapping[str, Any], *, inside: str | None = None
) -> list[RemoteFile]:
    """List the files of patterns, each in natural order; ``-`` is standard input.

    A pattern that fits no file is refused, and so is a file named twice. A folder stands for all
    files in and below it with the ending ``inside``; without that it is refused.
    """
    found: list[RemoteFile] = []
    for pattern in patterns:
        if pattern == "-":
            found.append(RemoteFile("-", 0, ""))
            continue
        if inside is not None and (pattern.endswith("/") or os.path.isdir(pattern)):
            pattern = f"{pattern.rstrip('/')}/**/*{inside}"
        here = list_url_files(pattern, storage) if is_url(pattern) else _list_local_files(pattern)
        if not here:
            remedy = "check it, and put it between quotation marks so that no shell expands it"
            raise InputError("no file fits the pattern", path=pattern, remedy=remedy)
        found += sorted(here, key=lambda file: natural_sort_key(file.uri))
    names = [file.uri for file in found]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InputError("the file is named twice", path=twice, remedy="name it once")
    return found


def _list_local_files(pattern: str) -> list[RemoteFile]:
    if os.path.isdir(pattern):
        remedy = f"name its files by a pattern, as {os.path.join(pattern, '*.txt')}"
        raise InputError("this is a folder", path=pattern, remedy=remedy)
    names = [pattern] if os.path.exists(pattern) else glob.glob(pattern, recursive=True)
    if not names and not glob.has_magic(pattern):
        names = [pattern]  # the system says best why it cannot be read
    return [stat_file(name) for name in names if not os.path.isdir(name)]


def stat_file(name: str) -> RemoteFile:
    try:
        status = os.stat(name)
    except OSError as error:
        raise file_error("read", error, name) from None
    return RemoteFile(name, status.st_size, f"mtime:{status.st_mtime_ns}")


def group_files_by_position(inputs: CorpusFiles) -> list[dict[str, RemoteFile]]:
    """The files that belong together, by role: the k-th of each."""
    inside = None if inputs.parquet is None else ".parquet"
    files = {
        role: list_files(names, inputs.storage, inside=inside)
        for role, names in inputs.roles.items()
    }
    sizes = {role: len(several) for role, several in files.items()}
    if len({*sizes.values()}) > 1:
        said = ", ".join(
            f"{role} {count} {plural('file', count)} ({shorten(files[role][0].uri)}"
            + (f" to {shorten(files[role][-1].uri)})" if count > 1 else ")")
            for role, count in sizes.items()
        )
        problem = f"the inputs have different numbers of files: {said}"
        remedy = "the first files belong together, then the second, and so on; give as many of each"
        raise InputError(problem, remedy=remedy)
    stdin = [role for role, several in files.items() if any(f.uri == "-" for f in several)]
    if len(stdin) > 1:
        remedy = "name a file for one"
        raise InputError(f"standard input is given as {' and as '.join(stdin)}", remedy=remedy)
    return [
        {role: several[k] for role, several in files.items()}
        for k in range(next(iter(sizes.values())))
    ]


CONTENT = "blake2b:"  # before the digest of a text


def content_digest() -> hashlib.blake2b:
    """A digest of the text of a piece, to be filled."""
    return hashlib.blake2b(digest_size=12)


def mark_of_digest(digest: hashlib.blake2b) -> str:
    """The mark of a piece with this text."""
    return CONTENT + digest.hexdigest()


def changed_file_error(uri: str, what: str) -> InputError:
    problem = f"the file has changed since the run was planned: {what}"
    return InputError(problem, path=uri, remedy="plan the run again, or bring back the file")


def check_unchanged(piece: Piece, storage: Mapping[str, Any]) -> None:
    """Refuse a file of another size, or of another time where its text has no digest."""
    found = list_url_files(piece.uri, storage) if is_url(piece.uri) else [stat_file(piece.uri)]
    now = found[0] if len(found) == 1 else RemoteFile(piece.uri, -1, "")
    if now.size != piece.size:
        what = f"it had {piece.size:,} bytes and has {now.size:,}"
        raise changed_file_error(piece.uri, what)
    if now.mark != piece.mark and not piece.mark.startswith(CONTENT):
        raise changed_file_error(piece.uri, "it was written again")
