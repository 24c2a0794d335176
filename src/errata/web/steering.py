"""What a campaign learns while it runs: strengths for ``adaptive`` pairs, and stop rules.

Both are worked out in the background. Stop rules are looked at only after the numbers of judgments
that were fixed beforehand; each look and what it found is an event, so that none is made twice. A
campaign whose rules are all met is paused, and the organiser decides.
"""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from errata.collect.budget import look_at, looks_of
from errata.collect.policies import AFTER, standing_of
from errata.errors import InputError
from errata.human import DEFAULT_RANKER, parse_ranker
from errata.human.comparisons import Comparisons
from errata.human.counts import Counts
from errata.web.events import record
from errata.web.gathering import GatheredJudgments
from errata.web.imports import counts_between, kept_earlier
from errata.web.people import change_state
from errata.web.progress import budgeted, main_answers
from errata.web.schema import campaigns, events
from errata.web.store import Store

__all__ = ["Steering"]


class Steering:
    """Renews what claims know of the systems, and looks at stop rules when a look is due."""

    def __init__(self, store: Store, gathered: GatheredJudgments | None = None) -> None:
        self.store = store
        self.gathered = GatheredJudgments(store.database) if gathered is None else gathered
        self._counted = -AFTER

    def steer(self) -> None:
        """Do what is due; cheap where nothing is."""
        campaign = self.store.campaign()
        if campaign.design.policy == "adaptive":
            self.renew_strengths()
        if campaign.design.until and campaign.state == "open":
            self.look()

    def renew_strengths(self) -> bool:
        """Strengths of the systems anew after every 25 judgments; says whether it was time."""
        with self.store.database.reading() as connection:
            done, earlier = main_answers(connection), kept_earlier(connection)
        if done - self._counted < AFTER:
            return False
        systems = self.store.campaign().systems
        counts = counts_between(self.gathered.compared(), systems)
        if earlier is not None:  # started from, and not merged: nothing else sees them
            counts = Counts(counts.wins + earlier.wins, counts.ties + earlier.ties)
        self.store.strengths = standing_of(counts)
        self._counted = done
        return True

    def look(self) -> bool:
        """Look at the stop rules if a look is due; says whether one was."""
        design = self.store.campaign().design
        with self.store.database.reading() as connection:
            done, wanted = main_answers(connection), budgeted(connection)
            made = _looks_made(connection)
        due = sum(done >= at for at in looks_of(design, wanted))
        if made >= due:
            return False
        said, met = self._evaluated(self.gathered.compared())
        now = self.store.wall()
        with self.store.database.writing() as connection:
            connection.execute(select(campaigns.c.id).with_for_update())  # one process looks
            if _looks_made(connection) != made:
                return False
            for _ in range(due - made):  # looks that fell together are one, and count as all
                record(connection, now, "rule", "look", judgments=done, met=met, said=said)
        if met:
            change_state(self.store.database, "paused", now=now)
        return True

    def _evaluated(self, judged: Comparisons) -> tuple[list[str], bool]:
        design = self.store.campaign().design
        try:
            found = look_at(design, judged, parse_ranker(DEFAULT_RANKER))
        except (InputError, ValueError) as error:  # too little to resample, or a system unmet
            return [str(error)], False
        return [look.found for look in found], all(look.met for look in found)


def _looks_made(connection: Connection) -> int:
    made = select(func.count()).where(events.c.kind == "look")
    return int(connection.execute(made).scalar_one())
