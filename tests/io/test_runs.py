"""Stored runs: written, read again, and compared as if the output were still there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses
from errata.io.stored_runs import make_run, read_run, read_runs, utc_time, write_run
from errata.scoring.evaluate import evaluate

WHEN = "2026-01-02T03:04:05Z"
texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=12)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
def test_a_run_gives_back_the_output_it_was_made_of(pairs: list[tuple[str, str]]) -> None:
    from tempfile import TemporaryDirectory

    corpus = Corpus.from_texts([source for source, _ in pairs], [[s for s, _ in pairs]])
    out = Hypotheses("ours", tuple(text for _, text in pairs))
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.json")
        run = make_run(corpus, out, (), when=WHEN, remark="commit 1")
        write_run(path, run)
        again = read_run(path)
    assert again == run
    assert again.output(corpus) == out
    assert len(again.changed) == sum(s != t for s, t in pairs)


def test_figures_and_edits_survive(tmp_path: Path) -> None:
    corpus = Corpus(
        ("He go home", "Fine ."),
        Corpus.from_texts(["He go home", "Fine ."], [["He goes home", "Fine ."]]).references,
    )
    edits = ((Edit(1, 2, "goes", "R:VERB"),), ())
    out = Hypotheses("ours", ("He goes home", "Fine ."), edits)
    scores = evaluate("gleu", corpus, [out], resamples=20)
    write_run(tmp_path / "b.json", make_run(corpus, out, [scores], when=WHEN))
    run = read_run(tmp_path / "b.json")
    assert run.output(corpus) == out
    (figure,) = run.figures
    assert (figure.value, figure.signature) == (scores["ours"], scores.signature)
    assert (figure.low, figure.high) == tuple(scores.interval()[0])
    write_run(tmp_path / "a.json", make_run(corpus, out, [], when="2026-02-02T00:00:00Z"))
    assert [r.when for r in read_runs(tmp_path)] == [WHEN, "2026-02-02T00:00:00Z"]


def test_another_corpus_is_refused(tmp_path: Path) -> None:
    corpus = Corpus.from_texts(["a b", "c"], [["a b", "c"]])
    run = make_run(corpus, Hypotheses("x", ("a", "c")), (), when=WHEN)
    other = Corpus.from_texts(["a b", "d"], [["a b", "c"]])
    with pytest.raises(InputError, match="other sources"):
        run.output(other)
    relabelled = Corpus.from_texts(["a b", "c"], [["a b", "c c"]])
    assert run.output(relabelled).sentences == ("a", "c")
    with pytest.raises(InputError, match="other references"):
        run.check_corpus(relabelled)
    # Outputs are cut as the corpus is, and sources that were cut before do not show it.
    with pytest.raises(InputError, match="other tokens"):
        run.check_corpus(replace(corpus, tokens="moses:en"))


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    corpus = Corpus.from_texts(["a b", "c"], [["a b", "c"]])
    write_run(path, make_run(corpus, Hypotheses("x", ("a", "c")), (), when=WHEN))
    good = json.loads(path.read_text())
    figure = {"label": "m", "headline": "F", "signature": "s", "value": "1"}
    for key, value, said in (
        ("errata run", 2, "errata run"),
        ("sentences", -1, "sentences: -1"),
        ("changed", {"7": "x"}, "'7' of 2"),
        ("changed", {"1": 3}, "3 is not a text"),
        ("changed", {"²": "x"}, "no sentence"),
        ("figures", [{"label": "m2"}], "no 'headline'"),
        ("figures", [figure], "value: '1' is not a number"),
        ("edits", {"1": [[2, 1, "a", "b"]]}, "start <= end"),
        ("system", None, "system"),
        ("corpus", [], "corpus: .. is not"),
    ):
        path.write_text(json.dumps(good | {key: value}))
        with pytest.raises(InputError, match=said) as caught:
            read_run(path)
        assert caught.value.path == str(path)


def test_a_folder_without_runs_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no stored run here"):
        read_runs(tmp_path)


def test_the_time_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert utc_time() == "1970-01-02T00:00:00Z"


def test_a_run_is_an_output_everywhere(tmp_path: Path) -> None:
    """What compare stores, every command that takes outputs reads."""
    from command import errata

    (tmp_path / "src").write_text("He go home\nFine .\nShe like it\n")
    (tmp_path / "ref").write_text("He goes home\nFine .\nShe likes it\n")
    (tmp_path / "out").write_text("He goes home\nFine .\nShe like it\n")
    texts = ("--source", "src", "--refs", "ref")
    run = ("--baseline", "run.json", "--update-baseline", "out", "-m", "m2", "--resamples", 0)
    errata("compare", *texts, *run, cwd=tmp_path)
    for command in (
        ("score", "-m", "m2", "--resamples", 0),
        ("score", "-m", "m2", "--resamples", 0, "--skip-sentences", "2"),
        ("difficulty", "--resamples", 0),
    ):
        own, stored = (
            json.loads(errata(*command, *texts, file, "--json", cwd=tmp_path).stdout)
            for file in ("out", "run.json")
        )
        assert own == stored
    (tmp_path / "src").write_text("He go home\nFine .\nShe liked it\n")
    done = errata("score", "-m", "m2", *texts, "run.json", cwd=tmp_path, code=2)
    assert "run.json: the run was made with other sources" in done.stderr
