"""Reading and writing judgments: every form, every error with its place, the published files."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import errata
from errata.core.errors import DataWarning, InputError
from errata.data import Judgment
from errata.human import compare
from errata.io.corpus import check_files
from errata.io.judgments import (
    parse_jsonl,
    read_judgment_files,
    read_judgments,
    read_outputs_by_system,
    render_jsonl,
    write_judgments,
)
from errata.io.judgments.appraise import parse_appraise, render_appraise
from errata.io.judgments.checks import compare_labels_with_outputs, require_labels_match_outputs
from errata.io.judgments.pairwise import parse_pairwise, render_pairwise
from errata.io.judgments.sheets import parse_mturk
from human_data import data_file, grundkiewicz, judgments, sakaguchi_file, submissions

XML = """<?xml version="1.0"?>
<appraise-results>
  <ranking-item doc-id="d" duration="00:01:07.500000" id="7" src-id="3" user="ann">
    <translation rank="3" system="A"/>
    <translation rank="1" system="B,C"/>
  </ranking-item>
  <ranking-item doc-id="e" id="8" skipped="true" src-id="4" user="bob"/>
</appraise-results>
"""
CSV = "segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID\n"


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


GOOD = '{"item": "i", "judge": "ann", "sentence": 1, "groups": [["A"], ["B"]], "ranks": [1, 2]}'
TURK = (
    "HITId,WorkerId,AssignmentStatus,Input.sentID,Input.system1,Input.system2,Input.system3,"
    "Answer.rank_1,Answer.rank_2,Answer.rank_3\n"
    "h1,ann,Approved,3,A,B,C,1,2,3\n"
)
PAIR = CSV + "5,ann,A,1,B,2,1\n"
BIG, LONG = "99999999999999999999", "9" * 5000
FORMS: dict[str, tuple[str, Any]] = {
    "appraise": (XML, parse_appraise),
    "pairwise": (PAIR, parse_pairwise),
    "jsonl": (GOOD, parse_jsonl),
    "mturk": (TURK, parse_mturk),
}
# What is put for what, and what the error names: the line, and values. Files damaged in simpler
# ways are in test_recorded.py.
ERRORS: dict[str, list[tuple[str, str, int, str]]] = {
    "appraise": [
        ('rank="3"', f'rank="{LONG}"', 4, "9…9"),
        ('rank="3"', 'rank="³"', 4, "³"),
        ('rank="3"', 'Rank="3"', 4, "'Rank'.*'rank'"),
        ('system="A"', 'system="B"', 3, "twice"),
        ('src-id="3"', 'src-id="2147483648"', 3, "2147483648"),
        (' user="ann"', "", 3, "user"),
        (' skipped="true"', "", 7, "skipped"),
        ('skipped="true"', 'skiped="true"', 7, "'skiped'.*'skipped'"),
        ('id="7" src', 'id="7" skipped="true" src', 4, "skipped"),
        ("<appraise-results>", "<!DOCTYPE a><appraise-results>", 2, "DOCTYPE"),
        ("<appraise-results>", '<appraise-results><translation rank="1"/>', 2, "outside"),
        ("ranking-item", "other-item", 4, "<ranking-item>"),
        ("<translation rank", "<translaton rank", 4, "'translaton'"),
    ],
    "pairwise": [
        ("B,2,1", f"B,{BIG},1", 2, BIG),
        ("5,ann", "2147483648,ann", 2, "2147483648"),
        ("rankingID", "system1rank", 1, "system1rank"),
        ("system2Id", "other", 1, "system2Id"),
        ("A,1", '"A,1', 2, "CSV"),
        ("rankingID", "system4Id,system4rank", 1, "'system4Id'"),
    ],
    "jsonl": [
        ('"sentence": 1', '"sentence": "1"', 1, "'i'.*'1'"),
        ('"sentence": 1', '"sentence": 2147483648', 1, "2147483648"),
        ('"sentence"', '"sentense"', 1, "'sentense'.*'sentence'"),
        ('"judge": "ann"', '"judge": 3', 1, "judge 3"),
        ("[1, 2]", "[1]", 1, "2 groups but 1"),
        ("[1, 2]", "[1, true]", 1, "ranks"),
        ("[1, 2]", '"12"', 1, "lists"),
        ("[1, 2]", f"[1, {BIG}]", 1, "ranks"),
        ("[1, 2]}", "[1, 2]} {}", 1, "more than one value"),
        ("}", ', "ranks": [2, 1]}', 1, "'ranks'"),
        ("}", ', "skipped": true}', 1, "skipped"),
        ('["B"]', '[["B"]]', 1, "groups"),
        ('[["A"], ["B"]]', '"AB"', 1, "lists"),
        ('"groups": [["A"], ["B"]]', '"systems": "AB"', 1, "lists"),
        ('"ranks"', '"systems": ["A"], "ranks"', 1, "systems and groups"),
        ('"ranks"', '"seconds": "9", "ranks"', 1, "'9'"),
        ('"ranks"', '"seconds": NaN, "ranks"', 1, "NaN"),
        ('"ranks"', '"skipped": "no", "ranks"', 1, "'no'"),
        ('"A"', '"A\\ud800"', 1, "surrogate"),
        ('"ann"', "[" * 100_000, 1, "JSON"),
    ],
    "mturk": [
        ("Answer.rank_2", "Answer.rnk_2", 1, "'Answer.rnk_2'.*'Answer"),
        ("Input.system2", "Input.other", 1, "Input.system2"),
        ("Answer.rank_3", "Answer.rank_4", 1, "Answer.rank_3"),
        ("Input.system3", "Input.type", 1, "Answer.rank_3.*2 systems"),
        (",1,2,3\n", f",{BIG},2,3\n", 2, "rank"),
        (",3,A", ",9999999999,A", 2, "9999999999"),
        ("A,B,C", "A,B,###", 2, "rank 3 for output 3"),
        (",1,2,3\n", ",1,2,3,more\n", 2, "more cells"),
        (",C,1,2,3", "", 2, "cut off"),
    ],
}


@pytest.mark.parametrize("form", ERRORS)
def test_errors_name_line_and_value(form: str) -> None:
    text, parse = FORMS[form]
    for old, new, line, value in ERRORS[form]:
        assert old in text
        with pytest.raises(InputError, match=value) as caught:
            list(parse(lines(text.replace(old, new, 1)), "x"))
        assert (caught.value.path, caught.value.line) == ("x", line), new


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("form", FORMS)
def test_no_sentence_before_the_first(form: str, base: int) -> None:
    """Sentence 0 of a file that counts from 1 would be the last one."""
    text, parse = FORMS[form]
    numbers = {"appraise": 'src-id="3"', "pairwise": "5,ann", "jsonl": '"sentence": 1'}
    old = numbers.get(form, ",3,A")
    first, before = (
        lines(text.replace(old, re.sub(r"\d", str(number), old))) for number in (base, base - 1)
    )
    assert next(iter(parse(first, "x", base=base))).sentence == 0
    with pytest.raises(InputError, match=f"sentence.* '?{base - 1}'?.* from {base}"):
        list(parse(before, "x", base=base))


def test_pairwise_rows_that_are_no_ranking_stay_pairs() -> None:
    """A against B and C against D say nothing about A against C."""
    rows = CSV + "5,ann,A,1,B,2,1\n5,ann,C,1,D,2,1\n"
    found = list(parse_pairwise(lines(rows), "x"))
    assert [j.groups for j in found] == [(("A",), ("B",)), (("C",), ("D",))]
    assert compare(found).rankings == 1
    inconsistent = CSV + "5,ann,A,1,B,2,1\n5,ann,A,2,C,2,1\n5,ann,B,2,C,2,1\n"
    assert len(list(parse_pairwise(lines(inconsistent), "x"))) == 3


def test_pairwise_items_that_were_skipped() -> None:
    text = PAIR.replace("A,1,B,2", "A,-1,B,2")
    with pytest.raises(InputError, match="rank of A '-1' is not a whole number"):
        list(parse_pairwise(lines(text), "x"))
    (judgment,) = parse_pairwise(lines(text.replace("B,2", "B,-1")), "x")
    assert judgment.ranks == (None, None)


def test_mturk_without_status() -> None:
    text = TURK.replace("AssignmentStatus", "Input.type")
    with pytest.warns(DataWarning, match="no column AssignmentStatus; every assignment counts"):
        assert len(list(parse_mturk(lines(text), "x"))) == 1
    with pytest.raises(InputError, match=r"no column AssignmentStatus.*leave out --status"):
        list(parse_mturk(lines(text), "x", statuses=("Approved",)))


def test_appraise_says_what_it_does_not_read() -> None:
    text = XML.replace(' user="ann"', ' user="ann" mood="good"').replace(
        "</ranking-item>", "<remark>x</remark></ranking-item>"
    )
    with pytest.warns(DataWarning, match=r"x:3: not read: attribute 'mood', element 'remark'"):
        assert len(list(parse_appraise(lines(text), "x"))) == 2
    text = XML.replace("</ranking-item>", "<source>He go .</source></ranking-item>")
    assert len(list(parse_appraise(lines(text), "x"))) == 2
    text = XML.replace("</ranking-item>", "rank 2 is meant</ranking-item>")
    with pytest.warns(DataWarning, match="not read: text 'rank 2 is meant'"):
        assert len(list(parse_appraise(lines(text), "x"))) == 2


def test_names_that_look_alike(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(GOOD.replace('["B"]', '["B "], ["B"]').replace("[1, 2]", "[1, 2, 3]"))
    with pytest.warns(DataWarning, match=r"the systems 'B' and 'B ' differ in blanks"):
        list(read_judgments(path))
    path.write_text(
        GOOD.replace("ann", "Ren\u00e9") + "\n" + GOOD.replace("ann", "Rene\u0301"), "utf-8"
    )
    with pytest.warns(DataWarning, match=r"the judges .* differ in blanks or Unicode form"):
        list(read_judgments(path))
    path.write_text(GOOD.replace('["B"]', '[" "]'))
    with pytest.raises(InputError, match="a system without a name"):
        list(read_judgments(path))


NAMELESS = GOOD.replace('"item": "i", ', "")
TIMED = NAMELESS.replace("}", ', "seconds": 7.25}')
BODY = "".join(lines(XML)[2:6])
BARE = CSV.replace(",rankingID", "")
REPEATED: list[tuple[Any, list[str], int, str]] = [
    # How many judgments are left, and what is said of the others.
    (parse_jsonl, [GOOD, GOOD.replace('"i"', '"j"'), GOOD, GOOD], 2, "x:3: item 'i'.* once .*1 m"),
    (parse_jsonl, [GOOD, GOOD.replace("[1, 2]", "[2, 1]")], 2, "item 'i'.* other ranks"),
    # Without a name and a time: a few may be a judge of the same mind.
    (parse_jsonl, [NAMELESS, NAMELESS], 2, "x:2: .* each time counts"),
    (parse_jsonl, [TIMED, TIMED], 1, "x:2: .* counts once"),
    (parse_appraise, lines(XML.replace(BODY, BODY + BODY)), 2, "x:7: item 'd/7'"),
    (parse_pairwise, lines(PAIR + PAIR.splitlines()[1] + "\n"), 1, "x:3: item '1'"),
    (parse_pairwise, lines(PAIR + "5,ann,A,1,B,2,2\n5,ann,A,1,B,2,1\n"), 2, "x:4: item '1'"),
    (parse_pairwise, lines(PAIR + "5,ann,A,1,B,3,1\n"), 2, "x:3: item '1'.*with other"),
    # Three rows for two of three pairs say nothing of the third.
    (parse_pairwise, lines(BARE + "5,a,A,1,B,2\n5,a,A,1,C,3\n5,a,A,1,B,2\n"), 3, "x:4: .*each"),
    (parse_pairwise, lines(PAIR + "5,ann,A,1,C,3,1\n5,ann,A,1,B,2,1\n"), 2, "x:4: item '1'"),
]


@pytest.mark.parametrize(("parse", "text", "left", "message"), REPEATED)
def test_the_same_judgment_twice_counts_once(
    parse: Any, text: list[str], left: int, message: str
) -> None:
    with pytest.warns(DataWarning, match=message):
        assert len(list(parse(text, "x"))) == left


def test_many_judgments_that_stand_there_twice_are_refused() -> None:
    """A sentence judged again as another item, or by another judge, is no repeat."""
    others = [GOOD, GOOD.replace('"i"', '"j"'), GOOD.replace("ann", "bob")]
    assert len(list(parse_jsonl(others, "x"))) == 3
    several = [NAMELESS.replace('"sentence": 1', f'"sentence": {k}') for k in range(9)]
    with pytest.raises(InputError, match="9 of 18 judgments"):
        list(parse_jsonl(several + several, "x"))


def test_overlapping_files(tmp_path: Path) -> None:
    """Each ranking agreed with its own copy: κ within judges rose from 0.393 to 0.871."""
    mine = [GOOD.replace('"i"', f'"i{k}"') + "\n" for k in range(6)]
    (tmp_path / "a").write_text("".join(mine[:4]))
    (tmp_path / "b").write_text("".join(mine[2:]))
    with pytest.warns(DataWarning, match=r"b:1: item 'i2' of ann stands in .*a in the same words"):
        found = list(read_judgment_files([tmp_path / "a", tmp_path / "b"]))
    assert [j.item for j in found] == [f"i{k}" for k in range(6)]
    with pytest.raises(InputError, match="the same file is given twice"):
        read_judgment_files([tmp_path / "a", tmp_path / "b", tmp_path / "x" / ".." / "a"])
    with pytest.raises(InputError, match="b: the same file is given twice"):
        read_judgment_files(["-", tmp_path / "a", tmp_path / "b", tmp_path / "b"])
    with pytest.raises(InputError, match="<stdin>: the same file is given twice"):
        read_judgment_files(["-", tmp_path / "a", "-"])
    # A judge to be left out need not be in every file.
    (tmp_path / "c").write_text(GOOD.replace("ann", "bob") + "\n")
    found = list(read_judgment_files([tmp_path / "a", tmp_path / "c"], leave_out=["bob"]))
    assert len(found) == 4
    with pytest.raises(InputError, match="no judgment by eve"):
        list(read_judgment_files([tmp_path / "a", tmp_path / "c"], leave_out=["eve"]))


@pytest.mark.filterwarnings("ignore:.*stands there twice")
@settings(deadline=None)
@given(st.lists(judgments(), max_size=6, unique=True))
def test_jsonl_round_trip(given_: list[Judgment]) -> None:
    assert list(parse_jsonl(render_jsonl(given_), "x")) == given_


@pytest.mark.filterwarnings("ignore:.*stands there twice")
@settings(deadline=None)
@given(
    st.lists(judgments(unranked=False), min_size=1, max_size=6, unique=True),
    st.sampled_from((0, 1)),
)
def test_appraise_round_trip(given_: list[Judgment], base: int) -> None:
    text = [line + "\n" for line in render_appraise(given_, base=base)]
    assert list(parse_appraise(text, "x", base=base)) == given_


@settings(deadline=None)
@given(st.lists(judgments(), min_size=1, max_size=6))
def test_pairwise_round_trip_keeps_the_comparisons(given_: list[Judgment]) -> None:
    text = [line + "\n" for line in render_pairwise(given_)]
    again, once = compare(parse_pairwise(text, "x")), compare(given_)
    assert [
        (again.systems[a], again.systems[b], o)
        for a, b, o in zip(again.first, again.second, again.outcome, strict=True)
    ] == [
        (once.systems[a], once.systems[b], o)
        for a, b, o in zip(once.first, once.second, once.outcome, strict=True)
    ]


def test_appraise_cannot_hold_everything() -> None:
    with pytest.raises(InputError, match="shown but not ranked"):
        list(render_appraise([Judgment("ann", 0, (("A",), ("B",)), (1, None))]))
    with pytest.raises(InputError, match="holds a blank or a comma"):
        list(render_appraise([Judgment("ann", 0, (("A b",),), (1,))]))


def test_read_tells_the_form_and_gzip(tmp_path: Path) -> None:
    ranking = Judgment("ann", 3, (("A",), ("B",)), (2, 1), "d/7", 1.5)
    for form in ("jsonl", "appraise"):
        for ending in ("", ".gz"):
            path = tmp_path / f"judgments{ending}"
            write_judgments([ranking], path, form=form)
            assert list(read_judgments(path)) == [ranking]
    with pytest.raises(InputError, match="form 'mturk' is unknown; use one of 'appraise', 'jsonl'"):
        write_judgments([ranking], tmp_path / "x", form="mturk")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="form 'xml' is unknown"):
        read_judgments(path, form="xml")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="labels 'chekc' is unknown; did you mean 'check'"):
        read_judgments(path, labels="chekc")  # type: ignore[arg-type]


@pytest.mark.slow
def test_grundkiewicz_is_the_published_table() -> None:
    """Every row of expanded.csv, in its order, byte for byte."""
    published = gzip.decompress(
        data_file(
            "nusnlp/gecmetrics/*/scores/sentence_pairwiseranks_humans/expanded.csv.gz"
        ).read_bytes()
    )
    written = "".join(
        line + "\n" for line in render_pairwise(grundkiewicz(), names="conll14st-test.{}.src-trg")
    )
    assert written.encode() == published


def test_published_pairs_read_back() -> None:
    path = data_file("nusnlp/gecmetrics/*/scores/sentence_pairwiseranks_humans/unexpanded.csv.gz")
    pairs = compare(read_judgments(path))
    assert (len(pairs), int((pairs.outcome == 0).sum()), pairs.rankings) == (20516, 5694, 2279)


def test_napoles() -> None:
    """28,146 pairs in the published order, from the XML and from the CSV."""
    path = data_file("cnap/gec-ranking/*/data/all_judgments.xml")
    read = list(read_judgments(path, leave_out=["non-native"]))
    pairs = compare(read, order="given")
    assert (len(pairs), int((pairs.outcome == 0).sum())) == (28146, 14446)
    assert len(pairs.without("refmix1")) == 24440
    rows = compare(read_judgments(path.with_suffix(".csv")), order="given")
    for column in ("first", "second", "outcome", "sentence"):
        assert (getattr(rows, column) == getattr(pairs, column)).all(), column
    per_judge = pairs.per_judge()
    counts = {
        judge: int(per_judge.wins[j].sum() + per_judge.ties[j].sum() / 2)
        for j, judge in enumerate(pairs.judges)
    }
    assert counts == {"annot1": 15371, "annot2": 8050, "annot3": 4725}


def test_sakaguchi_references() -> None:
    with pytest.warns(DataWarning, match="2 Rejected"):
        read = list(read_judgments(sakaguchi_file("Main_merged.csv")))
    sizes = (len(read), len(compare(read)), len(compare(read, members="sample")))
    assert sizes == (599, 7795, 5338)


@pytest.mark.slow
def test_sakaguchi_systems_are_never_used_unnoticed() -> None:
    """The labels of the public file belong to the next sentence (off by one)."""
    path = sakaguchi_file("Ctrl_merged.csv")
    approved = ("Approved",)
    with pytest.warns(DataWarning, match="312 of 588 rankings show one text under two labels"):
        read = list(read_judgments(path, statuses=approved))
    sizes = (len(read), len(compare(read)), len(compare(read, members="sample")))
    assert sizes == (588, 26265, 5680)
    every = ("Approved", "Rejected")
    with pytest.raises(
        InputError,
        match=r"in 77 of 593 rankings, those of the sentence after it "
        r"in 593: the sentence numbers are off by one",
    ):
        list(read_judgments(path, statuses=every, outputs=submissions()))
    assert len(list(read_judgments(path, statuses=every, labels="given"))) == 593
    with pytest.warns(DataWarning, match="1442 had other labels .* 22 were written by no system"):
        relabelled = list(
            read_judgments(path, statuses=approved, labels="text", outputs=submissions())
        )
    fit = compare_labels_with_outputs(relabelled, submissions())
    # The rest differ in blanks or quotation marks only, which the page did not keep apart.
    assert (fit.rankings, fit.fits[0], fit.fits[1]) == (588, 532, 66)
    with pytest.raises(InputError, match="needs the outputs"):
        list(read_judgments(path, labels="text", statuses=approved))


MTURK = (
    "WorkerId,HITId,AssignmentStatus,WorkTimeInSeconds,Input.sentID,Input.system1,"
    "Input.sentence1,Input.system2,Input.sentence2,Input.system3,Input.sentence3,"
    "Answer.rank_1,Answer.rank_2,Answer.rank_3\n"
)


def test_mturk_text_shown_twice(tmp_path: Path) -> None:
    """The first rank of a text counts; one without a rank gives way to one with."""
    path = tmp_path / "m.csv"
    path.write_text(
        MTURK + "w,h,Approved,65,0,A,one,B,one,C,two,2,4,3\n"
        "w,i,Approved,65,0,A,one,B,one,C,two,,4,3\n",
        encoding="utf-8",
    )
    outputs = {"A": ["one"], "B": ["one"], "C": ["two"]}
    with pytest.warns(DataWarning, match="4 had other labels"):
        found = list(read_judgments(path, labels="text", outputs=outputs))
    assert [(j.groups, j.ranks) for j in found] == [
        ((("A", "B"), ("C",)), (2, 3)),
        ((("A", "B"), ("C",)), (4, 3)),
    ]


def test_outputs_that_cannot_tell_the_labels_are_warned_of() -> None:
    """Two outputs exchanged fit as well as two that are not."""
    sample = Path(errata.__file__).parent / "datasets" / "sample"
    file = sample / "judgments.jsonl"
    exchanged = read_outputs_by_system(
        f"eager={sample / 'noisy.txt'}", f"noisy={sample / 'eager.txt'}"
    )
    with pytest.warns(
        DataWarning, match="in 0 of 183 rankings .* no output of cautious, fluent, nothing; give"
    ):
        list(read_judgments(file, outputs=exchanged))
    names = ("eager", "noisy", "cautious", "fluent", "nothing")
    list(
        read_judgments(file, outputs=read_outputs_by_system(*(sample / f"{n}.txt" for n in names)))
    )
    list(
        read_judgments(
            file, outputs=read_outputs_by_system(*(sample / f"{n}.txt" for n in names[2:]))
        )
    )


@pytest.mark.parametrize(
    ("here", "after", "message"),
    [
        (19, 1, None),
        (18, 2, "in 18 of 20 rankings; are these the outputs"),
        (3, 17, "the sentence after it in 17: the sentence numbers are off by one"),
        (4, 16, "in 4 of 20 rankings; are these the outputs"),
    ],
)
def test_how_many_labels_must_fit(here: int, after: int, message: str | None) -> None:
    """Nineteen of twenty; a shift is called one where more than four of five fit it."""
    texts = {"A": ["x", "x", "y"], "B": ["x", "x", "z"], "C": ["v", "w", "w"]}
    # At sentence 0 and 1 A and B wrote the same; at sentence 2 all differ.
    good = Judgment("ann", 1, (("A", "B"), ("C",)), (1, 2))
    shifted = Judgment("ann", 1, (("A",), ("B",), ("C",)), (1, 2, 3))
    found = [good] * here + [shifted] * after
    if message is None:
        require_labels_match_outputs(found, texts, "x")
        return
    with pytest.raises(InputError, match=message):
        require_labels_match_outputs(found, texts, "x")


def test_files_of_judgments_are_read_as_such(tmp_path: Path) -> None:
    good, bad = tmp_path / "judgments.jsonl", tmp_path / "bad.jsonl"
    for path, text, role in (
        (good, GOOD, "1 judgment"),
        (tmp_path / "j.csv", PAIR, "1 judgment"),
        (tmp_path / "j.xml", XML, "2 judgments"),
    ):
        path.write_text(text, encoding="utf-8")
        found = check_files([path])
        assert (found.findings, found.statistics[0].role) == ((), role)
    good.write_text(GOOD.replace("}", ', "colour": "red"}'), encoding="utf-8")
    (odd,) = check_files([good]).findings
    assert (odd.severity, odd.code) == ("warning", "odd-judgments")
    assert "colour" in odd.problem
    bad.write_text(f"{GOOD}\n{GOOD.replace('[1, 2]', '[1]')}\n", encoding="utf-8")
    (error,) = check_files([bad]).findings
    assert (error.severity, error.line) == ("error", 2)
