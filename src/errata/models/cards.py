"""Model cards, training folders, their tables.

A card says on what a model was trained, how, and how well it does on sources it never saw, beside
what the mere length of the output reaches there. It holds no time and no path: the same training on
the same machine writes the same bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite, isnan
from pathlib import Path
from typing import Any, Literal, NamedTuple

from errata import __version__
from errata.core.errors import InputError
from errata.core.stats import Estimate, Interval, plural
from errata.io.atomic import check_writable, may_replace, place_files
from errata.io.files import PathLike, decode, file_error, read_bytes, shown_name
from errata.io.records import Count, RecordReader, decode_json, read_json
from errata.tables.cells import Cell
from errata.tables.table import Table, make_signature

KIND, VERSION = "errata model card", 1
CARD_JSON, CARD_MARKDOWN = "card.json", "card.md"
REDISTRIBUTION = (
    "Weights trained on these data are derived from them. Share the command and where the data "
    "are, not the weights, unless the licences of the data and of the encoder allow it; they must "
    "not be shipped with a package."
)
TrainedMetric = Literal["some", "impara"]
Setting = str | int | float | None


class PartSize(NamedTuple):
    """How many rows (rated outputs, or pairs) and different sources a part of the data has."""

    rows: Count
    sources: Count


@dataclass(frozen=True)
class TrainedOn:
    """The data: a name, its SHA-256, its size, and the licence as far as one is stated."""

    name: str
    sha256: str
    rows: Count
    sources: Count
    licence: str = "not stated"
    citations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Head:
    """One regressor: how it does on the held-out sources, and when it was best.

    ``figure`` says what ``value`` is: r with people's mean ratings, or the share of pairs that are
    ordered rightly. ``length`` is the same figure of minus the number of characters. ``cut`` texts
    (or pairs that are read together) of all parts were longer than the model was let read.
    """

    figure: Literal["pearson", "accuracy"]
    rows: Count
    value: Estimate
    length: Estimate
    spearman: float | None = None
    validation: float | None = None
    step: Count = 0
    steps: Count = 0
    cut: Count = 0  # older cards do not have it


@dataclass(frozen=True)
class GateThreshold:
    """A threshold of IMPARA's gate for the encoder of the card, measured on ``rows`` corrections.

    ``kept`` is the share of them whose cosine with their source lies above the threshold.
    """

    threshold: float
    kept: float
    rows: Count


@dataclass(frozen=True)
class ModelCard:
    """All that is known of a trained model."""

    metric: TrainedMetric
    encoder: str
    data: TrainedOn
    split: Mapping[str, PartSize]
    heads: Mapping[str, Head]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    gate: GateThreshold | None = None
    errata: str = __version__

    @property
    def facts(self) -> tuple[str, ...]:
        """What a metric that uses the model says of it, one line for each head."""
        return tuple(
            f"{name}: {_head_figure(head)} {head.value.value:.3f} on held-out sources "
            f"[{head.value.low:.3f}, {head.value.high:.3f}], the length alone "
            f"{head.length.value:.3f} ({head.rows} rows of {self.data.name})"
            for name, head in self.heads.items()
        )

    @property
    def cuts(self) -> tuple[str, ...]:
        """Of what how much was cut in training, one line for each head that it befell."""
        return tuple(
            f"{name}: {head.cut:,} {plural('text', head.cut)} longer than "
            f"{self.settings.get('max_length')} tokens, cut"
            for name, head in self.heads.items()
            if head.cut
        )


def _head_figure(head: Head) -> str:
    return "r" if head.figure == "pearson" else "accuracy"


def card_files(card: ModelCard) -> dict[str, bytes]:
    """The files of a card by name."""
    data = {"kind": KIND, "version": VERSION, **asdict(card), "warning": REDISTRIBUTION}
    data["split"] = {name: size._asdict() for name, size in card.split.items()}
    data["heads"] = {name: head_data(head) for name, head in card.heads.items()}
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    return {CARD_JSON: text.encode(), CARD_MARKDOWN: _markdown(card).encode()}


def head_data(head: Head) -> dict[str, Any]:
    """Return a head for JSON, with null for NaN."""
    data = asdict(head)
    for key in ("spearman", "validation"):
        data[key] = data[key] if data[key] is not None and isfinite(data[key]) else None
    for key in ("value", "length"):
        data[key] = {
            part: None if isnan(number) else number
            for part, number in getattr(head, key)._asdict().items()
        }
    return data


def _markdown(card: ModelCard) -> str:
    """The card for people."""
    heads = [
        f"| {name} | {_head_figure(h)} | {h.value.value:.3f} "
        f"[{h.value.low:.3f}, {h.value.high:.3f}] | "
        f"{h.length.value:.3f} [{h.length.low:.3f}, {h.length.high:.3f}] | {h.rows:,} | "
        f"{h.step} of {h.steps} |"
        for name, h in card.heads.items()
    ]
    split = [f"| {name} | {size.rows:,} | {size.sources:,} |" for name, size in card.split.items()]
    settings = [f"- {name}: {value}" for name, value in card.settings.items() if value is not None]
    data = card.data
    lines = [
        f"# Model card: {card.metric}",
        "",
        f"Trained by errata {card.errata} from the encoder {card.encoder}.",
        "",
        "## On sources it never saw",
        "",
        "| head | figure | model | minus the length | rows | best after step |",
        "|---|---|---|---|---|---|",
        *heads,
        "",
        "Brackets are 95 % intervals, sources resampled. A head that does not beat the length of",
        "the output has learnt nothing worth using.",
        *(f"- {said}" for said in card.cuts),
        *_gate_lines(card),
        "",
        "## Data",
        "",
        f"{data.name}, {data.rows:,} rows of {data.sources:,} sources, SHA-256 {data.sha256}.",
        f"Licence: {data.licence}.",
        *data.citations,
        *(f"- {note}" for note in data.notes),
        "",
        "| part | rows | sources |",
        "|---|---|---|",
        *split,
        "",
        f"**{REDISTRIBUTION}**",
        "",
        "## Settings",
        "",
        *settings,
        "",
    ]
    return "\n".join(lines)


def _gate_lines(card: ModelCard) -> list[str]:
    if card.gate is None:
        return []
    used = f"similarity={card.settings.get('encoder')}, threshold={card.gate.threshold:g}"
    return [
        "",
        "## Gate",
        "",
        f"With this encoder {card.gate.kept:.1%} of {card.gate.rows:,} corrections of the "
        f"validation part have a cosine with their source above {card.gate.threshold:g}: "
        f"`impara(model=FOLDER, {used})`.",
    ]


def read_model_card(folder: PathLike) -> ModelCard | None:
    """Return the card in a folder of models; None where there is none."""
    path = Path(folder) / CARD_JSON
    if not path.is_file():
        return None
    reader = RecordReader(shown_name(path), remedy="train the model again, or remove the file")
    data = read_json(path, "not a model card", reader.remedy)
    if not isinstance(data, dict) or data.get("kind") != KIND or data.get("version") != VERSION:
        raise reader.error(f"not a model card: it is no {KIND} of version {VERSION}")
    fields = {k: v for k, v in data.items() if k not in ("kind", "version", "warning")}
    return reader.decode(ModelCard, fields)


# ---- The folder that a training writes: finished parts at once, all of it in place together.

UNFINISHED = ".unfinished"
DONE = "head.json"


@dataclass(frozen=True)
class TrainingFolder:
    """Where a trained model goes. Parts are named; '' is the folder itself."""

    path: Path
    parts: tuple[str, ...]

    @classmethod
    def at(cls, path: PathLike, parts: Iterable[str]) -> TrainingFolder:
        """The folder at a path, made if need be; what must not be replaced is refused here."""
        folder = cls(Path(path), tuple(parts))
        found = {path.parent.name for path in folder.path.glob("*/config.json")}
        found |= {""} if (folder.path / "config.json").exists() else set()
        for part in sorted(found - {*folder.parts, UNFINISHED}):
            # The card would be silent on it, and a metric would read it beside the new ones.
            raise InputError(
                f"it holds a model of another training, {part or 'config.json'}",
                path=str(path),
                remedy="give another folder, or remove that one",
            )
        targets = [CARD_JSON, CARD_MARKDOWN, *(f"{p}/config.json" for p in folder.parts)]
        check_writable(*(str(folder.path / name.lstrip("/")) for name in targets))
        try:
            folder.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise file_error("write", error, str(path)) from None
        return folder

    def _unfinished_folder(self, part: str) -> Path:
        return self.path / UNFINISHED / (part or "model")

    def finished(self, part: str, key: str) -> Head | None:
        """The record of a part that an earlier run finished in the same way, or None."""
        try:
            data = decode_json(decode(read_bytes(self._unfinished_folder(part) / DONE), DONE))
            return RecordReader(DONE).decode(Head, data["head"]) if data["key"] == key else None
        except Exception:  # not there, or not whole: it is trained again
            return None

    def start(self, part: str) -> Path:
        """An empty folder for the files of a part."""
        work = self._unfinished_folder(part)
        try:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
        except OSError as error:
            raise file_error("write", error, str(self.path)) from None
        return work

    def finish(self, part: str, key: str, head: Head) -> None:
        """Say that the files of a part are whole."""
        text = json.dumps({"key": key, "head": head_data(head)})
        try:
            (self._unfinished_folder(part) / DONE).write_text(text, encoding="utf-8")
        except OSError as error:
            raise file_error("write", error, str(self.path)) from None

    def put_card(self, card: ModelCard) -> list[Path]:
        """Put all parts in place together with their card; the names of what was written."""
        beside = self._unfinished_folder(".card")
        more = card_files(card)
        try:
            beside.mkdir(parents=True, exist_ok=True)
            for name, data in more.items():
                (beside / name).write_bytes(data)
        except OSError as error:
            raise file_error("write", error, str(self.path)) from None
        ready: dict[Path, Path] = {}
        for part in self.parts:
            work = self._unfinished_folder(part)
            for file in sorted(work.rglob("*")):
                if file.is_file() and file.name != DONE:
                    ready[self.path / part / file.relative_to(work)] = file
        ready |= {self.path / name: beside / name for name in more}
        try:
            for target in ready:
                target.parent.mkdir(parents=True, exist_ok=True)
            place_files(ready, replace=may_replace())
        except OSError as error:
            raise file_error("write", error, str(self.path)) from None
        with contextlib.suppress(OSError):
            shutil.rmtree(self.path / UNFINISHED)
        return list(ready)


def part_digest(**what: object) -> str:
    """The digest of everything that makes a part what it is."""
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


# ---- What was trained, or would be, as tables.


def card_tables(card: ModelCard) -> list[Table]:
    """How every head does on held-out sources, what it learnt from, and how."""
    shown = training_tables(
        card.metric, card.data, card.split, card.heads, {**card.settings, "encoder": card.encoder}
    )
    if card.gate is None:
        return shown
    gate = Table(
        ("threshold", "kept", "corrections"),
        ((card.gate.threshold, card.gate.kept, card.gate.rows),),
        title="The gate of impara, with this encoder",
        name="gate",
        formats={"threshold": ".2f", "kept": ".3f"},
        caption="kept: the share of corrections of the validation part whose cosine with their "
        "source lies above the threshold",
        signature=shown[0].signature,
    )
    return [shown[0], gate, *shown[1:]]


def training_tables(
    metric: str,
    data: TrainedOn,
    split: Mapping[str, PartSize],
    heads: Mapping[str, Head],
    settings: Mapping[str, Setting],
) -> list[Table]:
    """The tables of a card; before the training the heads have no figures of their own."""
    words = [f"{name}={value}" for name, value in settings.items() if value is not None]
    signature = make_signature(
        f"train {metric}({', '.join(words)})", f"data:{data.name}@sha256-{data.sha256[:16]}"
    )
    shown = [
        Table(
            ("part", "rows", "sources"),
            tuple((part, size.rows, size.sources) for part, size in split.items()),
            title=f"{data.name}, split by source",
            name="split",
            caption=f"licence of the data: {data.licence}"
            + "".join(f"\n{note}" for note in data.notes),
            signature=signature,
        ),
        Table(
            ("setting", "value"),
            tuple((name, value) for name, value in settings.items() if value is not None),
            title="How",
            name="settings",
            signature=signature,
        ),
    ]
    return [_head_table(metric, heads, signature), *shown] if heads else shown


def _head_table(metric: str, heads: Mapping[str, Head], signature: str) -> Table:
    figure = "r" if any(head.figure == "pearson" for head in heads.values()) else "accuracy"
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            head.value.value,
            Interval(*head.value[1:]),
            head.spearman,
            head.length.value,
            Interval(*head.length[1:]),
            head.rows,
            head.step or None,
        )
        for name, head in heads.items()
    ]
    columns = (
        *("head", figure, "95 % interval", "ρ", "length", "95 % interval of length"),
        *("rows", "best after step"),
    )
    return Table(
        columns,
        tuple(rows),
        title=f"{metric}, on sources it never saw",
        name="heads",
        formats=dict.fromkeys(columns[1:6], ".3f"),
        caption="length: the same figure of minus the number of characters, which a head must beat",
        signature=signature,
    ).without_empty(figure, "95 % interval", "ρ", "best after step")
