"""Find damage to whole files: prefixes, quotes, refusals, cut lines, JSON, CSV, essays.

The thresholds leave the public outputs and corrections of CoNLL-2014, JFLEG, BEA-2019, SEEDA, GMEG
and the Swedish and Estonian sets without a finding.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from errata.core.stats import Floats
from errata.data import Corpus, Reference
from errata.io.checks import OVERRIDE_HINT, Finding

FEWEST, SHARE = 5, 0.05  # lines, and share of the lines that can show it, for a finding
REFUSALS, REPEATS = 2, 3  # lines that refuse, and sources with one and the same unlike output
UNLIKE = 0.5  # similarity below which a line is no correction of its source
QUOTES = "\"'“”„‟‘’‚«»‹›「」『』"
NUMBER = re.compile(r"\W?\d+\s?[.):\]]\s+\S")
# A remark before the text: a few words with a colon behind them.
REMARK = re.compile(r"(?=[^:：]{0,60}[^\W\d])([^:：]{1,60}(?::(?=\s)|：))")
REFUSAL = re.compile(
    r"\b(?:i ?['’]?m sorry|i am sorry|as an ai|language model|unable to (?:help|assist|process)"
    r"|i can ?(?:not|['’]t|n['’]t) (?:help|assist|provide|correct)|i ?['’]?m unable|i am unable)\b",
    re.IGNORECASE,
)
KEPT = 0.8  # similarity of a line that was cut to what its source begins with
LOST = 0.8  # share of the source's characters that a line has at most, if it was cut
LOWERED = 0.5  # share of changed lines with capitals: corrections lower the capitals of some titles
CUT = "look whether the system has a limit of length"
FORM = "give --normalise NFC; scores compare characters"
SAMPLE = 300  # edits that are asked whether they fit their tokens
NEIGHBOUR = 0.2  # by how much more a correction must resemble the token beside


def check_damage(
    sources: Sequence[str],
    lines: Sequence[str],
    likeness: Floats,
    path: str,
    pairs: list[tuple[str, str]],
) -> list[Finding]:
    """Return findings on lines that something else than a correction changed.

    ``likeness`` is to their sources, ``pairs`` are the sources and lines that differ.

    >>> sources = [f"He go home on day {i} ." for i in range(20)]
    >>> quoted = [f'"{source}"' for source in sources]
    >>> pairs = list(zip(sources, quoted))
    >>> check_damage(sources, quoted, np.ones(20), "out.txt", pairs)[0].problem
    '20 of 20 lines (100 %) stand in quotation marks, their sources do not'
    """
    begun = [(s, line) for s, line in pairs if s[:1] != line[:1]]
    inner = [(s, line) for s, line in pairs if s[1:] != s[1:].lower()]
    tabbed = [(s, line) for s, line in pairs if "\t" in line and "\t" not in s]
    accented = [(s, line) for s, line in pairs if not s.isascii()]
    remarks = Counter(match[1] for _, line in begun if (match := REMARK.match(line)))
    remark = next((text for text, _ in remarks.most_common(1)), "")
    only = "give the corrected sentences alone, one a line"
    case = "restore the case; scores compare it"
    kinds: list[tuple[str, str, str, list[tuple[str, str]], Callable[[str, str], bool]]] = [
        ("quoted-lines", "stand in quotation marks, their sources do not", only, begun, _in_quotes),
        ("prefix", "begin with a number, their sources do not", only, begun, _is_numbered),
        (
            "prefix",
            f"begin with {remark[:60]!r}",
            only,
            begun if remark else [],
            lambda source, line: line.startswith(remark) and not source.startswith(remark),
        ),
        ("columns", "hold their source beside a tab", only, tabbed, _holds_source_column),
        (
            "case",
            "are in capital letters, their sources are not",
            case,
            [(source, line) for source, line in pairs if line.isupper() and not source.isupper()],
            _shares_words,
        ),
        ("case", "have lost all capital letters but the first", case, inner, _has_lost_capitals),
        ("cut-lines", "end early, each with the first part of its source", CUT, pairs, _ends_early),
        ("normalisation", "write accents in another Unicode form", FORM, accented, _changes_form),
    ]
    findings = []
    for code, problem, remedy, asked, shows in kinds:
        found = sum(shows(source, line) for source, line in asked)
        least = LOWERED * len(inner) if shows is _has_lost_capitals else 0
        if found >= max(FEWEST, SHARE * len(lines), least):
            share = f"{found} of {len(lines)} lines ({100 * found / len(lines):.0f} %)"
            findings.append(Finding("warning", path, None, f"{share} {problem}", remedy, code))
    return findings + _find_refusals(sources, lines, likeness, path)


def _in_quotes(source: str, line: str) -> bool:
    source, line = source.strip(), line.strip()
    return (
        len(line) > 2
        and line[0] in QUOTES
        and line[-1] in QUOTES
        and not (source[:1] in QUOTES and source[-1:] in QUOTES)
    )


def _is_numbered(source: str, line: str) -> bool:
    return bool(NUMBER.match(line)) and not NUMBER.match(source)


def _changes_form(source: str, line: str) -> bool:
    return _unicode_form(source) * _unicode_form(line) < 0


def _holds_source_column(source: str, line: str) -> bool:
    return bool(source.strip()) and source.strip() in map(str.strip, line.split("\t"))


def _has_lost_capitals(source: str, line: str) -> bool:
    """Whether a line has no capital after its first character, where its source has some."""
    if line[1:] != line[1:].lower() or line[:1] == line[:1].lower():
        return False
    return _shares_words(source, line)


def _shares_words(source: str, line: str) -> bool:
    """Whether a line has half of the words of its source, in whatever case."""
    words = {*source.lower().split()}
    return 2 * len(words & {*line.lower().split()}) > len(words) > 1


def _ends_early(source: str, line: str) -> bool:
    """Whether a line is the beginning of its source, compared without spaces."""
    if not line.strip() or len(line) > LOST * len(source):
        return False
    whole, kept = "".join(source.split()), "".join(line.split())
    if len(kept) > LOST * len(whole) or whole[-3:] == kept[-3:]:
        return False
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(whole[: len(kept)], kept, score_cutoff=KEPT) > 0


def _unicode_form(text: str) -> int:
    """1 for composed characters (NFC), -1 for decomposed ones (NFD), 0 where nothing shows it."""
    if text.isascii():
        return 0
    if not unicodedata.is_normalized("NFC", text):
        return -1
    return 0 if unicodedata.is_normalized("NFD", text) else 1


def _find_refusals(
    sources: Sequence[str], lines: Sequence[str], likeness: Floats, path: str
) -> list[Finding]:
    """Lines that are no correction: answers of a language model, or one text for many sources."""
    unlike = [i for i in np.flatnonzero(likeness < UNLIKE).tolist() if len(lines[i]) > 15]
    refused = [i for i in unlike if REFUSAL.search(lines[i]) and not REFUSAL.search(sources[i])]
    sources_of: dict[str, set[str]] = {}
    for i in unlike:
        sources_of.setdefault(lines[i], set()).add(sources[i])
    repeated = [i for i in unlike if len(sources_of[lines[i]]) >= REPEATS]
    found = sorted({*refused, *repeated} if len(refused) >= REFUSALS else repeated)
    if not found:
        return []
    problem = (
        f"{len(found)} of {len(lines)} lines are no corrections of their sources, such as "
        f"{lines[found[0]].strip()[:60]!r}"
    )
    remedy = "did the model refuse? Run these sentences again"
    return [Finding("warning", path, found[0] + 1, problem, remedy, "refusal")]


def check_source_case(corpus: Corpus, lines: Sequence[str], path: str) -> list[Finding]:
    """An output with capital letters where the sources have none, and the references neither."""
    plain = [i for i, source in enumerate(corpus.sources) if source == source.lower()]
    if len(plain) < max(FEWEST, len(lines) / 2):
        return []
    gained = [i for i in plain if lines[i] != lines[i].lower()]
    if len(gained) < max(FEWEST, len(lines) / 2):
        return []
    corrected = sum(any(map(_has_capitals, corpus.references[i])) for i in gained)
    if 2 * corrected > len(gained):
        return []
    where = f"{len(gained)} of {len(lines)} lines"
    problem = f"the sources are in lower case, the output is not in {where}"
    remedy = "take sources and references in their own case; scores compare it"
    return [Finding("warning", path, None, problem, remedy, "case")]


def _has_capitals(reference: Reference) -> bool:
    texts = [edit.replacement for edit in reference.edits or ()]
    return any(text != text.lower() for text in (*texts, reference.text or ""))


def check_edit_offsets(corpus: Corpus, path: str) -> list[Finding]:
    """Gold edits that fit the tokens beside them better than their own: offsets off by one."""
    from rapidfuzz.distance import Indel

    table = corpus.edits
    long = np.flatnonzero(table.end > table.start)
    sample = long[np.linspace(0, len(long) - 1, min(SAMPLE, len(long))).astype(int)]
    sentences = np.searchsorted(table.edit_offsets[table.reference_offsets], sample, side="right")
    better: dict[int, set[str]] = {-1: set(), 0: set(), 1: set()}  # corrections, each once
    for edit, sentence in zip(sample.tolist(), (sentences - 1).tolist(), strict=True):
        correction = table.replacements[edit]
        tokens, start, end = corpus.sources[sentence].split(), table.start[edit], table.end[edit]
        if not correction or start < 1 or end >= len(tokens):
            continue
        fit = {
            shift: Indel.normalized_similarity(
                " ".join(tokens[start + shift : end + shift]), correction
            )
            for shift in better
        }
        best = max(fit, key=lambda shift: fit[shift] - NEIGHBOUR * (shift != 0))
        if fit[best] >= UNLIKE:
            better[best].add(correction)
    shift = max((-1, 1), key=lambda side: len(better[side]))
    if len(better[shift]) < max(FEWEST, 2 * len(better[0])):
        return []
    problem = (
        f"{len(better[shift])} of {sum(map(len, better.values()))} corrections resemble the token "
        f"{'before' if shift < 0 else 'after'} the one that they replace"
    )
    remedy = "are the offsets counted from 1? M2 counts tokens from 0"
    return [Finding("warning", path, None, problem, remedy, "shifted-edits")]


# ---- Texts that hold something else than one sentence a line.

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


def check_plain_text(lines: Sequence[str], path: str) -> list[Finding]:
    """An error where lines are not sentences: JSON, CSV, essays or M2 by another name.

    >>> check_plain_text(['{"source": "a", "output": "b"}'], "out.txt")[0].problem
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
    elif first.startswith("{") and _is_json(first):
        ends = [(line.strip()[0], line.rstrip()[-1]) for line in filled]
        if ends.count(("{", "}")) >= OBJECTS * len(filled):
            problem = "every line is a JSON object, not a sentence"
    elif first[:1] in ("[", "{") and filled[-1].rstrip()[-1] in "]}" and _is_json("\n".join(lines)):
        problem = "the file is JSON, not one sentence a line"
    elif HEADING.match(first) and (titles := _column_titles(first)):
        problem = f"the first line names columns ({', '.join(titles)[:100]}), so this looks like "
        problem += "CSV, not one sentence a line"
    if not problem:
        return []
    return [Finding("error", path, 1, problem, remedy + OVERRIDE_HINT, "container")]


def _is_json(text: str) -> bool:
    """Whether a text is a JSON object, or a list of them."""
    try:
        found = json.loads(text)
        several = found if isinstance(found, list) else [found]
        return bool(several) and all(isinstance(each, dict) for each in several)
    except (ValueError, RecursionError):
        return False


def _column_titles(line: str) -> list[str]:
    """Return the column titles of a heading, which has two with different roles.

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
        if len({role for cell in cells if (role := _column_role(cell))}) > 1:
            return cells
    return []


def _column_role(title: str) -> str | None:
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", unicodedata.normalize("NFKC", title).strip())
    name = re.sub(r"[\s-]+", "_", text).lower()
    return "references" if NUMBERED.fullmatch(name) else _ROLE_OF.get(name)
