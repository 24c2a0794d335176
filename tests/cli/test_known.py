"""``errata metrics`` and ``errata rankers``, and suggestions for what is misspelt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import errata, errata_process
from errata.human import RANKERS
from errata.metrics import METRICS


@pytest.mark.parametrize(("command", "registry"), [("metrics", METRICS), ("rankers", RANKERS)])
def test_every_one_is_listed_with_what_it_needs(command: str, registry: object) -> None:
    (table,) = json.loads(errata(command, "--json").stdout)["tables"]
    assert isinstance(registry, type(METRICS))
    assert [row[registry.what] for row in table["rows"]] == list(registry.builtin)
    for row in table["rows"]:
        assert row["needs"]
        assert row["range"]
        assert row["what"]
        assert row["from"] == "errata"
    unpublished = [row[registry.what] for row in table["rows"] if not row["paper"]]
    assert unpublished == {"metrics": ["fluency", "harper"], "rankers": ["net_wins"]}[command]


@pytest.mark.parametrize("command", ["metrics", "rankers"])
def test_the_list_fits_a_terminal(command: str) -> None:
    said = errata(command).stdout
    assert max(map(len, said.splitlines())) <= 80
    for title in ("needs", "paper", "what"):
        assert title in said.splitlines()[0]
    (table,) = json.loads(errata(command, "--json").stdout)["tables"]
    words = {*said.split()}
    for row in table["rows"]:
        assert {
            *f"{row[command[:-1]]} {row['needs']} {row['paper']} {row['what']}".split()
        } <= words


def test_one_is_shown_with_its_parameters() -> None:
    (table,) = json.loads(errata("metrics", "GLEU", "--json").stdout)["tables"]
    assert table["rows"][0] == {
        "parameter": "n",
        "default": 4,
        "takes": "int",
        "in the signature": "yes",
    }
    assert table["rows"][1]["takes"] == "expected, official, python3"
    said = errata("metrics", "fluency").stdout
    assert ["batch_size", "32", "int", "no"] in [line.split() for line in said.splitlines()]
    assert "Needs: a language model; errata[lm] or errata[trigram]" in said
    assert "Paper: Koehn 2012" in errata("rankers", "expected_wins").stdout


def test_one_of_the_users_own_is_shown(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from errata.metrics.bleu import BLEU\nfrom errata.metrics.base import metric\n"
        "def f(source, hypothesis, references):\n    return 1.0\n"
        "@metric\nclass Mine(BLEU):\n    'Mine.'\n    name = 'mine'\n    extra: int = 3\n"
    )
    said = errata("metrics", "own.py:Mine", cwd=tmp_path).stdout
    assert ["extra", "3", "int", "yes"] in [line.split() for line in said.splitlines()]
    assert "From: own.py:Mine" in said
    assert (
        "own.py:f is not a class of a metric"
        in errata("metrics", "own.py:f", cwd=tmp_path, code=2).stderr
    )


def test_a_plug_in_that_cannot_be_loaded_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    point = EntryPoint("broken", "no_such_module:X", "errata.metrics")
    monkeypatch.setattr("errata.plugins.entry_points", lambda group: [point])
    said = json.loads(errata("metrics", "--json").stdout)["tables"][0]["rows"][-1]["what"]
    assert "cannot be loaded from no_such_module:X: No module named 'no_such_module'" in said


@pytest.mark.parametrize(
    ("arguments", "suggested"),
    [
        (("scor",), "No such command 'scor'. did you mean 'score'?"),
        (("score", "--sampl"), "--sample"),
        (("rank", "--sample", "--unit", "pair"), "did you mean 'pairs'?"),
        (("score", "--sample", "--format", "jsn"), "did you mean 'json'?"),
        (("rank", "--sample", "--ranker", "expected_win"), "did you mean 'expected_wins'?"),
        (("metrics", "blue"), "did you mean 'bleu'?"),
        (("meta", "--sample", "--convention", "nooties"), "did you mean 'noties'?"),
        (("data", "list", "conl14"), "did you mean 'conll14'?"),
        (("reproduce", "gotou21"), "did you mean 'gotou20'?"),
    ],
)
def test_what_is_misspelt_is_answered_with_a_suggestion(
    arguments: tuple[str, ...], suggested: str
) -> None:
    assert suggested in errata(*arguments, code=2).stderr


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("errata sc", "plain,score"),
        ("errata rank --un", "plain,--unit"),
        ("errata rank --unit pa", "plain,pairs"),
    ],
)
def test_the_shell_completes(words: str, completed: str) -> None:
    place = str(len(words.split()) - 1)
    env = {"_ERRATA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": place}
    start = errata_process if words == "errata sc" else errata
    assert completed in start(env=env, code=None).stdout.splitlines()


def test_words_are_read_in_any_case() -> None:
    run = ("rank", "--sample", "--resamples", 20)
    assert errata(*run, "--unit", "Pairs").stdout == errata(*run, "--unit", "pairs").stdout


@pytest.mark.parametrize("command", ["rank", "agree", "plan"])
def test_the_help_names_every_form_of_judgments(command: str) -> None:
    from errata.io.judgments import FORMS

    said = " ".join(errata(command, "--help").stdout.split())
    assert FORMS in said
    for form in ("Appraise XML", "pairwise CSV", "MTurk", "JSON lines", "table", ".xlsx"):
        assert form in said


def test_the_help_names_every_compression() -> None:
    said = " ".join(errata("score", "--help").stdout.split())
    assert "files may be compressed (gzip, bzip2, xz, zstd), and - is standard input" in said
