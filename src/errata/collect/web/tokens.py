"""Tokens in links: a judge, a generation, and a 128-bit HMAC with a key beside the database.

Nothing secret is stored: links can be printed again, and a new generation ends the old link.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Literal, NamedTuple

from errata.core.errors import InputError

TokenRole = Literal["judge", "admin"]
KEY_VARIABLE = "ERRATA_COLLECT_KEY"
KEY_BYTES = 32
TAG_BYTES = 16  # 128 bits
_TOKEN = re.compile(r"([ja])(\d{1,18})\.(\d{1,9})\.([A-Za-z0-9_-]{22})", re.ASCII)


class Claims(NamedTuple):
    """What a genuine token says; whether its generation still holds is the store's to know."""

    role: TokenRole
    judge: int
    generation: int


def token_for(key: bytes, role: TokenRole, judge: int = 0, generation: int = 1) -> str:
    """The token of a judge, or of the organiser (judge 0).

    >>> token_for(b"k" * 32, "judge", 7, 1)[:5]
    'j7.1.'
    """
    return f"{role[0]}{judge}.{generation}.{_tag(key, role, judge, generation)}"


def join_key(key: bytes) -> str:
    """The key in a panel's link; it opens nothing but the door for participants.

    >>> len(join_key(b"k" * 32))
    22
    """
    return _tag(key, "join", 0, 1)


def read_token(key: bytes, token: str) -> Claims | None:
    """What a token claims, if it was made with this key; None else, in constant time."""
    found = _TOKEN.fullmatch(token)
    if found is None:
        return None
    role: TokenRole = "judge" if found[1] == "j" else "admin"
    judge, generation = int(found[2]), int(found[3])
    if token != f"{found[1]}{judge}.{generation}.{found[4]}":  # 007 is not 7
        return None
    genuine = _tag(key, role, judge, generation)
    return Claims(role, judge, generation) if hmac.compare_digest(genuine, found[4]) else None


def campaign_mark(key: bytes) -> str:
    """What tells this campaign from another at the same address, to whoever has a link.

    >>> campaign_mark(b"k" * 32) == campaign_mark(b"q" * 32)
    False
    """
    return hmac.new(key, b"errata collect campaign", hashlib.sha256).hexdigest()[:16]


def _tag(key: bytes, role: str, judge: int, generation: int) -> str:
    words = f"errata collect {role} {judge} {generation}".encode()
    tag = hmac.new(key, words, hashlib.sha256).digest()[:TAG_BYTES]
    return base64.urlsafe_b64encode(tag).decode().rstrip("=")


def key_from_words(words: str) -> bytes:
    """A key from the environment: 64 hexadecimal digits."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", words):
        raise InputError(
            f"{KEY_VARIABLE} is no key",
            remedy="give 64 hexadecimal digits, as `openssl rand -hex 32` prints them",
        )
    return bytes.fromhex(words)


def find_key(beside: Path | None, words: str | None, *, create: bool = False) -> bytes:
    """The key of a campaign: from the environment, else from ``FILE.key`` beside the database.

    The file must be readable by its owner alone. With ``create`` it is made where there is none.
    """
    if words:
        return key_from_words(words)
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
