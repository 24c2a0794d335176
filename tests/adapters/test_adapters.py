"""Errata inside other tools: each adapter end to end, in the real tool, without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from errata.adapters import ADAPTERS, adapter_path
from errata.adapters.promptfoo_assert import get_assert
from errata.core.errors import InputError, MissingExtraError
from errata.datasets import sample_corpus, sample_systems, sample_texts
from errata.datasets.load import sample_file
from errata.scoring.evaluate import evaluate

FEW = 30


def offline(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing can be fetched, and nothing is kept outside a folder."""
    src = str(Path(__file__).parents[2] / "src")
    own = {
        **{f"HF_{name}_OFFLINE": "1" for name in ("HUB", "DATASETS", "EVALUATE")},
        "HF_HOME": str(tmp_path / "hf"),
        "HF_MODULES_CACHE": str(tmp_path / "modules"),
        "HOME": str(tmp_path),
        "PYTHONPATH": src,
        "PYTHONWARNINGS": "ignore",
        "MLFLOW_ALLOW_FILE_STORE": "true",
        **dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    }
    return {**os.environ, **own}


def run(program: str, tmp_path: Path) -> Any:
    """What a program prints last, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=offline(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.long
@pytest.mark.lm
def test_lm_evaluation_harness_gives_the_corpus_score(tmp_path: Path) -> None:
    """A dummy model that answers with a system of the sample; corpus F, and not a mean."""
    pytest.importorskip("lm_eval")
    with sample_file("gold.m2") as gold, sample_file("eager.txt") as output:
        found = run(HARNESS.format(gold=str(gold), output=str(output), limit=None), tmp_path)
        part = run(HARNESS.format(gold=str(gold), output=str(output), limit=FEW), tmp_path)
    corpus = sample_corpus()
    (eager,) = [system for system in sample_systems() if system.system == "eager"]
    for metric in ("m2", "edits", "gleu"):
        scores = evaluate(metric, corpus, eager, resamples=0)
        assert found[f"{metric},none"] == scores["eager"]
        assert scores.sentences is not None
        assert abs(scores.sentences.mean() - scores["eager"]) > 0.001
        fewer = evaluate(metric, corpus[:FEW], eager[:FEW], resamples=0)
        assert part[f"{metric},none"] == fewer["eager"]


HARNESS = """
import json
import lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from errata.adapters import adapter_path

answers = dict(zip(
    [line[2:].rstrip("\\n") for line in open({gold!r}, encoding="utf-8") if line.startswith("S ")],
    open({output!r}, encoding="utf-8").read().splitlines(),
))

class Dummy(LM):
    def generate_until(self, requests):
        asked = [request.args[0].split("Sentence: ")[1].split("\\n")[0] for request in requests]
        return ["  " + answers[sentence] + "  " for sentence in asked]
    def loglikelihood(self, requests): raise NotImplementedError
    def loglikelihood_rolling(self, requests): raise NotImplementedError

