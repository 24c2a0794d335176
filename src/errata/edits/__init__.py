"""Extractors by name; extract, classify, retype; origin of edits.

``aligned`` needs nothing and knows no language (`errata.edits.aligner`); ``errant`` runs the ERRANT
package with a spaCy pipeline for English, ``errant:PIPELINE`` with the pipeline of that name or
path. All give the same `errata.data.Edit`, typed ``M:``, ``U:`` or ``R:`` and a kind.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, pairwise
from typing import Literal

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import require
from errata.core.stats import Progress
from errata.data import Corpus, Edit, Hypotheses, Reference, ReferenceTable, apply_edits
from errata.data.edits import OutputEdits
from errata.edits.aligner import LONGEST, aligned_kinds, check_length, extract_aligned

EXTRACTORS = ("aligned", "errant")
DETECTED = ("UNK",)  # kinds of edits that say where an error is and not what it should be
GoldEditing = Literal["as_is", "reextracted"]


def extract(source: str, target: str, *, extractor: str = "aligned") -> tuple[Edit, ...]:
    """The edits that turn a sentence into its correction.

    >>> extract("He go home .", "He goes home .")
    (Edit(start=1, end=2, replacement='goes', kind='R:INFL'),)
    """
    return extract_all([source], [target], extractor=extractor)[0]


def extract_all(
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    extractor: str = "aligned",
    progress: Progress | None = None,
    processes: int | None = None,
) -> list[tuple[Edit, ...]]:
    """The edits of many sentences; the same pair is worked on once.

    ``processes`` (default: all cores) and ``progress`` concern ``errant`` only.
    """
    split_extractor(extractor)
    if len(sources) != len(targets):
        raise InputError(
            f"{len(sources)} sources but {len(targets)} targets",
            remedy="give one target per source",
        )
    pairs = list(zip(sources, targets, strict=True))
    distinct = list(dict.fromkeys(pairs))
    found = OutputEdits(_extract_pairs(distinct, extractor, progress, processes))
    known = dict(zip(distinct, found, strict=True))
    return [known[pair] for pair in pairs]


def _extract_pairs(
    pairs: Sequence[tuple[str, str]],
    extractor: str,
    progress: Progress | None = None,
    processes: int | None = None,
) -> ReferenceTable:
    """Return the edits of sources and targets, a row for each pair."""
    base, pipeline = split_extractor(extractor)
    if base == "aligned":
        return extract_aligned([source for source, _ in pairs], [target for _, target in pairs])
    from errata.edits import errant

    return ReferenceTable.of_output(errant.annotate(pairs, pipeline, progress, processes))


class _Extracted:
    """The edits found for pairs of sentences so far: each pair has a row of the table."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], int] = {}
        self.table = ReferenceTable.of_output(())
        self.lock = threading.Lock()

    def find(
        self, pairs: Iterable[tuple[str, str]], extractor: str, progress: Progress | None
    ) -> None:
        """Find the edits of the pairs that have no row yet."""
        with self.lock:
            missing = [pair for pair in dict.fromkeys(pairs) if pair not in self.rows]
            if missing:
                self.table = self.table.join(_extract_pairs(missing, extractor, progress))
                self.rows.update(zip(missing, range(len(self.rows), len(self.table)), strict=True))

    def edits(self, pairs: Iterable[tuple[str, str]]) -> OutputEdits:
        """Return the edits of pairs that have a row."""
        return OutputEdits(self.table.take(np.array([self.rows[pair] for pair in pairs], np.int64)))


def classify_all(
    sources: Sequence[str], edits: Sequence[tuple[Edit, ...]], *, extractor: str = "aligned"
) -> list[tuple[Edit, ...]]:
    """The same edits, offsets and all, with the kinds that the extractor gives them.

    >>> classify_all(["He go home ."], [(Edit(1, 2, "goes", "SVA"),)])
    [(Edit(start=1, end=2, replacement='goes', kind='R:INFL'),)]
    """
    kinds = iter(_classify(sources, edits, extractor))
    return [tuple(replace(e, kind=next(kinds)) for e in several) for several in edits]


def _classify(
    sources: Sequence[str], edits: Sequence[tuple[Edit, ...]], extractor: str
) -> list[str]:
    """Return the kind that the extractor gives each edit; the same change is looked at once."""
    base, pipeline = split_extractor(extractor)
    if base == "errant":
        from errata.edits import errant

        return errant.classify(sources, edits, pipeline)
    changes = [
        (" ".join(tokens[edit.start : edit.end]), edit.replacement)
        for tokens, several in zip(map(str.split, sources), edits, strict=True)
        for edit in several
    ]
    distinct = list(dict.fromkeys(changes))
    kinds = aligned_kinds([old for old, _ in distinct], [new for _, new in distinct])
    known = dict(zip(distinct, kinds, strict=True))
    return [known[change] for change in changes]


