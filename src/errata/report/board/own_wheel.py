"""Errata itself as a wheel, made from the files that are installed.

A bundle for Codabench carries it, so that the scoring program runs the version that made the bundle
and downloads no package called Errata. Kernels travel as Python files: they give the same results
on any machine, more slowly.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from importlib.resources.abc import Traversable

from errata import __version__
from errata.errors import InputError

__all__ = ["DISTRIBUTION", "own_wheel"]

DISTRIBUTION = "errata-gec"
NOT_CARRIED = (".so", ".pyd", ".c", ".pyc")


def own_wheel() -> tuple[str, dict[str, bytes]]:
    """Return the file name of the wheel and its files, in order."""
    stem = f"{DISTRIBUTION.replace('-', '_')}-{__version__}"
    wheel = "Wheel-Version: 1.0\nGenerator: errata\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    carried = _package_files(files("errata"), "errata")
    carried[f"{stem}.dist-info/METADATA"] = _metadata()
    carried[f"{stem}.dist-info/WHEEL"] = wheel.encode()
    record = [f"{name},{_digest(data)},{len(data)}" for name, data in carried.items()]
    record.append(f"{stem}.dist-info/RECORD,,")
    carried[f"{stem}.dist-info/RECORD"] = ("\n".join(record) + "\n").encode()
    return f"{stem}-py3-none-any.whl", carried


def _metadata() -> bytes:
    """Return the metadata of the installed distribution, which name what it depends on."""
    try:
        text = distribution(DISTRIBUTION).read_text("METADATA")
    except PackageNotFoundError:
        text = None
    if text is None:
        raise InputError(
            f"{DISTRIBUTION} is not installed as a package, so a bundle cannot carry it",
            remedy="run pip install on the checkout (make demo does), then try again",
        )
    return text.encode("utf-8")


def _package_files(folder: Traversable, name: str) -> dict[str, bytes]:
    """Return the contents of all files of a package by their path, sorted."""
    found: dict[str, bytes] = {}
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__":
                found |= _package_files(entry, path)
        elif not entry.name.endswith(NOT_CARRIED):
            found[path] = entry.read_bytes()
    return found


def _digest(data: bytes) -> str:
    """Return a digest as RECORD wants it."""
    encoded = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return "sha256=" + encoded.rstrip(b"=").decode()
