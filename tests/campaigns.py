"""Campaigns for tests: texts of made-up systems, and a reader of items that are kept in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from errata.collect.assigning import (
    Candidate,
    CandidateSource,
    Decision,
    Giving,
    Holding,
    JudgeView,
    assign,
)
from errata.collect.design import Design
from errata.collect.items import Built, CampaignTexts
from errata.collect.policies import SystemStrengths

WORDS = ("the", "a", "cat", "dog", "sees", "likes", "goes", "to", "home", "school", "very", "red")


def material(
    sentences: int = 40, systems: int = 5, seed: int = 0, sharing: float = 0.3
) -> CampaignTexts:
    """CampaignTexts in which systems change words at random; some share an output."""
    rng = np.random.default_rng(seed)
    sources, outputs = [], {f"S{k}": list[str]() for k in range(systems)}
    for _ in range(sentences):
        source = rng.choice(WORDS, int(rng.integers(4, 35))).tolist()
        sources.append(" ".join(source))
        before = ""
        for name in outputs:
            words = [w + "s" if rng.random() < 0.2 else w for w in source]
            text = " ".join(words)
            text = before if before and rng.random() < sharing else text
            outputs[name].append(text)
            before = text
    return CampaignTexts(tuple(sources), {name: tuple(texts) for name, texts in outputs.items()})


@dataclass
class Given:
    """An assignment in memory."""

    item: int
    judge: int
    purpose: str
    state: str = "open"


@dataclass
class Memory:
    """A reader that keeps everything in lists: what the store must do, in the plainest words."""

    design: Design
    built: Built
    state: str = "open"
    budget: int | None = None
    items: list[dict[str, object]] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)

    def __post_init__(self) -> None:
        for item in self.built.items:
            self.items.append(
                {
                    "sentence": item.sentence,
                    "purpose": item.purpose,
                    "wanted": item.wanted,
                    "outputs": [o.output for o in item.outputs],
                    "origin": None,
                    "freed": False,
                }
            )

    def of(self, judge: int) -> list[Given]:
        return [each for each in self.given if each.judge == judge]

    def counted(self, item: int) -> int:
        return sum(g.item == item and g.state in ("open", "done") for g in self.given)

    def unseen(self, judge: int, item: int) -> bool:
        mine = {g.item for g in self.of(judge)}
        if item in mine:
            return False
        if self.design.other_outputs:
            seen = {o for i in mine for o in self.items[i]["outputs"]}  # type: ignore[attr-defined]
            return not seen & set(self.items[item]["outputs"])  # type: ignore[call-overload]
        return self.items[item]["sentence"] not in {self.items[i]["sentence"] for i in mine}

    def candidate(self, item: int) -> Candidate:
        groups: tuple[tuple[int, ...], ...] = ()
        outputs = self.items[item]["outputs"]
        assert isinstance(outputs, list)
        if not outputs and self.design.policy == "adaptive":
            names = sorted({n for o in self.built.outputs for n in o.systems})
            groups = tuple(
                tuple(names.index(n) for n in o.systems)
                for o in self.built.outputs
                if o.sentence == self.items[item]["sentence"]
            )
        judges = tuple(g.judge for g in self.given if g.item == item)
        return Candidate(item, len(outputs), judges, groups)

    # -- what a Reader gives
    def campaign_state(self) -> str:
        return self.state

    def judgments_left(self) -> int | None:
        done = sum(g.state in ("open", "done") and g.purpose == "main" for g in self.given)
        return None if self.budget is None else self.budget - done

    def held(self, judge: int) -> Sequence[int]:
        return [k for k, g in enumerate(self.given) if g.judge == judge and g.state == "open"]

    def tutorial(self, judge: int) -> Candidate | None:
        return self._first(judge, "tutorial")

    def control(self, judge: int) -> Candidate | None:
        return self._first(judge, "control")

    def _first(self, judge: int, purpose: str) -> Candidate | None:
        for k, item in enumerate(self.items):
            if item["purpose"] == purpose and self.unseen(judge, k):
                return self.candidate(k)
        return None

    def repeatable(self, judge: int, distance: int) -> Candidate | None:
        mine = [g for g in self.of(judge) if g.purpose != "tutorial"]
        origins = {self.items[g.item]["origin"] for g in mine}
        for place, g in enumerate(mine):
            if place > len(mine) - distance:
                return None
            if g.purpose == "main" and g.state == "done" and g.item not in origins:
                return self.candidate(g.item)
        return None

    def candidates(self, judge: int, source: CandidateSource, limit: int) -> Sequence[Candidate]:
        found = []
        for k, item in enumerate(self.items):
            wanted = item["wanted"]
            count = self.counted(k)
            if item["purpose"] != "main" or not isinstance(wanted, int) or count >= wanted:
                continue
            fits = {"freed": bool(item["freed"]), "begun": count > 0, "fresh": count == 0}
            if fits[source] and self.unseen(judge, k):
                found.append(self.candidate(k))
        return found[:limit]

    def shared(self, judge: int) -> Mapping[int, int]:
        mine = {g.item for g in self.of(judge)}
        return Counter(g.judge for g in self.given if g.item in mine and g.judge != judge)

    # -- what the store does with a decision
    def claim(
        self,
        judge: int,
        rng: np.random.Generator,
        quota: int | None = None,
        standing: SystemStrengths | None = None,
    ) -> Decision:
        mine = [g for g in self.of(judge) if g.purpose != "tutorial"]
        view = JudgeView(judge, f"j{judge}", "active", quota, len(mine), len(self.held(judge)))
        found = assign(self, self.design, view, rng, standing=standing)
        if isinstance(found, Giving):
            self.give(judge, found)
        elif isinstance(found, Holding):
            assert self.given[found.assignment].judge == judge
        return found

    def give(self, judge: int, giving: Giving) -> None:
        item = giving.item
        if giving.purpose == "repeat":
            self.items.append(self.items[item] | {"purpose": "repeat", "wanted": 1, "origin": item})
            item = len(self.items) - 1
        if giving.chosen:
            base = next(
                k
                for k, o in enumerate(self.built.outputs)
                if o.sentence == self.items[item]["sentence"]
            )
            self.items[item]["outputs"] = [base + k for k in giving.chosen]
        self.items[item]["freed"] = False
        self.given.append(Given(item, judge, giving.purpose))

    def end(self, judge: int, state: str) -> None:
        """Answer, skip, give back, or let expire what the judge holds."""
        for each in self.of(judge):
            if each.state == "open":
                each.state = state
                if state != "done":
                    self.items[each.item]["freed"] = True
