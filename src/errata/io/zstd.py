"""zstd: bytes compressed with it, undone as they are read."""

from __future__ import annotations

from io import RawIOBase
from typing import IO, Any

from errata.errors import MissingExtraError, install_extra

__all__ = ["opened_zstd"]

PIECE = 1 << 17


def opened_zstd(file: IO[bytes]) -> Any:
    """A stream of what a stream of zstd frames holds; a frame that is cut short is an EOFError."""
    try:
        import zstandard
    except ImportError:
        pass
    else:
        return _Frames(file, zstandard)
    try:
        from compression.zstd import ZstdFile  # from Python 3.14 on
    except ImportError:
        raise MissingExtraError("zstandard", install_extra("scale")) from None
    return ZstdFile(file)


class _Frames(RawIOBase):
    """What zstandard's own reader does not do: tell a frame that is cut short from its end."""

    def __init__(self, file: IO[bytes], zstandard: Any) -> None:
        self.file = file
        self.error = zstandard.ZstdError
        self.make = zstandard.ZstdDecompressor().decompressobj
        self.frame: Any = None
        self.given = b""  # what follows the last frame
        self.plain = memoryview(b"")

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(PIECE), b""))
        while not self.plain:
            if not self._undo():
                return b""
        piece, self.plain = bytes(self.plain[:size]), self.plain[size:]
        return piece

    def readinto(self, buffer: Any) -> int:
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def _undo(self) -> bool:
        """Undo the next bytes; False at the end of the last frame."""
        given = self.given or self.file.read(PIECE)
        self.given = b""
        if not given:
            if self.frame is not None:
                raise EOFError("the last zstd frame is cut short")
            return False
        if self.frame is None:
            self.frame = self.make()
        try:
            self.plain = memoryview(self.frame.decompress(given))
        except self.error as error:
            raise EOFError(str(error)) from None
        if self.frame.eof:
            self.given, self.frame = self.frame.unused_data, None
        return True
