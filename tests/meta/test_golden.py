"""Williams' test and the sentence-level conventions against figures of other implementations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from errata.meta.pairwise import CONVENTIONS
from errata.meta.significance import williams

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "meta.json").read_text(encoding="utf-8")
)
NAMES = {
    "noties": "noties",
    "hties": "hties",
    "wmt13": "tau_wmt13_dropmetricties",
    "wmt14": "wmt14",
    "tau_b": "tau_b_pairs",
    "accuracy": "acc_eq",
}


@pytest.mark.parametrize(
    "row",
    GOLDEN["williams"],
    ids=lambda r: "-".join(map(str, (r["human"], r["corr"], r["higher"], r["lower"], r["n"]))),
)
def test_williams(row: dict[str, Any]) -> None:
    result = williams(row["r12"], row["r13"], row["r23"], row["n"])
    assert result.t == pytest.approx(row["t"], rel=1e-12)
    assert result.p == pytest.approx(row["one_sided_p"], rel=1e-10)


@pytest.mark.parametrize("name", GOLDEN["sentences"])
def test_conventions(name: str) -> None:
    case = GOLDEN["sentences"][name]
    signs = (-1, 0, 1)
    table = np.array([[float(case["confusion"][f"{h},{m}"]) for m in signs] for h in signs])
    for ours, theirs in NAMES.items():
        assert float(CONVENTIONS[ours](table)) == pytest.approx(case[theirs], rel=1e-12), ours
