"""The alignment guard on real outputs and on outputs spoilt in known ways."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from errata.core.errors import DataWarning, InputError
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.io import check_alignment, read_hypotheses, read_m2
from errata.io.checks.alignment import line_similarity
from errata.io.checks.text import check_characters, check_gold_characters, lint_edits
from errata.io.corpus import parallel_corpus
from errata.io.tokenisers import tokeniser
from recorded import values

WORDS = (
    "river stone window garden letter morning teacher because between animal picture kitchen "
    "summer blanket engine yellow friend"
)


def sentence(i: int) -> str:
    rng = random.Random(i)
    return f"The {' '.join(rng.choices(WORDS.split(), k=8))} are here ."


SOURCES = tuple(sentence(i) for i in range(60))
CORPUS = Corpus.from_texts(SOURCES)
OUTPUT = tuple(s.replace("are", "is") for s in SOURCES)


def findings(lines, corpus=CORPUS):
    return check_alignment(corpus, Hypotheses("sys", tuple(lines)), path="out")


def replaced(lines, at, *new):
    """These lines, with others from one place on."""
    return [*lines[:at], *new, *lines[at + len(new) :]]


def repeated(copies, nearest):
    """An output with a line from the nearest of two equal sources."""
    sources = list(SOURCES)
    for place in copies:
        sources[place] = "This sentence stands there twice and nothing is like it ."
    return replaced(sources, 15, sources[nearest]), Corpus.from_texts(sources)


RAW = [line.replace(" .", ".") for line in OUTPUT]
LOWER = [line.lower() for line in OUTPUT]
QUOTED = [f'{line} It \'s " good " .' for line in SOURCES]
CURLY = [line.replace("'", "’").replace('" g', "“ g").replace('"', "”") for line in QUOTED]
ALIKE = list(SOURCES)
ALIKE[21], ALIKE[31] = f"{ALIKE[20]} Yes .", f"{ALIKE[30]} No ."
UNDONE = Corpus.from_texts(OUTPUT, [[s.replace("are", "is now") for s in SOURCES]])
# What is done to an output (test_recorded.py does more): severity, code, line and the numbers in
# what is found.
GUARDED = {
    "two blanks": ([*OUTPUT, "", " "], CORPUS, ["error line-count 61: 62 60"]),
    "one lost": ([*OUTPUT[:20], *OUTPUT[21:]], CORPUS, ["error line-count 21: 59 60"]),
    "sooner": (
        [*OUTPUT[:20], *OUTPUT[22:32], "x", "y", *OUTPUT[32:]],
        CORPUS,
        ["warning shifted 21: 21 30 23 32 10 10 2"],
    ),
    "like both sources": (
        [*ALIKE[:20], *ALIKE[21:32], "x", *ALIKE[32:]],
        Corpus.from_texts(ALIKE),
        ["warning shifted 21: 21 31 22 32 11 11 1"],
    ),
    "all shifted": ([*OUTPUT[1:], "x"], CORPUS, ["error shifted 1: 1 59 2 60 59 59 1"]),
    "half shifted": (
        [*OUTPUT[1:31], "x", *OUTPUT[31:]],
        CORPUS,
        ["warning shifted 1: 1 30 2 31 30 30 1"],
    ),
    "more than half": (
        [*OUTPUT[1:32], "x", *OUTPUT[32:]],
        CORPUS,
        ["error shifted 1: 1 31 2 32 31 31 1"],
    ),
    "nearest after": (*repeated((10, 17), 17), ["warning shifted 16: 16 18"]),
    "nearest before": (*repeated((12, 19), 12), ["warning shifted 16: 16 13"]),
    "equally near": (*repeated((13, 17), 13), ["warning shifted 16: 16 14"]),
    "swapped": (
        replaced(OUTPUT, 9, OUTPUT[10], OUTPUT[9]),
        CORPUS,
        ["warning shifted 10: 10 11", "warning shifted 11: 11 10"],
    ),
    "rotated": (OUTPUT[30:] + OUTPUT[:30], CORPUS, ["error unrelated None: 0 55 0 97"]),
    "blank": (replaced(OUTPUT, 7, "  "), CORPUS, ["warning empty-line 8:"]),
    "blank in both": (["", "It is ."], Corpus.from_texts(["", "It are ."]), []),
    "undone": (SOURCES, UNDONE, ["warning worse None: 60 60"]),
    "too few to tell": (SOURCES[:19], Corpus.from_texts(OUTPUT[:19], [OUTPUT[:19]]), []),
    "sources raw": (OUTPUT, Corpus.from_texts(RAW), ["warning tokenisation None: 60 60 100"]),
    "five raw": ([*RAW[:5], *OUTPUT[5:]], CORPUS, ["warning tokenisation None: 5 60 8"]),
    "four raw": ([*RAW[:4], *OUTPUT[4:]], CORPUS, []),
    "few of many raw": ([*RAW[:5], *OUTPUT[5:], *OUTPUT * 4], Corpus.from_texts(SOURCES * 5), []),
    "a third lower": ([*OUTPUT[:40], *LOWER[40:]], CORPUS, ["warning case None: 20 60 33"]),
    "curly": (
        [*QUOTED[:40], *CURLY[40:]],
        Corpus.from_texts(QUOTED),
        ["warning quotes None: 20 60 33"],
    ),
    "straight": (QUOTED, Corpus.from_texts(CURLY), ["warning quotes None: 60 60 100"]),
}


@pytest.mark.parametrize("case", GUARDED)
def test_what_the_guard_finds(case):
    lines, corpus, expected = GUARDED[case]
    found = [f"{f.severity} {f.code} {f.line}:{values(f.problem)}" for f in findings(lines, corpus)]
    assert found == expected


@pytest.mark.parametrize(("away", "seen"), [(10, True), (11, False)])
def test_how_far_a_line_is_looked_for(away, seen):
    for lines in (
        [*OUTPUT[:20], *OUTPUT[20 + away : 40 + away], *["x"] * away, *OUTPUT[40 + away :]],
        [*OUTPUT[:20], *["x"] * away, *OUTPUT[20:40], *OUTPUT[40 + away :]],
    ):
        codes = [f.code for f in findings(lines[:60])]
        assert ("shifted" in codes) == seen


@pytest.mark.parametrize(
    ("left", "mark"),
    [
        (lambda line: line.replace("here", "he@@ re"), "(@@)"),
        (lambda line: "▁" + line.replace(" ", " ▁"), "(▁)"),
        (lambda line: line.replace(" .", " &quot; ."), "(&quot;)"),
        (lambda line: line + " </s>", "(</s>)"),
        (lambda line: "7\t" + line, "numbers of lines"),
    ],
)
def test_what_a_pipeline_leaves_in_lines_is_warned_of(left, mark):
    marked = [left(line) for line in OUTPUT]

    def found(lines, corpus=CORPUS):
        return [f.problem for f in findings(lines, corpus) if f.code == "left-over"]

    assert mark in found(marked)[0]
    assert "5 of 60 lines (8 %)" in found([*marked[:5], *CORPUS.sources[5:]])[0]
    assert not found([*marked[:4], *OUTPUT[4:]])
    assert not found(marked, Corpus.from_texts([left(line) for line in CORPUS.sources]))


def test_odd_characters():
    for code, texts in {
        "broken-encoding": ("cafÃ©", "itâ€™s", "a\ufffdb"),
        "invisible-character": ("a\u200bb", "a\x07b", "a\xadb"),
        "unusual-space": ("a\xa0b", "a\tb"),
    }.items():
        for text in texts:
            lines = replaced(OUTPUT, 3, f"{OUTPUT[3]} {text}")
            assert [(f.code, f.line) for f in findings(lines)] == [(code, 4)]
            # What stands in the source too is the source's trouble.
            corpus = Corpus.from_texts(replaced(SOURCES, 3, f"{SOURCES[3]} {text}"))
            assert findings(lines, corpus) == []
            assert [f.code for f in check_gold_characters(corpus, "s", range(9))] == [code]
    assert check_characters(["naïve café, Ça va — “oui”", "Größe", "中文 。", "Â"], "out") == []


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
        gain = line_similarity(SOURCES, lines) - line_similarity(far, lines)
        mean, errors = float(gain.mean()), float(gain.mean() / (gain.std() / len(gain) ** 0.5))
        related = errors > 2 and mean > 0.05
        seen.add((related, 1 + (errors > 2) + (errors > 3), mean > 0.05))
        assert ("unrelated" in [f.code for f in findings(lines)]) != related
    assert {(True, 2, True), (True, 3, True), (False, 1, False), (False, 2, False)} <= seen, seen


LETTERS = st.text(st.sampled_from(["a", "b", " ", "é", "ê", "中", "\ud800"]), max_size=12)


@pytest.mark.parametrize("longest", [20_000, 4])
@given(pairs=st.lists(st.tuples(LETTERS, LETTERS), max_size=9))
def test_similarity_is_that_of_rapidfuzz(longest: int, pairs: list[tuple[str, str]]) -> None:
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    wanted = [Indel.normalized_similarity(a[:longest], b[:longest]) for a, b in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("errata.io.checks.alignment.COMPARED", longest)
        assert line_similarity(ours, theirs).tolist() == wanted


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


def test_gold_edits_that_cannot_be_meant():
    edits = (
        *(Edit(0, 1, "a"), Edit(1, 1, ""), Edit(1, 2, "x  y")),
        *(Edit(2, 3, "c d", "X", ("c d",)), Edit(2, 3, "", "Um")),
    )
    corpus = Corpus(("", "a b c"), ((), (Reference(0, edits),)))
    found = [f"{f.line} {f.code}" for f in lint_edits(corpus, "gold", (1, 3))]
    wanted = "identity-edit identity-edit double-space same-alternative unclear-deletion"
    assert found == ["1 empty-source", *(f"3 {code}" for code in wanted.split())]


def test_the_conll14_outputs(conll14, submissions):
    corpus = read_m2(conll14 / "conll14st-test.m2")
    found = {
        path.name: check_alignment(corpus, read_hypotheses(path))
        for path in sorted(submissions.iterdir())
    }
    assert len(found) == 13
    assert "lines 38–43 look like source lines 37–42" in found["NTHU"][0].problem
    assert {
        name: [f"{f.severity} {f.code} {f.line}" for f in several]
        for name, several in found.items()
        if several
    } == {
        "INPUT": ["note unchanged None"],
        "NTHU": [f"warning shifted {line}" for line in (38, 165, 167)],
        "POST": ["warning empty-line 24"],
    }


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=30))
def test_the_guard_takes_any_text(pairs):
    sources, lines = [a for a, _ in pairs], [b for _, b in pairs]
    for finding in check_alignment(Corpus.from_texts(sources), Hypotheses("s", tuple(lines))):
        assert finding.problem
        assert finding.remedy
        assert finding.line is None or 1 <= finding.line <= len(pairs)


def test_characters_are_looked_at_before_texts_are_cut() -> None:
    cut = tokeniser("characters")
    given = {"missing": None, "name": "it", "cut": cut}
    _, [found] = parallel_corpus(["他\u00a0去 。"] * 3, [], ["source.txt"], **given)
    assert [(f.code, f.line) for f in found] == [("unusual-space", k) for k in (1, 2, 3)]
