"""Reference sets: operations, agreement, annotators as systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import errata, refused
from errata.core.correlation import pearson, spearman
from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses, Reference, Scores
from errata.datasets import sample_corpus, sample_systems
from errata.metrics import Metric, parse
from errata.references.sets import (
    NamedSet,
    annotator_set,
    correlate_sets,
    merge_sets,
    on_common_sentences,
    score_sets,
)
from errata.references.study import (
    annotators_as_systems,
    curve_context,
    reference_curve,
    study_references,
)
from errata.scoring.evaluate import evaluate
from toy import Toy

CORPUS = Corpus(
    ("He go home .", "Fine .", "I likes tea ."),
    (
        (Reference(0, text="He goes home ."), Reference(1, text="He went home now .")),
        (Reference(0, text="Fine ."), Reference(1, text="Fine .")),
        (Reference(0, (Edit(1, 2, "like"),)),),
    ),
)


def test_study() -> None:
    study = study_references(CORPUS, names=("ann", "bob"))
    ann, bob = study.sets
    assert (ann.name, ann.sentences, ann.changed) == ("ann", 3, 2 / 3)
    assert ann.ster == pytest.approx(2 / 3)
    assert (bob.sentences, bob.insertions, bob.substitutions) == (2, 0.5, 0.5)
    (pair,) = study.pairs
    assert (pair.first, pair.second, pair.sentences) == ("ann", "bob", 2)
    assert (pair.identical, pair.identical_unchanged, pair.ster) == (0.5, 1.0, 1.0)
    (worst,) = study.disagreements
    assert (worst.sentence, worst.distance) == (0, 0.5)


def test_annotators_as_systems_meet_only_the_others() -> None:
    ann, bob = annotators_as_systems(CORPUS, Toy(), names=("ann", "bob"), resamples=0)
    assert (ann.systems, bob.systems) == (("ann",), ("bob",))
    assert ann["ann"] == bob["bob"] == 0.5  # of the two sentences both corrected, one is the same
    with pytest.raises(InputError, match="against the others"):
        annotators_as_systems(CORPUS.keep_annotators(0), Toy())


def test_of_many_subsets_twenty_are_tried() -> None:
    texts = [[f"a word {k} ." for _ in range(3)] for k in range(8)]
    corpus = Corpus.from_texts(["a word ."] * 3, texts)
    points = reference_curve(corpus, Toy(), [Hypotheses("A", ("a word 1 .",) * 3)])
    assert [point.subsets for point in points] == [8, 20, 20, 20, 20, 20, 8, 1]


def test_curve() -> None:
    systems = [Hypotheses("A", ("He went home now .", "Fine .", "x"))]
    one, two = reference_curve(CORPUS, Toy(), systems)
    assert (one.references, one.subsets, two.subsets) == (1, 2, 1)
    assert one.values == ((0.5 + 1.0) / 2,)  # alone ann accepts one of two, bob both
    assert two.values == (1.0,)


def test_curve_takes_the_edits_that_came_with_an_output() -> None:
    """Found anew they would be others; and those of two origins are not set side by side."""
    own = Hypotheses("A", ("He goes home .", "Fine .", "x"), ((Edit(0, 2, "He goes"),), (), ()))
    text = Hypotheses("B", own.sentences)
    metric = parse("edits")
    assert reference_curve(CORPUS, metric, [own])[1].values == (0.0,)
    assert reference_curve(CORPUS, metric, [text])[1].values > (0.5,)
    facts = curve_context(CORPUS, metric, [own])
    assert facts[:2] == ("edits:given", "tokens:as_is")
    assert facts[3:] == ("sentences:2", "references:2")
    with pytest.raises(InputError, match="the edits of A came with the file"):
        reference_curve(CORPUS, metric, [own, text])


@pytest.mark.slow
def test_expert_rewrites(data_sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sakaguchi et al. 2016, Table 4: expert minimal edits, 38.7 % identical, sTER 1.7."""
    from errata.datasets import fetch
    from errata.io import read_text

    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    merged = set(map(int, read_text(fetch.fetch_file("sakaguchi16", "merged_ids"))))
    sets = [read_text(fetch.fetch_file("sakaguchi16", f"expert_minimal{x}")) for x in "AB"]
    keep = [i for i in range(len(sets[0])) if i + 1 not in merged]
    texts = [[s[i] for i in keep] for s in sets]
    study = study_references(Corpus.from_texts(texts[0], texts), threads=1)
    assert len(keep) == 1278
    assert round(100 * study.pairs[0].identical, 1) == 38.7
    assert round(study.pairs[0].ster, 3) == 1.674


