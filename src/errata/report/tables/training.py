"""What was trained, or would be, as tables."""

from __future__ import annotations

from collections.abc import Mapping

from errata.io.model_cards import Head, ModelCard, PartSize, Setting, TrainedOn
from errata.numbers import Interval
from errata.report.table import Cell, Table, signed

__all__ = ["card_tables", "training_tables"]


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
    signature = signed(
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
    return [_heads(metric, heads, signature), *shown] if heads else shown


def _heads(metric: str, heads: Mapping[str, Head], signature: str) -> Table:
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
    table = Table(
        columns,
        tuple(rows),
        title=f"{metric}, on sources it never saw",
        name="heads",
        formats=dict.fromkeys(columns[1:6], ".3f"),
        caption="length: the same figure of minus the number of characters, which a head must beat",
        signature=signature,
    )
    for column in (figure, "95 % interval", "ρ", "best after step"):
        table = table.without_empty(column)
    return table
