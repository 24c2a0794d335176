"""Finished documents (pages, pictures) to disk or standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from errata.errors import InputError

__all__ = ["write_document"]


def write_document(content: str | bytes, path: str | os.PathLike[str]) -> None:
    """Write a page (text, as UTF-8) or a picture (bytes); ``-`` is standard output."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if os.fspath(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise InputError(
            f"cannot write the file: {error.strerror}",
            path=os.fspath(path),
            remedy="check the path and its permissions",
        ) from None
