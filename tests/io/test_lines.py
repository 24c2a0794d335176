"""The alignment guard on real outputs and on outputs spoilt in known ways."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.errors import DataWarning, InputError
from errata.evaluation import evaluate
from errata.io import check_alignment, read_hypotheses, read_m2, read_text
from errata.io.checks.characters import check_characters, check_corpus, check_gold_characters
from errata.io.checks.conventions import check_conventions, lines_beside, shapes_of
from errata.io.checks.likeness import likeness_of
from errata.io.checks.lines import check_lines, look_no_more, was_looked_at
from errata.io.checks.roles import check_systems
from errata.io.corpus import parallel_corpus
from errata.io.m2 import scan_m2_text
from errata.io.tokenising import tokeniser
from errata.spelling import Spelled, utf8

WORDS = [
    "river",
    "stone",
    "window",
    "garden",
    "letter",
    "morning",
    "teacher",
    "because",
    "between",
    "animal",
    "picture",
    "kitchen",
    "summer",
    "blanket",
    "engine",
    "yellow",
    "friend",
]


def sentence(i: int) -> str:
    rng = random.Random(i)
    return f"The {' '.join(rng.choices(WORDS, k=8))} are here ."


SOURCES = tuple(sentence(i) for i in range(60))
CORPUS = Corpus.from_texts(SOURCES)
OUTPUT = tuple(s.replace("are", "is") for s in SOURCES)


def findings(lines, corpus=CORPUS):
    found = check_alignment(corpus, Hypotheses("sys", tuple(lines)), path="out")
    # Texts that were read as bytes and not made into strings yet are looked at alike.
    read = corpus._copied(_spelled=Spelled(utf8(corpus.sources)), sources=None)
    output = Hypotheses.made_later("sys", Spelled(utf8(lines)))
    assert check_alignment(read, output, path="out") == found
    assert check_alignment(corpus, output, path="out") == found
    return found


def one(lines, code):
    found = findings(lines)
    assert [f.code for f in found] == [code], found
    return found[0]


def test_a_sound_output_has_no_findings():
    assert findings(OUTPUT) == []


@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        ([*OUTPUT, ""], 61, "the last line is blank"),
        ([*OUTPUT, "", " "], 61, "the last 2 lines are blank"),
        (OUTPUT[:-3], 58, "3 are missing at the end"),
        ([*OUTPUT, *OUTPUT[:2]], 61, "2 are too many at the end"),
        ([*OUTPUT[:20], *OUTPUT[21:]], 21, "from line 21 on .* 1 later: a line was lost"),
        (
            [*OUTPUT[:20], "Extra .", *OUTPUT[20:]],
            22,
            "from line 22 on .* 1 earlier: a line was added",
        ),
        (["S a b", "A 0 1|||X|||x|||REQUIRED|||-NONE-|||0", ""], 1, "looks like an M2 file"),
        ([], 1, "60 are missing at the end"),
        (["\r".join(OUTPUT)], 1, r"end with carriage returns alone.* tr "),
    ],
)
def test_wrong_line_counts(lines, line, says):
    found = one(lines, "line-count")
    assert (found.severity, found.line) == ("error", line)
    assert f"{len(lines)} line" in found.problem
    assert "60 sentences" in found.problem
    assert re.search(says, found.remedy), found.remedy


def test_a_shifted_run():
    found = one([*OUTPUT[:20], "Extra line .", *OUTPUT[20:29], *OUTPUT[30:]], "shifted")
    assert (found.severity, found.line) == ("warning", 22)
    assert "output lines 22–30 look like source lines 21–29 (9 of 9 lines)" in found.problem
    assert "1 line later" in found.problem
    found = one([*OUTPUT[:20], *OUTPUT[22:32], "x", "y", *OUTPUT[32:]], "shifted")
    assert (found.severity, found.line) == ("warning", 21)
    assert "output lines 21–30 look like source lines 23–32 (10 of 10 lines)" in found.problem
    assert "2 lines earlier" in found.problem


def test_a_run_takes_in_lines_that_resemble_both_sources():
    sources = list(SOURCES)
    sources[21], sources[31] = f"{sources[20]} Yes .", f"{sources[30]} No ."
    found = findings(
        [*sources[:20], *sources[21:32], "x", *sources[32:]], Corpus.from_texts(sources)
    )
    assert [f.code for f in found] == ["shifted"]
    assert "output lines 21–31 look like source lines 22–32 (11 of 11" in found[0].problem


def test_a_file_that_is_mostly_shifted_is_an_error():
    found = one([*OUTPUT[1:], "x"], "shifted")
    assert (found.severity, found.line) == ("error", 1)
    assert "output lines 1–59 look like source lines 2–60" in found.problem


@pytest.mark.parametrize(("away", "seen"), [(9, True), (10, True), (11, False)])
def test_how_far_a_line_is_looked_for(away, seen):
    for lines in (
        [*OUTPUT[:20], *OUTPUT[20 + away : 40 + away], *["x"] * away, *OUTPUT[40 + away :]],
        [*OUTPUT[:20], *["x"] * away, *OUTPUT[20:40], *OUTPUT[40 + away :]],
    ):
        codes = [f.code for f in findings(lines[:60])]
        assert ("shifted" in codes) == seen


@pytest.mark.parametrize(("displaced", "severity"), [(30, "warning"), (31, "error")])
def test_from_where_a_shift_is_an_error(displaced, severity):
    """More than half of the lines."""
    found = one([*OUTPUT[1 : displaced + 1], "x", *OUTPUT[displaced + 1 :]], "shifted")
    assert found.severity == severity


@pytest.mark.parametrize(("copies", "nearest"), [((10, 17), 17), ((12, 19), 12), ((13, 17), 13)])
def test_a_repeated_source_takes_the_nearest_place(copies, nearest):
    """Of two places that are equally near the earlier one."""
    sources = list(SOURCES)
    for place in copies:
        sources[place] = "This sentence stands there twice and nothing is like it ."
    lines = list(sources)
    lines[15] = sources[nearest]
    (found,) = findings(lines, Corpus.from_texts(sources))
    assert found.problem == f"output line 16 looks like source line {nearest + 1}"


def test_two_lines_that_changed_places():
    lines = list(OUTPUT)
    lines[9], lines[10] = lines[10], lines[9]
    assert [(f.code, f.line) for f in findings(lines)] == [("shifted", 10), ("shifted", 11)]


@pytest.mark.parametrize(
    "lines",
    [OUTPUT[::-1], OUTPUT[30:] + OUTPUT[:30], tuple(sentence(i) for i in range(1000, 1060))],
    ids=["reversed", "rotated", "another text"],
)
def test_unrelated_texts(lines):
    assert one(lines, "unrelated").severity == "error"


def test_from_where_a_text_is_another_s():
    """What is alike by less than chance easily gives, or by less than .05, is unrelated."""
    far = [SOURCES[(i + 30) % 60] for i in range(60)]
    seen = set()
    for own, elsewhere in product((1, 6, 8, 12, 18, 20, 22), (0, 6)):
        rng = random.Random(0)
        lines = [" ".join(rng.choices(["aeiou", "bcdfgh", "lmnrst"], k=12)) for _ in range(60)]
        for i in range(own):
            lines[i] = " ".join(w if rng.random() < 0.8 else "zzzz" for w in SOURCES[i].split())
        lines[own : own + elsewhere] = far[own : own + elsewhere]
        gain = likeness_of(SOURCES, lines) - likeness_of(far, lines)
        mean, errors = float(gain.mean()), float(gain.mean() / (gain.std() / len(gain) ** 0.5))
        related = errors > 2 and mean > 0.05
        seen.add((related, 1 + (errors > 2) + (errors > 3), mean > 0.05))
        assert ("unrelated" in [f.code for f in findings(lines)]) != related
    assert {(True, 2, True), (True, 3, True), (False, 1, False), (False, 2, False)} <= seen, seen


def test_empty_lines_are_warned_of_but_not_where_the_source_is_empty():
    found = one([*OUTPUT[:7], "  ", *OUTPUT[8:]], "empty-line")
    assert (found.severity, found.line) == ("warning", 8)
    assert findings(["", "It is ."], Corpus.from_texts(["", "It are ."])) == []
    assert {f.code for f in findings([""] * 60)} == {"empty-line"}


def test_the_source_as_output_is_a_note():
    assert one([f"{s} " for s in SOURCES], "unchanged").severity == "note"


def test_a_reference_as_output_is_a_note():
    corpus = Corpus(
        ("a b", "c d"),
        ((Reference(0, (Edit(0, 1, "x"),)), Reference(1, text="a")), (Reference(1, text="c e"),)),
    )
    for lines, annotator in (("x b", "c d"), 0), (("a", "c e"), 1):
        found = findings(lines, corpus)
        assert [f.code for f in found] == ["is-reference"]
        assert f"annotator {annotator}" in found[0].problem


def test_an_output_that_undoes_the_references_may_be_the_source():
    corpus = Corpus.from_texts(OUTPUT, [[s.replace("are", "is now") for s in SOURCES]])
    [found] = findings(SOURCES, corpus)
    assert (found.severity, found.code) == ("warning", "worse")
    assert "60 of 60 changed lines" in found.problem
    assert "swapped" in found.remedy
    straight = Corpus.from_texts(SOURCES, [[s.replace("are", "is now") for s in SOURCES]])
    assert findings(OUTPUT, straight) == []
    few = Corpus.from_texts(OUTPUT[:19], [OUTPUT[:19]])
    assert findings(SOURCES[:19], few) == []


def test_a_reference_that_is_the_source():
    [found] = check_lines(SOURCES, SOURCES, "ref", reference=True)
    assert (found.severity, found.code) == ("warning", "reference-is-source")
    assert check_lines(SOURCES[:9], SOURCES[:9], "ref", reference=True) == []


def test_endless_lines_are_compared_in_part():
    same, other = "a b " * 5000, "c d " * 5000
    assert likeness_of([same + other], [same]).tolist() == [1.0]
    assert likeness_of([same[:-1]], [same[:-2] + "c"]).tolist() < [1.0]


LETTERS = st.text(st.sampled_from(["a", "b", " ", "é", "ê", "中", "\ud800"]), max_size=12)


@pytest.mark.parametrize("longest", [20_000, 4])
@given(pairs=st.lists(st.tuples(LETTERS, LETTERS), max_size=9))
def test_lines_are_as_alike_as_bytes_and_as_strings(
    longest: int, pairs: list[tuple[str, str]]
) -> None:
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    wanted = [Indel.normalized_similarity(a[:longest], b[:longest]) for a, b in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("errata.io.checks.likeness.COMPARED", longest)
        for a in (ours, Spelled(utf8(ours))):
            for b in (theirs, Spelled(utf8(theirs))):
                assert likeness_of(a, b).tolist() == wanted


def test_lines_that_differ_in_many_letters_are_compared_as_others() -> None:
    ours, theirs = ["a" * 400 + "b" * 100], ["a" * 100 + "c" * 400]
    for a, b in ((ours, theirs), (Spelled(utf8(ours)), Spelled(utf8(theirs)))):
        assert likeness_of(a, b).tolist() == [1 - 0.8]


@given(
    st.lists(st.sampled_from([("a .", "a ."), ("a .", "a."), ("a .", "“a”"), ("A .", "a")])),
    st.integers(1, 4),
)
def test_lines_look_alike_however_many_are_near(pairs: list[tuple[str, str]], near: int) -> None:
    sources, lines = [a for a, _ in pairs], [b for _, b in pairs]
    look = shapes_of(sources)
    whole = lines_beside(sources, lines, look)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("errata.io.checks.conventions.NEAR", near)
        parts = lines_beside(Spelled(utf8(sources)), Spelled(utf8(lines)), look)
    for mine, theirs in zip(whole, parts, strict=True):
        assert np.asarray(mine).tolist() == np.asarray(list(theirs)).tolist()
    alone = [lines_beside([a], [b], shapes_of([a])) for a, b in pairs]
    assert whole.shown.tolist() == [int(each.shown[0]) for each in alone]
    assert whole.styles.tolist() == [each.styles[0].tolist() for each in alone]


def test_tokenisation_and_case():
    raw = [line.replace(" .", ".") for line in OUTPUT]
    found = one(raw, "tokenisation")
    assert "the sources have spaces before punctuation, the output has not in 60 of 60" in (
        found.problem
    )
    found = check_lines(raw, OUTPUT, "out")
    assert [f.code for f in found] == ["tokenisation"]
    assert "the output has spaces before punctuation, the sources have not" in found[0].problem
    assert "in lower case" in one([line.lower() for line in OUTPUT], "case").problem


def test_a_part_of_the_file_in_another_convention_is_named_with_its_share():
    raw = [line.replace(" .", ".") for line in OUTPUT]
    assert "in 30 of 60 lines (50 %)" in one([*raw[:30], *OUTPUT[30:]], "tokenisation").problem
    assert "in 6 of 60 lines (10 %)" in one([*raw[:6], *OUTPUT[6:]], "tokenisation").problem
    assert "in 5 of 60 lines (8 %)" in one([*raw[:5], *OUTPUT[5:]], "tokenisation").problem
    assert findings([*raw[:4], *OUTPUT[4:]]) == []
    many = Corpus.from_texts(SOURCES * 5)
    assert findings([*raw[:5], *OUTPUT[5:], *OUTPUT * 4], many) == []
    lower = [line.lower() for line in OUTPUT]
    assert (
        "in 20 of 60 lines (33 %)"
        in one([*OUTPUT[20:40], *OUTPUT[:0]] and [*OUTPUT[:40], *lower[40:]], "case").problem
    )
    quoted = [f'{line} It \'s " good " .' for line in SOURCES]
    curly = [line.replace("'", "’").replace('" g', "“ g").replace('"', "”") for line in quoted]
    corpus = Corpus.from_texts(quoted)
    [found] = findings([*quoted[:40], *curly[40:]], corpus)
    assert found.code == "quotes"
    assert "the sources have straight quotation marks, the output has not in 20 of 60" in (
        found.problem
    )
    [found] = findings(quoted, Corpus.from_texts(curly))
    assert "the output has straight quotation marks, the sources have not" in found.problem


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (lambda line: line.replace("here", "he@@ re"), "cut words (@@) in 60 of 60 lines (100 %)"),
        (lambda line: "▁" + line.replace(" ", " ▁"), "cut words (▁)"),
        (lambda line: line.replace(" .", " &quot; ."), "character entities (&quot;)"),
        (lambda line: line + " </s>", "marks of sentences (</s>)"),
        (lambda line: "7\t" + line, "numbers of lines in 60 of 60"),
    ],
)
def test_what_a_pipeline_leaves_in_lines_is_warned_of(left, said):
    spoilt = [left(line) for line in OUTPUT]

    def found(lines, corpus=CORPUS):
        return [f for f in findings(lines, corpus) if f.code == "left-over"]

    assert found(spoilt)[0].problem.startswith(said)
    assert "scores compare tokens" in found(spoilt)[0].remedy
    few = found([*spoilt[:5], *CORPUS.sources[5:]])[0].problem
    assert few.endswith(" in 5 of 60 lines (8 %), which the sources have not")
    assert not found([*spoilt[:4], *OUTPUT[4:]])
    assert not found(spoilt, Corpus.from_texts(spoilt))
    assert not found(spoilt, Corpus.from_texts([left(line) for line in CORPUS.sources]))


def test_a_source_given_as_output_is_known_by_its_name_or_its_words(tmp_path):
    words = ["aple", "rivver", "gardn", "windoww", "leter", "sumer", "techer", "marked"]
    right = ["apple", "river", "garden", "window", "letter", "summer", "teacher", "market"]

    def text(names, verb, n):
        return [f"The {names[i % 8]} of {i} {verb} here and {i % 3} are not ." for i in range(n)]

    learner, fixed = text(words, "are", 40), text(right, "is", 40)
    system = [line if i % 5 else line.replace("here", "somewhere") for i, line in enumerate(fixed)]
    kept = [line if i % 3 else line.replace(" is ", " are ") for i, line in enumerate(fixed)]
    assert findings(system, Corpus.from_texts(learner, [fixed])) == []
    found = findings(learner, Corpus.from_texts(system, [kept]))
    assert [f.code for f in found] == ["worse"]
    assert "brings in" in found[0].problem
    (tmp_path / "source.txt").write_text("".join(line + "\n" for line in learner))
    corpus = Corpus.from_texts(system, [fixed])
    with pytest.raises(InputError, match="called a source and given as an output"):
        read_hypotheses(tmp_path / "source.txt", corpus=corpus)
    with pytest.warns(DataWarning, match="swapped"):
        read_hypotheses(f"ours={tmp_path / 'source.txt'}", corpus=corpus)
    read_hypotheses(tmp_path / "source.txt", corpus=Corpus.from_texts(learner, [fixed]))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("cafÃ©", "broken-encoding"),
        ("itâ€™s", "broken-encoding"),
        ("a\ufffdb", "broken-encoding"),
        ("a\u200bb", "invisible-character"),
        ("a\x07b", "invisible-character"),
        ("a\xadb", "invisible-character"),
        ("a\xa0b", "unusual-space"),
        ("a\tb", "unusual-space"),
    ],
)
def test_odd_characters(text, code):
    lines = [*OUTPUT[:3], f"{OUTPUT[3]} {text}", *OUTPUT[4:]]
    assert one(lines, code).line == 4
    # What stands in the source too is the source's trouble.
    sources = [*SOURCES[:3], f"{SOURCES[3]} {text}", *SOURCES[4:]]
    assert findings(lines, Corpus.from_texts(sources)) == []
    assert [f.code for f in check_corpus(Corpus.from_texts(sources), "s")] == [code]


@pytest.mark.parametrize("text", ["naïve café, Ça va — “oui”", "Ärger über Größe", "中文 。", "Â"])
def test_good_characters(text):
    assert check_characters([text], "out") == []


def test_systems_with_one_name_or_one_text():
    a, b = Hypotheses("A", ("x y",)), Hypotheses("A", ("x  y",))
    assert [f.code for f in check_systems([("1", a), ("2", b)])] == ["same-name", "same-text"]
    assert check_systems([("1", a), ("2", Hypotheses("B", ("x",)))]) == []


def test_gold_edits_that_cannot_be_meant():
    corpus = Corpus(
        ("", "a b c"),
        (
            (),
            (
                Reference(
                    0,
                    (
                        Edit(0, 1, "a"),
                        Edit(1, 1, ""),
                        Edit(1, 2, "x  y"),
                        Edit(2, 3, "c d", "X", ("c d",)),
                        Edit(2, 3, "", "Um"),
                    ),
                ),
            ),
        ),
    )
    assert [(f.line, f.code) for f in check_corpus(corpus, "gold", (1, 3))] == [
        (1, "empty-source"),
        (3, "identity-edit"),
        (3, "identity-edit"),
        (3, "double-space"),
        (3, "same-alternative"),
        (3, "unclear-deletion"),
    ]


def test_the_conll14_outputs(conll14, submissions):
    corpus = read_m2(conll14 / "conll14st-test.m2")
    found = {
        path.name: check_alignment(corpus, read_hypotheses(path))
        for path in sorted(submissions.iterdir())
    }
    assert len(found) == 13
    assert [(f.severity, f.code, f.line) for f in found.pop("NTHU")] == [
        ("warning", "shifted", 38),
        ("warning", "shifted", 165),
        ("warning", "shifted", 167),
    ]
    assert [(f.severity, f.code, f.line) for f in found.pop("POST")] == [
        ("warning", "empty-line", 24)
    ]
    assert [(f.severity, f.code) for f in found.pop("INPUT")] == [("note", "unchanged")]
    assert all(not findings for findings in found.values())


def test_where_nthu_is_shifted(conll14, submissions):
    corpus = read_m2(conll14 / "conll14st-test.m2")
    first = check_alignment(corpus, read_hypotheses(submissions / "NTHU"))[0]
    assert "output lines 38–43 look like source lines 37–42" in first.problem
    assert "1 line later" in first.problem


def test_human_rewrites_are_not_called_shifted(conll14, data_sets):
    sources = read_m2(conll14 / "conll14st-test.m2").sources
    folder = next(data_sets.glob("keisks/reassess-gec/*/annotations"))
    for kind, name in product(
        ("expert", "turker"), ("fluencyA", "fluencyB", "minimalA", "minimalB")
    ):
        inner = f"{kind}{'s' * (kind == 'turker')}_{name[:-1]}"
        path = folder / f"{kind}_annotations" / inner / f"{kind}_{name}"
        found = check_lines(sources, read_text(path), path.name, reference=True)
        assert {f.severity for f in found} <= {"note"}, path.name


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=30))
def test_the_guard_takes_any_text(pairs):
    sources, lines = [a for a, _ in pairs], [b for _, b in pairs]
    for finding in check_alignment(Corpus.from_texts(sources), Hypotheses("s", tuple(lines))):
        assert finding.problem
        assert finding.remedy
        assert finding.line is None or 1 <= finding.line <= len(pairs)


def test_what_is_left_over_is_counted_over_all_lines(monkeypatch) -> None:
    monkeypatch.setattr("errata.io.checks.conventions.NEAR", 3)
    sources = [f"There is a sentence here , and it is number {k} ." for k in range(20)]
    lines = [s.replace("here", "he@@ re") if k < 6 else s for k, s in enumerate(sources)]
    found = check_conventions(sources, lines, "out")
    assert [f.problem.partition(",")[0] for f in found] == [
        "cut words (@@) in 6 of 20 lines (30 %)"
    ]


def test_characters_are_looked_at_before_texts_are_cut() -> None:
    cut = tokeniser("characters")
    given = {"missing": None, "name": "it", "cut": cut}
    _, [found] = parallel_corpus(["他\u00a0去 。"] * 3, [], ["source.txt"], **given)
    assert [(f.code, f.line) for f in found] == [("unusual-space", k) for k in (1, 2, 3)]


def test_the_same_output_was_looked_at_however_it_was_read() -> None:
    read = Hypotheses.made_later("read", Spelled(utf8(OUTPUT)))
    given = Hypotheses("given", OUTPUT)
    for first, second in ((read, given), (given, read), (given, replace(given, system="other"))):
        corpus = Corpus.from_texts(SOURCES)
        assert not was_looked_at(corpus, first)
        look_no_more(corpus, first)
        assert was_looked_at(corpus, first)
        assert was_looked_at(corpus, second)
        assert not was_looked_at(corpus, second.without_sentences(59))
        assert not was_looked_at(corpus, Hypotheses("given", (*OUTPUT[:59], "another")))


def test_an_output_is_kept_once_however_often_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("".join(f"{text}\n" for text in OUTPUT))
    corpus = Corpus.from_texts(SOURCES)
    for guard in (True, False, True):
        read_hypotheses(path, corpus=corpus, guard=guard)
    other = Hypotheses("other", SOURCES)
    look_no_more(corpus, Hypotheses("out", OUTPUT), other)
    assert was_looked_at(corpus, other)
    assert len(corpus.derived("outputs looked at", list)) == 2


def test_what_alternatives_alone_hold_is_found() -> None:
    edit = Edit(0, 1, "b", alternatives=("b\u200b",))
    corpus = Corpus(("a c",), ((Reference(0, (edit,)),),))
    found = check_gold_characters(corpus, "gold", [7])
    assert [(each.code, each.line) for each in found] == [("invisible-character", 7)]


def test_whoever_scores_many_lines_read_as_bytes_makes_no_strings_of_them(tmp_path: Path) -> None:
    """Neither counting nor the guard asks for more than what differs."""
    corpus = scan_m2_text("\n".join(f"S {source}\n" for source in SOURCES)).corpus
    path = tmp_path / "out.txt"
    path.write_text("".join(f"{line}\n" for line in OUTPUT))
    output = read_hypotheses(path, corpus=corpus)
    evaluate("m2", corpus, output, resamples=0)
    assert not {"sources", "sentences"} & (vars(corpus).keys() | vars(output).keys())
    assert evaluate("m2", corpus, Hypotheses("out", OUTPUT)).values == pytest.approx([0.0])
