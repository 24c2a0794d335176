"""Codabench bundle.

The bundle is a ZIP archive with ``competition.yaml``, the test sets as reference data, the sources
as public data, and a scoring program that reads ``input/ref`` and ``input/res`` and writes
``output/scores.json`` (https://docs.codabench.org, "Yaml Structure").
The reference data are a board of their own, so that what scores here scores there.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources.abc import Traversable
from pathlib import Path

from errata import __version__
from errata.core.errors import DISTRIBUTION, InputError
from errata.datasets.evaluation_sets import read_evaluation_set
from errata.io.files import read_bytes
from errata.io.outputs import read_hypotheses
from errata.leaderboard.files import OUTPUTS, Board, read_board
from errata.metrics import parse
from errata.scoring.evaluate import evaluate
from errata.tables.html_table import package_text, render_template

NOT_CARRIED = (".so", ".pyd", ".c", ".pyc")


def build_own_wheel() -> tuple[str, dict[str, bytes]]:
    """Return the file name of the wheel and its files, in order."""
    stem = f"{DISTRIBUTION.replace('-', '_')}-{__version__}"
    wheel = "Wheel-Version: 1.0\nGenerator: errata\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    carried = _package_files(resources.files("errata"), "errata")
    # Return the metadata of the installed distribution, which name what it depends on.
    try:
        found = distribution(DISTRIBUTION)
        text = found.read_text("METADATA") or found.read_text("PKG-INFO")  # of a source tree
    except PackageNotFoundError:
        text = None
    if text is None:
        problem = f"{DISTRIBUTION} is not installed as a package, so a bundle cannot carry it"
        remedy = "run pip install on the checkout (make demo does), then try again"
        raise InputError(problem, remedy=remedy)
    carried[f"{stem}.dist-info/METADATA"] = text.encode("utf-8")
    carried[f"{stem}.dist-info/WHEEL"] = wheel.encode()
    record = [f"{name},{_record_digest(data)},{len(data)}" for name, data in carried.items()]
    record.append(f"{stem}.dist-info/RECORD,,")
    carried[f"{stem}.dist-info/RECORD"] = ("\n".join(record) + "\n").encode()
    return f"{stem}-py3-none-any.whl", carried


def _package_files(folder: Traversable, name: str) -> dict[str, bytes]:
    """Return the contents of all files of a package by their path, sorted."""
    found: dict[str, bytes] = {}
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__":
                found |= _package_files(entry, path)
        elif not entry.name.endswith(NOT_CARRIED):
            found[path] = entry.read_bytes()
    return found


def _record_digest(data: bytes) -> str:
    """Return a digest as RECORD wants it."""
    encoded = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return "sha256=" + encoded.rstrip(b"=").decode()


HERE = "errata.leaderboard"
DOCKER_IMAGE = "python:3.12"
START = "2026-01-01 00:00"
WHEN = (1980, 1, 1, 0, 0, 0)  # of every file in an archive: the same board, the same bytes


def codabench_bundle(board: Board) -> bytes:
    """Return the bundle of a board: the same bytes every time for the same files."""
    sets = [each.title for each in board.sets]
    given = board.codabench
    columns = [
        (_column_key(board, s, m), _column_title(board, s, m)) for s in sets for m in board.metrics
    ]
    about = given.get("description") or board.about or board.title
    competition = render_template(
        HERE,
        "templates/competition.yaml.j2",
        version=__version__,
        title=board.title,
        description=about,
        docker_image=given.get("docker_image", DOCKER_IMAGE),
        start=given.get("start", START),
        end=given.get("end", ""),
        sets=sets,
        columns=columns,
    )
    reference, sources = _reference_data(board)
    wheel, wheel_files = build_own_wheel()
    program = {
        "metadata.yaml": b"command: python3 /app/program/scoring.py /app/input /app/output\n",
        "scoring.py": package_text(HERE, "scoring_program.py").encode(),
        wheel: _zip_files(wheel_files),
    }
    return _zip_files(
        {
            "competition.yaml": competition.encode("utf-8"),
            "logo.png": (resources.files(HERE) / "templates/logo.png").read_bytes(),
            "overview.md": f"# {board.title}\n\n{about}\n".encode(),
            "submission.md": _submission_text(sets).encode(),
            "terms.md": f"{given.get('terms', 'No further terms.')}\n".encode(),
            "reference_data.zip": _zip_files(reference),
            "public_data.zip": _zip_files(sources),
            "scoring_program.zip": _zip_files(program),
        }
    )


def score_mounted_submission(reference: Path, result: Path) -> dict[str, float]:
    """Return the scores of a submission in ``result`` by the board in ``reference``, by column.

    A submission is ``output.txt``, or ``SET.txt`` for each test set; if one is missing or does not
    fit, all are refused.
    """
    board = read_board(reference)
    scores = {}
    for files in board.sets:
        corpus = read_evaluation_set(replace(files, tokens=board.tokens)).corpus
        stems = [files.title, *(["output"] if len(board.sets) == 1 else [])]
        names = [f"{stem}{ending}" for stem in stems for ending in OUTPUTS]
        output = next((result / name for name in names if (result / name).is_file()), None)
        if output is None:
            there = ", ".join(sorted(path.name for path in result.iterdir())[:8]) or "nothing"
            problem = f"there is no output on {files.title}: the submission has {there}"
            remedy = f"put {' or '.join(names[::2])} into the archive, not in a folder"
            raise InputError(problem, remedy=remedy)
        hypotheses = read_hypotheses(str(output), name="submission", corpus=corpus)
        for text in board.metrics:
            found = evaluate(text, corpus, hypotheses, resamples=0)
            scores[_column_key(board, files.title, text)] = found["submission"]
    return scores


def _column_key(board: Board, set_name: str, metric: str) -> str:
    """Return the key of a column: letters, digits and underscores."""
    label = parse(metric).label
    whole = label if len(board.sets) == 1 else f"{set_name} {label}"
    return re.sub(r"[^A-Za-z0-9]+", "_", whole).strip("_")


def _column_title(board: Board, set_name: str, metric: str) -> str:
    label = parse(metric).label
    return label if len(board.sets) == 1 else f"{set_name}, {label}"


def _reference_data(board: Board) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return a board with its files beside it, and the sources for those who take part."""
    lines = [
        f"title = {_toml_string(board.title)}",
        f"metrics = [{', '.join(map(_toml_string, board.metrics))}]",
        f"tokens = {_toml_string(board.tokens)}",
    ]
    reference: dict[str, bytes] = {}
    sources: dict[str, bytes] = {}
    for k, files in enumerate(board.sets):
        if files.skipped is not None:
            problem = f"{files.title} leaves sentences out, which a bundle cannot do"
            remedy = "write the test set without them (errata convert --skip-sentences)"
            raise InputError(problem, path=board.toml_path, remedy=remedy)
        named = {"gold": files.gold} if files.gold else {"source": files.source}
        lines.append(f"[sets.{_toml_string(files.title)}]")
        for role, path in named.items():
            if path is not None:
                ending = "m2" if role == "gold" else "txt"
                reference[f"set{k}/{role}.{ending}"] = read_bytes(str(path))
                lines.append(f"{role} = {_toml_string(f'set{k}/{role}.{ending}')}")
        if not files.gold:
            texts = [f"set{k}/ref{n}.txt" for n in range(len(files.references))]
            for text, path in zip(texts, files.references, strict=True):
                reference[text] = read_bytes(str(path))
            lines.append(f"references = [{', '.join(map(_toml_string, texts))}]")
        corpus = read_evaluation_set(files).corpus
        sources[f"{files.title}.txt"] = "".join(f"{s}\n" for s in corpus.sources).encode("utf-8")
    reference["board.toml"] = ("\n".join(lines) + "\n").encode("utf-8")
    return reference, sources


def _toml_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _submission_text(sets: list[str]) -> str:
    files = ["output.txt"] if len(sets) == 1 else [f"{name}.txt" for name in sets]
    return (
        f"# Take part\n\nSubmit a ZIP archive with {', '.join(f'`{file}`' for file in files)}, not "
        "in a folder: one corrected sentence a line, in the order of the public data.\n"
    )


def _zip_files(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return stream.getvalue()