def with_edits(
    corpus: Corpus,
    gold: GoldEditing = "as_is",
    extractor: str = "aligned",
    progress: Progress | None = None,
) -> Corpus:
    """The corpus with edits for every reference; kept with the corpus.

    ``gold="as_is"`` keeps given edits and finds the edits of references that come as
    text. ``"reextracted"`` extracts all again: gold spans and kinds become comparable with a
    system's and a perfect system gets full marks. Edits that only detect an error (``UNK``) are
    kept then and not carried out, as in ERRANT's ``errant_m2 -auto``; of the others the first
    alternatives are (also of NUCLE's ``Um``, which ``errant_m2`` leaves out: reference texts have
    them).

    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> with_edits(corpus).references[0][0].edits
    (Edit(start=1, end=2, replacement='goes', kind='R:INFL'),)
    """
    require("gold", gold, GoldEditing)
    if gold == "as_is" and corpus.has_gold_edits:
        return corpus
    return corpus.derived(
        ("edits", gold, extractor), lambda: _with_edits(corpus, gold, extractor, progress)
    )


def _with_edits(
    corpus: Corpus, gold: GoldEditing, extractor: str, progress: Progress | None
) -> Corpus:
    places = [
        (i, r)
        for i, refs in enumerate(corpus.references)
        for r in refs
        if gold == "reextracted" or r.edits is None
    ]
    todo = [(corpus.sources[i], *_corrected(corpus.sources[i], r)) for i, r in places]
    if extractor == "aligned":
        for (i, r), (source, target, _) in zip(places, todo, strict=True):
            _check_length(source, target, f"reference {r.annotator} of sentence {i + 1}")
    found = iter(
        extract_all(
            [s for s, _, _ in todo], [t for _, t, _ in todo], extractor=extractor, progress=progress
        )
    )
    detected = iter([edits for _, _, edits in todo])
    return replace(
        corpus,
        references=tuple(
            tuple(
                replace(r, edits=_merge_edits(next(found), next(detected)))
                if gold == "reextracted" or r.edits is None
                else r
                for r in refs
            )
            for refs in corpus.references
        ),
    )


def without_texts(corpus: Corpus) -> Corpus:
    """The corpus with references as edits only, as an M2 file holds them."""
    return replace(
        corpus,
        references=tuple(
            tuple(r if r.edits is None else replace(r, text=None) for r in refs)
            for refs in corpus.references
        ),
    )


def retype(corpus: Corpus, extractor: str, keep: Sequence[str] = ()) -> Corpus:
    """The corpus with the same gold edits under the kinds that an extractor gives them.

    Edits of the kinds ``keep`` keep them.

    >>> gold = Corpus(("He go home .",), ((Reference(0, (Edit(1, 2, "goes", "SVA"),)),),))
    >>> retype(gold, "aligned").references[0][0].edits
    (Edit(start=1, end=2, replacement='goes', kind='R:INFL'),)
    """
    table = corpus.edits.in_order()
    every = table.every_edit
    edits = [
        tuple(edit for edit in every[a:b] if edit.kind not in keep)
        for a, b in pairwise(table.edit_offsets.tolist())
    ]
    sources = [corpus.sources[i] for i in table.sentence_of_reference.tolist()]
    found = iter(_classify(sources, edits, extractor))
    kinds = [kind if kind in keep else next(found) for kind in table.kinds]
    return replace(
        corpus, references=replace(table, kinds=kinds, bare=np.zeros(len(sources), np.bool_))
    )


def _corrected(source: str, reference: Reference) -> tuple[str, tuple[Edit, ...]]:
    """The corrected sentence, and the edits that only detect an error."""
    detected = tuple(e for e in reference.edits or () if e.kind in DETECTED)
    return corrected_sentence(source, reference), detected


def corrected_sentence(source: str, reference: Reference) -> str:
    """The corrected sentence; edits that only detect an error (``UNK``) are not carried out.

    Nor is an edit that overlaps one to its left.

    >>> corrected_sentence("He go home", Reference(0, (Edit(1, 2, "goes"), Edit(2, 3, "", "UNK"))))
    'He goes home'
    """
    if reference.text is not None or not any(e.kind in DETECTED for e in reference.edits or ()):
        return reference.corrected(source, overlapping=True)
    others = [e for e in reference.edits or () if e.kind not in DETECTED]
    return " ".join(apply_edits(source.split(), others, overlapping=True))


def _merge_edits(found: tuple[Edit, ...], detected: tuple[Edit, ...]) -> tuple[Edit, ...]:
    return tuple(sorted((*found, *detected), key=lambda e: (e.start, e.end))) if detected else found


