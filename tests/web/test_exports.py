"""What comes out of a campaign is read by the commands without a warning, and says the same."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import insert

from campaigns import material
from command import errata
from errata.collect.assigning import Holding
from errata.collect.design import Design, Scale
from errata.collect.items import CampaignTexts, Example
from errata.collect.panel import Panel
from errata.data import Judgment
from errata.errors import InputError
from errata.human import compare
from errata.human.agreement import judge_agreement
from errata.io import read_judgments, read_m2
from errata.io.ratings import read_ratings
from errata.io.writers import render_writers
from errata.training.recipe import Recipe
from errata.training.regressors import plan_some
from errata.web.answering import SentAnswer
from errata.web.dashboard import Dashboard
from errata.web.export_archive import archived_texts, parts_of
from errata.web.export_edits import edits_left_out
from errata.web.exports import (
    export_lines,
    judgments_in,
    text_files,
    texts_without_room,
    writer_lines,
)
from errata.web.forms import FORMS_OUT, ExportForm
from errata.web.imports import counts_between, read_judge_list
from errata.web.people import forget_judge, set_state_of_judge
from errata.web.schema import identities
from stored_campaigns import Made, Make


def answer_to(body: dict[str, Any], design: Design, rng: np.random.Generator) -> Any:
    if design.kind == "rank":
        many = len(body["outputs"])
        return {o["key"]: int(rng.integers(1, many + 1)) for o in body["outputs"]}
    if design.kind == "pair":
        return str(rng.choice(["A", "B", "equal", "bad"]))
    if design.kind == "edits":
        return {e["key"]: str(rng.choice(["good", "good", "bad", "unsure"])) for e in body["edits"]}
    scales = {s.name: int(rng.integers(s.low, s.high + 1)) for s in design.scales}
    return {o["key"]: scales for o in body["outputs"]} if design.side_by_side else scales


def finished(made: Made, seed: int = 0, skips: float = 0.1) -> Made:
    """Every judge works until there is nothing left; some tasks are skipped, some revised."""
    rng = np.random.default_rng(seed)
    design = made.store.campaign().design
    working = [judge.id for judge in made.judges]
    while working:
        judge = working[int(rng.integers(len(working)))]
        held = made.store.claim(judge)
        made.clock.now += int(rng.integers(3000, 40_000))
        if not isinstance(held, Holding):
            working.remove(judge)
            continue
        body = made.store.task(judge, held.assignment).body
        sent = SentAnswer(1, answer_to(body, design, rng), active_ms=2500)
        if rng.random() < skips:
            sent = SentAnswer(1, skip="undecided", active_ms=100)
        made.store.submit(judge, held.assignment, sent)
        if sent.skip is None and rng.random() < 0.1:
            again = SentAnswer(2, answer_to(body, design, rng), active_ms=3000, comment="sorry")
            made.store.submit(judge, held.assignment, again)
    return made


def write(lines: Iterable[str], path: Path) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["rank", "pair"])
@pytest.mark.parametrize("form", ["jsonl", "appraise", "pairwise"])
def test_rankings_are_read_as_they_were_stored(
    make: Make, kind: str, form: ExportForm, tmp_path: Path
) -> None:
    made = finished(make(Design(kind=kind, judges=3, repeats=0.1)))  # type: ignore[arg-type]
    stored = list(judgments_in(made.database))
    path = write(export_lines(made.database, form), tmp_path / f"x.{form}")
    read = list(read_judgments(path))  # a warning would be an error
    assert len(stored) > 50
    assert any(judgment.item.endswith("#2") for judgment in stored)
    assert any(all(rank is None for rank in judgment.ranks) for judgment in stored)
    if form == "jsonl":
        assert read == stored
    elif form == "appraise":
        assert [_plain(j) for j in read] == [_plain(j) for j in stored]
    else:
        ranked = [j for j in stored if None not in j.ranks]
        assert [(j.judge, j.sentence) for j in read] == [(j.judge, j.sentence) for j in ranked]


def _plain(judgment: Judgment) -> tuple[Any, ...]:
    j = judgment
    return j.judge, j.sentence, j.groups, j.ranks, j.item, j.seconds, j.time


@pytest.mark.parametrize("kind", ["rank", "pair"])
def test_ranks_go_to_the_systems_that_wrote_the_outputs(make: Make, kind: str) -> None:
    """A judge who prefers what has more letters: every exported rank must say so."""
    made = make(Design(kind=kind, controls=0), material(40, 5))  # type: ignore[arg-type]
    while isinstance(held := made.store.claim(1), Holding):
        made.clock.now += 1000
        sizes = {
            output["key"]: sum(
                len(text.replace(" ", ""))
                for mark, text in output["segments"]
                if mark in ("same", "ins", "new")
            )
            for output in made.store.task(1, held.assignment).body["outputs"]
        }
        order = sorted({*sizes.values()}, reverse=True)
        answer: Any = {key: 1 + order.index(size) for key, size in sizes.items()}
        if kind == "pair":
            better = [key for key, rank in answer.items() if rank == 1]
            answer = better[0] if len(better) == 1 else "equal"
        made.store.submit(1, held.assignment, SentAnswer(1, answer))
    several = 0
    for judgment in judgments_in(made.database):
        letters = [
            len(made.texts.systems[group[0]][judgment.sentence].replace(" ", ""))
            for group in judgment.groups
        ]
        for a, rank_a in zip(letters, judgment.ranks, strict=True):
            for b, rank_b in zip(letters, judgment.ranks, strict=True):
                assert rank_a is not None
                assert rank_b is not None
                several += a != b
                assert (a > b) == (rank_a < rank_b)
    assert several > 50


def test_the_commands_read_an_export_without_a_warning(make_sqlite: Make, tmp_path: Path) -> None:
    made = finished(make_sqlite(Design(judges=3, repeats=0.1), material(120, 5)))
    path = write(export_lines(made.database, "jsonl"), tmp_path / "x.jsonl")
    for command in (
        ["rank", str(path), "--resamples", "50", "--json"],
        ["agree", str(path), "--json"],
        ["plan", str(path), "--systems", "S0", "S1", "--json"],
    ):
        result = errata(*command)
        assert result.returncode == 0, result.stderr
        assert "warning" not in result.stderr.lower()


def test_the_figures_are_those_of_errata_agree(make_sqlite: Make, tmp_path: Path) -> None:
    made = finished(make_sqlite(Design(judges=2, repeats=0.15), material(120, 5)))
    path = write(export_lines(made.database, "jsonl"), tmp_path / "x.jsonl")
    ours = judge_agreement(judgments_in(made.database))
    theirs = judge_agreement(read_judgments(path))
    np.testing.assert_array_equal(ours.kappa, theirs.kappa)
    assert (ours.counts.diagonal() > 0).all()  # repeats are there, and are compared


def test_checks_and_blocked_judges_are_left_out(make: Make) -> None:
    example = Example("He go .", ("He goes .", "He go go ."), {"worse": 1, "better": 0})
    design = Design(judges=2, controls=0.2, quota=40)
    made = finished(make(design, material(100, 4), examples=(example,)), skips=0)
    details = [json.loads(line) for line in export_lines(made.database, "details")]
    purposes = {each["purpose"] for each in details}
    assert purposes == {"main", "control", "tutorial", "repeat"}
    stored = list(judgments_in(made.database))
    assert len(stored) == sum(each["purpose"] in ("main", "repeat") for each in details)
    assert all(name.startswith("S") for j in stored for group in j.groups for name in group)
    controls = [each for each in details if each["purpose"] == "control"]
    for each in controls:
        damaged = next(o for o in each["outputs"] if o["damaged"])
        assert isinstance(each["passed"], bool)
        ranks = each["revisions"][-1]["answer"]
        assert not each["passed"] or ranks[damaged["key"]] > min(ranks.values())
    plain = [each for each in details if each["purpose"] in ("main", "repeat")]
    assert all("passed" not in each and "expected" not in each for each in plain)
    set_state_of_judge(made.database, "j0", "blocked", now=1)
    assert {j.judge for j in judgments_in(made.database)} == {"j1"}
    assert {j.judge for j in judgments_in(made.database, blocked=True)} == {"j0", "j1"}


def test_details_hold_everything(make: Make) -> None:
    made = make(Design(kind="pair"))
    held = made.store.claim(1)
    assert isinstance(held, Holding)
    made.clock.now += 5000
    for sent in (
        SentAnswer(1, "A", None, "hm", 900, 4000, "2026-01-01T00:00:00Z", {"marks": True}),
        SentAnswer(2, None, "other", "no idea", 99_000),
    ):
        made.store.submit(1, held.assignment, sent)
    (line,) = export_lines(made.database, "details")
    found = json.loads(line)
    assert (found["purpose"], found["policy"], found["state"]) == ("main", "balanced", "skipped")
    assert 0 < found["probability"] <= 1
    assert sorted(found["order"]) == [0, 1]
    first, second = found["revisions"]
    assert (first["answer"], first["comment"], first["active_ms"]) == ("A", "hm", 900)
    assert (first["total_ms"], first["display"]) == (4000, {"marks": True})
    assert (second["skip"], second["flagged"], second["active_ms"]) == ("other", True, 5000)


@pytest.mark.parametrize("beside", [False, True])
def test_scores_are_read_as_ratings(make: Make, beside: bool, tmp_path: Path) -> None:
    scales = tuple(Scale(name, 1, 4) for name in ("grammar", "fluency", "meaning"))
    design = Design(kind="score", scales=scales, side_by_side=beside, judges=2, controls=0)
    made = finished(make(design, material(20, 3)), skips=0)
    rows = [json.loads(line) for line in export_lines(made.database, "scores")]
    path = write(export_lines(made.database, "scores-csv"), tmp_path / "x.csv")
    rated = read_ratings(path)
    assert len(rated.rows) == len(rows) > 20
    for row, each in zip(rows, rated.rows, strict=True):
        assert (each.source, each.output) == (row["source"], row["output"])
        assert list(each.systems) == row["systems"]
        assert list(each.ratings["fluency"]) == row["scales"]["fluency"]["values"]
        assert each.mean("meaning") == pytest.approx(row["scales"]["meaning"]["mean"])
    judged = sum(len(row["scales"]["fluency"]["values"]) for row in rows)
    details = [json.loads(line) for line in export_lines(made.database, "details")]
    assert judged == sum(len(each["outputs"]) for each in details)


def test_side_by_side_scores_go_to_the_right_outputs(make_sqlite: Make) -> None:
    design = Design(kind="score", scales=(Scale("length", 0, 1000),), side_by_side=True, controls=0)
    made = make_sqlite(design, material(15, 4))
    while isinstance(held := made.store.claim(1), Holding):
        body = made.store.task(1, held.assignment).body
        answer = {}
        for output in body["outputs"]:
            kept = [text for kind, text in output["segments"] if kind in ("same", "ins", "new")]
            answer[output["key"]] = {"length": len(" ".join(kept))}
        made.store.submit(1, held.assignment, SentAnswer(1, answer))
    for line in export_lines(made.database, "scores"):
        row = json.loads(line)
        assert set(row["scales"]["length"]["values"]) == {len(row["output"])}


def test_edits_and_what_the_majority_calls_good(make: Make, tmp_path: Path) -> None:
    design = Design(kind="edits", judges=3, overlap=1.0, judges_per_item=3, controls=0, repeats=0)
    made = finished(make(design, material(20, 3)), skips=0)
    rows = [json.loads(line) for line in export_lines(made.database, "edits")]
    assert {row["verdict"] for row in rows} == {"good", "bad", "unsure"}
    path = write(export_lines(made.database, "edits-m2"), tmp_path / "x.m2")
    corpus = read_m2(path)
    good: dict[tuple[int, int, int, str], int] = {}
    for row in rows:
        key = (row["sentence"], row["start"], row["end"], row["replacement"])
        good[key] = good.get(key, 0) + (1 if row["verdict"] == "good" else -1)
    numbers = sorted({row["sentence"] for row in rows})
    assert len(corpus) == len(numbers)
    for number, source, references in zip(numbers, corpus.sources, corpus.references, strict=True):
        assert source == made.texts.sources[number]
        for edit in references[0].edits or ():
            assert good[number, edit.start, edit.end, edit.replacement] > 0
    wanted = {key for key, votes in good.items() if votes > 0}
    written = sum(len(references[0].edits or ()) for references in corpus.references)
    assert 0 < written <= len(wanted)
    result = errata("check", str(path))
    assert result.returncode == 0, result.stderr


def test_corrections_become_parallel_texts(make: Make, tmp_path: Path) -> None:
    design = Design(
        kind="correct", instructions=("minimal", "fluency"), slots=2, judges=4, repeats=0
    )
    texts = material(12, 2)
    made = make(design, texts)
    for judge in made.judges:
        while isinstance(held := made.store.claim(judge.id), Holding):
            body = made.store.task(judge.id, held.assignment).body
            number = texts.sources.index(body["source"])
            answer: dict[str, Any] = {"text": f"{body['source']} {body['instruction']}"}
            sent = SentAnswer(1, {"unchanged": True} if number % 3 == 0 else answer)
            if number == 5 and body["instruction"] == "fluency":
                sent = SentAnswer(1, skip="broken")
            made.store.submit(judge.id, held.assignment, sent)
    files = {name: list(lines()) for name, lines in text_files(made.database, mark="###")}
    assert set(files) == {"minimal.0", "minimal.1", "fluency.0", "fluency.1"}
    for name, lines in files.items():
        assert len(lines) == 12
        word = name.partition(".")[0]
        for number, line in enumerate(lines):
            source = texts.sources[number]
            expected = source if number % 3 == 0 else f"{source} {word}"
            assert line == expected or (number == 5 and line == "###")
            assert number != 5 or word != "fluency" or line == "###"
    paths = [write(lines, tmp_path / f"{name}.txt") for name, lines in sorted(files.items())]
    source = write(texts.sources, tmp_path / "source.txt")
    refs = [word for path in paths for word in ("--refs", str(path))]
    given = ("--source", str(source), *refs, "--missing", "###")
    assert "warning" not in errata("check", *given, str(paths[0])).stderr.lower()
    m2 = tmp_path / "x.m2"
    errata("convert", *given, "-o", str(m2))
    assert len(read_m2(m2)) == 12


def test_a_correction_that_has_no_place_in_a_file_is_said(make_sqlite: Make) -> None:
    """Given back, written by another, and then sent all the same: it is in details alone."""
    made = make_sqlite(Design(kind="correct", judges=2, repeats=0), material(1, 2))
    first, second = (judge.id for judge in made.judges)

    def write_as(judge: int, assignment: int, text: str) -> None:
        made.store.submit(judge, assignment, SentAnswer(1, {"text": text}))

    held = made.store.claim(first)
    assert isinstance(held, Holding)
    made.store.give_back(first, held.assignment)
    other = made.store.claim(second)
    assert isinstance(other, Holding)
    write_as(second, other.assignment, "In time .")
    assert texts_without_room(made.database) == 0
    write_as(first, held.assignment, "Late .")
    assert texts_without_room(made.database) == 1
    (lines,) = (list(lines()) for _, lines in text_files(made.database))
    details = [json.loads(line) for line in export_lines(made.database, "details")]
    assert lines == ["In time ."]
    assert sorted(each["late"] for each in details) == [False, True]
    set_state_of_judge(made.database, "j1", "blocked", now=0)
    assert texts_without_room(made.database) == 0
    assert texts_without_room(made.database, blocked=True) == 1


def test_reviewed_texts_are_the_accepted_or_better_ones(make_sqlite: Make) -> None:
    texts = CampaignTexts(("a b c", "d e f"), {"w0": ("a b C", "d E f")})
    made = make_sqlite(Design(kind="review", overlap=0, repeats=0), texts)
    for answer in ({"accept": True}, {"text": "d e F"}):
        held = made.store.claim(1)
        assert isinstance(held, Holding)
        if made.store.task(1, held.assignment).body["source"] == "a b c":
            answer = {"accept": True}
        else:
            answer = {"text": "d e F"}
        made.store.submit(1, held.assignment, SentAnswer(1, answer))
    ((name, lines),) = text_files(made.database)
    assert (name, list(lines())) == ("reviewed.w0", ["a b C", "d e F"])


def wrote(made: Made, **options: Any) -> dict[tuple[str, int], set[str]]:
    """Who wrote each line of the files; each line is checked to be what the file has."""
    files = {name: list(lines()) for name, lines in text_files(made.database, mark="#", **options)}
    found: dict[tuple[str, int], set[str]] = {}
    for each in writer_lines(made.database, **options):
        assert not each.file or files[each.file][each.sentence] == each.text
        found.setdefault((each.file, each.sentence), set()).add(each.judge)
    return found


def test_every_line_has_its_writer(make: Make) -> None:
    design = Design(
        kind="correct", instructions=("minimal", "fluency"), slots=2, judges=4, repeats=0
    )
    texts = material(12, 2)
    made = make(design, texts)
    expected: dict[tuple[str, int, str], set[str]] = {}
    for judge in made.judges:
        while isinstance(held := made.store.claim(judge.id), Holding):
            body = made.store.task(judge.id, held.assignment).body
            number = texts.sources.index(body["source"])
            text = body["source"] if number % 3 == 0 else f"{body['source']} {judge.name}"
            answer = {"unchanged": True} if number % 3 == 0 else {"text": text}
            made.store.submit(judge.id, held.assignment, SentAnswer(1, answer))
            expected.setdefault((body["instruction"], number, text), set()).add(judge.name)
    found = wrote(made)
    assert set(found) == {
        (f"{name}.{slot}", k)
        for name in design.instructions for slot in (0, 1) for k in range(12)
    }  # fmt: skip
    told: dict[tuple[str, int, str], set[str]] = {}
    for each in writer_lines(made.database):
        key = (each.file.partition(".")[0], each.sentence, each.text)
        told.setdefault(key, set()).add(each.judge)
    assert told == expected
    begun = writer_lines(made.database, begin="new.")
    assert {each.file for each in begun} == {f"new.{file}" for file, _ in found}
    # Whoever is forgotten has no name, and whoever is blocked no line.
    forget_judge(made.database, "j1", now=1)
    set_state_of_judge(made.database, "j2", "blocked", now=1)
    assert {name for names in wrote(made).values() for name in names} == {"j0", "j3"}
    assert {n for names in wrote(made, blocked=True).values() for n in names} == {"j0", "j2", "j3"}


def test_who_wrote_late_is_known_too(make_sqlite: Make) -> None:
    """No file has the line; another may have written the same."""
    made = make_sqlite(Design(kind="correct", judges=2, repeats=0), material(1, 2))
    first = made.store.claim(1)
    assert isinstance(first, Holding)
    made.store.give_back(1, first.assignment)
    other = made.store.claim(2)
    assert isinstance(other, Holding)
    for judge, held in ((2, other), (1, first)):
        made.store.submit(judge, held.assignment, SentAnswer(1, {"text": "The same ."}))
    assert wrote(made) == {("minimal.0", 0): {"j1"}, ("", 0): {"j0"}}


def test_a_reviewed_text_is_by_its_writers_or_by_who_made_it_better(make: Make) -> None:
    texts = material(9, 2, sharing=0)
    texts = texts._replace(systems={"j1": texts.systems["S0"], "x/y": texts.systems["S1"]})
    own = {(k, text): ("ann", "bo")[: 1 + k % 2] for k, text in enumerate(texts.systems["x/y"])}
    design = Design(kind="review", judges=2, overlap=0, repeats=0)
    made = make(design, texts._replace(writers=own))
    for judge in made.judges:
        while isinstance(held := made.store.claim(judge.id), Holding):
            source = made.store.task(judge.id, held.assignment).body["source"]
            better = texts.sources.index(source) % 3 == 0
            answer = {"text": f"{source} better"} if better else {"accept": True}
            made.store.submit(judge.id, held.assignment, SentAnswer(1, answer))
    found = wrote(made)
    assert {file for file, _ in found} == {"reviewed.j1", "reviewed.x_y"}
    for number in range(9):
        better = number % 3 == 0
        # Nobody is called x/y, so it is no writer; all but those of j1 went to the first.
        assert found["reviewed.j1", number] == ({"j0"} if better else {"j1"})
        names = {"ann", "bo"} if number % 2 else {"ann"}
        assert found["reviewed.x_y", number] == ({"j0"} if better else names)


def test_an_archive_holds_all_texts(make_sqlite: Make) -> None:
    texts = material(5, 2, sharing=0)
    texts = texts._replace(systems={"ä/b": texts.systems["S0"], "c": texts.systems["S1"]})
    made = make_sqlite(Design(kind="review", overlap=0, repeats=0), texts)
    while isinstance(held := made.store.claim(1), Holding):
        made.store.submit(1, held.assignment, SentAnswer(1, {"text": "Wörter ."}))
    content = b"".join(parts_of(archived_texts(made.database)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    expected = {name: list(lines()) for name, lines in text_files(made.database)}
    assert set(expected) == {"reviewed.ä_b", "reviewed.c"}
    expected["writers.jsonl"] = list(render_writers(writer_lines(made.database)))
    assert len(expected["writers.jsonl"]) == 10
    assert found == {name: "".join(f"{n}\n" for n in lines) for name, lines in expected.items()}


def test_an_archive_has_each_name_once(make_sqlite: Make) -> None:
    texts = material(5, 2, sharing=0)
    texts = texts._replace(systems={"a/b": texts.systems["S0"], "a_b": texts.systems["S1"]})
    made = make_sqlite(Design(kind="review", overlap=0, repeats=0), texts)
    with pytest.raises(InputError, match=r"two files would be called reviewed\.a_b"):
        archived_texts(made.database)


def test_people_who_finished_get_their_code(make: Make) -> None:
    panel = Panel("prolific", 2, code="C0DE")
    made = make(Design(judges=2, quota=4), words={"panel": panel.to_json()})
    with made.database.writing() as connection:
        connection.execute(
            insert(identities).values(
                judge=1, campaign=1, provider="prolific", external_id="P1", session_digest=""
            )
        )
    for _ in range(4):
        held = made.store.claim(1)
        assert isinstance(held, Holding)
        made.store.submit(1, held.assignment, SentAnswer(1, skip="undecided"))
    rows = list(csv.DictReader(export_lines(made.database, "people")))
    assert [(row["judge"], row["finished"], row["code"]) for row in rows] == [
        ("j0", "yes", "C0DE"),
        ("j1", "no", ""),
    ]


NASTY = ['=1+1 ,"x"', "<b> & </b> ]]>", "a\u202eb 'c'", "@cmd | x", "ünï 𝔘 \u200f"]


def test_nasty_texts_survive(make_sqlite: Make, tmp_path: Path) -> None:
    sources = tuple(f"{words} {k}" for k, words in enumerate(NASTY))
    systems = {name: tuple(f"{s} {name}" for s in sources) for name in ("<A>&", "B'\"")}
    scales = (Scale("fluency", 1, 4),)
    made = make_sqlite(
        Design(kind="score", scales=scales, controls=0, repeats=0), CampaignTexts(sources, systems)
    )
    finished(made, skips=0)
    path = write(export_lines(made.database, "scores-csv", safe_cells=True), tmp_path / "x.csv")
    rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    cells = [cell for row in rows for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    plain = write(export_lines(made.database, "scores-csv"), tmp_path / "y.csv")
    assert {row.source for row in read_ratings(plain).rows} == set(sources)


def test_names_that_a_form_cannot_hold_are_refused(make_sqlite: Make) -> None:
    texts = material(10, 2)
    texts = texts._replace(systems={"my system": texts.systems["S0"], "x": texts.systems["S1"]})
    made = finished(make_sqlite(Design(controls=0), texts), skips=0)
    with pytest.raises(InputError, match="holds a blank or a comma"):
        list(export_lines(made.database, "appraise"))


def test_forms_that_do_not_fit_are_refused(make_sqlite: Make) -> None:
    made = make_sqlite(Design(kind="correct"))
    for form in FORMS_OUT:
        if form in ("details", "people"):
            list(export_lines(made.database, form))  # type: ignore[arg-type]
        else:
            with pytest.raises(InputError, match="use details or people, or texts"):
                export_lines(made.database, form)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no form 'xml'"):
        export_lines(made.database, "xml")  # type: ignore[arg-type]


def test_an_export_takes_no_more_memory_when_there_is_more(make_sqlite: Make) -> None:
    made = finished(make_sqlite(Design(judges=6, overlap=1.0), material(500, 4)), skips=0)

    def most(limit: int) -> int:
        tracemalloc.start()
        lines = export_lines(made.database, "jsonl")
        for _, _line in zip(range(limit), lines, strict=False):
            pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    many = sum(1 for _ in judgments_in(made.database))
    assert many > 900
    assert most(many) < 1.5 * most(501)


def test_judges_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "judges.csv"
    path.write_text("name,quota,provider,external id\nann,10,,\n,5,panel,P1\n", encoding="utf-8")
    ann, other = read_judge_list(path)
    assert (ann.name, ann.quota, ann.external_id) == ("ann", 10, "")
    assert (other.name, other.provider, other.external_id) == ("judge 2", "panel", "P1")
    for content, words in (
        ("", "empty"),
        ("colour\nred\n", "no column name"),
        ("name\n", "no judge below"),
        ("name,quota\nann,many\n", "quota 'many'"),
        ("name,quota\nann,2000000\n", "too large"),
        ("name,quota\nann,1\nann,2\n", "twice"),
        ("name,quota\n,2\n", "without a name"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=words):
            read_judge_list(path)


def test_earlier_judgments_are_counted_for_the_systems_at_hand() -> None:
    earlier = [
        Judgment("j", 0, (("A",), ("B",), ("X",)), (1, 2, 3)),
        Judgment("j", 1, (("B",), ("A",)), (1, 1)),
    ]
    counts = counts_between(compare(earlier), ["B", "C", "A"])
    assert counts.wins[2, 0] == 1
    assert counts.ties[0, 2] == 1
    assert counts.games.sum() == 4


def as_printed(*command: str) -> list[dict[str, Any]]:
    result = errata(*command, "--json")
    assert result.stderr == "", command
    found: list[dict[str, Any]] = json.loads(result.stdout)["tables"]
    return found


@pytest.mark.parametrize(("kind", "outputs"), [("rank", 5), ("rank", 3), ("pair", 2)])
def test_the_page_has_the_numbers_of_the_commands_unrounded(
    make_sqlite: Make, tmp_path: Path, kind: Any, outputs: int
) -> None:
    """Scores, intervals, ranges, clusters, head to head and agreement: equal, digit for digit."""
    design = Design(kind=kind, outputs=outputs, judges=4, repeats=0.1, overlap=0.6)
    made = finished(make_sqlite(design, material(150, 5)))
    set_state_of_judge(made.database, "j3", "blocked", now=1)
    path = str(write(export_lines(made.database, "jsonl"), tmp_path / "x.jsonl"))
    page = Dashboard(made.store)
    page.refresh()
    ranking = json.loads(page.part("ranking")[1])["values"]
    agreement = json.loads(page.part("judges")[1])["values"]
    rank = as_printed("rank", path)
    assert ranking[0]["rows"] == rank[0]["rows"]
    assert {"Expected Wins", "95 % interval", "range", "cluster"} <= {*ranking[0]["rows"][0]}
    assert any(len(str(row["Expected Wins"])) > 10 for row in ranking[0]["rows"])  # not rounded
    pairs = as_printed("rank", path, "--head-to-head")
    assert ranking[1]["rows"] in [table["rows"] for table in pairs]
    agree = {table["name"]: table["rows"] for table in as_printed("agree", path)}
    assert len(agreement) == 3
    for table in agreement:
        assert table["rows"] == agree[table["name"]]
    assert "j3" not in str(agreement)
    as_printed("plan", path, "--systems", "S0", "S1")
    assert errata("check", path).stderr == ""


def test_every_form_of_rankings_gives_the_same_ranking(make_sqlite: Make, tmp_path: Path) -> None:
    made = finished(make_sqlite(Design(kind="pair", judges=2, overlap=0.5), material(120, 4)))
    rows = {}
    forms: tuple[Any, ...] = ("jsonl", "appraise", "pairwise")
    for form in forms:
        path = write(export_lines(made.database, form), tmp_path / f"x.{form}")
        table = as_printed("rank", str(path), "--resamples", "0")[0]
        rows[form] = [(row["system"], row["Expected Wins"]) for row in table["rows"]]
        as_printed("agree", str(path))
    assert rows["jsonl"] == rows["appraise"] == rows["pairwise"]


def test_a_matrix_that_is_too_wide_says_where_it_is(make_sqlite: Make) -> None:
    made = finished(make_sqlite(Design(judges=16, overlap=1.0, quota=20), material(120, 4)))
    page = Dashboard(made.store)
    page.refresh()
    tables = json.loads(page.part("judges")[1])["tables"]
    wide = [table for table in tables if "too wide for a page" in str(table["note"])]
    assert [len(table["rows"]) for table in wide] == [0]
    assert "17 columns" in wide[0]["note"]
    assert "errata agree" in wide[0]["note"]


def edits_campaign(make: Make) -> Made:
    """Two systems change the same word in two ways; both judges call everything good."""
    texts = CampaignTexts(
        ("He go home .", "I likes it ."),
        {"A": ("He goes home .", "I like it ."), "B": ("He went home .", "I like it .")},
    )
    design = Design(kind="edits", judges=2, overlap=1.0, controls=0, repeats=0, judges_per_item=2)
    made = make(design, texts)
    for judge in made.judges:
        while isinstance(held := made.store.claim(judge.id), Holding):
            edits = made.store.task(judge.id, held.assignment).body["edits"]
            verdicts = {edit["key"]: "good" for edit in edits}
            made.store.submit(judge.id, held.assignment, SentAnswer(1, verdicts))
    return made


def test_good_edits_that_are_left_out_are_said(make_sqlite: Make, tmp_path: Path) -> None:
    made = edits_campaign(make_sqlite)
    (left_out,) = edits_left_out(made.database)
    assert left_out == (0, (1, 2, "went"), 2, (1, 2, "goes"))
    corpus = read_m2(write(export_lines(made.database, "edits-m2"), tmp_path / "x.m2"))
    assert [[e.replacement for e in refs[0].edits or ()] for refs in corpus.references] == [
        ["goes"],
        ["like"],
    ]
    page = Dashboard(made.store)
    page.refresh()
    items = json.loads(page.part("items")[1])["tables"]
    (table,) = [each for each in items if "edits-m2 leaves out" in each["title"]]
    assert table["rows"][0]["cells"] == ["0", "1", "2", "went", "2", "goes"]
    place = str(made.database.path)
    said = errata("collect", "export", place, "--form", "edits-m2").stderr
    assert "1 edit called good overlap" in said
    assert "first 1-2 'went' of sentence 1, beside 1-2 'goes'" in said
    set_state_of_judge(made.database, "j0", "blocked", now=1)
    assert [each.votes for each in edits_left_out(made.database)] == [1]
    assert [each.votes for each in edits_left_out(made.database, blocked=True)] == [2]


def test_some_can_be_trained_on_scores(make_sqlite: Make, tmp_path: Path) -> None:
    scales = tuple(Scale(name, 0, 4) for name in ("grammaticality", "fluency", "meaning"))
    design = Design(kind="score", scales=scales, judges=2, controls=0, repeats=0)
    made = finished(make_sqlite(design, material(300, 3)), skips=0)
    path = write(export_lines(made.database, "scores-csv"), tmp_path / "x.csv")
    plan = plan_some(read_ratings(path), Recipe(threads=1))
    assert set(plan.heads) == {"grammer", "fluency", "meaning"}


@pytest.mark.parametrize("form", ["details", "scores", "scores-csv", "edits", "edits-m2"])
def test_blocked_judges_are_left_out_of_every_form(make_sqlite: Make, form: Any) -> None:
    kind: Any = "edits" if "edits" in form else "score"
    made = finished(make_sqlite(Design(kind=kind, judges=1, controls=0), material(20, 3)), skips=0)
    before = list(export_lines(made.database, form))
    set_state_of_judge(made.database, "j0", "blocked", now=1)
    heading = form == "scores-csv"
    assert len(list(export_lines(made.database, form))) == heading
    after = list(export_lines(made.database, form, blocked=True))
    assert len(after) == len(before) > 5


def test_texts_of_blocked_judges_are_left_out(make_sqlite: Make) -> None:
    made = make_sqlite(Design(kind="correct", repeats=0), material(4, 2))
    held = made.store.claim(1)
    assert isinstance(held, Holding)
    made.store.submit(1, held.assignment, SentAnswer(1, {"text": "Better ."}))
    set_state_of_judge(made.database, "j0", "blocked", now=1)
    for blocked in (False, True):
        ((_, lines),) = text_files(made.database, mark="?", blocked=blocked)
        assert sorted(lines()) == ["?"] * 3 + (["Better ."] if blocked else ["?"])


@pytest.mark.parametrize("side_by_side", [True, False])
def test_scores_of_damaged_outputs_are_in_no_export_but_details(
    make_sqlite: Make, side_by_side: bool
) -> None:
    """A damaged copy stands in the place of an output, whose scores are not its own."""
    design = Design(kind="score", judges=2, controls=0.2, side_by_side=side_by_side)
    made = finished(make_sqlite(design, material(40, 3)), skips=0.0)
    details = [json.loads(line) for line in export_lines(made.database, "details")]
    assert sum(each["purpose"] == "control" for each in details) > 2
    given = sum(len(each["outputs"]) for each in details if each["purpose"] in ("main", "repeat"))
    values = [
        value
        for line in export_lines(made.database, "scores")
        for value in json.loads(line)["scales"]["quality"]["values"]
    ]
    assert len(values) == given
