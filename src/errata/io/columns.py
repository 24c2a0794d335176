"""One table of column roles and synonyms for scores, judgments, ratings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from errata.core.errors import InputError, warn_of_data
from errata.io.judgments.checks import CLOSE, UnknownValues, refuse_duplicate_columns
from errata.io.records import parse_integer
from errata.io.rows import Row, normalise_title, numbers_rows, read_number

# ---- The columns of an MTurk result file: found by title, none missing, none overlooked.

NEEDED = ("WorkerId", "Input.sentID", "Input.system1", "Answer.rank_1")
STATUS = "AssignmentStatus"
# What Mechanical Turk writes beside the task's own columns, and what ranking tasks have too.
KNOWN = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime",
    "MaxAssignments", "RequesterAnnotation", "AssignmentDurationInSeconds",
    "AutoApprovalDelayInSeconds", "Expiration", "NumberOfSimilarHITs", "LifetimeInSeconds",
    "AssignmentId", "AcceptTime", "SubmitTime", "AutoApprovalTime", "ApprovalTime",
    "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds", "LifetimeApprovalRate",
    "Last30DaysApprovalRate", "Last7DaysApprovalRate", "Approve", "Reject",
    "Input.type", "Input.source", "Input.context", "Answer.Comments",
)  # fmt: skip
NUMBERED = ("Input.system", "Input.sentence", "Input.markup", "Answer.rank_")
_NUMBERED = re.compile(r"(inputsystem|inputsentence|inputmarkup|answerrank)([0-9]{1,4})")


def mturk_columns(
    titles: Sequence[str], name: str, statuses: tuple[str, ...] | None
) -> tuple[list[str], int]:
    """Return the titles in their official spelling, and the number of outputs per row.

    Gaps in numbered columns and titles that resemble a needed one are errors; others are warnings.
    """
    refuse_duplicate_columns(titles, name)
    spelt = {normalise_title(title): title for title in (*NEEDED, STATUS, *KNOWN)}
    keys = [normalise_title(title) for title in titles]
    numbers: dict[str, set[int]] = {kind: set() for kind in map(normalise_title, NUMBERED)}
    for key in keys:
        match = _NUMBERED.fullmatch(key)
        if match is not None:
            numbers[match[1]].add(int(match[2]))
            kind = next(kind for kind in NUMBERED if normalise_title(kind) == match[1])
            spelt[key] = f"{kind}{int(match[2])}"
    for title in NEEDED:
        if normalise_title(title) not in keys:
            raise _mturk_error(title, name)
    count = len(numbers["inputsystem"])
    unread = UnknownValues(name)
    for key, title in zip(keys, titles, strict=True):
        if key and key not in spelt:
            close = [f"{kind}{k}" for kind in NUMBERED for k in range(1, count + 2)]
            unread.record_unread("column", title, (*NEEDED, STATUS, *close, *KNOWN), 1)
    wanted = set(range(1, count + 1))
    for kind in NUMBERED:
        found = numbers[normalise_title(kind)]
        if found and found != wanted:
            gap = min(wanted ^ found)
            if gap in wanted:
                raise _mturk_error(f"{kind}{gap}", name)
            problem = f"a column {kind}{gap}, but there are {count} systems"
            raise InputError(problem, path=name, line=1, remedy="number the columns without a gap")
    unread.warn()
    if normalise_title(STATUS) not in keys:
        if statuses is not None:
            problem = f"no column {STATUS}, by which assignments are chosen"
            raise InputError(problem, path=name, line=1, remedy="leave out --status")
        warn_of_data(f"{name}:1: no column {STATUS}; every assignment counts, rejected ones too")
    return [spelt.get(key, title) for key, title in zip(keys, titles, strict=True)], count


def _mturk_error(title: str, name: str) -> InputError:
    remedy = "is this an MTurk result file of a ranking task?"
    return InputError(f"no column {title}", path=name, line=1, remedy=remedy)


# ---- What a column is for, and how people title it, in scores, judgments and ratings.

ROLES: dict[str, tuple[str, ...]] = {
    "judge": ("judge", "judgeid", "annotator", "annotatorid", "user", "userid", "worker",
              "workerid", "rater", "raterid", "evaluator", "evaluatorid", "assessor", "grader",
              "graderid", "reviewer", "reviewerid", "participant", "participantid"),
    "sentence": ("sentence", "sentenceid", "sentid", "segment", "segmentid", "srcid", "srcindex",
                 "sentencenumber", "line", "id", "index"),
    "system": ("system", "systems", "systemid", "systemname", "model", "team"),
    "rank": ("rank", "ranking", "place"),
    "score": ("score", "rating", "grade", "points", "value"),
    "better": ("better", "winner", "preferred", "chosen"),
    "worse": ("worse", "loser", "rejected"),
    "item": ("item", "itemid", "hit", "hitid", "task", "rankingid", "docid"),
    "seconds": ("seconds", "duration", "worktimeinseconds"),
    # Of scores only: a judge has a name too.
    "name": ("name",),
    "metric": ("metric", "metrics", "metricname", "scorer", "measure"),
    # Of outputs rated by criterion.
    "source": ("source", "input", "original"),
    "output": ("output", "hypothesis", "correction"),
    "grammer": ("grammer", "grammar", "grammaticality"),
    "fluency": ("fluency",),
    "meaning": ("meaning", "meaningpreservation", "adequacy"),
}  # fmt: skip
JUDGMENTS = tuple(ROLES)[: tuple(ROLES).index("name")]  # the roles in tables of judgments
OPTIONAL = ("judge", "item", "seconds")
ALL = "*"  # instead of a title: every column that is nothing else, each of them a system


def columns_of_role(head: Sequence[str], role: str) -> list[int]:
    """The columns whose titles name a role, in any case and with any marks.

    >>> columns_of_role(["Judge ID", "index", "A", "evaluator"], "judge")
    [0, 3]
    >>> columns_of_role(["Index"], "sentence")
    [0]
    """
    return [c for c, title in enumerate(head) if normalise_title(title) in ROLES[role]]


def holds_numbers(cells: Iterable[str], *, comma: bool) -> bool:
    """Return whether at least half of the filled cells are numbers; odd ones are refused later."""
    filled = [cell for cell in cells if cell]
    numbers = sum(read_number(cell, comma=comma) is not None for cell in filled)
    return numbers > 0 and 2 * numbers >= len(filled)


SUMMARIES = ("mean", "average", "avg", "median", "total", "sum", "std", "stdev", "sd")
# What beside the roles is no system's score: counts, indexes and times.
OTHERS = ("n", "no", "num", "number", "count", "idx", "row", "rowid", "doc", "document", "time",
          "timestamp", "date", "year", "age", "length", "len", "words", "tokens", "characters",
          "chars", "edits", "errors", "gold", "batch", "session", "confidence")  # fmt: skip
UNRATED = ("judge", "sentence", "rank", "better", "worse", "item", "seconds", "metric", "grammer",
           "fluency", "meaning")  # fmt: skip
TIMES = 100  # all numbers of a column are so many times the largest of the others: another scale


def check_system_columns(numbers: Mapping[str, Sequence[float]], path: str, line: int = 1) -> None:
    """Refuse a column that is no system's: by its title, or since its numbers are on another scale.

    >>> check_system_columns({"A": [70, 80], "B": [20, 10], "stamp": [17e8, 17e8]}, "t.csv")
    Traceback (most recent call last):
    ...
    errata.core.errors.InputError: t.csv:1: the numbers of the column stamp are on another scale \
