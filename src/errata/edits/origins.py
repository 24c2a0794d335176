"""Where edits and their kinds come from: given with an output or found in its text, and by whom.

The same output gets other edits from another extractor, so those of systems that are compared
must be of one origin. Kinds are comparable where they are of one inventory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from errata.data import Corpus, Edit, Hypotheses
from errata.edits import DETECTED, extract_systems, extractor_version, retyped, split_extractor
from errata.errors import InputError
from errata.numbers import Progress

__all__ = ["OutputEditing", "edits_of", "kinds_of", "one_inventory", "origins", "retyped_for"]

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

    ``"alike"`` takes the edits of outputs that came with them (M2) and finds those of texts, and
    refuses to do both at once; ``"mixed"`` does both; ``"reextracted"`` finds all anew.

    >>> corpus = Corpus.from_texts(["He go home ."])
    >>> own = Hypotheses("A", ("He goes home .",), ((Edit(1, 3, "goes home", "SVA"),),))
    >>> edits_of(corpus, [own], "reextracted")[0].edits
    ((Edit(start=1, end=2, replacement='goes', kind='R:INFL'),),)
    """
    if outputs == "reextracted":
        systems = [replace(h, edits=None) for h in systems]
    given = [h.system for h in systems if h.edits is not None]
    bare = [h.system for h in systems if h.edits is None]
    if outputs == "alike" and given and bare:
        raise InputError(
            f"the edits of {_listed(given)} came with the file (M2), those of {_listed(bare)} "
            "have to be found in the text: scores would not be comparable",
            remedy="find all of them alike with outputs='reextracted' (or --extract NAME on the "
            "command line), or ask for both with outputs='mixed'",
        )
    return extract_systems(corpus, systems, extractor=extractor, progress=progress)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def origins(
    systems: Sequence[Hypotheses], outputs: OutputEditing, extractor: str, *, gold: bool
) -> tuple[str, ...]:
    """What a signature says of the edits of systems, and of the extractor where it was asked.

    ``gold`` says whether it also found gold edits.

    >>> texts, own = Hypotheses("A", ("a",)), Hypotheses("B", ("a",), ((),))
    >>> origins([texts, own], "mixed", "aligned", gold=False)
    ('edits:extracted (A), given (B)',)
    """
    bare = [h.system for h in systems if h.edits is None or outputs == "reextracted"]
    given = [h.system for h in systems if h.system not in bare]
    said = f"extracted ({', '.join(bare)}), given ({', '.join(given)})"
    if not (bare and given):
        said = "given" if given else "extracted"
    ran = gold or bool(bare)
    named = ran and split_extractor(extractor)[0] == "errant"
    return (
        *((f"edits:{said}",) if systems else ()),
        *((f"extractor:{extractor_version(extractor)}",) if named else ()),
    )


def kinds_of(edits: Iterable[Sequence[Edit]]) -> set[str]:
    """The kinds of edits, without those that only detect."""
    return {edit.kind for several in edits for edit in several} - set(DETECTED)


def one_inventory(gold: set[str], proposed: set[str] | None, extractor: str) -> bool:
    """Whether kinds of the gold and of a system can be compared.

    ``proposed`` are the system's where they were given; None where the extractor named them.

    >>> one_inventory({"R:VERB:SVA"}, None, "aligned"), one_inventory({"Nn"}, {"Nn", "Vt"}, "")
    (False, True)
    """
    if not gold or (proposed is not None and not proposed):
        return True
    if proposed is None:
        errant = split_extractor(extractor)[0] == "errant"
        return _within(gold, ERRANT_KINDS if errant else ALIGNED_KINDS)
    known = (ALIGNED_KINDS, ERRANT_KINDS)
    if any(_within(gold | proposed, inventory) for inventory in known):
        return True
    return not any(_within(gold, i) or _within(proposed, i) for i in known)


def _within(kinds: set[str], inventory: frozenset[str]) -> bool:
    return all(kind[:2] in OPERATIONS and kind[2:] in inventory for kind in kinds)


def retyped_for(corpus: Corpus, extractor: str) -> Corpus:
    """The gold edits under the extractor's kinds; kept with the corpus."""
    return corpus.derived(("retyped", extractor), lambda: retyped(corpus, extractor, DETECTED))
