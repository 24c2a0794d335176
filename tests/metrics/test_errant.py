"""ERRANT's F against ERRANT's own comparison, and what ours adds to it."""

import gzip
import importlib.util
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import errata.edits.errant as errant_edits
from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.io import read_hypotheses_m2, read_m2, write_m2
from errata.metrics import parse
from errata.metrics.base import describe_data
from errata.metrics.errant import Edits, Errant
from errata.metrics.errant_by_type import scores_by_type
from errata.scoring.evaluate import evaluate
from scored import scored

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


def ours(metric: Edits, corpus: Corpus, system: Hypotheses) -> list[float]:
    scores = scored(metric, corpus, [system])
    figures = [float(scores.parts[p][0]) for p in ("TP", "FP", "FN", "P", "R")]
    return [round(x, 4) for x in (*figures, float(scores.values[0]))]


def one_system(hypotheses: Hypotheses, corpus: Corpus, path: Path) -> Path:
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
        metric = Edits(mode=mode, beta=beta, duplicates=True)
        assert ours(metric, corpus, systems[k]) == theirs
        by_type = scores_by_type(metric, corpus, systems[k], kinds="as_is")
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
        ("edits(types=True)", ["-cse"]),
        ("edits(size=single)", ["-single"]),
        ("edits(size=multi)", ["-multi"]),
        ("edits(ignore=('R:NOUN:NUM', 'M:DET'))", ["-filt", "R:NOUN:NUM", "M:DET"]),
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
    metric = Edits(mode=mode, duplicates=duplicates)
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


def test_alternatives_are_literal_unless_asked() -> None:
    corpus = Corpus(("a b",), ((Reference(0, (Edit(1, 2, "B", "R", ("C",)),)),),))
    second = Hypotheses("second", ("a C",), ((Edit(1, 2, "C"),),))
    assert Edits().count(corpus, second).tolist() == [[[0, 1, 1]]]
    assert Edits(alternatives="any").count(corpus, second).tolist() == [[[1, 0, 0]]]


@pytest.mark.slow
def test_a_perfect_system_reaches_one_on_gold_found_anew(conll14: Path) -> None:
    corpus = read_m2(conll14 / "conll14st-test.m2").keep_annotators(0)
    perfect = Hypotheses(
        "perfect",
        tuple(
            refs[0].corrected(s) for s, refs in zip(corpus.sources, corpus.references, strict=True)
        ),
    )
    as_is = scored(Edits(), corpus, [perfect])["perfect"]
    anew = scored(Edits(gold="reextracted"), corpus, [perfect])["perfect"]
    assert round(as_is, 4) == 0.7717  # human spans are not an aligner's
    assert anew == 1.0


def test_kinds_are_filtered_by_any_of_their_names() -> None:
    edits = (Edit(0, 1, "A", "R:ORTH"), Edit(1, 1, "the", "M:DET"), Edit(1, 2, "", "U:DET"))
    corpus = Corpus(("a b",), ((Reference(0, edits),),))
    nothing = Hypotheses("none", ("a b",), ((),))
    for only, missed in ((("DET",), 2), (("M:",), 1), (("U:DET", "R:ORTH"), 2), (("NOUN",), 0)):
        assert Edits(only=only).count(corpus, nothing)[0, 0, 2] == missed
        assert Edits(ignore=only).count(corpus, nothing)[0, 0, 2] == 3 - missed


def gold(*kinds: str) -> Corpus:
    edits = (Edit(1, 2, "goes", kinds[0]), Edit(3, 3, ".", kinds[1]))
    return Corpus(("He go home",), ((Reference(0, edits),),))


TEXT = Hypotheses("text", ("He goes home .",))
ERRANTS = Hypotheses(
    "m2", TEXT.sentences, ((Edit(1, 2, "goes", "R:VERB:SVA"), Edit(3, 3, ".", "M:PUNCT")),)
)


