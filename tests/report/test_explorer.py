"""The explorer's data, unpacked as a browser does: every sentence, edit and score is there."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from errata.comparison.edits import JudgedSentence, judge_edits
from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses, Reference, Scores
from errata.datasets.load import sample_corpus, sample_systems
from errata.metrics.difficulty import build_difficulty_map
from errata.metrics.errant import Edits
from errata.reports import explorer
from errata.reports.explorer import explorer_section
from errata.reports.explorer.rows import PackedColumn, metric_disagreement, pack_columns
from errata.reports.page import Section
from errata.scoring.evaluate import evaluate

METRICS = ("m2", "gleu", "edits")
BLOCK = re.compile(
    r'<script type="application/(?:json|octet-stream)" id="explorer-([\w-]+)">([^<]*)</script>'
)


@dataclass
class Unpacked:
    """Settings, columns, and every sentence: number, source, references, outputs."""

    settings: dict[str, Any]
    columns: dict[str, Any]
    sentences: list[list[Any]]

    def score(self, metric: int, system: int, sentence: int) -> float:
        code = int(self.columns[f"codes{metric}"][system * len(self.sentences) + sentence])
        return float(self.columns[f"values{metric}"][code - 1]) if code else float("nan")

    def text(self, source: str, row: list[Any]) -> str:
        """A text as it reads, from its edits."""
        _, edits, _, text = row
        if text is not None:
            return str(text)
        tokens, done, at = source.split(), [], 0
        for start, end, replacement, _, state, *_ in edits:
            if self.settings["states"][state] != "missed":
                done += [*tokens[at:start], *replacement.split()]
                at = end
        return " ".join([*done, *tokens[at:]])


def uncompressed(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def unpacked_columns(manifest: Mapping[str, PackedColumn], data: bytes) -> dict[str, NDArray[Any]]:
    found = {}
    for name, column in manifest.items():
        kind = np.dtype(column.type.removesuffix("Array").lower()).newbyteorder("<")
        found[name] = np.frombuffer(data, kind, column.length, column.at)
    return found


def unpack(section: Section) -> Unpacked:
    parts = dict(BLOCK.findall(section.body))
    settings = json.loads(parts["settings"])
    manifest = {name: PackedColumn(**column) for name, column in settings["columns"].items()}
    columns = unpacked_columns(manifest, uncompressed(parts["index"]))
    sentences = [
        sentence
        for block in range(settings["blocks"])
        for sentence in json.loads(uncompressed(parts[f"block-{block}"]))
    ]
    return Unpacked(settings, dict(columns), sentences)


@pytest.fixture(scope="module")
def sample() -> tuple[Corpus, list[Hypotheses]]:
    return sample_corpus(), list(sample_systems())


def test_every_text_edit_and_score_is_found_again(
    sample: tuple[Corpus, list[Hypotheses]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "BLOCK", 17)  # several blocks, the last one not full
    corpus, systems = sample
    judge = Edits()
    results = [evaluate(metric, corpus, systems, resamples=0) for metric in METRICS]
    judged = judge_edits(judge.for_sentences, corpus, systems)
    difficulty = build_difficulty_map(corpus, systems)
    level = [f"level {i % 3}" for i in range(len(corpus))]
    judgments: dict[str, Any] = {"states": judged, "judge": judge, "difficulty": difficulty}
    more: dict[str, Any] = {"base": "nothing", "slices": {"level": level}}
    found = unpack(explorer_section(corpus, systems, results, **judgments, **more))
    assert found.settings["blocks"] == 5
    assert found.settings["systems"] == [h.system for h in systems]
    kinds = [kind["name"] for kind in found.settings["kinds"]]
    states, weights = found.settings["states"], found.columns["weights"].tolist()
    told = 0
    for i, (number, source, references, outputs) in enumerate(found.sentences):
        assert number == i + 1 == found.columns["number"][i]
        assert source == corpus.sources[i]
        assert found.columns["rows"][i] == 1 + len(references) + len(outputs)
        named = {who: row for row in references for who in row[0]}
        assert sorted(named) == [r.annotator for r in corpus.references[i]]
        for reference in corpus.references[i]:
            assert found.text(source, named[reference.annotator]) == reference.corrected(source)
        by_system = {s: row for row in outputs for s in row[0]}
        assert sorted(by_system) == list(range(len(systems)))
        for s, row in by_system.items():
            assert found.text(source, row) == systems[s].sentences[i]
            wanted = judged[s][i]
            assert row[2] == wanted.annotator
            shown = [(e[0], e[1], kinds[e[3]], states[e[4]]) for e in row[1]]
            assert sorted(shown) == sorted(
                (e.edit.start, e.edit.end, e.kind, e.state) for e in wanted.edits
            )
            told += sum(weights[e[5] - 1] > 0 for e in row[1] if e[5])
        level_names = found.settings["slices"][0]["values"]
        assert level_names[found.columns["slice0"][i]] == level[i]
        for m, scores in enumerate(results):
            assert scores.sentences is not None
            for s in range(len(systems)):
                exact = float(scores.sentences[s, i])
                given = found.score(m, s, i)
                assert math.isclose(given, exact, rel_tol=1e-12) or math.isnan(exact)
                assert f"{given:.10f}" == f"{exact:.10f}"
    assert told > 100  # right and missed edits carry their difficulty


def test_the_index_says_what_the_rows_say(sample: tuple[Corpus, list[Hypotheses]]) -> None:
    corpus, systems = sample
    judge = Edits()
    # 40 systems need masks of two words.
    many = [Hypotheses(f"{h.system}{k}", h.sentences) for k in range(8) for h in systems]
    states = judge_edits(judge.for_sentences, corpus, many)
    difficulty = build_difficulty_map(corpus, systems)
    found = unpack(explorer_section(corpus, many, states=states, difficulty=difficulty))
    c = found.columns
    assert len(c["who"]) == 2 * len(c["kind"])
    for i, (_, _, _, outputs) in enumerate(found.sentences):
        assert all(len(row[0]) >= 8 for row in outputs)  # what is the same shares a row
        wanted = {
            (kind, state, weight, s)
            for whose, edits, _, _ in outputs
            for _, _, _, kind, state, weight, *_ in edits
            for s in whose
        }
        entries = range(int(c["first"][i]), int(c["first"][i + 1]))
        given = {
            (int(c["kind"][e]), int(c["state"][e]), int(c["weight"][e]), s)
            for e in entries
            for s in range(len(many))
            if int(c["who"][2 * e + s // 32]) >> s % 32 & 1
        }
        assert given == wanted


def test_disagreement_is_counted_pair_by_pair(sample: tuple[Corpus, list[Hypotheses]]) -> None:
    corpus, systems = sample
    results = [evaluate(metric, corpus, systems, resamples=0) for metric in METRICS]
    found = unpack(explorer_section(corpus, systems, results))
    n = len(corpus)
    some = 0
    for p, (a, b) in enumerate(found.settings["pairs"]):
        for i in range(n):
            compared = discordant = 0
            for s, t in combinations(range(len(systems)), 2):
                x, y = (found.score(m, s, i) - found.score(m, t, i) for m in (a, b))
                compared += x * y != 0
                discordant += x * y < 0
            assert found.columns["compared"][p * n + i] == compared
            assert found.columns["discordant"][p * n + i] == discordant
            some += discordant
    assert some


def test_without_references_outputs_show_what_they_changed() -> None:
    corpus = Corpus.from_texts(["He go  home", "", "I am"])
    outputs = [Hypotheses("A", ("He goes home", "", "I am")), Hypotheses("B", corpus.sources)]
    found = unpack(explorer_section(corpus, outputs))
    (_, source, references, rows), (_, empty, _, same), _ = found.sentences
    assert (source, references, empty) == ("He go home", [], "")
    assert [found.text(source, row) for row in rows] == ["He goes home", "He go home"]
    assert found.settings["states"][rows[0][1][0][4]] == "changed"
    assert [row[0] for row in same] == [[0, 1]]


def test_what_was_not_judged_is_shown_all_the_same() -> None:
    corpus = Corpus.from_texts(["He go to home"], [["He goes home ."]])
    outputs = [Hypotheses("A", ("He goes to home .",))]
    judge = Edits(only=("M:PUNCT",))
    states = judge_edits(judge.for_sentences, corpus, outputs)
    found = unpack(explorer_section(corpus, outputs, states=states, judge=judge))
    ((_, source, _, (row,)),) = found.sentences
    assert found.text(source, row) == "He goes to home ."
    named = [(e[2], found.settings["states"][e[4]]) for e in row[1]]
    assert named == [("goes", "changed"), (".", "right")]


def test_a_text_that_edits_do_not_make_is_kept_as_it_is() -> None:
    twice = (Edit(0, 1, "He", "A"), Edit(1, 2, "goes", "B"))
    corpus = Corpus(("he go",), ((Reference(0, twice[1:], text="He goes"),),))
    found = unpack(explorer_section(corpus, [Hypotheses("A", ("he go",))]))
    ((_, source, (row,), _),) = found.sentences
    assert found.text(source, row) == "He goes"


def test_corrections_that_are_as_good_stand_beside_each_other() -> None:
    asked = Edit(1, 2, "goes", "V", ("went", ""))
    corpus = Corpus(("He go",), ((Reference(0, (asked,)),),))
    states = judge_edits(Edits().for_sentences, corpus, outputs := [Hypotheses("A", ("He go",))])
    found = unpack(explorer_section(corpus, outputs, states=states))
    ((_, _, (reference,), (row,)),) = found.sentences
    for (edit,) in (reference[1], row[1]):
        assert (edit[2], edit[6]) == ("goes", ["went", ""])
    assert found.text("He go", reference) == "He goes"


def test_skipped_sentences_keep_their_numbers_and_scores_are_rounded() -> None:
    corpus = Corpus.from_texts(["a", "b", "c"]).without_sentences(1)
    found = unpack(explorer_section(corpus, [Hypotheses("A", ("a", "c"))]))
    assert found.columns["number"].tolist() == [1, 3]
    corpus = Corpus.from_texts(["a"])
    table = np.array([[5 / 11], [1 - 6 / 11], [np.nan], [0.5]])
    scores = Scores("toy()", ("A", "B", "C", "D"), np.zeros(4), table)
    outputs = [Hypotheses(name, ("a",)) for name in "ABCD"]
    found = unpack(explorer_section(corpus, outputs, [scores]))
    assert found.columns["codes0"].tolist() == [1, 1, 0, 2]


def test_the_same_output_is_one_row_unless_it_is_judged_or_scored_differently() -> None:
    corpus = Corpus.from_texts(["a"], [["a"], ["a"]])
    outputs = [Hypotheses(name, ("a",)) for name in "ABCD"]
    by = [JudgedSentence(annotator, ()) for annotator in (0, 0, 0, 1)]
    table = np.array([[0.5], [0.5], [0.25], [0.5]])
    scores = Scores("toy()", ("A", "B", "C", "D"), np.zeros(4), table).select(tuple("DCBA"))
    states = [(each,) for each in by]
    for results, wanted in (
        ([], [[0, 1, 2], [3]]),
        ([scores], [[0, 1], [2], [3]]),  # in the order of the outputs, not of the scores
    ):
        found = unpack(explorer_section(corpus, outputs, results, states=states))
        assert [row[0] for row in found.sentences[0][3]] == wanted
        assert found.columns["rows"].tolist() == [2 + len(wanted)]
    assert [found.score(0, s, 0) for s in range(4)] == [0.5, 0.5, 0.25, 0.5]


def test_metrics_that_see_a_tie_do_not_disagree() -> None:
    tied = Scores("a()", ("A", "B"), np.zeros(2), np.array([[5 / 11], [1 - 6 / 11]]))
    others = [
        Scores("b()", ("A", "B"), np.zeros(2), np.array([[0.1], [0.2]])),
        Scores("c()", ("A", "B"), np.zeros(2), np.array([[0.2], [0.1]])),
    ]
    found = metric_disagreement([tied, *others])
    assert found.pairs == ((0, 1), (0, 2), (1, 2))
    assert found.compared.tolist() == [[0], [0], [1]]
    assert found.shares_by_pair.tolist() == [[0.0], [0.0], [1.0]]


def test_markup_and_control_characters_are_text() -> None:
    nasty = '</script><b>"x" \x1b[2J'
    corpus = Corpus.from_texts([nasty], [[nasty + " ."]])
    section = explorer_section(corpus, [Hypotheses(nasty, (nasty,))], slices={nasty: [nasty]})
    assert "</script><b>" not in section.body
    assert "\x1b" not in section.body
    found = unpack(section)
    assert found.sentences[0][1] == '</script><b>"x" \\x1b[2J'
    assert found.settings["systems"] == ['</script><b>"x" \\x1b[2J']


def test_what_does_not_fit_is_refused(sample: tuple[Corpus, list[Hypotheses]]) -> None:
    corpus, systems = sample
    with pytest.raises(InputError, match="none of the systems"):
        explorer_section(corpus, systems, base="other")
    with pytest.raises(InputError, match="known of 1 sentences, the corpus has 72"):
        explorer_section(corpus, systems, slices={"level": ["A"]})
    with pytest.raises(InputError, match="has 1 sentences, the corpus 72"):
        explorer_section(corpus, [Hypotheses("A", ("a",))])
    short = Scores("toy()", ("A",), np.zeros(1), np.zeros((1, 2)))
    with pytest.raises(InputError, match="does not score the 1 sentences"):
        explorer_section(Corpus.from_texts(["a"]), [Hypotheses("A", ("a",))], [short])


def test_columns_are_found_again() -> None:
    arrays = {
        "small": np.array([0, 255]),
        "medium": np.array([256]),
        "large": np.array([[1, 2**31], [3, 4]]),
        "none": np.zeros(0, np.int64),
        "real": np.array([0.1, -np.inf]),
    }
    manifest, data = pack_columns(arrays)
    types = [column.type.removesuffix("Array") for column in manifest.values()]
    assert types == ["Uint8", "Uint16", "Uint32", "Uint8", "Float64"]
    assert all(column.at % 8 == 0 for column in manifest.values())
    found = unpacked_columns(manifest, data)
    assert all((found[name] == array.ravel()).all() for name, array in arrays.items())
