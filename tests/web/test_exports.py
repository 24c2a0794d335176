"""What comes out of a campaign is read by the commands without a warning, and says the same."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaigns import material
from command import errata
from errata.collect.design import FORMS_OUT, Design, Scale
from errata.collect.files import render_writers
from errata.collect.items import CampaignTexts, Example
from errata.collect.web.campaign import read_judge_list
from errata.collect.web.dashboard import Dashboard
from errata.collect.web.exports import (
    export_lines,
    judgments_in,
    omitted_edits,
    parts_of,
    text_files,
    texts_without_room,
    writer_lines,
    zip_texts,
)
from errata.collect.web.judges import forget_judges, set_state_of_judge
from errata.core.errors import InputError
from errata.data import Judgment
from errata.io import read_judgments, read_m2
from errata.io.judgments.sheets import read_ratings
from errata.training.fine_tune import Recipe
from errata.training.sub_metrics import plan_some
from stored_campaigns import Made, Make, answer_to, text_of


def finished(made: Made, seed: int = 0, skips: float = 0.1) -> Made:
    """Every judge works until there is nothing left; some tasks are skipped, some revised."""
    rng = np.random.default_rng(seed)
    design = made.store.campaign().design
    working = {judge.id: made.tasks(judge.id) for judge in made.judges}
    while working:
        judge = list(working)[int(rng.integers(len(working)))]
        task, body = next(working[judge], (0, {}))
        made.clock.now += int(rng.integers(3000, 40_000))
        if not body:
            del working[judge]
        elif rng.random() < skips:
            made.submit(judge, task, active_ms=100)
        else:
            made.submit(judge, task, answer_to(body, design, rng), active_ms=2500)
            if rng.random() < 0.1:
                again = answer_to(body, design, rng)
                made.submit(judge, task, again, revision=2, active_ms=3000, comment="sorry")
    return made


def write(lines: Iterable[str], path: Path) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def exported(made: Made, form: Any, **options: Any) -> list[Any]:
    return [json.loads(line) for line in export_lines(made.database, form, **options)]


def page_part(made: Made, part: Any) -> Any:
    page = Dashboard(made.store)
    page.refresh()
    return json.loads(page.part(part)[1])


def as_printed(*command: str) -> list[dict[str, Any]]:
    result = errata(*command, "--json")
    assert result.stderr == "", command
    found: list[dict[str, Any]] = json.loads(result.stdout)["tables"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rank", "pair"])
def test_rankings_are_read_as_they_were_stored(make: Make, kind: Any, tmp_path: Path) -> None:
    made = finished(make(Design(kind=kind, judges=3, repeats=0.1)))
    stored = list(judgments_in(made.database))
    assert len(stored) > 50
    assert any(judgment.item.endswith("#2") for judgment in stored)
    assert any(all(rank is None for rank in judgment.ranks) for judgment in stored)
    forms: tuple[Any, ...] = ("jsonl", "appraise", "pairwise")
    paths = {f: write(export_lines(made.database, f), tmp_path / f"x.{f}") for f in forms}
    read = {form: list(read_judgments(path)) for form, path in paths.items()}  # no warning
    assert read["jsonl"] == stored

    def plain(j: Judgment) -> tuple[Any, ...]:
        return j.judge, j.sentence, j.groups, j.ranks, j.item, j.seconds, j.time

    assert [plain(j) for j in read["appraise"]] == [plain(j) for j in stored]
    ranked = [(j.judge, j.sentence) for j in stored if None not in j.ranks]
    assert [(j.judge, j.sentence) for j in read["pairwise"]] == ranked


@pytest.mark.parametrize("kind", ["rank", "pair"])
def test_ranks_go_to_the_systems_that_wrote_the_outputs(make: Make, kind: Any) -> None:
    """A judge who prefers what has more letters: every exported rank must say so."""
    made = make(Design(kind=kind, controls=0), material(40, 5))
    for task, body in made.tasks():
        made.clock.now += 1000
        sizes = {o["key"]: len(text_of(o).replace(" ", "")) for o in body["outputs"]}
        order = sorted({*sizes.values()}, reverse=True)
        answer: Any = {key: 1 + order.index(size) for key, size in sizes.items()}
        if kind == "pair":
            better = [key for key, rank in answer.items() if rank == 1]
            answer = better[0] if len(better) == 1 else "equal"
        made.submit(1, task, answer)
    several = 0
    for judgment in judgments_in(made.database):
        systems = [made.texts.systems[group[0]] for group in judgment.groups]
        letters = [len(texts[judgment.sentence].replace(" ", "")) for texts in systems]
        for a, rank_a in zip(letters, judgment.ranks, strict=True):
            for b, rank_b in zip(letters, judgment.ranks, strict=True):
                assert rank_a is not None
                assert rank_b is not None
                several += a != b
                assert (a > b) == (rank_a < rank_b)
    assert several > 50


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "outputs"), [("rank", 4), ("pair", 2)])
def test_page_has_the_numbers(make_sqlite: Make, tmp_path: Path, kind: Any, outputs: int) -> None:
    """Scores, intervals, ranges, clusters, head to head and agreement: equal, digit for digit."""
    design = Design(kind=kind, outputs=outputs, judges=4, repeats=0.1, overlap=0.6)
    made = finished(make_sqlite(design, material(110, 5)))
    set_state_of_judge(made.database, "j3", "blocked")
    path = str(write(export_lines(made.database, "jsonl"), tmp_path / "x.jsonl"))
    ranking = page_part(made, "ranking")["values"]
    agreement = page_part(made, "judges")["values"]
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


def test_checks_and_blocked_judges_are_left_out(make: Make) -> None:
    example = Example("He go .", ("He goes .", "He go go ."), {"worse": 1, "better": 0})
    design = Design(judges=2, controls=0.2, quota=40)
    made = finished(make(design, material(100, 4), examples=(example,)), skips=0)
    details = exported(made, "details")
    assert {each["purpose"] for each in details} == {"main", "control", "tutorial", "repeat"}
    stored = list(judgments_in(made.database))
    plain = [each for each in details if each["purpose"] in ("main", "repeat")]
    assert len(stored) == len(plain)
    assert all(name.startswith("S") for j in stored for group in j.groups for name in group)
    assert all("passed" not in each and "expected" not in each for each in plain)
    for each in details:
        if each["purpose"] == "control":
            damaged = next(o for o in each["outputs"] if o["damaged"])
            assert isinstance(each["passed"], bool)
            ranks = each["revisions"][-1]["answer"]
            assert not each["passed"] or ranks[damaged["key"]] > min(ranks.values())
    columns = page_part(made, "judges")["tables"][0]["columns"]  # without those that are empty
    assert "checks passed" in [column["name"] for column in columns]
    set_state_of_judge(made.database, "j0", "blocked")
    assert {j.judge for j in judgments_in(made.database)} == {"j1"}
    assert {j.judge for j in judgments_in(made.database, blocked=True)} == {"j0", "j1"}


def test_details_hold_everything(make: Make) -> None:
    made = make(Design(kind="pair"))
    task = made.claim()
    made.clock.now += 5000
    first = {"active_ms": 900, "total_ms": 4000, "client_time": "2026-01-01T00:00:00Z"}
    made.submit(1, task, "A", comment="hm", display={"marks": True}, **first)
    made.submit(1, task, revision=2, skip="other", comment="no idea", active_ms=99_000)
    (found,) = exported(made, "details")
    assert (found["purpose"], found["policy"], found["state"]) == ("main", "balanced", "skipped")
    assert 0 < found["probability"] <= 1
    assert sorted(found["order"]) == [0, 1]
    one, two = found["revisions"]
    assert (one["answer"], one["comment"], one["active_ms"]) == ("A", "hm", 900)
    assert (one["total_ms"], one["display"]) == (4000, {"marks": True})
    assert (two["skip"], two["flagged"], two["active_ms"]) == ("other", True, 5000)


def test_page_has_what_was_done_and_said(make_sqlite: Make) -> None:
    made = make_sqlite(Design(kind="pair", judges=1, rate=2000))
    task = made.claim()
    made.clock.now += 50_000
    made.submit(1, task, "A", comment="hm", active_ms=40_100)
    made.submit(1, task, revision=2, skip="other", comment="no idea", active_ms=45_300)
    for answer in ("A", "equal"):
        made.submit(1, made.claim(), answer)
    met = page_part(made, "ranking")["tables"][2]["rows"]
    assert ["|".join(row["cells"]) for row in met] == ["S1||1|1", "S0|1||0", "S3|1|0|"]
    (row,) = page_part(made, "judges")["tables"][0]["rows"]
    *counts, _, _, _, last = row["cells"]
    assert (counts, last) == (["j0", "active", "2", "1", "42.7"], "1970-01-01 00:17:30")
    _, said, parked = page_part(made, "items")["tables"]
    assert [row["cells"][2:] for row in said["rows"]] == [
        ["j0", "other", "no idea"],
        ["j0", "", "hm"],
    ]
    assert parked["rows"] == []
    assert [column["numeric"] for column in said["columns"]] == [True, *[False] * 4]
    figures = [" ".join(row) for row in page_part(made, "status")["figures"]]
    assert figures[:2] == ["Done 2 of 52 4 %", "Last hour 4 answers, changes among them"]
    assert figures[2:4] == [
        "A task takes 43 s median of active time",
        "Still to do 0.6 h of judges",
    ]
    assert figures[4:] == ["Skipped 1 ", "Cost so far 47.44 at 2000 an hour"]


@pytest.mark.parametrize("beside", [False, True])
def test_scores_are_read_as_ratings(make: Make, beside: bool, tmp_path: Path) -> None:
    scales = tuple(Scale(name, 1, 4) for name in ("grammaticality", "fluency", "meaning"))
    design = Design(kind="score", scales=scales, side_by_side=beside, judges=2, controls=0)
    made = finished(make(design, material(20, 3)), skips=0)
    rows = exported(made, "scores")
    rated = read_ratings(write(export_lines(made.database, "scores-csv"), tmp_path / "x.csv"))
    assert len(rated.rows) == len(rows) > 20
    for row, each in zip(rows, rated.rows, strict=True):
        assert (each.source, each.output) == (row["source"], row["output"])
        assert list(each.systems) == row["systems"]
        assert list(each.ratings["fluency"]) == row["scales"]["fluency"]["values"]
        assert each.mean("meaning") == pytest.approx(row["scales"]["meaning"]["mean"])
    judged = sum(len(row["scales"]["fluency"]["values"]) for row in rows)
    assert judged == sum(len(each["outputs"]) for each in exported(made, "details"))
    if not beside:
        assert {*plan_some(rated, Recipe(threads=1)).heads} == {"grammer", "fluency", "meaning"}


def test_side_by_side_scores_go_to_the_right_outputs(make_sqlite: Make) -> None:
    design = Design(kind="score", scales=(Scale("length", 0, 1000),), side_by_side=True, controls=0)
    made = make_sqlite(design, material(15, 4))
    for task, body in made.tasks():
        made.submit(1, task, {o["key"]: {"length": len(text_of(o))} for o in body["outputs"]})
    for row in exported(made, "scores"):
        assert set(row["scales"]["length"]["values"]) == {len(row["output"])}


@pytest.mark.parametrize("side_by_side", [True, False])
def test_damaged_outputs_are_only_in_details(make_sqlite: Make, side_by_side: bool) -> None:
    """A damaged copy replaces an output, and its scores are not those of the output."""
    design = Design(kind="score", judges=2, controls=0.2, side_by_side=side_by_side)
    made = finished(make_sqlite(design, material(40, 3)), skips=0.0)
    details = exported(made, "details")
    assert sum(each["purpose"] == "control" for each in details) > 2
    given = sum(len(each["outputs"]) for each in details if each["purpose"] in ("main", "repeat"))
    scores = exported(made, "scores")
    assert sum(len(each["scales"]["quality"]["values"]) for each in scores) == given


def test_edits_and_what_the_majority_calls_good(make: Make, tmp_path: Path) -> None:
    design = Design(kind="edits", judges=3, overlap=1.0, judges_per_item=3, controls=0, repeats=0)
    made = finished(make(design, material(20, 3)), skips=0)
    rows = exported(made, "edits")
    assert {row["verdict"] for row in rows} == {"good", "bad", "unsure"}
    path = write(export_lines(made.database, "edits-m2"), tmp_path / "x.m2")
    corpus = read_m2(path)
    votes: Counter[tuple[int, int, int, str]] = Counter()
    for row in rows:
        key = (row["sentence"], row["start"], row["end"], row["replacement"])
        votes[key] += 1 if row["verdict"] == "good" else -1
    numbers = sorted({row["sentence"] for row in rows})
    assert len(corpus) == len(numbers)
    written = 0
    for number, source, references in zip(numbers, corpus.sources, corpus.references, strict=True):
        assert source == made.texts.sources[number]
        for edit in references[0].edits or ():
            assert votes[number, edit.start, edit.end, edit.replacement] > 0
            written += 1
    assert 0 < written <= sum(many > 0 for many in votes.values())
    assert errata("check", str(path)).returncode == 0


def test_good_edits_that_overlap_are_reported(make_sqlite: Make, tmp_path: Path) -> None:
    """Two systems change the same word in two ways; both judges call everything good."""
    texts = CampaignTexts(
        ("He go home .", "I likes it ."),
        {"A": ("He goes home .", "I like it ."), "B": ("He went home .", "I like it .")},
    )
    design = Design(kind="edits", judges=2, overlap=1.0, controls=0, repeats=0, judges_per_item=2)
    made = make_sqlite(design, texts)
    for judge in (1, 2):
        for task, body in made.tasks(judge):
            made.submit(judge, task, {edit["key"]: "good" for edit in body["edits"]})
    assert omitted_edits(made.database) == [(0, (1, 2, "went"), 2, (1, 2, "goes"))]
    corpus = read_m2(write(export_lines(made.database, "edits-m2"), tmp_path / "x.m2"))
    replacements = [[e.replacement for e in refs[0].edits or ()] for refs in corpus.references]
    assert replacements == [["goes"], ["like"]]
    items = page_part(made, "items")["tables"]
    (table,) = [each for each in items if "edits-m2 leaves out" in each["title"]]
    assert table["rows"][0]["cells"] == ["0", "1", "2", "went", "2", "goes"]
    told = errata("collect", "export", str(made.database.path), "--form", "edits-m2").stderr
    assert "1 edit called good overlap" in told
    assert "first 1-2 'went' of sentence 1, beside 1-2 'goes'" in told
    set_state_of_judge(made.database, "j0", "blocked")
    assert [each.votes for each in omitted_edits(made.database)] == [1]
    assert [each.votes for each in omitted_edits(made.database, blocked=True)] == [2]


def test_good_edits_with_more_votes_come_first(make_sqlite: Make) -> None:
    """One of three judges doubts the edit that the alphabet puts first."""
    outputs = {"A": ("He goes home .",), "B": ("He went home .",)}
    design = Design(kind="edits", judges=3, overlap=1.0, judges_per_item=3, controls=0, repeats=0)
    made = make_sqlite(design, CampaignTexts(("He go home .",), outputs))
    for judge in (1, 2, 3):
        for task, body in made.tasks(judge):
            doubted = "goes" if judge == 3 else "nothing"
            reply = {e["key"]: "bad" if doubted in str(e) else "good" for e in body["edits"]}
            made.submit(judge, task, reply)
    assert omitted_edits(made.database) == [(0, (1, 2, "goes"), 1, (1, 2, "went"))]


def wrote(made: Made, **options: Any) -> dict[tuple[str, int], set[str]]:
    """Who wrote each line of the files; each line is checked to be what the file has."""
    files = {name: list(lines()) for name, lines in text_files(made.database, mark="#", **options)}
    found: dict[tuple[str, int], set[str]] = {}
    for each in writer_lines(made.database, **options):
        assert not each.file or files[each.file][each.sentence] == each.text
        found.setdefault((each.file, each.sentence), set()).add(each.judge)
    return found


def test_corrections_become_parallel_texts_with_writers(make: Make) -> None:
    kinds: Any = ("minimal", "fluency")
    design = Design(kind="correct", instructions=kinds, slots=2, judges=4, repeats=0)
    texts = material(12, 2)
    made = make(design, texts)
    expected: dict[tuple[str, int, str], set[str]] = {}
    for judge in made.judges:
        for task, body in made.tasks(judge.id):
            number, kind = texts.sources.index(body["source"]), body["instruction"]
            if number == 5 and kind == "fluency":
                made.submit(judge.id, task, skip="broken")
                continue
            # Unchanged, the same by all, or with the name of the writer.
            own = ("", f" {kind}", f" {kind} {judge.name}")[number % 3]
            answer = {"text": body["source"] + own} if own else {"unchanged": True}
            made.submit(judge.id, task, answer)
            expected.setdefault((kind, number, body["source"] + own), set()).add(judge.name)
    files = {name: list(lines()) for name, lines in text_files(made.database, mark="###")}
    assert set(files) == {"minimal.0", "minimal.1", "fluency.0", "fluency.1"}
    for name, lines in files.items():
        kind = name.partition(".")[0]
        assert len(lines) == 12
        for number, line in enumerate(lines):
            missing = line == "###" and number == 5  # some judge has seen it, and skipped it
            assert missing or (kind, number, line) in expected
    assert {files[name][5] for name in ("fluency.0", "fluency.1")} == {"###"}
    found: dict[tuple[str, int, str], set[str]] = {}
    for each in writer_lines(made.database):
        key = (each.file.partition(".")[0], each.sentence, each.text)
        found.setdefault(key, set()).add(each.judge)
    assert found == expected
    begun = {each.file for each in writer_lines(made.database, begin="new.")}
    assert begun == {f"new.{name}" for name in files}
    # A judge who is forgotten has no name, and a blocked judge no line.
    forget_judges(made.database, ["j1"])
    set_state_of_judge(made.database, "j2", "blocked")
    assert {name for names in wrote(made).values() for name in names} == {"j0", "j3"}
    assert {n for names in wrote(made, blocked=True).values() for n in names} == {"j0", "j2", "j3"}


def test_correction_without_a_place_in_a_file_is_counted(make_sqlite: Make) -> None:
    """Given back, written by another, and then sent anyway: it is in details alone."""
    made = make_sqlite(Design(kind="correct", judges=2, repeats=0), material(1, 2))
    held = made.claim(1)
    made.store.give_back(1, held)
    made.submit(2, made.claim(2), {"text": "In time ."})
    assert texts_without_room(made.database) == 0
    made.submit(1, held, {"text": "Late ."})
    assert texts_without_room(made.database) == 1

    def lines(**options: Any) -> list[str]:
        ((_, found),) = text_files(made.database, mark="?", **options)
        return list(found())

    assert lines() == ["In time ."]
    assert wrote(made) == {("minimal.0", 0): {"j1"}, ("", 0): {"j0"}}
    assert sorted(each["late"] for each in exported(made, "details")) == [False, True]
    set_state_of_judge(made.database, "j1", "blocked")
    assert (lines(), lines(blocked=True)) != (["In time ."], ["In time ."])
    assert texts_without_room(made.database) == 0
    assert texts_without_room(made.database, blocked=True) == 1


def test_reviewed_text_is_by_its_writers_or_by_the_reviewer(make: Make) -> None:
    texts = material(9, 2, sharing=0)
    texts = texts._replace(systems={"j1": texts.systems["S0"], "x/y": texts.systems["S1"]})
    own = {(k, text): ("ann", "bo")[: 1 + k % 2] for k, text in enumerate(texts.systems["x/y"])}
    design = Design(kind="review", judges=2, overlap=0, repeats=0)
    made = make(design, texts._replace(writers=own))
    for judge in (1, 2):
        for task, body in made.tasks(judge):
            better = texts.sources.index(body["source"]) % 3 == 0
            answer = {"text": f"{body['source']} better"} if better else {"accept": True}
            made.submit(judge, task, answer)
    found = wrote(made)
    files = {name: list(lines()) for name, lines in text_files(made.database)}
    assert set(files) == {"reviewed.j1", "reviewed.x_y"}
    for number, source in enumerate(texts.sources):
        better = number % 3 == 0
        kept = texts.systems["j1"][number]
        assert files["reviewed.j1"][number] == (f"{source} better" if better else kept)
        # Nobody is called x/y, so it is no writer; all texts but j1's went to the first judge.
        assert found["reviewed.j1", number] == ({"j0"} if better else {"j1"})
        names = {"ann", "bo"} if number % 2 else {"ann"}
        assert found["reviewed.x_y", number] == ({"j0"} if better else names)


def test_archive_holds_all_texts_under_different_names(make_sqlite: Make, tmp_path: Path) -> None:
    texts = material(5, 2, sharing=0)
    texts = texts._replace(systems={"ä/b": texts.systems["S0"], "c": texts.systems["S1"]})
    made = make_sqlite(Design(kind="review", overlap=0, repeats=0), texts)
    for task, _ in made.tasks():
        made.submit(1, task, {"text": "Wörter ."})
    content = b"".join(parts_of(zip_texts(made.database)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    expected = {name: list(lines()) for name, lines in text_files(made.database)}
    assert set(expected) == {"reviewed.ä_b", "reviewed.c"}
    expected["writers.jsonl"] = list(render_writers(writer_lines(made.database)))
    assert len(expected["writers.jsonl"]) == 10
    assert found == {name: "".join(f"{n}\n" for n in lines) for name, lines in expected.items()}


@pytest.mark.parametrize(
    ("names", "form", "problem"),
    [
        (("a/b", "a_b"), None, r"two files would be called reviewed\.a_b"),
        (("my system", "x"), "appraise", "holds a blank or a comma"),
    ],
)
def test_names_that_a_form_cannot_hold_are_refused(
    make_sqlite: Make, names: tuple[str, str], form: Any, problem: str
) -> None:
    texts = material(10, 2, sharing=0)
    texts = texts._replace(systems=dict(zip(names, texts.systems.values(), strict=True)))
    kind: Any = "rank" if form else "review"
    made = finished(make_sqlite(Design(kind=kind, controls=0), texts), skips=0)
    with pytest.raises(InputError, match=problem):
        list(export_lines(made.database, form) if form else zip_texts(made.database))


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


@pytest.mark.parametrize(
    ("kind", "forms"),
    [("score", ("details", "scores", "scores-csv")), ("edits", ("edits", "edits-m2"))],
)
def test_blocked_judges_are_left_out(make_sqlite: Make, kind: Any, forms: tuple[Any, ...]) -> None:
    made = finished(make_sqlite(Design(kind=kind, judges=1, controls=0), material(20, 3)), skips=0)
    before = {form: list(export_lines(made.database, form)) for form in forms}
    set_state_of_judge(made.database, "j0", "blocked")
    for form in forms:
        heading = form == "scores-csv"
        assert len(list(export_lines(made.database, form))) == heading
        after = list(export_lines(made.database, form, blocked=True))
        assert len(after) == len(before[form]) > 5


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
        ("name,quota\nann,many\n", "quota 'many' is no whole number"),
        ("name,quota\nann,2000000\n", "too large"),
        ("name,quota\nann,1\nann,2\n", "twice"),
        ("name,quota\n,2\n", "without a name"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=words):
            read_judge_list(path)
