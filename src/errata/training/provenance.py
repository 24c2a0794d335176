"""Whose data they are: found by their digest in the catalogue, whatever the file is called."""

from __future__ import annotations

from errata.datasets.catalogue import catalogue
from errata.io.model_cards import TrainedOn

__all__ = ["known_data"]


def known_data(
    name: str, sha256: str, rows: int, sources: int, notes: tuple[str, ...] = ()
) -> TrainedOn:
    """What a card says of a file: public data go by their name, with licence and citations."""
    for chosen in catalogue().values():
        if any(file.sha256 == sha256 for file in chosen.files):
            return TrainedOn(
                chosen.name, sha256, rows, sources, chosen.licence, chosen.citations, notes
            )
    plain = name.replace("\\", "/").rpartition("/")[2]
    return TrainedOn(plain, sha256, rows, sources, notes=notes)