def test_kinds_of_two_inventories_are_never_compared() -> None:
    metric = Edits(types=True)
    with pytest.raises(InputError, match=r"kinds, and the kinds of the gold .*gold='reextracted'"):
        scored(metric, gold("SVA", "Mec"), [TEXT])
    with pytest.raises(InputError, match=r"such as Mec, .* m2 such as M:PUNCT.*--extract NAME"):
        scored(metric, gold("SVA", "Mec"), [ERRANTS])
    ours = gold("R:INFL", "M:PUNCT")
    assert scored(metric, ours, [TEXT])["text"] == 1.0
    assert scored(metric, gold("R:VERB:SVA", "M:PUNCT"), [ERRANTS])["m2"] == 1.0
    anew = replace(metric, gold="reextracted")
    assert scored(anew, gold("SVA", "Mec"), [TEXT])["text"] == 1.0
    only = Edits(only=("DET",))
    assert "two inventories" in describe_data(only, gold("SVA", "Mec"), [TEXT]).notes[0]
    assert not describe_data(only, ours, [TEXT]).notes


def test_gold_kinds_of_another_inventory_become_the_extractors_by_type() -> None:
    by_type = scores_by_type(Edits(), gold("SVA", "Mec"), TEXT)
    assert by_type.retyped
    assert by_type.kinds == ("M:PUNCT", "R:INFL")
    assert not scores_by_type(Edits(), gold("R:INFL", "M:PUNCT"), TEXT).retyped
    as_is = scores_by_type(Edits(), gold("SVA", "Mec"), ERRANTS, kinds="as_is")
    assert as_is.kinds == ("Mec", "SVA")
    with pytest.raises(InputError, match="two inventories"):
        scores_by_type(Edits(), gold("SVA", "Mec"), ERRANTS)
    alike = scores_by_type(Edits().extracting("aligned"), gold("SVA", "Mec"), ERRANTS)
    assert alike.kinds == ("M:PUNCT", "R:INFL")


@pytest.mark.parametrize("name", ["edits", "errant(extractor=aligned)", "difficulty"])
def test_edits_of_two_origins_are_refused_and_named(name: str) -> None:
    metric, corpus = parse(name), gold("R:INFL", "M:PUNCT")
    own = Hypotheses("m2", TEXT.sentences, ((Edit(1, 3, "goes home .", "R:OTHER"),),))
    with pytest.raises(InputError, match=r"edits of m2 came .* edits of text must .*--extract"):
        scored(metric, corpus, [TEXT, own])
    both = scored(replace(metric, outputs="mixed"), corpus, [TEXT, own])
    assert "edits:extracted (text), given (m2)" in both.context
    assert both["text"] != both["m2"]
    alike = scored(metric.extracting("aligned"), corpus, [TEXT, own])
    assert "edits:extracted" in alike.context
    assert alike["text"] == alike["m2"]
    alone = [scored(metric, corpus, [system]) for system in (TEXT, own)]
    assert [scores.context[-6] for scores in alone] == ["edits:extracted", "edits:given"]


def test_errant_without_errant_is_called_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("errata.metrics.errant.open_extractor", lambda: None)
    metric, corpus = parse("errant"), gold("R:INFL", "M:PUNCT")
    assert metric == Errant(extractor="aligned", gold="as_is")
    assert "gold='as_is', extractor='aligned'" in repr(metric)
    assert parse(repr(metric)) == metric
    assert metric.label == "edits"
    assert Errant(beta=1, gold="reextracted").label == "edits(beta=1, gold='reextracted')"
    (note,) = scored(metric, corpus, [TEXT]).notes
    assert note.startswith("Errata's own edits, not ERRANT's: extractor='aligned'; pip install")
    assert not scored(metric, corpus, [ERRANTS]).notes  # nothing was extracted
    assert not scored(Edits(), corpus, [TEXT]).notes  # it does not claim to be


def test_errant_with_errant_is_errants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("errata.metrics.errant.open_extractor", lambda: "errant")
    metric = parse("errant")
    assert metric == Errant(extractor="errant", gold="reextracted")
    assert metric.label == "errant"
    assert parse(repr(metric)) == metric
    assert Errant(gold="as_is").label == "errant(gold='as_is')"
    assert Errant(extractor="errant:other").label == "errant(extractor='errant:other')"
    named = Errant(extractor="aligned")
    assert (named.gold, named.label) == ("as_is", "edits")
    (note,) = describe_data(named, gold("R:INFL", "M:PUNCT"), [TEXT]).notes
    assert note == "Errata's own edits, not ERRANT's: extractor='aligned'"
    assert named.extracting("errant").gold == "reextracted"
    assert Errant(gold="as_is").extracting("errant:other").gold == "as_is"
    monkeypatch.setattr("errata.metrics.errant.open_extractor", lambda: "errant:en_core_web_md")
    assert parse("errant").label == "errant"
    assert "extractor='errant:en_core_web_md'" in repr(parse("errant"))


