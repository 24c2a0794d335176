"""Campaigns in both kinds of databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import postgres
from errata.collect.design import Design
from errata.collect.items import CampaignTexts
from served import Server, served
from stored_campaigns import Made, Make, made


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    if postgres.why_not():
        pytest.skip(postgres.why_not())
    with postgres.server() as address:
        yield address


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a new database can be made."""
    if request.param == "sqlite":
        yield str(tmp_path / "campaign.db")
        return
    import psycopg

    address = request.getfixturevalue("postgres_server")
    name = f"t{abs(hash(request.node.nodeid)):x}"
    with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield f"{address}/{name}"
    with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def making(place: str) -> Iterator[Make]:
    """Makes campaigns at a place, and closes them."""
    several: list[Made] = []

    def new(design: Design, texts: CampaignTexts | None = None, **options: Any) -> Made:
        several.append(made(place, design, texts, **options))
        return several[-1]

    yield new
    for each in several:
        each.database.close()


@pytest.fixture
def make(place: str) -> Iterator[Make]:
    """Makes a campaign in either database."""
    with making(place) as new:
        yield new


@pytest.fixture
def make_sqlite(tmp_path: Path) -> Iterator[Make]:
    """Makes a campaign in a SQLite file."""
    with making(str(tmp_path / "campaign.db")) as new:
        yield new


@pytest.fixture
def campaign(make_sqlite: Make) -> Made:
    """A small campaign in a SQLite file."""
    return make_sqlite(Design(judges=2, quota=12))


@pytest.fixture
def server(campaign: Made) -> Iterator[Server]:
    """The small campaign, served."""
    with served(str(campaign.database.path)) as running:
        yield running
