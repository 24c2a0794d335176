"""Texts cut into tokens: characters, spaCy, Moses; and texts that should have been cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import errata
from errata.core.errors import DataWarning, InputError
from errata.data import Corpus, Edit, Hypotheses, Reference, apply_edits
from errata.io.checks.text import check_segmentation
from errata.io.corpus import read_corpus
from errata.io.outputs import read_hypotheses
from errata.io.tokenisers import split_characters, tokenise_corpus, tokeniser
from errata.scoring.evaluate import evaluate

CUT = tokeniser("characters")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("他昨天去了学校。", "他|昨|天|去|了|学|校|。"),
        ("iPhone 好", "i|P|h|o|n|e|好"),
        ("e\u0301a \u0301b", "e\u0301|a|\u0301|b"),  # a mark that stands on nothing
        ("हिन्दी", "हि|न्|दी"),
        ("\U0001f469\u200d\U0001f393!", "\U0001f469\u200d\U0001f393|!"),
        ("  ", ""),
    ],
)
def test_characters(text: str, tokens: str) -> None:
    assert split_characters(text) == [token for token in tokens.split("|") if token]


words = st.text(st.sampled_from("ab了e\u0301 "), max_size=8)


@given(words)
def test_cutting_loses_nothing_and_cuts_once(text: str) -> None:
    assert "".join(split_characters(text)) == "".join(text.split())
    assert CUT(CUT(text)) == CUT(text)


@pytest.mark.filterwarnings("ignore:.*none in characters")
@given(st.data())
def test_edits_on_tokens_become_edits_on_characters(data: st.DataObject) -> None:
    tokens = data.draw(st.lists(st.text("ab了", min_size=1, max_size=3), max_size=5))
    start = data.draw(st.integers(0, len(tokens)))
    end = data.draw(st.integers(start, len(tokens)))
    edit = Edit(start, end, data.draw(words).strip(), "X", (data.draw(words).strip(),))
    source = " ".join(tokens)
    corpus = tokenise_corpus(Corpus((source,), ((Reference(0, (edit,)),),)), CUT)
    reference = corpus.references[0][0]
    assert reference.corrected(corpus.sources[0]) == CUT(" ".join(apply_edits(tokens, [edit])))
    for found in reference.edits or ():  # also with what else would have been right
        other = replace(found, replacement=found.alternatives[0])
        wanted = replace(edit, replacement=edit.alternatives[0])
        letters = corpus.sources[0].split()
        assert " ".join(apply_edits(letters, [other])) == CUT(
            " ".join(apply_edits(tokens, [wanted]))
        )


def test_gold_by_words_lets_a_perfect_output_score_1_by_characters(tmp_path: Path) -> None:
    """What an edit leaves alone inside a word is no part of it; one of spaces alone is none."""
    (tmp_path / "gold.m2").write_text(
        "S He suggested any thing .\nA 1 2|||V|||suggests|||REQUIRED|||-NONE-|||0\n"
        "A 2 4|||ORTH|||anything|||REQUIRED|||-NONE-|||0\n\n"
    )
    (tmp_path / "out.txt").write_text("He suggests anything .\n")
    with pytest.warns(DataWarning, match="1 edit changes spaces only, and is none in characters"):
        corpus = read_corpus(gold=tmp_path / "gold.m2", tokens="characters")
    assert corpus.references[0][0].edits == (Edit(9, 11, "s", "V"),)
    assert evaluate("m2", corpus, read_hypotheses(tmp_path / "out.txt", corpus=corpus))["out"] == 1


@pytest.mark.slow
def test_spacy_and_moses_cut_as_they_do() -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("sacremoses")
    text = "I don't like it, Mr. Smith (really)!"
    assert tokeniser("spacy:en")(text) == "I do n't like it , Mr. Smith ( really ) !"
    assert tokeniser("moses:en")(text) == "I don 't like it , Mr. Smith ( really ) !"
    assert tokeniser("moses:fr")("L'été, c'est beau.") == "L' été , c' est beau ."
    assert tokeniser("spacy:en")("a \t b") == "a b"  # white space is no token
    signature = tokeniser("spacy:en").signature
    assert tokeniser(signature).signature == signature
    with pytest.raises(InputError, match=r"not in 0\.1; install that version"):
        tokeniser("spacy:en@0.1")
    with pytest.raises(InputError, match="spaCy cannot cut 'qq'"):
        tokeniser("spacy:qq")
    with pytest.raises(InputError, match="no rules for the language 'qq'"):
        tokeniser("moses:qq")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("charcters", "did you mean 'characters'"),
        ("spacy:", "spacy: has no language"),
        ("words", "known: as_is, characters, spacy:LANGUAGE"),
        ("characters@2", "in version none, not in 2"),
    ],
)
def test_what_is_no_tokeniser_is_refused(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        tokeniser(name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, lines in {
        "src": ["我昨天去了学校上课很高心。", "他喜欢看书和听音乐还有打球。"] * 3,
        "ref": ["我昨天去了学校上课很高兴。", "他喜欢看书和听音乐还有打球。"] * 3,
        "out": ["我昨天去学校上课很高兴。", "他喜欢看书和听音乐还有打球。"] * 3,
    }.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_source_references_and_outputs_are_cut_alike(folder: Path) -> None:
    paths = {"source": folder / "src.txt", "references": [folder / "ref.txt"]}
    with pytest.warns(DataWarning, match=r"src\.txt: no space for 12 .* in 6 of 6 lines"):
        whole = read_corpus(**paths)  # type: ignore[arg-type]
    corpus = read_corpus(**paths, tokens="characters")  # type: ignore[arg-type]
    out = read_hypotheses(folder / "out.txt", corpus=corpus)
    assert corpus.sources[0].startswith("我 昨 天")
    assert out.sentences[0].startswith("我 昨 天 去 学")
    scores = evaluate("gleu", corpus, out)
    assert "tokens:characters" in scores.signature
    assert scores["out"] > 0.7
    assert evaluate("gleu", whole, read_hypotheses(folder / "out.txt"))["out"] == 0.0
    # The same through a file whose texts were cut beforehand, and through M2.
    for name in ("src", "ref", "out"):
        done = errata("tokenise", f"{name}.txt", "--tokens", "characters", cwd=folder)
        (folder / f"{name}.tok").write_text(done.stdout, encoding="utf-8")
    before = evaluate(
        "gleu",
        read_corpus(source=folder / "src.tok", references=[folder / "ref.tok"]),
        read_hypotheses(folder / "out.tok"),
    )
    assert before["out"] == scores["out"]


@pytest.mark.slow
def test_edits_cannot_be_cut_by_words(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    (tmp_path / "gold.m2").write_text("S He go\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n")
    (tmp_path / "out.m2").write_text("S He go\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n")
    with pytest.raises(InputError, match=r"cannot be cut by spacy:en; give texts"):
        read_corpus(gold=tmp_path / "gold.m2", tokens="spacy:en")
    corpus = read_corpus(gold=tmp_path / "gold.m2", tokens="characters")
    out = read_hypotheses(tmp_path / "out.m2", corpus=corpus)
    assert out == Hypotheses("out", ("H e g o e s",), ((Edit(4, 4, "e s", "V"),),))
    assert evaluate("m2", corpus, out)["out"] == 1.0


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["He go home.", "I likes it, too!", "Yes, I do."], "untokenised"),
        (["Il va au café.", "Olé!", "Voilà, il est là."], "untokenised"),
        (["He go home .", "I likes it , too !", "Yes , I do ."], None),
        (["He go home .", "I met Mr. Smith , too !", "In the U.S. it rain ."], None),
        (["He go home.", "I likes it, too!"], None),  # too few to say
        (["我昨天去了学校上课很高心。"] * 3, "unsegmented"),
        (["我 昨天 去 了 学校 上课 很 高心 。"] * 3, None),
        (["コミュニケーション は 大切 です 。"] * 3, None),
        (["He say 我昨天去了学校上课很高心。 ."] * 2 + ["He go ."] * 5, None),
        ([], None),
    ],
)
def test_text_that_is_not_cut_is_warned_of(lines: list[str], code: str | None) -> None:
    assert [finding.code for finding in check_segmentation(lines, "x")] == [code] * bool(code)


def test_the_command_writes_files_of_the_same_names(folder: Path) -> None:
    cut = ("tokenise", "src.txt", "ref.txt", "--tokens", "characters")
    done = errata(*cut, "-o", "cut", "--json", cwd=folder)
    assert '"signature": "tokens:characters | errata:' in done.stdout
    assert (folder / "cut" / "ref.txt").read_text("utf-8").startswith("我 昨 天")
    for arguments, said in (
        (cut, "several files cannot go to standard output"),
        ((*cut[:2], "cut/src.txt", *cut[3:], "-o", "two"), "would both be written as"),
        ((*cut, "-o", "cut"), "exists"),
        ((*cut[:2], *cut[3:], "-o", "src.txt", "--force"), "is an input of this command"),
        (("tokenise", "gold.m2", "--tokens", "characters"), "errata convert"),
        ((*cut[:2], *cut[3:], "--json"), "--json goes with --output"),
        ((*cut[:2], *cut[3:], "--format", "tsv"), "--format goes with --output"),
    ):
        assert said in errata(*arguments, cwd=folder, code=2).stderr
    errata(*cut, "-o", "cut", "--force", cwd=folder)
    errata(*cut[:2], *cut[3:], "-o", "new/", cwd=folder)
    assert (folder / "new" / "src.txt").is_file()
