"""Tokens in links: a role, a judge, a random salt and a 128-bit HMAC, and the key that makes them.

The HMAC covers the id of the campaign, so that a key used for two campaigns opens each with its own
links only. The database holds the salts: a new salt ends the old link. ``FILE.ended`` beside a
SQLite database lists the links that were ended, so that a restored copy does not revive them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from errata.core.errors import InputError

TokenRole = Literal["judge", "admin"]
KEY_VARIABLE = "ERRATA_COLLECT_KEY"
KEY_BYTES = 32
TAG_BYTES = 16  # 128 bits
_TOKEN = re.compile(r"([ja])(\d{1,18})\.([A-Za-z0-9_-]{1,16})\.([A-Za-z0-9_-]{22})", re.ASCII)


class Claims(NamedTuple):
    """The content of a genuine token; the database decides whether its salt is the current one."""

    role: TokenRole
    judge: int
    salt: str


def is_old_salt(salt: str) -> bool:
    """Return whether a link was made before schema 3: its salt is a generation, a small number."""
    return salt.isdecimal() and len(salt) < 10


@dataclass(frozen=True)
class LinkSigner:
    """Makes and reads the tokens of one campaign."""

    key: bytes
    campaign: str  # its random id; empty for campaigns made before schema 3

    def token(self, role: TokenRole, judge: int, salt: str) -> str:
        """Return the token of a judge, or of the organiser (judge 0).

        >>> LinkSigner(b"k" * 32, "c").token("judge", 7, "salt")[:8]
        'j7.salt.'
        """
        return f"{role[0]}{judge}.{salt}.{self._tag(role, judge, salt)}"

    def join_key(self, salt: str) -> str:
        """Return the key in the link of a panel, which lets participants in and does nothing else.

        >>> len(LinkSigner(b"k" * 32, "c").join_key("salt"))
        22
        """
        return self._tag("join", 0, salt)

    def read(self, token: str) -> Claims | None:
        """Return the claims of a token, or None if it is not genuine; takes constant time."""
        found = _TOKEN.fullmatch(token)
        if found is None:
            return None
        role: TokenRole = "judge" if found[1] == "j" else "admin"
        judge, salt = int(found[2]), found[3]
        if token != f"{found[1]}{judge}.{salt}.{found[4]}":  # 007 is not 7
            return None
        genuine = self._tag(role, judge, salt)
        return Claims(role, judge, salt) if hmac.compare_digest(genuine, found[4]) else None

    @property
    def mark(self) -> str:
        """Return what a page uses to keep campaigns at the same address apart.

        >>> LinkSigner(b"k" * 32, "c").mark == LinkSigner(b"k" * 32, "d").mark
        False
        """
        words = f"errata collect campaign {self.campaign}".rstrip()
        return hmac.new(self.key, words.encode(), hashlib.sha256).hexdigest()[:16]

    def _tag(self, role: str, judge: int, salt: str) -> str:
        # Links made before schema 3 are not bound to a campaign.
        campaign = "" if is_old_salt(salt) else f"{self.campaign} "
        words = f"errata collect {campaign}{role} {judge} {salt}".encode()
        tag = hmac.new(self.key, words, hashlib.sha256).digest()[:TAG_BYTES]
        return base64.urlsafe_b64encode(tag).decode().rstrip("=")


class Link(NamedTuple):
    """A link as the database knows it; ``judge`` is 0 for the organiser's and the panel's."""

    role: str
    judge: int
    salt: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(" ".join(map(str, self)).encode()).hexdigest()[:32]


def _ended_file(database: Path) -> Path:
    return database.with_name(database.name + ".ended")


def read_ended(database: Path | None) -> set[str]:
    """Return the digests of links that were ended; none for PostgreSQL, which has no file."""
    if database is None or not _ended_file(database).exists():
        return set()
    return set(_ended_file(database).read_text("ascii").split())


def write_ended(database: Path | None, ended: Iterable[Link]) -> None:
    """Append links to the list of those that were ended."""
    if database is None:
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    with open(os.open(_ended_file(database), flags, 0o600), "a", encoding="ascii") as file:
        file.writelines(f"{link.digest}\n" for link in ended)
        file.flush()
        os.fsync(file.fileno())


def key_from_hex(digits: str) -> bytes:
    """A key from the environment: 64 hexadecimal digits."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", digits):
        raise InputError(
            f"{KEY_VARIABLE} is no key",
            remedy="give 64 hexadecimal digits, as `openssl rand -hex 32` prints them",
        )
    return bytes.fromhex(digits)


def find_key(beside: Path | None, words: str | None, *, create: bool = False) -> bytes:
    """The key of a campaign: from the environment, else from ``FILE.key`` beside the database.

    The file must be readable by its owner alone. With ``create`` it is made where there is none.
    """
    if words:
        return key_from_hex(words)
    if beside is None:
        raise InputError(
            "a campaign on PostgreSQL has no file to keep its key beside",
            remedy=f"set {KEY_VARIABLE} to 64 hexadecimal digits",
        )
    path = beside.with_name(beside.name + ".key")
    if create and not path.exists():
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(path, flags, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
    try:
        key = path.read_bytes()
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        raise InputError(
            "the key of the campaign is missing: its links cannot be checked",
            path=str(path),
            remedy=f"put it back beside the database, or set {KEY_VARIABLE}",
        ) from None
    if os.name == "posix" and mode & 0o077:
        raise InputError(
            f"others may read the key (mode {mode:04o})",
            path=str(path),
            remedy=f"chmod 600 {path}, and rotate the links if somebody did",
        )
    if len(key) != KEY_BYTES:
        raise InputError("this is no key", path=str(path), remedy="put the right one back")
    return key
