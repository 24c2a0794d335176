"""Collections name files that the catalogue has, in parts that fit together."""

from __future__ import annotations

from pathlib import Path

import pytest

from errata.core.errors import InputError
from errata.datasets.catalogue import catalogue
from errata.datasets.fetch import Collection, collection, collections, role_files


@pytest.mark.parametrize("chosen", collections().values(), ids=lambda c: c.name)
def test_every_part_has_its_files(chosen: Collection) -> None:
    for role, members in chosen.members.items():
        assert members, f"no file of the catalogue is {role} of {chosen.name}"
        for member in members:
            assert catalogue()[member.data_set].file(member.file).size > 0
    names = [member.name or Path(member.file).stem for member in chosen.members.get("outputs", ())]
    assert len({*names}) == len(names)


@pytest.mark.parametrize("chosen", collections().values(), ids=lambda c: c.name)
def test_a_corpus_is_gold_or_texts(chosen: Collection) -> None:
    texts = {"source", "references"} & {*chosen.roles}
    assert texts in (set(), {"source", "references"})
    assert not (texts and "gold" in chosen.roles)
    assert "outputs" not in chosen.roles or texts or "gold" in chosen.roles


def test_ten_annotators_in_order() -> None:
    files = [member.file for member in collection("bn15-texts").members["references"]]
    assert files == [f"BN{k}" for k in range(1, 11)]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="seeda-edit"):
        collection("seeda-edits")


def test_systems_keep_their_names(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    names = [text.partition("=")[0] for text in role_files(collection("jfleg"), "outputs")]
    assert names == ["kiyono19", "junczys18", "ge18", "junczys16"]
    assert role_files(collection("jfleg"), "judgments") == ()
