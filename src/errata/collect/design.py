"""Settings of a campaign, panels, export forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import quote, urlsplit

from errata.core.errors import InputError
from errata.io.records import ListOfOne, RecordReader, Texts

Kind = Literal["rank", "pair", "score", "edits", "correct", "review"]
Sampling = Literal["all", "uniform", "wmt", "strata"]
Policy = Literal["balanced", "random", "adaptive"]
Purpose = Literal["main", "repeat", "control", "tutorial"]
Instruction = Literal["minimal", "fluency"]
Allotment = Literal["proportional", "equal"]

FEWEST_OUTPUTS = 2
MOST_OUTPUTS = 9  # of an item; keys and ranks are single digits
LARGEST_NUMBER = 1_000_000  # of tasks, judges, hours...: more is a slip, and no database counts on
WRITING: tuple[Kind, ...] = ("correct", "review")
COMPARING: tuple[Kind, ...] = ("rank", "pair")  # kinds that need two different outputs
_BLOCK = re.compile(r"(\d+) of (\d+)")
_UNTIL = re.compile(r"clusters=([1-9]\d*)|([^>]+?)\s*>\s*([^>]+)")


@dataclass(frozen=True)
class Scale:
    """One scale of a ``score`` task: whole numbers from ``low`` to ``high``, words at the ends."""

    name: str
    low: int = 0
    high: int = 100
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\w[\w -]{0,39}", self.name):
            raise InputError(
                f"scale {self.name!r} has no proper name", remedy="use letters, digits and blanks"
            )
        if not self.low < self.high:
            raise InputError(
                f"scale {self.name} goes from {self.low} to {self.high}",
                remedy="let the second be larger",
            )


@dataclass(frozen=True)
class Design:
    """The settings of a campaign: its question, sentences, outputs, judges and checks.

    Shares are between 0 and 1. ``sentences`` is ``wmt`` for ``rank`` and ``all`` for other kinds
    unless said; ``sample`` is how many items are drawn at most. ``overlap`` of the items are judged
    by ``judges_per_item`` judges. A judge sees a sentence once, or its ``other_outputs`` too (as is
    usual where a task shows one). ``repeats`` and ``controls`` are shares of a judge's tasks
    (no controls where texts are written). ``quota`` is how many tasks a judge gets, checks
    included; ``rankings``, ``hours`` or ``money`` (at ``rate`` an hour) bound the campaign.
    ``seconds`` is how long a task takes, where nothing is published of its kind.
    ``show_reference`` shows a reference beside the source (as Napoles et al. 2015 did).
    ``pass_mark`` is the share of a tutorial that must be right to go on, in ``attempts`` attempts
    (0: it is a tutorial alone).
    ``until`` are stop rules (``A>B``, ``clusters=3``) for ``looks`` looks at ``alpha`` in all.

    >>> Design(kind="pair").outputs, Design().sampling, Design(kind="score").sampling
    (2, 'wmt', 'all')
    """

    kind: Kind = "rank"
    outputs: int = 0
    sentences: Literal["", Sampling] = ""
    sample: int | None = None
    strata: Allotment = "proportional"
    overlap: float = 0.25
    judges_per_item: int = 2
    repeats: float = 0.05
    controls: float = 0.05
    distance: int = 20
    margin: int | None = None
    block: str = ""
    policy: Policy = "balanced"
    other_outputs: bool | None = None
    judges: int = 1
    quota: int | None = None
    rankings: int | None = None
    hours: float | None = None
    money: float | None = None
    rate: float | None = None
    seconds: float | None = None
    until: Texts = ()
    looks: int = 4
    alpha: float = 0.05
    scales: tuple[Scale, ...] = ()
    side_by_side: bool = False
    instructions: Annotated[tuple[Instruction, ...], ListOfOne] = ()
    slots: int = 1
    marks: bool = True
    marks_may_change: bool = True
    context: int = 1
    attempts: int = 2
    pass_mark: float = 0.0
    blind: bool = False
    lease: int = 30 * 60
    reference_is_system: bool = False
    show_reference: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.outputs == 0:
            object.__setattr__(self, "outputs", 2 if self.kind == "pair" else 5)
        if self.other_outputs is None:
            object.__setattr__(self, "other_outputs", self.one_output)
        if self.kind == "score" and not self.scales:
            object.__setattr__(self, "scales", (Scale("quality"),))
        if self.kind == "correct" and not self.instructions:
            object.__setattr__(self, "instructions", ("minimal",))
        self._check_numbers()
        self._check_kind()
        self._check_rules()

    @property
    def one_output(self) -> bool:
        """Whether a task shows a single output."""
        return self.kind == "review" or (self.kind == "score" and not self.side_by_side)

    @property
    def sampling(self) -> Sampling:
        """How sentences are chosen."""
        return self.sentences or ("wmt" if self.kind == "rank" else "all")

    @property
    def tutorial_attempts(self) -> int:
        """How often the tutorial may be gone through: once, where there is nothing to pass."""
        return self.attempts if self.pass_mark > 0 else 1

    @property
    def control_share(self) -> float:
        """The share of controls among a judge's tasks; none where texts are written."""
        return 0.0 if self.kind in WRITING else self.controls

    @property
    def block_rule(self) -> tuple[int, int] | None:
        """``block = "3 of 5"`` as (3, 5): three of the last five controls failed."""
        found = _BLOCK.fullmatch(self.block)
        return (int(found[1]), int(found[2])) if found else None

    def _check_numbers(self) -> None:
        if not FEWEST_OUTPUTS <= self.outputs <= MOST_OUTPUTS:
            raise InputError(
                f"outputs={self.outputs}: an item shows {FEWEST_OUTPUTS} to {MOST_OUTPUTS} outputs"
            )
        for name in ("overlap", "repeats", "controls", "pass_mark"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise InputError(f"{name}={value} should be a share, from 0 to 1")
        if self.repeats + self.control_share > 0.5:
            raise InputError(
                f"repeats={self.repeats} and controls={self.controls} leave less than half of the "
                "tasks to be judged",
                remedy="lower them; 0.05 each is usual",
            )
        least = {
            "judges_per_item": 1, "distance": 1, "judges": 1, "slots": 1, "looks": 1,
            "attempts": 1, "lease": 60, "context": 0, "seed": 0, "sample": 1, "quota": 1,
            "rankings": 1, "margin": 1,
        }  # fmt: skip
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise InputError(f"{name}={value!r} should be a whole number from {low}")
            if name != "seed":
                not_too_large(name, value)
        for name in ("hours", "money", "rate", "seconds"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"{name}={value!r} should be a number above 0")
            not_too_large(name, value, 1_000_000 if name in ("money", "rate") else 1)
        if not 0 < self.alpha <= 0.5:
            raise InputError(f"alpha={self.alpha} should be above 0 and at most 0.5")

    def _check_kind(self) -> None:
        if self.kind == "pair" and self.outputs != 2:
            raise InputError(f"outputs={self.outputs}: a pair is two", remedy="use kind = 'rank'")
        if self.policy == "adaptive" and self.kind != "pair":
            raise InputError(
                f"policy='adaptive' is for pairs, and the kind is {self.kind!r}",
                remedy="use 'balanced', or kind = 'pair'",
            )
        for name, used, kind in (
            ("scales", bool(self.scales), "score"),
            ("instructions", bool(self.instructions), "correct"),
            ("slots", self.slots > 1, "correct"),
        ):
            if used and self.kind != kind:
                raise InputError(f"{name} go with kind = {kind!r}", remedy="leave them out")
        names = [scale.name for scale in self.scales]
        if len(set(names)) < len(names):
            raise InputError("two scales have the same name", remedy="name them apart")
        if len(set(self.instructions)) < len(self.instructions):
            raise InputError("an instruction is named twice", remedy="name each once")

    def _check_rules(self) -> None:
        if self.block and (
            self.block_rule is None or not 1 <= self.block_rule[0] <= self.block_rule[1]
        ):
            raise InputError(f"block={self.block!r} is no rule", remedy="write it as '3 of 5'")
        for rule in self.until:
            if not _UNTIL.fullmatch(rule):
                raise InputError(
                    f"until={rule!r} is no stop rule", remedy="write 'A>B' or 'clusters=3'"
                )
        if self.until and self.kind not in COMPARING:
            raise InputError("stop rules go with rankings and pairs", remedy="leave out until")
        bounds = [name for name in ("rankings", "hours", "money") if getattr(self, name)]
        if len(bounds) > 1:
            raise InputError(f"{' and '.join(bounds)} are two budgets", remedy="give one of them")
        if self.money is not None and self.rate is None:
            raise InputError("a budget of money needs the rate of an hour", remedy="give rate")

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON holds them; `design_of` reads them back."""
        return asdict(self)


def not_too_large(name: str, value: float | None, times: int = 1) -> None:
    """Refuse a number that no campaign can mean, before it is looped over or stored.

    Sums of money, which may be of any currency, are ``times`` as large.

    >>> not_too_large("quota", 60)
    """
    most = times * LARGEST_NUMBER
    if value is not None and value > most:
        raise InputError(f"{name}={value!r} is too large", remedy=f"give {most} at most")


T = TypeVar("T")


def _decode(kind: type[T], settings: Mapping[str, Any], *keys: str) -> T:
    try:
        return RecordReader("").decode(kind, dict(settings), *keys)
    except InputError as error:  # from a file or from a command line
        raise InputError(error.problem, remedy=error.remedy) from None


def design_of(settings: Mapping[str, Any]) -> Design:
    """A design from what a campaign file or a database holds; unknown names are refused.

    >>> design_of({"kind": "score", "scales": [{"name": "fluency", "high": 4}]}).scales[0].high
    4
    """
    return _decode(Design, settings)


# ---- Panels: who sends participants, how many places there are, and what a finished one gets.

# The parameters of a provider's links that hold participant and session.
PROVIDERS = {
    "prolific": ("PROLIFIC_PID", "SESSION_ID"),
    "sona": ("survey_code", ""),
    "cloudresearch": ("participantId", "assignmentId"),
}
LONGEST_PARAMETER = 200  # characters of an id that a panel sends
_NAME = re.compile(r"\w[\w.-]{0,63}", re.ASCII)
_ORIGIN = re.compile(r"https?://[\w.-]+(:\d{1,5})?", re.ASCII)


@dataclass(frozen=True)
class Panel:
    """The ``[panel]`` of a campaign file.

    ``participant`` and ``session`` are names of parameters, known for some providers. ``back`` is
    the return link (``return`` in the file) in which ``{code}`` and ``{participant}`` are filled
    in. A place without a sign of life for ``idle`` minutes is free again unless its holder has
    finished. ``frame`` is the one page that may frame ours.

    >>> Panel("prolific", 20).participant, Panel("sona", 20).session
    ('PROLIFIC_PID', '')
    """

    provider: str
    places: int
    participant: str = ""
    session: str = ""
    code: str = ""
    back: str = field(default="", metadata={"key": "return"})
    idle: int = 60
    frame: str = ""

    def __post_init__(self) -> None:
        if self.provider in PROVIDERS:
            usual = PROVIDERS[self.provider]
            object.__setattr__(self, "participant", self.participant or usual[0])
            object.__setattr__(self, "session", self.session or usual[1])
        if not _NAME.fullmatch(self.provider) or not self.participant:
            raise InputError(
                f"nothing is known of the panel {self.provider[:40]!r}",
                remedy=f"use {', '.join(PROVIDERS)}, or say participant = 'PARAMETER' too",
            )
        for name in ("participant", "session"):
            value = getattr(self, name)
            if value and not _NAME.fullmatch(value):
                raise InputError(f"{name}={value[:40]!r} is no name of a parameter")
        for name in ("places", "idle"):
            value = getattr(self, name)
            if value < 1:
                raise InputError(f"{name}={value!r} should be a whole number from 1")
        if self.back and urlsplit(self.back).scheme not in ("http", "https"):
            raise InputError(
                f"return={self.back[:60]!r} is no address", remedy="write it as https://…"
            )
        if self.frame and not _ORIGIN.fullmatch(self.frame):
            raise InputError(
                f"frame={self.frame[:60]!r} is not the address of a site",
                remedy="write it without a path, as https://example.org",
            )

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON holds them."""
        return asdict(self)

    def return_link(self, participant: str) -> str:
        """Where a participant who has finished goes back to; empty if nowhere.

        >>> Panel("sona", 9, back="https://x.org/?id={participant}").return_link("a&b")
        'https://x.org/?id=a%26b'
        """
        values = {"{code}": quote(self.code, safe=""), "{participant}": quote(participant, safe="")}
        return re.sub(r"\{\w+\}", lambda found: values.get(found[0], found[0]), self.back)


def panel_of(settings: Mapping[str, Any]) -> Panel:
    """A panel from what a campaign file or a database holds; what is unknown is refused.

    >>> panel_of({"provider": "prolific", "places": 20, "return": "https://x.org/"}).back
    'https://x.org/'
    """
    given = {"return" if name == "back" else name: value for name, value in settings.items()}
    return _decode(Panel, given, "panel")


# ---- The forms that answers are written in, by name; importable without any web package.

ExportForm = Literal[
    "jsonl",
    "appraise",
    "pairwise",
    "details",
    "scores",
    "scores-csv",
    "edits",
    "edits-m2",
    "people",
]
FileForm = Literal[ExportForm, "texts"]  # texts are several files
FORMS_OUT: tuple[str, ...] = get_args(ExportForm)