than those of the others, and it would be taken for a system; remove it, or give a row per score \
(sentence,system,score)
    """
    known = {*OTHERS, *(word for role in UNRATED for word in ROLES[role])}
    largest = {title: max(map(abs, own), default=0.0) for title, own in numbers.items()}
    for title, own in numbers.items():
        key, remedy = normalise_title(title), "remove it, or rename the system"
        others = max((size for other, size in largest.items() if other != title), default=0.0)
        if key in SUMMARIES:
            problem = f"the column {title} seems to sum up the others"
        elif key in known or key.startswith("unnamed"):
            problem = f"the title {title} says a count, a time or the like"
        elif others > 0 and len(own) > 1 and min(map(abs, own)) > TIMES * others:
            problem = f"the numbers of the column {title} are on another scale than those of the "
            problem += "others"
            remedy = "remove it, or give a row per score (sentence,system,score)"
        else:
            continue
        problem += ", and it would be taken for a system"
        raise InputError(problem, path=path, line=line, remedy=remedy)


@dataclass(frozen=True)
class JudgmentColumns:
    """Where each role stands, and the columns of systems in a table of ratings."""

    at: Mapping[str, int]
    systems: tuple[int, ...] = ()
    ranked: bool = False


def parse_columns(texts: Iterable[str]) -> dict[str, str]:
    """Read ``judge=Annotator,sentence=ID``: which role stands under which title.

    >>> parse_columns(["judge=Annotator,sentence=ID"])
    {'judge': 'Annotator', 'sentence': 'ID'}
    """
    found: dict[str, str] = {}
    for text in texts:
        for part in re.split(r",(?=\s*\w+=)", text):
            role, equals, title = (piece.strip() for piece in part.partition("="))
            if not equals or not title or role not in JUDGMENTS:
                problem = f"--columns {part[:60]!r} is not ROLE=TITLE"
                raise InputError(problem, remedy=f"roles are {', '.join(JUDGMENTS)}")
            if role in found:
                raise InputError(f"--columns names two columns for {role}", remedy="give one")
            found[role] = title
    return found


def missing_column_error(what: str, name: str, head: Iterable[str]) -> InputError:
    """The error for a table that lacks a column, with the one of ``head`` that may be meant."""
    words = [word for role in what.split(" or ") for word in ROLES[role]]
    taken = {word for role in JUDGMENTS for word in ROLES[role]}
    for title in head:
        key = normalise_title(title)[:60]
        if key not in taken and difflib.get_close_matches(key, words, 1, CLOSE):
            remedy = f"did you mean {title[:60]!r}? say what it is (--columns ROLE=TITLE)"
            break
    else:
        remedy = (
            "title the columns judge, sentence, system and rank or score, or say how they "
            "are called (--columns system=TITLE,...)"
        )
    return InputError(f"no column {what}", path=name, line=1, remedy=remedy)


class TableHead:
    """The heading of a table, and the rows below it, from which its columns are found."""

    def __init__(self, rows: list[Row], name: str, comma: bool) -> None:
        self.head, self.rows = rows[0].cells, rows[1:]
        self.name, self.comma = name, comma

    def find_columns(self, named: dict[str, str]) -> JudgmentColumns:
        """The columns of the table; ``named`` are those the user names."""
        refuse_duplicate_columns(self.head, self.name)
        keys = [normalise_title(title) for title in self.head]
        at: dict[str, int] = {}
        for role, title in named.items():
            if title != ALL:
                at[role] = self._find_title(title, keys)
        for role in JUDGMENTS:
            free = [c for c in columns_of_role(self.head, role) if c not in at.values()]
            if len(free) > 1:  # a column that only numbers the rows gives way
                free = [c for c in free if not self._is_row_number(c)] or free
            if free and role not in named:
                if len(free) > 1:
                    problem = f"{' and '.join(self.head[c] for c in free)} may both be the {role}"
                    remedy = f"say which (--columns {role}=TITLE)"
                    raise InputError(problem, path=self.name, line=1, remedy=remedy)
                at[role] = free[0]
        return self._resolve_roles(at, named)

    def _find_title(self, title: str, keys: list[str]) -> int:
        exact = [c for c, own in enumerate(self.head) if own == title.strip()]
        alike = exact or [c for c, key in enumerate(keys) if key == normalise_title(title)]
        if not alike:
            remedy = f"there are: {', '.join(self.head)[:200]}"
            raise InputError(f"no column {title[:60]!r}", path=self.name, line=1, remedy=remedy)
        return alike[0]

    def _resolve_roles(self, at: dict[str, int], named: dict[str, str]) -> JudgmentColumns:
        used = set(at.values())
        if {"better", "worse"} <= at.keys():
            self._warn_of_unread(at)
            return JudgmentColumns(at)
        if "system" in at:
            if "rank" in at and "score" in at:
                if "rank" in named or "score" not in named:
                    del at["score"]
                else:
                    del at["rank"]
            if not {"rank", "score"} & at.keys():
                raise missing_column_error("rank or score", self.name, self.head)
            self._warn_of_unread(at)
            return JudgmentColumns(at)
        if halves := {"better", "worse"} & at.keys():
            (missing,) = {"better", "worse"} - halves
            raise missing_column_error(missing, self.name, self.head)
        ratings = tuple(
            c for c, title in enumerate(self.head) if title and self._is_rating(c, used)
        )
        if len(ratings) < 2:
            raise missing_column_error("system", self.name, self.head)
        numbers = {
            self.head[c]: [
                number
                for cell in self._column_cells(c)
                if (number := read_number(cell, comma=self.comma)) is not None
            ]
            for c in ratings
        }
        check_system_columns(numbers, self.name)
        ranked = named.get("rank") == ALL
        if not ranked and named.get("score") != ALL:
            self._refuse_ranks_or_ratings(ratings)
        self._warn_of_unread(at, ratings)
        return JudgmentColumns(at, ratings, ranked)

    def _column_cells(self, column: int) -> list[str]:
        return [row.cells[column] for row in self.rows]

    def _is_row_number(self, column: int) -> bool:
        return numbers_rows(self.head[column], self._column_cells(column))

    def _is_rating(self, column: int, used: set[int]) -> bool:
        if column in used or self._is_row_number(column):
            return False
        return holds_numbers(self._column_cells(column), comma=self.comma)

    def _refuse_ranks_or_ratings(self, ratings: tuple[int, ...]) -> None:
        """Small whole numbers from 1 may be ranks or ratings, which are opposites."""
        for row in self.rows:
            ranks = [parse_integer(row.cells[c], 1) for c in ratings if row.cells[c]]
            known = [rank for rank in ranks if rank is not None]
            if len(known) < len(ranks) or not known or min(known) != 1 or max(known) > len(ratings):
                return
        problem = "the numbers may be ranks (1 is best) or ratings (higher is better)"
        remedy = "say which: --columns 'rank=*' or --columns 'score=*'"
        raise InputError(problem, path=self.name, line=self.rows[0].line, remedy=remedy)

    def _warn_of_unread(self, at: Mapping[str, int], ratings: Iterable[int] = ()) -> None:
        used = {*at.values(), *ratings}
        missing = [role for role in OPTIONAL if role not in at]
        unread = [title for c, title in enumerate(self.head) if title and c not in used]
        for title in unread:
            self._refuse_misspelt_title(title, missing)
        if unread:
            warn_of_data(
                f"{self.name}: columns that are not read: {', '.join(unread)[:200]}; name those "
                "that should be (--columns)"
            )

    def _refuse_misspelt_title(self, title: str, missing: list[str]) -> None:
        """A column that nobody needs may be left out, but not by a slip of the pen."""
        words = [name for role in missing for name in ROLES[role]]
        close = difflib.get_close_matches(normalise_title(title)[:60], words, 1, CLOSE)
        if close:
            problem = f"unknown column {title[:60]!r}"
            remedy = f"did you mean {close[0]!r}? say what it is (--columns ROLE=TITLE)"
            raise InputError(problem, path=self.name, line=1, remedy=remedy)
