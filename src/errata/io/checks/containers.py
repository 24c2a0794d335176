"""Texts that hold rows, essays or edits, given where one sentence a line is expected."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Sequence

from errata.io.checks import OVERRIDE_HINT, Finding

LOOKED_AT = 1000  # lines
OBJECTS = 0.95  # share of lines that look like JSON objects, once the first is one
ESSAY = re.compile(r"### essay_id = \S")
ANNOTATION = re.compile(r"A -?\d+ -?\d+\|\|\|")
TITLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.:\- ]{0,39}")
HEADING = re.compile(r"[^,;\t]{0,42}[,;\t]\S")  # a delimiter without a blank behind it
NUMBERED = re.compile(r"(ref|reference|references|corrections|target|annotator)_?[0-9]{1,3}")
# Titles in tables of sentences, by what they stand for.
ROLES = {
    "source": "source src original orig orig_sen original_text original_sentence source_text "
    "source_sentence incorrect ungrammatical erroneous noisy learner learner_text sentence input "
    "text inputs prompt question",
    "output": "hypothesis hypotheses hyp prediction pred predicted system_output model_output "
    "actual_output generated generation generated_text completion response filtered_resps output "
    "outputs answer corrected correction result",
    "references": "references reference refs ref target targets tgt gold golds ideal expected "
    "corrections expected_output ground_truth reference_outputs reference_output",
    "id": "id _id uid uuid guid sent_id sentence_id segment_id example_id sample_id item_id doc_id "
    "test_idx key idx index",
    "system": "system model model_name model_id team submission provider engine checkpoint run "
    "run_id experiment",
}
_ROLE_OF = {title: role for role, titles in ROLES.items() for title in titles.split()}


def check_container(lines: Sequence[str], path: str) -> list[Finding]:
    """An error where lines are not sentences: JSON, CSV, essays or M2 by another name.

    >>> check_container(['{"source": "a", "output": "b"}'], "out.txt")[0].problem
    'every line is a JSON object, not a sentence'
    """
    filled = [line for line in lines[:LOOKED_AT] if line.strip()]
    first = filled[0].removeprefix("\ufeff").strip() if filled else ""
    problem, remedy = "", "give the sentences alone, one a line"
    if ESSAY.match(first):
        problem = f"line 1 is an essay heading ({first[:60]}): this is MultiGEC's form"
        remedy = "take the headings out and give one sentence a line"
    elif first.startswith("S ") and any(map(ANNOTATION.match, filled[1:60])):
        problem = "this is M2, not one sentence a line"
        remedy = "name the file .m2, or give it as --gold"
    elif first.startswith("{") and _parses(first):
        ends = [(line.strip()[0], line.rstrip()[-1]) for line in filled]
        if ends.count(("{", "}")) >= OBJECTS * len(filled):
            problem = "every line is a JSON object, not a sentence"
    elif first[:1] in ("[", "{") and filled[-1].rstrip()[-1] in "]}" and _parses("\n".join(lines)):
        problem = "the file is JSON, not one sentence a line"
    elif HEADING.match(first) and (titles := _titles(first)):
        problem = f"the first line names columns ({', '.join(titles)[:100]}), so this looks like "
        problem += "CSV, not one sentence a line"
    if not problem:
        return []
    return [Finding("error", path, 1, problem, remedy + OVERRIDE_HINT, "container")]


def _parses(text: str) -> bool:
    """Whether a text is a JSON object, or a list of them."""
    try:
        found = json.loads(text)
        several = found if isinstance(found, list) else [found]
        return bool(several) and all(isinstance(each, dict) for each in several)
    except (ValueError, RecursionError):
        return False


def _titles(line: str) -> list[str]:
    """The titles of columns where a line is their heading: two of them with different roles.

    In sentences a blank follows a comma, and no title begins with one.
    """
    for delimiter in ",\t;":
        try:
            cells = next(csv.reader([line], delimiter=delimiter))
        except (csv.Error, StopIteration):
            continue
        titled = all(not cell or TITLE.fullmatch(cell) for cell in cells)
        if len(cells) < 2 or not titled or len({*cells}) < len(cells):
            continue
        if len({role for cell in cells if (role := _role(cell))}) > 1:
            return cells
    return []


def _role(title: str) -> str | None:
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", unicodedata.normalize("NFKC", title).strip())
    name = re.sub(r"[\s-]+", "_", text).lower()
    return "references" if NUMBERED.fullmatch(name) else _ROLE_OF.get(name)
