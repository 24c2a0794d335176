"""ERRANT's F against ERRANT's own comparison, and what ours adds to it."""

from __future__ import annotations

import gzip
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.evaluation import evaluate
from errata.io import read_hypotheses_m2, read_m2, write_m2
from errata.metrics import parse
from errata.metrics.errant import Errant, scores_by_type

FLAGS = {"correction": [], "detection": ["-ds"], "token_detection": ["-dt"]}
NUMBER = r"(\d+(?:\.\d+)?)"


def errant_compare(hyp: Path, ref: Path, *flags: str) -> tuple[list[float], dict[str, list[float]]]:
    """Run the real tool; its totals (TP, FP, FN, P, R, F) and its rows by type."""
    spec = importlib.util.find_spec("errant")
    if spec is None or spec.origin is None:
        pytest.skip("needs the errant package")
    script = Path(spec.origin).parent / "commands" / "compare_m2.py"
    output = subprocess.run(
        [sys.executable, script, "-hyp", hyp, "-ref", ref, *flags],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    total = re.findall(r"^" + r"\t".join([NUMBER] * 6) + "$", output, re.MULTILINE)
    rows = re.findall(r"^(\S*) +" + r" +".join([NUMBER] * 6) + "$", output, re.MULTILINE)
    return [float(x) for x in total[0]], {row[0]: [float(x) for x in row[1:]] for row in rows}


def ours(metric: Errant, corpus: Corpus, system: Hypotheses) -> list[float]:
    scores = evaluate(metric, corpus, [system], resamples=0)
    figures = [float(scores.parts[p][0]) for p in ("TP", "FP", "FN", "P", "R")]
    return [round(x, 4) for x in (*figures, float(scores.values[0]))]


def one_system(hypotheses: Hypotheses, corpus: Corpus, path: Path) -> Path:
    assert hypotheses.edits is not None
    write_m2(Corpus(corpus.sources, tuple((Reference(0, e),) for e in hypotheses.edits)), path)
    return path


@pytest.fixture(scope="module")
def conll(
    oracles: Path, conll14: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Corpus, Path, list[Hypotheses]]:
    """The gold corpus, a copy of it that ERRANT's tool can read, and 13 systems."""
    gold = read_m2(conll14 / "conll14st-test.m2")
    path = tmp_path_factory.mktemp("errant") / "gold.m2"
    path.write_text((conll14 / "conll14st-test.m2").read_text())
    return gold, path, read_hypotheses_m2(oracles / "difficulty" / "hypotheses.m2.gz")


@pytest.mark.slow
@pytest.mark.parametrize("mode", FLAGS)
@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_equals_errant_compare_on_conll14(
    conll: tuple[Corpus, Path, list[Hypotheses]], mode: str, beta: float, tmp_path: Path
) -> None:
    corpus, gold, systems = conll
    for k in (0, 1, 7, 12) if beta == 0.5 else (2,):
        hyp = one_system(systems[k], corpus, tmp_path / "hyp.m2")
        theirs, rows = errant_compare(hyp, gold, *FLAGS[mode], "-b", str(beta), "-cat", "3")
        metric = Errant(mode=mode, beta=beta, duplicates=True)
        assert ours(metric, corpus, systems[k]) == theirs
        by_type = scores_by_type(metric, corpus, systems[k])
        table = {
            kind: [*counts, *(round(float(x), 4) for x in more)]
            for kind, counts, *more in zip(
                by_type.kinds,
                by_type.counts.tolist(),
                by_type.precision,
                by_type.recall,
                by_type.f,
                strict=True,
            )
        }
        assert len(rows) > 30 or k == 12
        assert table == rows
        assert by_type.micro == pytest.approx(theirs[5], abs=5e-5)
        assert by_type.macro == pytest.approx(np.mean([row[5] for row in rows.values()]), abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signature", "flags"),
    [
        ("errant(types=True)", ["-cse"]),
        ("errant(size=single)", ["-single"]),
        ("errant(size=multi)", ["-multi"]),
        ("errant(ignore=('R:NOUN:NUM', 'M:DET'))", ["-filt", "R:NOUN:NUM", "M:DET"]),
    ],
)
def test_options_equal_errant_compare(
    oracles: Path, tmp_path: Path, signature: str, flags: list[str]
) -> None:
    """Systems 1 and 7 as the two annotators of system 2: all kinds are ERRANT's."""
    systems = read_hypotheses_m2(oracles / "difficulty" / "hypotheses.m2.gz")
    with gzip.open(oracles / "difficulty" / "hypotheses.m2.gz", "rt") as file:
        sources = [line[2:-1] for line in file if line.startswith("S ")]
    edits = [s.edits for s in systems]
    corpus = Corpus(
        tuple(sources),
        tuple(
            tuple(Reference(j, edits[k][i]) for j, k in enumerate((1, 7)))  # type: ignore[index]
            for i in range(len(sources))
        ),
    )
    write_m2(corpus, tmp_path / "gold.m2")
    hyp = one_system(systems[2], corpus, tmp_path / "hyp.m2")
    theirs, _ = errant_compare(hyp, tmp_path / "gold.m2", *flags)
    metric = parse(signature)
    assert isinstance(metric, Errant)
    assert ours(metric, corpus, systems[2]) == theirs
    assert sum(theirs[:3]) > 50


edits = st.lists(
    st.builds(
        Edit,
        st.integers(0, 2),
        st.integers(2, 3),
        st.sampled_from(["", "a", "b", "a b"]),
        st.sampled_from(["M:DET", "R:NOUN", "UNK"]),
    ),
    max_size=3,
)


@settings(deadline=None)
@given(
    edits, st.lists(edits, min_size=1, max_size=2), st.sampled_from(sorted(FLAGS)), st.booleans()
)
def test_counts_follow_errants_definition(
    hyp: list[Edit], refs: list[list[Edit]], mode: str, duplicates: bool
) -> None:
    """Against a plain restatement of ERRANT's counting, on edits no real tool would make."""
    corpus = Corpus(("x y z",), (tuple(Reference(k, tuple(r)) for k, r in enumerate(refs)),))
    metric = Errant(mode=mode, duplicates=duplicates)
    counts = metric.count(corpus, Hypotheses("h", ("x y z",), (tuple(hyp),)))[0]

    def spread(several: list[Edit]) -> list[object]:
        if mode == "correction":
            several = [e for e in several if e.kind != "UNK"]
        if not duplicates:
            several = list({(e.start, e.end, e.replacement): e for e in several[::-1]}.values())
        if mode != "correction":
            keys: list[object] = [(e.start, e.end) for e in several]
            if mode == "token_detection":
                keys = [
                    (k, k + 1) for e in several for k in range(e.start, max(e.end, e.start + 1))
                ]
            return keys
        return [(e.start, e.end, e.replacement) for e in several]

    for row, ref in zip(counts, refs, strict=True):
        mine, gold = spread(hyp), spread(ref)
        assert row.tolist() == [
            sum(k in mine for k in gold),
            sum(k not in gold for k in mine),
            sum(k not in mine for k in gold),
        ]


def test_a_duplicate_edit_is_counted_once_unless_asked() -> None:
    edit = Edit(0, 1, "A", "R:ORTH")
    corpus = Corpus(("a b",), ((Reference(0, (Edit(1, 2, "B"),)),),))
    twice = Hypotheses("twice", ("A b",), ((edit, edit),))
    assert Errant().count(corpus, twice).tolist() == [[[0, 1, 1]]]
    assert Errant(duplicates=True).count(corpus, twice).tolist() == [[[0, 2, 1]]]


def test_alternatives_are_literal_unless_asked() -> None:
    corpus = Corpus(("a b",), ((Reference(0, (Edit(1, 2, "B", "R", ("C",)),)),),))
    second = Hypotheses("second", ("a C",), ((Edit(1, 2, "C"),),))
    assert Errant().count(corpus, second).tolist() == [[[0, 1, 1]]]
    assert Errant(alternatives="any").count(corpus, second).tolist() == [[[1, 0, 0]]]


@pytest.mark.slow
def test_a_perfect_system_reaches_one_on_gold_found_anew(conll14: Path) -> None:
    corpus = read_m2(conll14 / "conll14st-test.m2").keep_annotators(0)
    perfect = Hypotheses(
        "perfect",
        tuple(
            refs[0].corrected(s) for s, refs in zip(corpus.sources, corpus.references, strict=True)
        ),
    )
    as_is = evaluate(Errant(), corpus, [perfect], resamples=0)["perfect"]
    anew = evaluate(Errant(gold="reextracted"), corpus, [perfect], resamples=0)["perfect"]
    assert round(as_is, 4) == 0.7717  # human spans are not an aligner's
    assert anew == 1.0


def test_kinds_are_filtered_by_any_of_their_names() -> None:
    gold = (Edit(0, 1, "A", "R:ORTH"), Edit(1, 1, "the", "M:DET"), Edit(1, 2, "", "U:DET"))
    corpus = Corpus(("a b",), ((Reference(0, gold),),))
    nothing = Hypotheses("none", ("a b",), ((),))
    for only, missed in ((("DET",), 2), (("M:",), 1), (("U:DET", "R:ORTH"), 2), (("NOUN",), 0)):
        assert Errant(only=only).count(corpus, nothing)[0, 0, 2] == missed
        assert Errant(ignore=only).count(corpus, nothing)[0, 0, 2] == 3 - missed


def test_text_references_need_no_m2() -> None:
    corpus = Corpus.from_texts(["He go home ."], [["He goes home ."], ["He went home ."]])
    scores = evaluate(Errant(), corpus, [Hypotheses("A", ("He went home .",))], resamples=0)
    assert scores["A"] == 1.0
    assert scores.sentence_parts["annotator"].tolist() == [[1.0]]


def test_comparing_kinds_of_two_origins_is_noted() -> None:
    corpus = Corpus.from_texts(["a"], [["b"]])
    assert Errant(types=True).notes(corpus, ())
    assert not Errant(types=True, gold="reextracted").notes(corpus, ())