def test_a_pipeline_is_looked_for_and_nothing_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    there: set[str] = set()
    monkeypatch.setattr(errant_edits, "find_spec", lambda name: name if name in there else None)
    uploaded = EntryPoints(
        EntryPoint(name, name, "spacy_models") for name in ("xx_ent", "en_core_web_sm_upload")
    )
    monkeypatch.setattr(errant_edits, "entry_points", lambda group: uploaded)
    for more, found in (
        ("errant", None),
        ("spacy", "errant:en_core_web_sm_upload"),  # under another name, from a package index
        ("en_core_web_lg", "errant:en_core_web_lg"),
        ("en_core_web_sm", "errant"),
    ):
        there.add(more)
        assert errant_edits.open_extractor() == found


def test_gold_found_anew_against_given_edits_is_noted() -> None:
    corpus = gold("R:INFL", "M:PUNCT")
    found = Edits(gold="reextracted")
    assert "came with the outputs" in describe_data(found, corpus, [ERRANTS]).notes[0]
    assert not describe_data(found, corpus, [TEXT]).notes
    assert not describe_data(found.extracting("aligned"), corpus, [ERRANTS]).notes


def test_the_mean_over_sentences_takes_the_best_annotator_of_each() -> None:
    one, two = Reference(0, (Edit(0, 1, "A"),)), Reference(1, (Edit(0, 1, "B"), Edit(1, 2, "C")))
    corpus = Corpus(("a b", "a b"), ((one, two), (one,)))
    system = Hypotheses("s", ("B b", "a b"), ((Edit(0, 1, "B"),), ()))
    scores = evaluate(Edits(total="mean"), corpus, [system], resamples=10)
    assert scores.sentences[0].tolist() == [1.25 * 0.5 / (0.25 + 0.5), 0.0]
    assert scores["s"] == scores.sentences[0].mean()
    assert (scores.parts["TP"], scores.parts["FP"], scores.parts["FN"]) == (1, 0, 2)


@pytest.mark.parametrize("beta", ["0", "1e-320", "1e200", "1e999", "-1", "1" + "0" * 400, "{[]}"])
@pytest.mark.parametrize("name", ["m2", "errant", "edits", "difficulty"])
def test_a_beta_that_is_none_is_refused(name: str, beta: str) -> None:
    with pytest.raises(InputError) as refused:
        parse(f"{name}(beta={beta})")
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("rows", "taken"),
    [
        ([(1, 1, 0), (2, 2, 0)], 1),  # equal F: more right edits
        ([(2, 2, 0), (1, 1, 0)], 0),
        ([(0, 2, 1), (0, 1, 2)], 1),  # no right edit: fewer needless ones
        ([(0, 1, 2), (0, 2, 1)], 0),
        ([(0, 1, 2), (0, 1, 1)], 1),  # as many: fewer missed
        ([(0, 1, 1), (0, 1, 2)], 0),
        ([(0, 1, 1), (0, 1, 1)], 0),  # all alike: the first
        ([(np.nan,) * 3, (0, 1, 1), (0, 1, 1)], 1),  # which is there
    ],
)
@pytest.mark.parametrize("choice", ["sequential", "isolated"])
def test_of_equally_good_annotators(rows: list[tuple[float, ...]], taken: int, choice: Any) -> None:
    assert Edits(choice=choice).choose(np.array([rows], float)).tolist() == [[taken]]


def test_annotators_are_equal_whose_f_is_equal_in_four_digits() -> None:
    """As ERRANT rounds: what differs in the fifth digit is decided by the counts."""
    before = [(8000, 4000, 4000), (np.nan,) * 3]
    close = [(1, 0, 0), (2, 1, 1)]
    totals = [[Fraction(8000 + a), Fraction(4000 + b), Fraction(4000 + c)] for a, b, c in close]
    scores = [round(Edits()._official_f(each), 4) for each in totals]
    assert scores[0] == scores[1]
    exact = [(8000 + a) / (12000 + a + b) for a, b, _ in close]
    assert exact[0] > exact[1]
    assert Edits().choose(np.array([before, close], float)).tolist() == [[0, 1]]
