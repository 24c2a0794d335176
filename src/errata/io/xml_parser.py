"""XML as it comes, element by element: no DOCTYPE, and faults named by file and line."""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

from errata.errors import InputError

__all__ = ["XmlParser"]


class XmlParser:
    """Feeds handlers with elements; a DOCTYPE, which may hold bombs and addresses, is refused."""

    def __init__(
        self,
        path: str,
        *,
        start: Callable[[str, dict[str, str]], None],
        end: Callable[[str], None],
        characters: Callable[[str], None] | None = None,
    ) -> None:
        self.path = path
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = start
        self._expat.EndElementHandler = end
        self._expat.CharacterDataHandler = characters
        self._expat.StartDoctypeDeclHandler = self._doctype

    @property
    def line(self) -> int:
        """The line that is being read, from 1."""
        return self._expat.CurrentLineNumber

    def feed(self, text: str, *, last: bool) -> None:
        """Read on; ``last`` says that this is the end of the file."""
        try:
            self._expat.Parse(text, last)
        except expat.ExpatError as error:
            raise InputError(
                f"not well-formed XML: {expat.ErrorString(error.code)}",
                path=self.path,
                line=error.lineno,
                remedy="the file is damaged or cut off",
            ) from None

    def _doctype(self, *_: object) -> None:
        raise InputError(
            "a DOCTYPE is not allowed here", path=self.path, line=self.line, remedy="remove it"
        )
