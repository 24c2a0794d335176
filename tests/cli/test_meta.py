"""errata meta: metrics judged, in tables, in JSON and in figures."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import pytest

from command import errata
from errata import evaluation, parse
from errata.correlation import pearson
from errata.data import Judgment
from errata.datasets import sample_corpus, sample_systems
from errata.io.judgments import WrittenForm, write_judgments

SAMPLE = Path(str(files("errata.datasets"))) / "sample"
OUTPUTS = [str(SAMPLE / f"{name}.txt") for name in ("cautious", "eager", "fluent", "noisy")]
NAMES = ["system_level", "pairs", "leave_one_out", "sentence_level"]


def tables(*arguments: str) -> dict[str, list[dict[str, object]]]:
    found = json.loads(errata("meta", *arguments, "--json").stdout)["tables"]
    return {table["name"]: table["rows"] for table in found}


def test_the_sample() -> None:
    found = tables("--sample", "-m", "m2", "-m", "gleu", "--resamples", "100")
    assert list(found)[:4] == NAMES
    assert {row["metric"] for row in found["system_level"]} == {"m2", "gleu"}
    assert [row["convention"] for row in found["sentence_level"]][:4] == [
        "noties",
        "hties",
        "tau_b",
        "accuracy",
    ]
    # Agreement and disagreement add up to what people decided, ties apart.
    rows = found["m2_confusion"]
    assert (
        sum(v for row in rows for v in row.values() if isinstance(v, int))
        == found["sentence_level"][0]["pairs"]
    )


def test_scores_from_files(tmp_path: Path) -> None:
    (tmp_path / "people.tsv").write_text("A\t3\nB\t2\nC\t1\nD\t0\n")
    (tmp_path / "good.tsv").write_text("D\t0.1\nC\t0.2\nB\t0.35\nA\t0.4\n")
    (tmp_path / "bad.tsv").write_text("A\t0.2\nB\t0.1\nC\t0.9\nD\t0.4\n")
    found = tables(
        "--human",
        str(tmp_path / "people.tsv"),
        "--scores",
        str(tmp_path / "good.tsv"),
        "--scores",
        str(tmp_path / "bad.tsv"),
    )
    assert [row["metric"] for row in found["system_level"]] == ["good", "bad"]
    assert found["system_level"][0]["ρ"] == 1.0
    assert "sentence_level" not in found
    left_out = tables(
        "--human",
        str(tmp_path / "people.tsv"),
        "--scores",
        str(tmp_path / "bad.tsv"),
        "--without",
        "C",
    )
    assert left_out["system_level"][0]["r"] != found["system_level"][1]["r"]


@pytest.mark.parametrize("times", [100, -1])
def test_a_metric_against_itself_is_not_significant(tmp_path: Path, times: float) -> None:
    people = {"A": 0.62, "B": 0.57, "C": 0.56, "D": 0.55, "E": 0.3}
    metric = {"A": 0.35, "B": 0.21, "C": 0.37, "D": 0.09, "E": 0.01}
    for name, values, factor in (("p", people, 1.0), ("m", metric, 1.0), ("n", metric, times)):
        lines = [f"{system}\t{factor * value}" for system, value in values.items()]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    given = ["--human", tmp_path / "p.tsv", "--scores", tmp_path / "m.tsv"]
    done = errata("meta", *given, "--scores", tmp_path / "n.tsv", "--json")
    table = {t["name"]: t for t in json.loads(done.stdout)["tables"]}["pairs"]
    (row,) = table["rows"]
    for column in ("Williams r", "Williams ρ", "Holm, Williams r"):
        assert row[column] is None
    assert "Williams' test of m and n is undefined (r and ρ)" in table["caption"]


def test_published_figures_from_published_files(data_sets: Path) -> None:
    """Chollampatt & Ng 2018, Tables 2 and 3, in one command."""
    scores = next(data_sets.glob("nusnlp/gecmetrics/*/scores"))
    judgments = next(data_sets.glob("grammatical/evaluation/*/data/judgments.xml"))
    pair = "{0}/system_scores_metrics/{1}.txt.gz,{0}/sentence_scores_metrics/{1}.txt.gz"
    found = tables(
        "--judgments",
        str(judgments),
        "--human",
        str(scores / "system_scores_humans/trueskill.txt.gz"),
        "--scores",
        pair.format(scores, "gleu"),
        "--scores",
        pair.format(scores, "m2score"),
        "--resamples",
        "0",
    )
    r = {
        row["metric"]: (round(row["r"], 3), round(row["ρ"], 3))  # type: ignore[call-overload]
        for row in found["system_level"]
    }
    assert r == {"gleu": (0.733, 0.478), "m2score": (0.672, 0.720)}
    values = {(row["metric"], row["convention"]): row["value"] for row in found["sentence_level"]}
    assert values["gleu", "noties"] == pytest.approx(0.38818751125427664)
    assert values["m2score", "hties"] == pytest.approx(0.6169, abs=5e-5)


def test_parts_of_the_ranking() -> None:
    found = json.loads(
        errata(
            "meta",
            "--sample",
            "-m",
            "m2",
            "--resamples",
            "0",
            "--level",
            "system",
            "--window",
            "4",
            "--top",
            "3",
            "--json",
        ).stdout
    )["tables"]
    named = {t["name"]: t["rows"] for t in found}
    windows, top = named["windows"], named["top"]
    assert [len(row["systems, best first"].split()) for row in windows] == [4, 4]
    assert [len(row["systems, best first"].split()) for row in top] == [2, 3]


def judged(*arguments: object) -> list[str]:
    """Four of the five sample systems, of which the judgments know all."""
    return [
        "--judgments",
        str(SAMPLE / "judgments.jsonl"),
        "--gold",
        str(SAMPLE / "gold.m2"),
        "-m",
        "m2",
        "-m",
        "gleu",
        "--resamples",
        "20",
        *map(str, arguments),
        *OUTPUTS,
    ]


def test_common_systems_everywhere(tmp_path: Path) -> None:
    """A system that people alone know is left out of every table and figure that is asked for."""
    pytest.importorskip("matplotlib")
    scatter, picture = tmp_path / "scatter.svg", tmp_path / "map.svg"
    figures = ("--figure", f"scatter={scatter}", "--figure", f"significance={picture}")
    found = tables(*judged("--common", "--window", 3, "--top", 2, *figures))
    assert list(found)[:4] == ["system_level", "pairs", "leave_one_out", "windows"]
    assert {row["without"] for row in found["leave_one_out"]} == {
        "(none)",
        "cautious",
        "eager",
        "fluent",
        "noisy",
    }
    text = "".join(ElementTree.parse(scatter).getroot().itertext())
    assert "noisy" in text
    assert "nothing" not in text
    assert picture.stat().st_size
    # Without it from the start the sentence level is the same.
    left_out = tables(*judged("--without", "nothing"))
    assert found["sentence_level"] == left_out["sentence_level"]
    # Nobody need ask for it, but it is said.
    alone = json.loads(errata("meta", *judged("--window", 3), "--json").stdout)["tables"]
    by_name = {table["name"]: table for table in alone}
    for name in ("system_level", "sentence_level"):
        assert by_name[name]["rows"] == found[name]
        assert "note: no metric scored nothing" in by_name[name]["caption"]
        assert "hide:nothing" in by_name[name]["signature"]


@pytest.mark.parametrize("word", ["--without", "--hide"])
def test_a_system_is_left_out_alike_in_rank_and_meta(word: str) -> None:
    """--without ranks as if it had never been judged, --hide ranks it and does not look at it."""

    def ranked(*arguments: str) -> dict[str, float]:
        done = errata("rank", "--sample", "--resamples", "40", *arguments, "--json")
        (table,) = json.loads(done.stdout)["tables"]
        assert (f"{word[2:]}:noisy" in table["signature"]) == bool(arguments)
        return {row["system"]: row["Expected Wins"] for row in table["rows"]}

    everybody, people = ranked(), ranked(word, "noisy")
    assert people.keys() == everybody.keys() - {"noisy"}
    assert (people == {name: everybody[name] for name in people}) == (word == "--hide")
    given = ("--sample", "-m", "gleu", "--ranker", "expected_wins", "--resamples", "0")
    done = errata("meta", *given, word, "noisy", "--level", "system", "--json")
    table = json.loads(done.stdout)["tables"][0]
    metric = evaluation.evaluate(parse("gleu"), sample_corpus(), sample_systems(), resamples=0)
    names = sorted(people)
    expected = pearson([people[n] for n in names], [metric[n] for n in names])
    assert table["rows"][0]["r"] == pytest.approx(float(expected), abs=1e-12)
    assert f"{word[2:]}:noisy" in table["signature"]


def test_agree_and_plan_leave_systems_out() -> None:
    for command in ("agree", "plan"):
        plain, fewer = (
            json.loads(errata(command, "--sample", *more, "--json").stdout)["tables"]
            for more in ((), ("--without", "noisy"))
        )
        for before, after in zip(plain, fewer, strict=True):
            assert "without:noisy" in after["signature"]
            assert before["rows"] != after["rows"]
        assert "noisy" not in json.dumps([table["rows"] for table in fewer])
    assert "nothing is known of the system 'X'" in (
        errata("agree", "--sample", "--without", "X", code=2).stderr
    )


def test_json_has_numbers_and_signatures() -> None:
    found = json.loads(errata("meta", *judged("--common", "--window", 3, "--json")).stdout)
    by_name = {table["name"]: table for table in found["tables"]}
    for row in by_name["system_level"]["rows"]:
        low, high = row["r 95 %"]
        assert low <= row["r"] <= high
    for row in by_name["sentence_level"]["rows"]:
        low, high = row["95 % interval"]
        assert low <= row["value"] <= high
    for table in found["tables"]:
        sentences = "sentence" in table["name"] or table["name"].endswith("_confusion")
        level = "sentence" if sentences else "system"
        assert table["signature"].startswith(f"level:{level} | ")
        for part in ("people: ", "members:all", "metric: m2(beta=0.5", "metric: gleu(n=4"):
            assert part in table["signature"], table["name"]
    assert "over:systems | resamples:20 | seed:0" in by_name["system_level"]["signature"]
    assert "people: expected_wins(" in by_name["pairs"]["signature"]
    assert "unit:sentences | resamples:20 | seed:0" in by_name["m2_confusion"]["signature"]


def test_the_terminal_shows_the_signatures() -> None:
    printed = errata("meta", *judged("--common")).stdout.splitlines()
    said = [line for line in printed if line.startswith("signature: ")]
    assert [line.partition("#")[0] for line in said] == [  # once for tables that share it
        "signature: level:system",
        "signature: level:system",  # of correlations without one system, which nothing is drawn for
        "signature: level:sentence",
    ]


def test_judgments_are_read_before_metrics_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a metric was computed")

    monkeypatch.setattr(evaluation, "evaluate", forbidden)
    arguments = ["--gold", str(SAMPLE / "gold.m2"), *OUTPUTS]
    result = errata("meta", "--judgments", "nowhere.xml", *arguments, code=2)
    assert "nowhere.xml" in result.stderr
    result = errata("meta", "--human", "nowhere.tsv", *arguments, code=2)
    assert "nowhere.tsv" in result.stderr
    result = errata("meta", "--ranker", "elo", "--sample", code=2)
    assert "there is no ranker 'elo'" in result.stderr


def test_judgments_are_read_as_by_the_other_commands(tmp_path: Path) -> None:
    def pairs(*arguments: object) -> object:
        given = ["--level", "sentence", "--convention", "noties", "--resamples", "0", "--sample"]
        given += ["--common"]
        return tables("-m", "m2", *given, *map(str, arguments))["sentence_level"][0]["pairs"]

    groups = (("eager",), ("fluent",), ("noisy",))
    ann, bob = (Judgment(judge, 72, groups, (1, 2, 3)) for judge in ("ann", "bob"))
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    write_judgments([ann], one)
    write_judgments([ann, bob], two)
    both = ["--judgments", one, "--judgments", two, "--base", 1]  # of 72 sentences the last
    assert pairs(*both) == 9
    assert pairs(*both, "--leave-out", "ann") == 3
    assert pairs("--judgments", one, "--base", 1) == 3
    assert pairs() > pairs("--leave-out", "bo")  # type: ignore[operator]
    texts = tmp_path / "outputs"
    texts.mkdir()
    for name, *_ in groups:
        (texts / name).write_text("the same\n" * 72)
    result = errata("meta", "--sample", *both, "--outputs", texts, code=2)
    assert "the output of eager in --outputs is not the one scored" in result.stderr


@pytest.mark.parametrize("form", ["jsonl", "pairwise"])
def test_judgments_must_fit_the_outputs(tmp_path: Path, form: WrittenForm) -> None:
    corpus = ["--source", tmp_path / "source", "--refs", tmp_path / "B"]
    lines = [f"This is sentence {i} ." for i in range(30)]
    (tmp_path / "source").write_text("\n".join(lines) + "\n")
    for system, odd in (("A", 3), ("B", 4), ("C", 5)):
        texts = [line.replace("is", "was") if i % odd else line for i, line in enumerate(lines)]
        (tmp_path / system).write_text("\n".join(texts) + "\n")
    outputs = [tmp_path / name for name in "ABC"]

    def ranking(i: int) -> Judgment:
        alone = {name: bool(i % odd) for name, odd in (("A", 3), ("B", 4), ("C", 5))}
        groups = [tuple(n for n in alone if alone[n] == changed) for changed in (True, False)]
        ranked = [(group, rank) for rank, group in enumerate(groups, 1) if group]
        return Judgment("ann", i, tuple(g for g, _ in ranked), tuple(r for _, r in ranked), str(i))

    kept = tmp_path / "judgments"
    write_judgments([ranking(i) for i in range(1, 30)], kept, form=form, base=int(form != "jsonl"))
    given = ["--judgments", kept, *corpus, "-m", "gleu", "--resamples", 0, *outputs]
    if form == "jsonl":
        errata("meta", *given)
        refused, fits = errata("meta", *given, "--base", 1, code=2), 0
    else:
        errata("meta", *given, "--base", 1)
        refused, fits = errata("meta", *given, code=2), 1
    assert "off by one" in refused.stderr
    assert f"--base {fits}" in refused.stderr
    errata("meta", *given, "--base", 0 if fits else 1, "--labels", "given", "--level", "system")
    if form == "jsonl":  # scores from a file tell as well: one text has one score
        none = ["--resamples", 0]
        made = errata("score", *corpus, "-m", "gleu", *outputs, "--by-sentence", *none, "--json")
        (tmp_path / "scores.json").write_text(made.stdout)
        given = ["--judgments", kept, "--scores", tmp_path / "scores.json", *none]
        errata("meta", *given)
        refused = errata("meta", *given, "--base", 1, code=2)
        assert "fit the scores of gleu of the sentence in" in refused.stderr
        assert "count the sentences from 0 (--base 0)" in refused.stderr
        errata("meta", *given, "--base", 1, "--labels", "given")


def test_seeda_counts_from_one(data_sets: Path) -> None:
    folder = next(data_sets.glob("tmu-nlp/SEEDA/*"), None)
    if folder is None:
        pytest.skip("needs SEEDA")
    texts = folder / "outputs" / "all"
    given = ["--judgments", folder / "data" / "judgments_sent.xml", "-m", "gleu"]
    given += ["--source", texts / "INPUT.txt", "--refs", texts / "REF-M.txt", "--resamples", 0]
    given += ["--level", "sentence", "--convention", "wmt13", *sorted(texts.glob("[!R]*.txt"))]
    given += [f"{texts}/Riken-Tohoku.txt", "--common"]
    refused = errata("meta", *given, code=2)
    assert "those of the sentence before it in 600" in refused.stderr
    assert "--base 1" in refused.stderr
    errata("meta", *given, "--base", 1)


def test_unknown_systems_are_said_at_sentence_level_too() -> None:
    given = ["--sample", "--level", "sentence", "--without", "X"]
    assert "is known of the system 'X'" in errata("meta", *given, code=2).stderr


def test_a_system_that_a_metric_alone_knows_is_refused_at_sentence_level_too() -> None:
    given = ["--judgments", SAMPLE / "judgments.jsonl", "--gold", SAMPLE / "gold.m2", "-m", "gleu"]
    given += [*OUTPUTS[:3], f"niosy={OUTPUTS[3]}", "--resamples", 0, "--level", "sentence"]
    refused = errata("meta", *given, code=2)
    assert "niosy: known to only one of people and gleu" in refused.stderr
    given += ["--signature", "full"]
    assert "hide:noisy" in errata("meta", *given, "--common").stdout
    assert "no metric scored noisy" in errata("meta", *given, "--hide", "niosy").stdout
    one = [*given[:6], OUTPUTS[0], *given[-6:]]
    assert (
        "score two or more of the systems that were judged" in errata("meta", *one, code=2).stderr
    )


def test_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    errata(
        "meta",
        "--sample",
        "-m",
        "m2",
        "-m",
        "gleu",
        "--resamples",
        "0",
        "--figure",
        f"scatter={tmp_path / 'scatter.svg'}",
        "--outlier",
        "noisy",
        "--figure",
        f"significance={tmp_path / 'map.png'}",
    )
    text = "".join(ElementTree.parse(tmp_path / "scatter.svg").getroot().itertext())
    for name in ("cautious", "eager", "fluent", "noisy", "nothing", "r = ", "without noisy"):
        assert name in text
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "no metric to judge"),
        (("--sample", "--convention", "tau"), "convention 'tau' is unknown"),
        (("--sample", "--without", "X"), "nothing is known of the system 'X'"),
        (("--sample", "--hide", "X"), "knows no system 'X'"),
        (("--sample", "--ranker", "elo"), "there is no ranker 'elo'"),
        (("--sample", "--figure", "scatter=x.txt"), "cannot draw into"),
        (("--sample", "--figure", "scatter=x.svg", "--outlier", "X"), "knows no system 'X'"),
        (("--sample", "--top", "9"), "does not fit 5 systems"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], problem: str) -> None:
    result = errata("meta", *arguments, code=None)
    assert result.returncode == 2
    assert problem in result.stderr


def test_sentence_level_needs_judgments(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("A\t3\nB\t2\n")
    result = errata(
        "meta",
        "--human",
        str(tmp_path / "s.tsv"),
        "--scores",
        str(tmp_path / "s.tsv"),
        "--level",
        "sentence",
        code=None,
    )
    assert result.returncode == 2
    assert "sentence level needs judgments" in result.stderr


def test_means_of_sentence_scores_are_said(tmp_path: Path) -> None:
    """A file of sentence scores has no corpus scores; their means are something else."""
    by_sentence = errata("score", "--sample", "-m", "gleu", "--by-sentence", "--json").stdout
    (tmp_path / "gleu.json").write_text(by_sentence)
    (tmp_path / "people.json").write_text(errata("rank", "--sample", "--json").stdout)
    given = ("--human", tmp_path / "people.json", "--scores", tmp_path / "gleu.json")
    assert "note: gleu: systems have the means of sentence scores" in errata("meta", *given).stdout
    assert "the means of" not in errata("meta", "--sample", "-m", "gleu").stdout


def test_judgments_belong_to_the_texts_that_people_saw(tmp_path: Path) -> None:
    """Cut into tokens, texts that differ in spaces alone are the same, and were judged apart."""
    texts = {
        "source": "He do n't went .",
        "reference": "He do n't go .",
        "A": "He don't go .",
        "B": "He do n't go .",
        "C": "He don't goes .",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(f"{text}\n" * 3)
    groups = (("A",), ("B",), ("C",))
    write_judgments([Judgment("ann", i, groups, (1, 2, 3)) for i in range(3)], tmp_path / "j.jsonl")
    corpus = ["--source", "source.txt", "--refs", "reference.txt", "--tokens", "characters"]
    rest = ["--judgments", "j.jsonl", "-m", "gleu", "--resamples", 0, "--json", "A.txt", "B.txt"]
    for command in (
        ("meta", *corpus, *rest, "C.txt", "--outputs", "A.txt", "--level", "system"),
        ("refs", *corpus, "--set", "one=reference.txt", *rest, "C.txt"),
    ):
        assert "tokens:characters" in errata(*command, cwd=tmp_path).stdout