def _check_length(source: str, target: str, what: str) -> None:
    if len(source) * len(target) > LONGEST and source != target:  # there are fewer tokens
        check_length(len(source.split()), len(target.split()), what)


def share_extracted(corpus: Corpus, other: Corpus, extractor: str) -> None:
    """Let a corpus know the edits that were found in outputs on another with the same sources."""
    key = ("extracted", extractor)
    other.derived(key, lambda: corpus.derived(key, _Extracted))


def kind_at(kind: str, tier: int) -> str:
    """A kind of edit by operation (``tier`` 1), without it (2), or in full (3).

    Kinds without an operation (``UNK``) stay as they are.

    >>> [kind_at("R:VERB:SVA", tier) for tier in (1, 2, 3)], kind_at("UNK", 1)
    (['R', 'VERB:SVA', 'R:VERB:SVA'], 'UNK')
    """
    if tier not in (1, 2, 3):
        raise InputError(f"tier {tier} is unknown", remedy="use 1, 2 or 3")
    return kind if kind[1:2] != ":" else {1: kind[:1], 2: kind[2:], 3: kind}[tier]


def split_extractor(extractor: str) -> tuple[str, str]:
    """Check an extractor's name and split it: ``errant:en_core_web_md`` has a pipeline.

    >>> split_extractor("errant"), split_extractor("errant:en_core_web_md")
    (('errant', ''), ('errant', 'en_core_web_md'))
    """
    base, _, pipeline = extractor.partition(":")
    if base not in EXTRACTORS or (base == "aligned" and pipeline):
        raise InputError(
            f"there is no extractor {extractor!r}",
            remedy="use 'aligned', 'errant' or 'errant:PIPELINE'",
        )
    return base, pipeline


def extractor_version(extractor: str) -> str:
    """What decided the edits, for a signature: the extractor and the versions behind it."""
    base, pipeline = split_extractor(extractor)
    if base == "aligned":
        return "aligned"
    from errata.edits import errant

    return errant.version(pipeline)


# ---- Where edits and their kinds come from: given with an output or found in its text, and by
# whom.

OutputEditing = Literal["alike", "mixed", "reextracted"]
OPERATIONS = ("M:", "R:", "U:")
# The kinds each extractor gives, without the operation.
ALIGNED_KINDS = frozenset(("PUNCT", "ORTH", "SPACE", "WO", "INFL", "SPELL", "OTHER"))
ERRANT_KINDS = frozenset(
    (
        *("ADJ", "ADJ:FORM", "ADV", "CONJ", "CONTR", "DET", "MORPH"),
        *("NOUN", "NOUN:INFL", "NOUN:NUM", "NOUN:POSS", "ORTH", "OTHER", "PART", "PREP", "PRON"),
        *("PUNCT", "SPELL", "VERB", "VERB:FORM", "VERB:INFL", "VERB:SVA", "VERB:TENSE", "WO"),
    )
)


def edits_of(
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    outputs: OutputEditing = "alike",
    *,
    extractor: str = "aligned",
    progress: Progress | None = None,
) -> list[Hypotheses]:
    """The outputs with their edits, of one origin.

    ``"alike"`` takes the edits of outputs that came with them (M2) or finds the edits of texts, and
    refuses to do both at once; ``"mixed"`` does both; ``"reextracted"`` extracts all again. What
    was found stays with the corpus, so that no pair of sentences is worked on twice.

    >>> corpus = Corpus.from_texts(["He go home ."])
    >>> own = Hypotheses("A", ("He goes home .",), ((Edit(1, 3, "goes home", "SVA"),),))
    >>> edits_of(corpus, [own], "reextracted")[0].edits
    ((Edit(start=1, end=2, replacement='goes', kind='R:INFL'),),)
    """
    split_extractor(extractor)
    if outputs == "reextracted":
        systems = [replace(h, edits=None) for h in systems]
    given = [h for h in systems if h.edits is not None]
    bare = [h for h in systems if h.edits is None]
    if outputs == "alike" and given and bare:
        raise InputError(
            f"the edits of {_join_names(given)} came with the file (M2), the edits of "
            f"{_join_names(bare)} must be found in the text: scores would not be comparable",
            remedy="find all of them alike with outputs='reextracted' (or --extract NAME on the "
            "command line), or ask for both with outputs='mixed'",
        )
    for hypotheses in bare:
        if len(hypotheses) != len(corpus):
            raise InputError(
                f"{len(corpus)} sources but {len(hypotheses)} sentences of {hypotheses.system}",
                remedy="give one sentence per source",
            )
        if extractor == "aligned":
            texts = zip(corpus.sources, hypotheses.sentences, strict=True)
            for i, (source, target) in enumerate(texts):
                _check_length(source, target, f"sentence {i + 1} of {hypotheses.system}")
    known = corpus.derived(("extracted", extractor), _Extracted)
    pairs = [list(zip(corpus.sources, h.sentences, strict=True)) for h in bare]
    known.find(chain.from_iterable(pairs), extractor, progress)
    edits = iter([known.edits(each) for each in pairs])
    return [h if h.edits is not None else replace(h, edits=next(edits)) for h in systems]


