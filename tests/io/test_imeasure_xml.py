"""I-measure's XML gold: the same corpus as the M2 file it was made from."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from errata.core.errors import InputError
from errata.data import Edit, Hypotheses
from errata.io import read_corpus
from errata.metrics.imeasure import IMeasure

XML = """<?xml version='1.0' encoding='UTF-8'?>
<scripts>
 <script id="1">
  <sentence id="1" numann="2">
   <text>
    He go home &amp; sleep .
   </text>
   <error-list>
    <error id="1" req="yes" type="V">
     <alt ann="0"><c start="1" end="2">goes</c></alt>
     <alt ann="1"><c start="1" end="2">went</c><c start="4" end="5">slept</c></alt>
    </error>
    <error id="2" req="no" type="P"><alt ann="0"><c start="2" end="3"/></alt></error>
   </error-list>
  </sentence>
  <sentence id="2" numann="1"><text>I am .</text><error-list/></sentence>
 </script>
</scripts>
"""


def read(folder: Path, text: str):
    (folder / "gold.xml").write_text(text, "utf-8")
    return read_corpus(gold=folder / "gold.xml")


def test_xml_gold(tmp_path: Path) -> None:
    corpus = read(tmp_path, XML)
    assert (corpus.name, corpus.sources) == ("gold", ("He go home & sleep .", "I am ."))
    first, second = corpus.references
    assert [r.edits for r in first] == [
        (Edit(1, 2, "goes", "V"), Edit(2, 3, "", "P")),
        (Edit(1, 2, "went", "V"), Edit(4, 5, "slept", "V")),
    ]
    assert [(r.annotator, r.edits) for r in second] == [(0, ())]


def test_errors_name_line_and_value(tmp_path: Path) -> None:
    for old, new, message in (
        ('end="2"', 'end="9"', ":15: .*1-9.* 6 tokens"),
        ('start="1"', 'start="-1"', ":10: .*'-1'"),
        ('start="1"', f'start="{"9" * 5000}"', ":10: .*'9{40}'"),
        ("numann", "numan", "'numan'.*'numann'"),
        ("error-list", "eror-list", ":8: <eror-list>"),
        ("<scripts>", "<!DOCTYPE a><scripts>", ":2: a DOCTYPE"),
        ("<text>I am .</text>", "", ":16: .*without <text>"),
        ("<error-list/>", "x", ":16: text outside"),
        ('numann="1"', 'numann="99999"', ":16: 99999"),
    ):
        with pytest.raises(InputError, match=message):
            read(tmp_path, XML.replace(old, new))


@pytest.mark.parametrize("references", ["mix", "nomix"])
def test_corrections_are_not_tokenised_again(tmp_path: Path, references: str) -> None:
    """The official program takes the corrections of its XML as they are: I was -11."""
    corpus = read(
        tmp_path,
        '<scripts><sentence id="1" numann="1"><text>I cant .</text>'
        '<error id="1"><alt ann="0"><c start="1" end="2">can\'t</c></alt></error>'
        "</sentence></scripts>",
    )
    metric = IMeasure(references=references)
    for given in (corpus, pickle.loads(pickle.dumps(corpus))):
        counts = metric.count(given, Hypotheses("A", ("I can't .",)))
        assert metric.score(counts[0, 0]) == 1
    assert metric.describe(metric.facts(corpus, ())).context == ("gold:edits",)
