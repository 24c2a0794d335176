"""TER's edits: the kernel against sacrebleu, compiled and not."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import BeamEditDistance, translation_edit_rate

from errata.core.errors import DataWarning
from errata.data import Vocabulary
from errata.metrics.ter import edit_counts, operation_counts
from pure import load_pure

words = st.lists(st.sampled_from("abcde"), max_size=14)


def official(pair: tuple[str, str]) -> int:
    return int(translation_edit_rate(pair[0].split(), pair[1].split())[0])


def unshifted(pair: tuple[str, str]) -> list[int]:
    """Insertions, deletions, substitutions of sacrebleu's edit distance, which moves nothing."""
    _, steps = BeamEditDistance(pair[1].split())(pair[0].split())
    return [steps.count(letter) for letter in "ids"]


def pure(pairs: list[tuple[str, str]]) -> list[list[int]]:
    vocabulary = Vocabulary()
    left, right = (vocabulary.intern(pair[k] for pair in pairs) for k in (0, 1))
    counts = load_pure("ter").count_edits(left.ids, left.offsets, right.ids, right.offsets)
    return counts.tolist()


def test_by_hand() -> None:
    counts = {
        ("", ""): [0, 0, 0, 0],
        ("", "a b"): [2, 0, 0, 0],
        ("a b", ""): [0, 2, 0, 0],
        ("a b c", "a x c"): [0, 0, 1, 0],
        ("a b c d e", "d e a b c"): [0, 0, 0, 1],
        ("a b c d", "b a d c"): [0, 0, 0, 2],
    }
    pairs = list(counts)
    assert edit_counts(pairs).tolist() == [0, 2, 2, 1, 1, 2]
    assert edit_counts([("A b", "a b")], lowercase=False).tolist() == [1]
    assert edit_counts([]).tolist() == []
    assert operation_counts(pairs).tolist() == list(counts.values())
    assert operation_counts([]).shape == (0, 4)


@given(words, words)
@settings(max_examples=150, deadline=None)
def test_as_sacrebleu(left: list[str], right: list[str]) -> None:
    pair = (" ".join(left), " ".join(right))
    (found,) = operation_counts([pair]).tolist()
    assert sum(found) == official(pair)
    insertions, deletions, _, shifts = found
    assert insertions - deletions == len(right) - len(left)
    if shifts == 0:
        assert found[:3] == unshifted(pair)
    assert pure([pair]) == [found]


@pytest.mark.slow
def test_long_texts_as_sacrebleu() -> None:
    """Beyond the beam, the farthest shift and the number of tries."""
    rng = np.random.default_rng(5)
    pairs = []
    for size in (40, 80, 120):
        text = rng.integers(0, 6 if size == 40 else 200, size).astype(str)
        pairs += [
            (" ".join(text), " ".join(np.roll(text, size // 3))),
            (" ".join(text), " ".join(text[::2])),
            (" ".join(text[:3]), " ".join(text)),
        ]
    expected = [official(pair) for pair in pairs]
    assert edit_counts(pairs).tolist() == expected
    assert pure(pairs[:3]) == operation_counts(pairs[:3]).tolist()


def test_progress_and_repeats() -> None:
    seen: list[tuple[int, int]] = []
    pairs = [("a b", "b a")] * 3 + [("a", "a")]
    counts = edit_counts(pairs, threads=1, progress=lambda done, all_: seen.append((done, all_)))
    assert counts.tolist() == [1, 1, 1, 0]
    assert seen[-1] == (2, 2)


# Lowercased or not: insertions, deletions, substitutions and shifts of all sentences, counted with
# the parts of sacrebleu 2.6.0 one by one (its public function gives their sum only).
PARTS = {
    "NF1-NF2": ([2813, 3022, 5948, 1291], [2817, 3026, 6237, 1247]),
    "EM1-EM2": ([437, 656, 1122, 96], [437, 656, 1187, 95]),
}


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("turker_fluencyA", "turker_fluencyB"), "NF1-NF2"),
        (("expert_minimalA", "expert_minimalB"), "EM1-EM2"),
    ],
)
def test_real_rewrites(
    names: tuple[str, str],
    key: str,
    data_sets: Path,
    oracles: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from errata.reproduce.data import ExperimentData

    monkeypatch.setenv("ERRATA_DATA", str(data_sets))
    material = ExperimentData()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        pairs = list(zip(*(material.sentences(name) for name in names), strict=True))
    known = json.loads((oracles / "meta" / "sakaguchi_ster_lowercased.json").read_text())
    for lowercase, parts in zip((True, False), PARTS[key], strict=True):
        operations = operation_counts(pairs, lowercase=lowercase)
        assert operations.sum(axis=0).tolist() == parts
        counts = operations.sum(axis=1)
        assert counts.sum() == known[f"{key}/lc={lowercase}"]["edits_1312"]
        # The oracle left out line 48, as the file of merged lines has it by mistake.
        kept = material.kept_sentences("as written")
        assert counts[kept].sum() == known[f"{key}/lc={lowercase}"]["edits_1278"]
    chosen = pairs[::40]
    assert edit_counts(chosen, lowercase=False).tolist() == [official(pair) for pair in chosen]