def check_inside(corpus: Corpus, table: ReferenceTable) -> None:
    """Refuse the edits of an output that reach beyond their sentence."""
    lengths = corpus.source_tokens.lengths
    ends = table.last_ends()
    outside = np.flatnonzero(ends > lengths)
    if len(outside):
        i = int(outside[0])
        raise InputError(
            f"sentence {i + 1}: an edit of the system ends at token {ends[i]}, but the sentence "
            f"has {lengths[i]}",
            remedy="edits must have been made for this corpus",
        )


def _join_names(systems: Sequence[Hypotheses]) -> str:
    names = [each.system for each in systems]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def origin_facts(
    systems: Sequence[Hypotheses], outputs: OutputEditing
) -> dict[str, frozenset[str]]:
    """Return for each system whether its edits were ``given`` or ``extracted``.

    >>> texts, own = Hypotheses("A", ("a",)), Hypotheses("B", ("a",), ((),))
    >>> origin_facts([texts, own], "mixed")
    {'edits of A': frozenset({'extracted'}), 'edits of B': frozenset({'given'})}
    """
    found = {h.system: h.edits is None or outputs == "reextracted" for h in systems}
    return {
        f"edits of {name}": frozenset({"extracted" if extracted else "given"})
        for name, extracted in found.items()
    }


def origins(facts: Mapping[str, object]) -> dict[str, bool]:
    """Return whether the edits of each system were given, from `origin_facts`."""
    return {
        name.removeprefix("edits of "): origin == {"given"}
        for name, origin in facts.items()
        if name.startswith("edits of ")
    }


def describe_origins(facts: Mapping[str, object], extractor: str, *, gold: bool) -> tuple[str, ...]:
    """What a signature says of the edits of systems, and of the extractor where it was asked.

    ``gold`` says whether it also found gold edits.

    >>> texts, own = Hypotheses("A", ("a",)), Hypotheses("B", ("a",), ((),))
    >>> describe_origins(origin_facts([texts, own], "mixed"), "aligned", gold=False)
    ('edits:extracted (A), given (B)',)
    """
    systems = origins(facts)
    extracted = [name for name, given in systems.items() if not given]
    given = [name for name, given in systems.items() if given]
    words = f"extracted ({', '.join(extracted)}), given ({', '.join(given)})"
    if not (extracted and given):
        words = "given" if given else "extracted"
    named = (gold or bool(extracted)) and split_extractor(extractor)[0] == "errant"
    return (
        *((f"edits:{words}",) if systems else ()),
        *((f"extractor:{extractor_version(extractor)}",) if named else ()),
    )


def kinds_of(kinds: Iterable[str]) -> set[str]:
    """Return the distinct kinds, without those that only detect an error."""
    return {*kinds} - {*DETECTED}


def has_comparable_types(
    gold: AbstractSet[str], proposed: AbstractSet[str] | None, extractor: str
) -> bool:
    """Whether kinds of the gold and of a system can be compared.

    ``proposed`` are the system's where they were given; None where the extractor named them.

    >>> has_comparable_types({"R:VERB:SVA"}, None, "aligned")
    False
    >>> has_comparable_types({"Nn"}, {"Nn", "Vt"}, "")
    True
    """
    if not gold or (proposed is not None and not proposed):
        return True
    if proposed is None:
        errant = split_extractor(extractor)[0] == "errant"
        return _in_inventory(gold, ERRANT_KINDS if errant else ALIGNED_KINDS)
    known = (ALIGNED_KINDS, ERRANT_KINDS)
    if any(_in_inventory(gold | proposed, inventory) for inventory in known):
        return True
    return not any(_in_inventory(gold, i) or _in_inventory(proposed, i) for i in known)


def _in_inventory(kinds: AbstractSet[str], inventory: frozenset[str]) -> bool:
    return all(kind[:2] in OPERATIONS and kind[2:] in inventory for kind in kinds)


def retyped_for(corpus: Corpus, extractor: str) -> Corpus:
    """The gold edits under the extractor's kinds; kept with the corpus."""
    return corpus.derived(("retyped", extractor), lambda: retype(corpus, extractor, DETECTED))


__all__ = [
    "EXTRACTORS",
    "check_inside",
    "classify_all",
    "corrected_sentence",
    "edits_of",
    "extract",
    "extract_all",
    "extractor_version",
    "kind_at",
    "retype",
    "share_extracted",
    "with_edits",
    "without_texts",
]
