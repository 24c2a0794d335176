"""The folder that a training writes: finished parts at once, all of it in place together.

A part that is done (a head of SOME) is kept in FOLDER/.unfinished under the digest of what made
it. A run that was broken off finds it there and goes on with the next; when all are done, every
file is put in its place with the card, and .unfinished is gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from errata.errors import InputError
from errata.io.files import PathLike, decode, file_error, read_bytes
from errata.io.model_cards import (
    CARD_JSON,
    CARD_MARKDOWN,
    Head,
    ModelCard,
    card_files,
    head_data,
    read_head,
)
from errata.io.placing import put_in_place, signals_wait
from errata.io.strict_json import decode_json
from errata.io.writing import may_replace, refuse_early

__all__ = ["ModelFolder", "key_of"]

UNFINISHED = ".unfinished"
DONE = "head.json"


@dataclass(frozen=True)
class ModelFolder:
    """Where a trained model goes. Parts are named; '' is the folder itself."""

    path: Path
    parts: tuple[str, ...]

    @classmethod
    def at(cls, path: PathLike, parts: Iterable[str]) -> ModelFolder:
        """The folder at a path, made if need be; what must not be replaced is refused here."""
        folder = cls(Path(path), tuple(parts))
        found = {path.parent.name for path in folder.path.glob("*/config.json")}
        found |= {""} if (folder.path / "config.json").exists() else set()
        for part in sorted(found - {*folder.parts, UNFINISHED}):
            # The card would be silent on it, and a metric would read it beside the new ones.
            raise InputError(
                f"it holds a model of another training, {part or 'config.json'}",
                path=str(path),
                remedy="give another folder, or remove that one",
            )
        targets = [CARD_JSON, CARD_MARKDOWN, *(f"{p}/config.json" for p in folder.parts)]
        refuse_early(*(str(folder.path / name.lstrip("/")) for name in targets))
        try:
            folder.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise file_error("write", error, str(path)) from None
        return folder

    def _work(self, part: str) -> Path:
        return self.path / UNFINISHED / (part or "model")

    def finished(self, part: str, key: str) -> Head | None:
        """What is known of a part that an earlier run finished in the same way; else None."""
        try:
            data = decode_json(decode(read_bytes(self._work(part) / DONE), DONE))
            return read_head(data["head"]) if data["key"] == key else None
        except Exception:  # not there, or not whole: it is trained again
            return None

    def start(self, part: str) -> Path:
        """An empty folder for the files of a part."""
        work = self._work(part)
        try:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
        except OSError as error:
            raise file_error("write", error, str(self.path)) from None
        return work

    def finish(self, part: str, key: str, head: Head) -> None:
        """Say that the files of a part are whole."""
        text = json.dumps({"key": key, "head": head_data(head)})
        try:
            (self._work(part) / DONE).write_text(text, encoding="utf-8")
        except OSError as error:
            raise file_error("write", error, str(self.path)) from None

    def put_card(self, card: ModelCard) -> list[Path]:
        """Put all parts in place together with their card; the names of what was written."""
        beside = self._work(".card")
        more = card_files(card)
        try:
            beside.mkdir(parents=True, exist_ok=True)
            for name, data in more.items():
                (beside / name).write_bytes(data)
        except OSError as error:
            raise file_error("write", error, str(self.path)) from None
        ready: dict[Path, Path] = {}
        for part in self.parts:
            work = self._work(part)
            for file in sorted(work.rglob("*")):
                if file.is_file() and file.name != DONE:
                    ready[self.path / part / file.relative_to(work)] = file
        ready |= {self.path / name: beside / name for name in more}
        try:
            with signals_wait():
                for target in ready:
                    target.parent.mkdir(parents=True, exist_ok=True)
                put_in_place(ready, replace=may_replace())
        except OSError as error:
            raise file_error("write", error, str(self.path)) from None
        with contextlib.suppress(OSError):
            shutil.rmtree(self.path / UNFINISHED)
        return list(ready)


def key_of(**what: object) -> str:
    """The digest of everything that makes a part what it is."""
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
