"""Plug-ins and metrics of one's own: found, named when they fail, and told apart from ours."""

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from errata.core.errors import DataWarning, ErrataError, InputError, PluginError
from errata.core.registry import origin
from errata.data import Corpus, Hypotheses, Judgment
from errata.human import RANKERS, compare, rank
from errata.human.ranking import ExpectedWins
from errata.metrics import METRICS, parse
from errata.metrics.base import describe_data
from errata.models import open_model
from errata.scoring.evaluate import evaluate
from scored import scored
from toy import Toy

CORPUS = Corpus.from_texts(["He go .", "I am ."], [["He goes .", "I am ."]])
SYSTEMS = [Hypotheses("A", ("He goes .", "I am ."))]


Declare = Callable[..., None]


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Declare:
    def declare(*points: tuple[str, str, Callable[[], object]]) -> None:
        known = [
            SimpleNamespace(
                name=name, dist=SimpleNamespace(name=package), load=load, value="package:Thing"
            )
            for name, package, load in points
        ]
        monkeypatch.setattr("errata.core.registry.entry_points", lambda group: known)

    return declare


def test_a_package_that_comes_later_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed packages are gone through once, and again where a folder has changed."""
    asked = []

    def counted(group: str) -> object:
        asked.append(group)
        return entry_points(group=group)

    monkeypatch.setattr("errata.core.registry.entry_points", counted)
    monkeypatch.syspath_prepend(tmp_path)
    assert "late" not in METRICS.names()
    assert "late" not in METRICS.names()
    assert asked == ["errata.metrics"]
    info = tmp_path / "late-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[errata.metrics]\nlate = toy:Toy\n")
    assert "late" in METRICS.names()


def leave() -> object:
    raise SystemExit(3)


def raises() -> object:
    raise RuntimeError("torch\nis too old")


def test_two_plug_ins_of_one_name_are_an_error(declare: Declare) -> None:
    declare(("toy", "first", lambda: Toy), ("Toy", "second", lambda: Toy))
    with pytest.raises(InputError, match="metric 'toy' is claimed by first and by second; uninst"):
        parse("toy")


def test_one_plug_in_seen_twice_is_one(declare: Declare) -> None:
    declare(("toy", "first", lambda: Toy), ("toy", "first", lambda: Toy))
    assert parse("toy") == Toy()


def test_a_plug_in_that_claims_our_name_is_named(declare: Declare) -> None:
    declare(("m2", "rogue", lambda: Toy))
    with pytest.warns(DataWarning, match="rogue has a metric 'm2' too; Errata's own"):
        assert type(parse("m2")).__module__ == "errata.metrics.m2"


def test_a_plug_in_does_not_sign_as_another(declare: Declare) -> None:
    declare(("better", "rogue", lambda: type("Rogue", (Toy,), {"name": "m2"})))
    with pytest.raises(InputError, match="'better' of rogue calls itself 'm2'; its name and that"):
        parse("better")


@pytest.mark.parametrize(
    ("load", "reason"),
    [(leave, r"it ends the program \(sys.exit\(3\)\)"), (raises, "torch is too old")],
)
@pytest.mark.parametrize("registry", [METRICS, RANKERS])
def test_what_cannot_be_loaded_is_said_in_one_line(
    declare: Declare, registry: Any, load: Callable[[], object], reason: str
) -> None:
    declare(("broken", "fragile", load))
    with pytest.raises(InputError, match=f"'broken' of fragile cannot be loaded.*{reason}") as seen:
        registry.parse("broken")
    assert "\n" not in str(seen.value)


def test_a_language_model_that_cannot_be_opened_is_explained(declare: Declare) -> None:
    def factory(options: object) -> object:
        raise OSError("no weights")

    declare(("broken", "fragile", lambda: factory), ("odd", "strange", lambda: lambda options: 3))
    with pytest.raises(InputError, match="'broken' of fragile cannot be opened: OSError: no wei"):
        open_model("broken")
    with pytest.raises(InputError, match="language model 'odd' of strange opens a int; it must be"):
        open_model("odd")
    declare(("broken", "fragile", leave))
    with pytest.raises(InputError, match="language model 'broken' of fragile cannot be loaded"):
        open_model("broken")


def test_what_is_no_metric_of_a_package_is_refused(declare: Declare) -> None:
    declare(("number", "odd", lambda: 3))
    with pytest.raises(InputError, match="package:Thing of odd is not a metric"):
        parse("number")


def test_names_are_found_in_any_case(declare: Declare) -> None:
    declare()
    assert parse("GLEU") == parse("gleu")
    assert parse("ERRANT(beta=1)") == parse("errant(beta=1)")
    assert RANKERS.parse("Expected_Wins") == RANKERS.parse("expected_wins")


def test_what_is_not_ours_says_so_in_the_signature() -> None:
    found = scored(Toy(), CORPUS, SYSTEMS)
    (said,) = [fact for fact in found.context if fact.startswith("from:")]
    assert said.startswith("from:toy:Toy@")
    assert len(said) == len("from:toy:Toy@") + 12
    ours = scored(parse("gleu"), CORPUS, SYSTEMS)
    assert not any(fact.startswith("from:") for fact in ours.context)


def test_a_plug_in_that_fails_is_named() -> None:
    class Fails(Toy):
        def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Any:
            raise KeyError("x")

    with pytest.raises(PluginError, match=r"toy, which comes from .*test_plugins, failed: Key"):
        evaluate(Fails(), CORPUS, SYSTEMS)


MINE = """
from errata.metrics.base import metric
from toy import Toy

def overlap(source, hypothesis, references, weight=1.0):
    said, wanted = set(hypothesis.split()), [set(r.split()) for r in references]
    return weight * max(len(said & words) / len(said | words) for words in wanted)