manager = TaskManager(
    include_path=str(adapter_path("lm_eval")), include_defaults=False, metadata={{"gold": {gold!r}}}
)
done = lm_eval.simple_evaluate(
    Dummy(), tasks=["errata_gec"], task_manager=manager, limit={limit}, bootstrap_iters=100
)
print(json.dumps(done["results"]["errata_gec"]))
"""


@pytest.mark.long
def test_hugging_face_evaluate_loads_the_module_from_disk(tmp_path: Path) -> None:
    if find_spec("evaluate") is None:
        pytest.skip("needs evaluate")
    corpus, system = sample_texts(), sample_systems()[0]
    data = {
        "sources": list(corpus.sources),
        "predictions": list(system.sentences),
        "references": [[r.text for r in several] for several in corpus.references],
    }
    (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")
    found = run(EVALUATE.format(folder=str(adapter_path("evaluate"))), tmp_path)
    scores = evaluate("gleu", corpus, system, resamples=50)
    assert found["gleu"] == scores[system.system]
    assert found["interval"] == scores.interval()[0].tolist()
    assert found["signature"] == scores.signature


EVALUATE = """
import json
import evaluate
module = evaluate.load({folder!r})
data = json.load(open("data.json", encoding="utf-8"))
print(json.dumps(module.compute(**data, metric="gleu", resamples=50)))
"""


def context(**config: Any) -> dict[str, Any]:
    """What promptfoo gives to a Python assertion beside the output."""
    said = {"source": "He go home .", "references": ["He goes home .", "He went home ."]}
    return {"prompt": "Correct: He go home .", "vars": said, "test": {}, "config": config}


def test_promptfoo_is_given_a_grade() -> None:
    good = get_assert(" He goes  home .\n", context())
    assert (good["pass"], good["score"]) == (True, 1.0)
    assert good["namedScores"] == {"correct": 1, "proposed": 1, "gold": 1}
    bad = get_assert("He go home .", context(threshold=0.8))
    assert (bad["pass"], bad["score"]) == (False, 0.0)
    assert "wanted 0.8" in bad["reason"]
    other = get_assert("He gone home .", context(metric="gleu", threshold=0.1))
    assert other["reason"].startswith("gleu GLEU 0.")
    single = {"vars": {"source": "He go .", "reference": "He goes ."}}
    assert get_assert("He goes .", single)["pass"]
    json.dumps([good, bad, other])


@pytest.mark.slow
def test_mlflow_keeps_numbers_tables_and_signatures(tmp_path: Path) -> None:
    if find_spec("mlflow") is None:
        pytest.skip("needs mlflow-skinny")
    found = run(MLFLOW.format(store=(tmp_path / "store").as_uri()), tmp_path)
    scores = evaluate("m2", sample_corpus(), sample_systems(), resamples=50)
    at = scores.systems.index("eager")
    assert found["metrics"]["m2"] == scores["eager"]
    interval = [found["metrics"][key] for key in ("m2.low", "m2.high")]
    assert interval == scores.interval()[at].tolist()
    assert found["metrics"]["m2.P"] == scores.parts["P"][at]
    assert found["signature"] == scores.signature
    assert found["table"].splitlines()[1].split("\t")[1] == "eager"


MLFLOW = """
import json
import mlflow
from errata.adapters.mlflow_logging import log_scores
from errata.datasets import sample_corpus, sample_systems, sample_texts
from errata.scoring.evaluate import evaluate

mlflow.set_tracking_uri({store!r})
scores = [evaluate(m, sample_corpus(), sample_systems(), resamples=50) for m in ("m2", "gleu(n=2)")]
with mlflow.start_run() as run:
    logged = log_scores(scores, "eager", step=1)
kept = mlflow.get_run(run.info.run_id).data
assert kept.metrics == logged, kept.metrics
table = mlflow.artifacts.load_text(f"{{run.info.artifact_uri}}/errata/m2.tsv")
found = dict(metrics=kept.metrics, signature=kept.tags["errata.signature.m2"], table=table)
print(json.dumps(found))
"""


def test_mlflow_asks_for_one_system_and_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    from errata.adapters.mlflow_logging import log_scores

    scores = evaluate("gleu", sample_corpus(), sample_systems(), resamples=0)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"errata-gec\[mlflow\]"):
        log_scores(scores)
    monkeypatch.setitem(sys.modules, "mlflow", object())
    with pytest.raises(InputError, match="name one of: cautious"):
        log_scores(scores)


def test_adapters_are_found_and_small() -> None:
    places = [adapter_path(name) for name in ADAPTERS]
    assert all(place.exists() for place in places)
    with pytest.raises(InputError, match="known: lm_eval, evaluate, promptfoo"):
        adapter_path("nobody")
    done = subprocess.run(
        [sys.executable, "-m", "errata.adapters", "evaluate"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert done.stdout.strip() == str(adapter_path("evaluate"))
    for file in places[0].parent.rglob("*.*"):
        if file.suffix in (".py", ".yaml"):
            assert len(file.read_text("utf-8").splitlines()) <= 60, file
