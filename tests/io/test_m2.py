"""M2: every corner case of the format, exact round trips; and the XML of the I-measure's gold."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.errors import DataWarning, InputError
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.io import read_corpus, read_m2, write_m2
from errata.io.m2 import format_m2, parse_m2, read_m2_file
from errata.metrics.imeasure import IMeasure

REST = "REQUIRED|||-NONE-|||0"
NOOP = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||"


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@pytest.fixture
def file(tmp_path: Path):
    return lambda text: write(tmp_path / "gold.m2", text)


def test_reads_annotators_noop_alternatives_and_deletions(file):
    corpus = read_m2(
        file(
            "S a b c\n"
            f"A 2 3|||Nn||| x y||-NONE-|| z |||{REST[:-1]}2\n"
            f"{NOOP}0\n"
            f"A 0 1|||Del|||-NONE-|||{REST[:-1]}1\n"
            "A 1 1|||Ins||| w |||OPTIONAL|||why|||1\n"
            "\n"
            "S d é\n"
        )
    )
    assert corpus.name == "gold"
    assert corpus.sources == ("a b c", "d é")
    assert corpus.references == (
        (
            Reference(0, ()),
            Reference(1, (Edit(0, 1, "", "Del"), Edit(1, 1, "w", "Ins", (), "OPTIONAL", "why"))),
            Reference(2, (Edit(2, 3, "x y", "Nn", ("", "z")),)),
        ),
        (Reference(0, (), implied=True),),
    )


PLAIN = f"S a b\nA 0 1|||X|||x|||{REST}\n\nS c\n{NOOP}0\n"


def test_layout_does_not_matter(file):
    plain = read_m2(file(PLAIN))
    assert len(plain) == 2
    for text in (
        PLAIN.replace("\n", "\r\n"),
        "\ufeff" + PLAIN,
        PLAIN + "\n\n\n",
        PLAIN[:-1],
        "\n\n" + PLAIN,
        PLAIN.replace("\n\n", "\n\n\n"),
        PLAIN.replace("S a b\n", "I 0 1\nS a b\nI 3\n"),
    ):
        assert read_m2(file(text)) == plain, text


ERRORS = [
    (f"S a b\nA 1 3|||X|||x|||{REST}\n", 2, "1-3.* 2 tokens"),
    (f"S a b\nA 2 1|||X|||x|||{REST}\n", 2, "2.* 1"),
    (f"S a b\nA -1 -1|||Noop|||-NONE-|||{REST}\n", 2, "-1"),
    (f"S a\n\nS b\nS c\nA 0 1|||X|||x|||{REST}\n", 4, "second 'S '"),
    ("S a\nB c\n", 2, "'B c'"),
    (f"S a\nA 0 1|||X|||x|||y|||{REST}\n", 2, "7 fields"),
    ("S a\nA 0 1|||X|||x|||REQUIRED|||-NONE-|||1_0\n", 2, "annotator '1_0'"),
    (f"S a\nA 0 x 1|||X|||x|||{REST}\n", 2, "'0 x 1'"),
    (f"S a\nA ０ 1|||X|||x|||{REST}\n", 2, "'０ 1'"),
    (f"A 0 1|||X|||x|||{REST}\nS a\n", 1, "'A '.* before"),
    (f"S a\n\nA 0 1|||X|||x|||{REST}\n", 3, "no 'S '"),
    ("\n\n", None, "no sentence"),
]


def test_errors_name_file_line_and_value(file):
    for text, line, problem in ERRORS:
        path = file(text)
        with pytest.raises(InputError, match=problem) as caught:
            read_m2(path)
        assert (caught.value.path, caught.value.line) == (str(path), line)
        assert caught.value.remedy


X = f"|||X|||x|||{REST}\n"


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        (f"S a b\nA 0 1{X}A 0 1{X}", 3, "duplicate-edit"),
        (f"S a b\nA 0 0{X}A 0 0{X}", 3, "duplicate-edit"),
        (f"S a b\nA 0 1{X}A 0 1|||X|||y|||{REST}\n", 3, "overlapping-edits"),
        (f"S a b c\nA 0 2{X}A 1 3{X}", 3, "overlapping-edits"),
        (f"S a b c\nA 0 2{X}A 1 1{X}", 3, "overlapping-edits"),
        (f"S a b c\nA 0 3{X}A 1 2{X}A 2 3{X}", 3, "overlapping-edits"),
        (f"S a b\nA 1 2{X}A 0 1{X}", 3, "unsorted-edits"),
        (f"S a b\nA 0 1|||noop|||x|||{REST}\n", 2, "noop-with-offsets"),
        (f"S a b\nA 0 1{X}{NOOP}0\n", 3, "noop-and-edits"),
        (f"S a b\n{NOOP}0\n{NOOP}0\n", 3, "noop-twice"),
        (f"S a b\nA 0 1|||X|||x|||||{REST}\n", 2, "empty-alternative"),
        (f"S a\u2028b\nA 0 1{X}", 1, "odd-line-break"),
        (f"S a b\nA 0 1{X} \nS c\n", 3, "blank-with-spaces"),
        # Lines that are glued or have lost a field.
        (f"S He go home .A 1 2|||V|||goes|||{REST}\n", 1, "glued-lines"),
        (f"S a b\nA 1 2|||V|||{REST[:-4]}|||x|||0\n", 2, "shifted-fields"),
        (f"S a b\nA 1 2|||V|||REQUIRED|||{REST}\n", 2, "shifted-fields"),
        ("S a b\nA 1 2|||V|||x|||-NONE-|||y|||0\n", 2, "shifted-fields"),
    ],
)
def test_warnings_name_file_line_and_kind(file, text, line, code):
    path = file(text)
    findings = read_m2_file(path).findings
    assert (findings[0].code, findings[0].line, findings[0].path) == (code, line, str(path))
    assert findings[0].severity == "warning"
    with pytest.warns(DataWarning) as caught:
        read_m2(path)
    assert [str(warning.message) for warning in caught] == [str(f) for f in findings]
    assert f"gold.m2:{line}: " in str(caught[0].message)


def test_compatible_shares_the_edits_of_a_paragraph():
    text = (
        "S a b c\nS d b\n"
        f"A 1 2|||X|||x|||{REST}\nA 2 3|||W|||w|||{REST}\nA 3 4|||Y|||y|||{REST}\n"
        f"A 4 5|||Z|||z|||{REST}\nA 2 2|||V|||v|||{REST}\n"
    )
    file = parse_m2(text.splitlines(), compatible=True)
    assert file.findings[0].code == "several-sources"
    first, second = (refs[0].edits for refs in file.corpus.references)
    assert first == (Edit(1, 2, "x", "X"), Edit(2, 3, "w", "W"), Edit(2, 2, "v", "V"))
    # Words counted over the paragraph that the sentence has not there: gold that nothing matches.
    assert second == (
        Edit(1, 2, "x", "X"),
        Edit(2, 2, "c  w", "W"),
        Edit(2, 2, "d  y", "Y"),
        Edit(2, 2, "b  z", "Z"),
        Edit(2, 2, "v", "V"),
    )
    # Nothing is corrected by an edit of another sentence.
    pairs = zip(file.corpus.sources, file.corpus.references, strict=True)
    texts = [refs[0].corrected(source) for source, refs in pairs]
    assert texts == ["a x v w", "d x v"]


def test_collect_goes_on_after_an_error(file):
    checked = read_m2_file(file(f"S a\nA 0 2{X}\nS b\nQ\n\nS c\nA 0 1{X}"), collect=True)
    assert [(f.severity, f.line) for f in checked.findings] == [("error", 2), ("error", 5)]
    assert checked.corpus.sources == ("a", "b", "c")
    assert checked.lines == (1, 4, 7)
    assert checked.without_sentences(1).lines == (1, 7)
    assert checked.without_sentences().lines == (1, 4, 7)


def test_edge_cases_have_as_much_gold_as_for_the_official_scorer(oracles, file):
    seen = 0
    for case in json.loads((oracles / "m2" / "edge_cases.json").read_text()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            corpus = read_m2(file(case["m2"]), compatible=True)
        official = case["head"]
        if "error" in official:  # CRLF and a wrong number of lines: we read, the scorer stops
            continue
        gold = 0
        for refs, chosen in zip(corpus.references, official["chosen"], strict=True):
            gold += next(len(r.edits) for r in refs if r.annotator == chosen)
        assert gold == official["gold"], case["name"]
        seen += 1
    assert seen == 38


def test_conll14_counts_and_rewrites_byte_for_byte(conll14, tmp_path):
    path = conll14 / "conll14st-test.m2"
    corpus = read_m2(path)
    assert len(corpus) == 1312
    edits = [0, 0]
    for refs in corpus.references:
        for r in refs:
            edits[r.annotator] += len(r.edits)
    assert edits == [2391, 3207]
    assert sum(len(refs) == 2 for refs in corpus.references) == 1088
    write_m2(corpus, tmp_path / "again.m2")
    assert (tmp_path / "again.m2").read_bytes().strip() == path.read_bytes().strip()


ANY = st.text(max_size=6)


@settings(max_examples=300, deadline=None)
@given(
    source=ANY,
    kind=ANY,
    texts=st.lists(ANY, min_size=1, max_size=3),
    required=ANY,
    comment=ANY,
    annotator=st.integers(-2, 3),
)
def test_whatever_is_written_reads_back_or_is_refused(
    source, kind, texts, required, comment, annotator
):
    edit = Edit(0, 0, texts[0], kind, tuple(texts[1:]), required, comment)
    corpus = Corpus((source,), ((Reference(annotator, (edit,)),),))
    try:
        lines = format_m2(corpus)
    except InputError:
        return
    text = "".join(line + "\n" for line in lines)
    again = [line.removesuffix("\r") for line in text.split("\n")]
    assert parse_m2(again).corpus == corpus


@pytest.mark.parametrize(
    ("corpus", "problem"),
    [
        (Corpus.from_texts(["a"], [["b"]]), "given as text"),
        (Corpus.from_texts(["a"]), "no reference"),
        (Corpus((), ()), "without sentences"),
        (Corpus(("a\nb",), ((Reference(0, ()),),)), "line end"),
        (Corpus(("a\r",), ((Reference(0, ()),),)), "line end"),
        (Corpus(("a",), ((Reference(1, (), implied=True),),)), "implied"),
        *(
            (Corpus(("a",), ((Reference(0, (edit,)),),)), "M2 cannot hold")
            for edit in (
                *(Edit(0, 1, text) for text in ("x|||y", "x||y", "x|", " x", "-NONE-")),
                *(Edit(0, 1, "x", kind) for kind in ("noop", "a|||b", "a\nb")),
                Edit(0, 1, "x", "X", ("y|",)),
                Edit(0, 1, "x", comment="a|"),
            )
        ),
    ],
)
def test_what_m2_cannot_say_is_refused(tmp_path, corpus, problem):
    with pytest.raises(InputError, match=problem):
        write_m2(corpus, tmp_path / "gold.m2")
    assert not (tmp_path / "gold.m2").exists()


def test_a_lone_surrogate_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"U\+D800 cannot be written"):
        write_m2(Corpus(("a \ud800",), ((Reference(0, ()),),)), tmp_path / "gold.m2")


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
    for each in (corpus, pickle.loads(pickle.dumps(corpus))):
        counts = metric.count(each, Hypotheses("A", ("I can't .",)))
        assert metric.score(counts[0, 0]) == 1
    assert metric.describe(metric.facts(corpus, ())).context == ("gold:edits",)