def text(source, hypothesis, references):
    return "good"

def huge(source, hypothesis, references):
    return 10**400

def fails(source, hypothesis, references):
    return 1 / 0

def leaves(source, hypothesis, references):
    raise SystemExit(3)

@metric
class Mine(Toy):
    name = "mine"

@metric
class Broken(Mine):
    def count(self, corpus, hypotheses):
        raise KeyError("x")

@metric
class Rogue(Toy):
    name = "M2"

number = 3
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_a_function_is_a_metric(mine: Path) -> None:
    metric = parse(f"{mine}:overlap")
    assert parse(repr(metric)) == metric
    found = scored(metric, CORPUS, SYSTEMS)
    assert found["A"] == 1.0
    assert found.sentences.tolist() == [[1.0, 1.0]]
    assert found.headline == "overlap"
    assert any(fact.startswith("from:mine.py:overlap@") for fact in found.context)
    twice = parse(f"{mine}:overlap(weight=2)")
    assert parse(repr(twice)) == twice
    assert scored(twice, CORPUS, SYSTEMS)["A"] == 2.0


def test_an_edited_function_is_another_metric(tmp_path: Path) -> None:
    facts = set()
    for name, text in (("a", MINE), ("b", MINE + "# changed")):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "mine.py"
        path.write_text(text)
        facts |= set(describe_data(parse(f"{path}:overlap"), CORPUS, SYSTEMS).context)
    assert len(facts) == 2


def test_a_class_of_a_file_is_a_metric(mine: Path) -> None:
    metric = parse(f"{mine}:Mine(weight=2)")
    assert metric.label == "mine(weight=2.0)"
    found = scored(metric, CORPUS, SYSTEMS)
    assert any(fact.startswith("from:mine.py:Mine@") for fact in found.context)


def test_a_module_of_the_current_folder_is_found(mine: Path) -> None:
    mine.rename(mine.with_name("errata_test_module_of_mine.py"))
    assert repr(parse("errata_test_module_of_mine:overlap")) == "errata_test_module_of_mine:overlap"
    assert parse("toy:Toy") == Toy()
    assert parse("errata.metrics.m2:M2(beta=1)") == parse("m2(beta=1)")


@pytest.mark.usefixtures("mine")
def test_what_is_no_metric_is_explained() -> None:
    for text, problem in (
        ("mine.py:Rogue", "mine.py:Rogue calls itself 'M2'"),
        ("mine.py:overlop", "no 'overlop'.*'overlap'"),
        ("mine.py:number", "mine.py:number is not a metric"),
        ("gone.py:f", "gone.py: there is no such file"),
        ("no.such.module:f", "No module named 'no'"),
        ("mine.py:overlap(", "cannot read the metric"),
        ("m2(bta=1)", "'bta'.*'beta'"),
        ("glue", "'glue'.*'gleu'"),
        ("pt-m2(beta=1)", "'pt-m2'.*'pt_m2'"),
        ("cleme2.0", "'cleme2.0'.*'cleme2'"),
        ("scribendi(model=my-model)", "quotes"),
        ("m2(choice=optimum)", "choice='optimum'.*'optimal'"),
    ):
        with pytest.raises(InputError, match=problem):
            parse(text)


@pytest.mark.usefixtures("mine")
def test_a_function_that_fails_is_named() -> None:
    for function, problem in (
        ("text", "mine.py:text .*'good' for 'He goes .'"),
        ("huge", "mine.py:huge gives '100000"),
        ("fails", "mine.py:fails .*'He goes .': ZeroDivisionError"),
        ("leaves", "mine.py:leaves .*'He goes .': SystemExit: 3"),
        ("Broken", "mine.py, failed: KeyError: 'x'"),
    ):
        with pytest.raises(PluginError, match=problem):
            evaluate(parse(f"mine.py:{function}"), CORPUS, SYSTEMS)


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"__repr__": lambda _: "m2(beta=0.5)"}, "which comes from .*, calls itself 'm2"),
        ({"label": "gleu"}, "which comes from .*, calls itself 'gleu'"),
        ({"label": property(lambda _: "gleu(n=3)")}, r"calls itself 'gleu\(n=3\)'"),
        ({"name": "M2"}, "calls itself 'M2', which is a metric of Errata"),
    ],
)
def test_no_plugin_signs_as_another_metric(members: dict[str, Any], problem: str) -> None:
    disguised = type("Toy", (Toy,), {"__module__": __name__, **members})
    with pytest.raises(ErrataError, match=problem):
        evaluate(disguised(), CORPUS, SYSTEMS)


@pytest.mark.parametrize("members", [{}, {"name": "mine", "label": "trueskill"}])
def test_no_plugin_signs_as_another_ranker(members: dict[str, Any]) -> None:
    judgments = [Judgment("ann", i, (("A",), ("B",)), (1, 2)) for i in range(3)]
    disguised = type("Mine", (ExpectedWins,), {"__module__": __name__, **members})
    with pytest.raises(ErrataError, match=r"calls itself '(expected_wins|trueskill)'"):
        rank(disguised(), compare(judgments))


def test_what_is_ours_has_no_origin() -> None:
    assert origin(type(parse("m2"))) == ()


@pytest.mark.parametrize("change", [np.nan, np.inf, 1j, np.ones((3, 1, 1))])
def test_scores_of_a_ranker_are_finite_numbers_one_for_each_system(change: Any) -> None:
    judgments = [Judgment("ann", i, (("A",), ("B",)), (1, 2)) for i in range(3)]

    class Odd(ExpectedWins):
        name = "odd"

        def score(self, counts: Any) -> Any:
            return super().score(counts) + change

    with pytest.raises(PluginError, match=r"odd, which comes from .*: .* for 2 systems"):
        rank(Odd(), compare(judgments), resamples=0)