SAMPLE = Path(__file__).parents[2] / "src" / "errata" / "datasets" / "sample"
TEXTS = ("--source", "source.txt")
OUTPUTS = tuple(f"{name}.txt" for name in ("eager", "cautious", "fluent", "noisy", "nothing"))
SETS = ("--set", "a=reference0.txt", "--set", "b=reference1.txt", "--set", "both=a+b")


def tables(*arguments: object, cwd: Path | None = SAMPLE) -> dict[str, Any]:
    done = errata("references", *arguments, "--json", cwd=cwd)
    return {table["name"]: table for table in json.loads(done.stdout)["tables"]}


def by_hand() -> list[NamedSet]:
    texts = [(SAMPLE / f"reference{k}.txt").read_text("utf-8").splitlines() for k in (0, 1)]
    sources = (SAMPLE / "source.txt").read_text("utf-8").splitlines()
    each = [NamedSet(name, Corpus.from_texts(sources, [texts[k]])) for k, name in enumerate("ab")]
    return [*each, NamedSet("both", Corpus.from_texts(sources, texts))]


def score(metric: Metric, each: NamedSet) -> Scores:
    return evaluate(metric, each.corpus, sample_systems(), resamples=0, guard=False)


@given(st.lists(st.lists(st.sampled_from("xyz"), min_size=2, max_size=2), min_size=1, max_size=4))
def test_a_union_holds_what_its_parts_hold_in_their_order(sets: list[list[str]]) -> None:
    made = [NamedSet(str(k), Corpus.from_texts("ab", [texts])) for k, texts in enumerate(sets)]
    joined = merge_sets("all", made)
    assert joined.references == len(sets)
    for i in range(2):
        texts = [reference.text for reference in joined.corpus.references[i]]
        assert texts == [each[i] for each in sets]
    backwards = annotator_set("again", joined.corpus, range(len(sets))[::-1])
    assert [r.text for r in backwards.corpus.references[0]] == [each[0] for each in sets][::-1]


def test_scores_and_correlations_are_those_of_each_set_alone() -> None:
    """The same as one run of `errata score` for each set, and one correlation each."""
    people = {"eager": 3, "cautious": 2, "fluent": 4, "noisy": 1, "nothing": 0}
    scored = [
        score_sets(parse(text), by_hand(), sample_systems(), resamples=0) for text in ("m2", "gleu")
    ]
    said = Scores("people", tuple(people), np.array([*people.values()], np.float64))
    found = correlate_sets(said, scored, resamples=0)
    for several, by_set in zip(scored, found.agreements, strict=True):
        for each, scores, agreement in zip(by_hand(), several.scores, by_set, strict=True):
            alone = score(several.metric, each)
            assert scores.values.tolist() == alone.values.tolist()
            values = np.array([people[name] for name in alone.systems], np.float64)
            assert agreement.values["pearson"] == pytest.approx(pearson(values, alone.values))
            assert agreement.values["spearman"] == pytest.approx(spearman(values, alone.values))


def test_only_sentences_of_all_sets_are_compared() -> None:
    corpus = sample_corpus()
    sets = [annotator_set("rest", corpus, [0, 1]), annotator_set("third", corpus, [2])]
    fewer, systems = on_common_sentences(sets, sample_systems())
    third = sum(any(r.annotator == 2 for r in refs) for refs in corpus.references)
    assert {len(each.corpus) for each in fewer} == {len(s) for s in systems} == {third}
    assert third < len(corpus)
    noop = Corpus(("Fine .",), ((Reference(0, (), implied=True),),))
    joined = merge_sets("two", [annotator_set("none", noop, [0])] * 2)
    assert len(joined.corpus.references[0]) == 2
    found = tables(*("--sample", "--set", "rest=annotator:0,1", "--set", "third=annotator:2"))
    assert {row["sentences"] for row in found["set_edits"]["rows"]} == {third}


