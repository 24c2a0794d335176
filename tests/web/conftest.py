"""Campaigns in SQLite; the long tier repeats them in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import postgres
from errata.collect.design import Design
from errata.collect.items import CampaignTexts
from served import Server, served
from stored_campaigns import Made, Make, made

NUMBERS = count(1)


@pytest.fixture(scope="session")
def cluster() -> Iterator[postgres.Cluster]:
    """One PostgreSQL server for all tests of a process."""
    if postgres.why_not():
        pytest.skip(postgres.why_not())
    # Nothing but the program itself cleans up: tests look into the files.
    with postgres.cluster("-c autovacuum=off") as running:
        yield running


@pytest.fixture
def postgres_place(cluster: postgres.Cluster) -> Iterator[str]:
    name = f"t{next(NUMBERS)}"
    yield cluster.new_database(name)
    cluster.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.long])]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new database can be made; see `BOTH_DATABASES`."""
    if request.param == "sqlite":
        return str(tmp_path / "campaign.db")
    return str(request.getfixturevalue("postgres_place"))


def _making(place: str) -> Iterator[Make]:
    several: list[Made] = []

    def new(design: Design, texts: CampaignTexts | None = None, **options: Any) -> Made:
        several.append(made(place, design, texts, **options))
        return several[-1]

    yield new
    for each in several:
        each.database.close()


@pytest.fixture
def make(place: str) -> Iterator[Make]:
    """Make a campaign in SQLite, and in PostgreSQL in the long tier; close it in the end."""
    yield from _making(place)


@pytest.fixture
def make_sqlite(tmp_path: Path) -> Iterator[Make]:
    yield from _making(str(tmp_path / "campaign.db"))


@pytest.fixture
def campaign(make_sqlite: Make) -> Made:
    return make_sqlite(Design(judges=2, quota=12))


@pytest.fixture
def server(campaign: Made) -> Iterator[Server]:
    with served(str(campaign.database.path)) as running:
        yield running
