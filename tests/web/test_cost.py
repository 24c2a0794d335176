"""What a request costs, in processor time, which other work on the machine hardly changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from large_campaign import cost_of_requests, large_campaign

REQUEST_MS = 8  # of processor time; what is allowed, some times what is taken


def test_requests_are_cheap(tmp_path: Path) -> None:
    database = large_campaign(tmp_path / "x.db", judgments_=3000, systems=8, judges=40)
    for what, times in cost_of_requests(database, 60).items():
        assert np.median(times) < REQUEST_MS, what
    database.close()