def test_files_annotators_and_m2_make_the_same_sets(tmp_path: Path) -> None:
    run = (*TEXTS, *OUTPUTS, "--resamples", 0, "--human", tmp_path / "people.tsv", "-m", "gleu")
    (tmp_path / "people.tsv").write_text("eager 3\ncautious 2\nfluent 4\nnoisy 1\nnothing 0\n")
    files = tables(*run, *SETS)
    refs = ("--refs", "reference0.txt", "--refs", "reference1.txt")
    annotators = ("--set", "a=annotator:0", "--set", "b=annotator:1", "--set", "both=annotator:all")
    assert tables(*run, *refs, *annotators) == files
    for k in (0, 1):
        to = tmp_path / f"{k}.m2"
        errata("convert", *TEXTS, "--refs", f"reference{k}.txt", "-o", to, cwd=SAMPLE)
    m2 = ("--set", f"a={tmp_path}/0.m2", "--set", f"b={tmp_path}/1.m2", "--set", "both=a+b")
    again = tables(*run, *m2)
    assert [t["rows"] for t in again.values()] == [t["rows"] for t in files.values()]
    ranks = files["gleu_ranks"]["rows"]
    assert [row["system"] for row in ranks] == ["fluent", "eager", "cautious", "noisy", "nothing"]
    assert [row["people"] for row in ranks] == [1, 2, 3, 4, 5]


def test_a_set_may_lack_references(tmp_path: Path) -> None:
    """A mark of a missing line, and an annotator without a line of M2, are no reference."""
    (tmp_path / "s.txt").write_text("a b c\nd e f\ng h i\n")
    (tmp_path / "r.txt").write_text("a x c\n<none>\ng h j\n")
    (tmp_path / "r.m2").write_text(
        "S a b c\nA 1 2|||X|||y|||REQUIRED|||-NONE-|||4\n\nS d e f\n"
        "A 0 1|||X|||z|||REQUIRED|||-NONE-|||0\n\nS g h i\n\n"
    )
    run = ("--source", "s.txt", "--set", "t=r.txt", "--set", "m=r.m2", "--missing", "<none>")
    found = tables(*run, "--set", "both=t+m", cwd=tmp_path)["set_edits"]["rows"]
    assert [(row["set"], row["references"], row["sentences"]) for row in found] == [
        ("t", 1, 2),
        ("m", 2, 2),
        ("both", 3, 2),
    ]
    assert [row["changed %"] for row in found] == [100.0, 50.0, 75.0]
    (tmp_path / "other.m2").write_text("S a b c\n\nS d e x\n\nS g h i\n\n")
    (tmp_path / "short.txt").write_text("a b c\n")
    for name, said in (
        ("other.m2", "errata: other.m2:3: source sentence 2 differs from that of the corpus"),
        ("short.txt", "errata: short.txt:2: 1 line, but the corpus has 3 sentences"),
    ):
        done = errata("references", "--source", "s.txt", "--set", f"a={name}", cwd=tmp_path, code=2)
        assert done.stderr.startswith(said), done.stderr


