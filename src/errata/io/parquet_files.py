"""What is said of Parquet, whatever a table is for: pyarrow is missing, a file is none.

pyarrow is imported when it is asked for and not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from errata.errors import InputError, MissingExtraError, install_extra

__all__ = ["found_pyarrow", "parquet_only"]


def found_pyarrow() -> Any:
    """The module pyarrow, with ``pyarrow.parquet``."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            "pyarrow, which reads and writes Parquet,", install_extra("parquet")
        ) from None
    return pyarrow


@contextmanager
def parquet_only(path: str, remedy: str) -> Iterator[None]:
    """Refuse a file that is no Parquet to pyarrow; what a disk or a store says is left as it is."""
    pyarrow = found_pyarrow()
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        # Of a damaged end pyarrow says OSError, without the number that the system gives.
        own = type(error) is OSError and error.errno is None
        if not own and not isinstance(error, pyarrow.ArrowException):
            raise
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"this is no Parquet file: {said[0]}", path=path, remedy=remedy) from None
