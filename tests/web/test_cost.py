"""What a request costs, in processor time, which other work on the machine hardly changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from large_campaign import cost_of_requests, large_campaign

REQUEST_MS, CLAIM_MS = 8, 15  # of processor time; what is allowed, some times what is taken


def test_requests_are_cheap(tmp_path: Path) -> None:
    database = large_campaign(tmp_path / "x.db", judgments_=3000, systems=8, judges=40)
    for what, times in cost_of_requests(database, 60).items():
        assert np.median(times) < REQUEST_MS, what
    database.close()


@pytest.mark.slow
@pytest.mark.load
def test_claims_are_cheap_after_100_000_judgments(tmp_path: Path) -> None:
    database = large_campaign(tmp_path / "x.db")
    found = cost_of_requests(database)
    assert np.quantile(found["claim"], 0.95) < CLAIM_MS
    assert np.median(found["claim"]) < REQUEST_MS
    for what in ("task", "submit"):
        assert np.quantile(found[what], 0.95) < REQUEST_MS, what
    database.close()