def test_what_is_no_set_is_refused() -> None:
    ours, idle = "references --source source.txt --refs reference0.txt", "references --resamples 0"
    a, b, sets = "--set a=reference0.txt", "--set b=reference1.txt", " ".join(SETS)
    two = f"--source source.txt {sets} eager.txt"
    cases = f"""
        {ours} | one reference set
        {ours} --set a | --set 'a' does not name a reference set
        {ours} --set =a.txt | --set '=a.txt' does not name a reference set
        {ours} --set a+b=x.txt | --set 'a+b=x.txt' does not name
        {ours} --set people=reference0.txt | a reference set cannot be called 'people'
        {ours} {a} --set a=reference1.txt | two reference sets are called 'a'
        {ours} --set all=a+b {a} | the set 'all' is to hold 'a', and no --set before it
        {ours} {a} --set all=a+exprt | the set 'all' is to hold 'exprt'
        {ours} {a} --set all=a+a | the set 'all' holds a set twice
        {ours} {a}, | the set 'a' names an empty file
        {ours} {a},./reference0.txt | the set 'a' holds './reference0.txt' twice
        {ours} {a},reference1.txt {b} --set all=a+b | holds 'reference1.txt' twice: in a and b
        {ours} --set a=annotator:0 --set b=annotator:all --set c=a+b | 'c' holds 'annotator:0' twice
        {ours} --set a=annotator:x | the set 'a' names annotators by 'x'
        {ours} --set a=annotator:0,0 | the set 'a' names an annotator twice
        {ours} --set a=annotator:7 | source.txt has no annotator 7, named in the set 'a'
        {ours} --set a=nowhere.txt | nowhere.txt: cannot read the file
        {ours} --set a=data:nowhere | no collection of data 'nowhere'
        {ours} --set a=judgments.jsonl | judgments.jsonl
        references --source source.txt --set a=annotator:0 | there are none ... --gold or --refs
        references --gold gold.m2 eager.txt -m gleu -m gleu | gleu is given twice
        references --gold gold.m2 {a} eager.txt -m gleu -m gleu | gleu is given twice
        {idle} --sample --curve a | --curve goes with --set
        {idle} --sample --human people.tsv | --human goes with --set
        {idle} --sample --figure rankings=x.svg | --figure rankings= goes with --set
        {idle} --source source.txt {sets} -m m2 | --metric goes with outputs
        {idle} --sample {sets} --worst 3 | --worst and --set are given
        {idle} {two} --ranker trueskill | --ranker goes with --judgments
        {idle} {two} --over both | --over goes with --judgments or --human or --sample
        {idle} {two} --figure correlations=x.svg | --figure correlations= needs human data
        {idle} {two} --figure curve=x.svg | --figure curve= needs a curve
    """
    assert refused(cases, SAMPLE) == []


def test_sakaguchi_table6(data_sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command gives the cells that `errata reproduce sakaguchi16` has, from the same files."""
    from errata.reproduce.data import ExperimentData
    from errata.reproduce.experiment import load_experiment
    from errata.reproduce.metric_measures import human_scores

    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    material, recipes = ExperimentData(), load_experiment("sakaguchi16").recipes
    printed = human_scores(material, "trueskill", "printed")
    (tmp_path / "people.tsv").write_text("".join(f"{name}\t{value}\n" for name, value in printed))
    (tmp_path / "out.txt").write_text(
        "".join(f"{i + 1}\n" for i in sorted(material.left_out_sentences()))
    )
    sets = {
        "NUCLE": "annotator:all",
        "E-fluency": "data:sakaguchi16-expert-fluency",
        "N-minimal": "data:sakaguchi16-crowd-minimal",
    }
    found = tables(
        *("--data", "conll14", "--human", tmp_path / "people.tsv", "--resamples", 0),
        *(word for name, what in sets.items() for word in ("--set", f"{name}={what}")),
        *(word for name in ("m2", "gleu", "bleu") for word in ("-m", recipes[name]["metric"])),
        *("--skip-sentences", tmp_path / "out.txt"),
        cwd=None,
    )["set_correlations"]["rows"]
    cells = material.printed_cells("sakaguchi16", "table6")
    # On rewrites, M2 is of edits that we align.
    ours = {("E-fluency", "ρ"): ".791", ("E-fluency", "r"): ".654"}
    ours |= {("N-minimal", "ρ"): ".808", ("N-minimal", "r"): ".640"}
    for row in found:
        for metric in ("m2", "gleu", "bleu"):
            for symbol, kind in (("ρ", "spearman"), ("r", "pearson")):
                expected = cells[row["set"], metric, kind]
                if metric == "m2":
                    expected = ours.get((row["set"], symbol), expected)
                assert expected is not None
                assert round(row[f"{metric} {symbol}"], 3) == float(expected)
