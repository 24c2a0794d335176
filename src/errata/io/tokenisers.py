"""Cut texts into tokens: characters, or by the tokenisers of spaCy or Moses.

Metrics compare what whitespace separates. Untokenised text, or text in a script without spaces, is
cut here first: sources, references and outputs alike. The signature has the tokeniser's version.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from itertools import accumulate
from typing import Literal, cast

from errata.core.errors import InputError, import_extra
from errata.core.parameters import require, suggest_name
from errata.core.stats import plural
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.io.checks import warn_unless_zero

AS_IS = "as_is"
UnicodeForm = Literal["NFC", "NFD"]
KNOWN = (AS_IS, "characters", "spacy:LANGUAGE", "moses:LANGUAGE")
JOINERS = "\u200d\u200c"  # keep what stands on both sides together


@dataclass(frozen=True)
class Tokeniser:
    """A way to cut texts: ``name`` as users give it, ``version`` of its library.

    With ``keeps_tokens`` tokens are what spaces separate, so that edits keep their offsets.

    >>> tokeniser("characters")("他昨天 去了")
    '他 昨 天 去 了'
    """

    name: str
    version: str
    split: Callable[[str], list[str]]
    keeps_tokens: bool = False

    def __call__(self, text: str) -> str:
        """The text with one space between its tokens."""
        return " ".join(self.split(text))

    @property
    def signature(self) -> str:
        """What decided the tokens."""
        name, comma, form = self.name.partition(",")
        return name + (f"@{self.version}" if self.version else "") + comma + form


@lru_cache
def tokeniser(name: str) -> Tokeniser:
    """The tokeniser ``as_is``, ``characters``, ``spacy:LANGUAGE`` or ``moses:LANGUAGE``.

    ``spacy:en`` is the blank pipeline of that language in spaCy: rules, no model. ``moses:de`` is
    Moses' tokeniser as sacremoses has it, without escapes. Languages are ISO 639 codes. A version
    may follow, as in a signature (``spacy:en@3.8.2``), and must be the one installed. ``,NFC`` or
    ``,NFD`` at the end puts all characters into that Unicode form first.

    >>> tokeniser("as_is,NFC")("Ko\u0308ln") == "K\u00f6ln"
    True
    """
    name, comma, form = name.partition(",")
    name, _, wanted = name.partition("@")
    kind, colon, language = name.partition(":")
    if name == AS_IS:
        found = Tokeniser(name, "", str.split, keeps_tokens=True)
    elif name == "characters":
        found = Tokeniser(name, "", split_characters)
    elif kind in ("spacy", "moses") and language:
        found = (
            _spacy_tokeniser(name, language)
            if kind == "spacy"
            else _moses_tokeniser(name, language)
        )
    elif kind in ("spacy", "moses") and colon:
        raise InputError(f"{name} has no language", remedy=f"write {kind}:en, for instance")
    else:
        remedy = f"{suggest_name(name, KNOWN)}known: {', '.join(KNOWN)}"
        raise InputError(f"there is no tokeniser {name!r}", remedy=remedy)
    if wanted not in ("", found.version):
        problem = f"{name} is there in version {found.version or 'none'}, not in {wanted}"
        raise InputError(problem, remedy=f"install that version, or leave out @{wanted}")
    return _with_unicode_form(found, form) if comma else found


def _with_unicode_form(cut: Tokeniser, form: str) -> Tokeniser:
    """The same on characters in a Unicode form."""
    require("Unicode form", form, UnicodeForm)
    known = cast(UnicodeForm, form)
    return replace(
        cut,
        name=f"{cut.name},{form}",
        split=lambda text: cut.split(unicodedata.normalize(known, text)),
    )


def split_characters(text: str) -> list[str]:
    """Every character but white space, accents and other marks with what they stand on.

    >>> split_characters("iOS 了。")
    ['i', 'O', 'S', '了', '。']
    """
    found: list[str] = []
    for word in text.split():
        start = len(found)  # a mark at the start of a word has nothing to stand on
        for character in word:
            mark = unicodedata.category(character)[0] == "M" or character in JOINERS
            if len(found) > start and (mark or found[-1][-1] == JOINERS[0]):
                found[-1] += character
            else:
                found.append(character)
    return found


def _spacy_tokeniser(name: str, language: str) -> Tokeniser:
    spacy = import_extra("spacy", "tokenise", "spaCy")
    try:
        pipeline = spacy.blank(language)
    except ImportError as error:  # no such language, or one whose segmenter is not installed
        said = str(error).strip().splitlines()[-1].strip()
        remedy = "write a language code such as en or de, or install what spaCy asks for; "
        remedy += "characters need nothing"
        raise InputError(f"spaCy cannot cut {language!r}: {said}", remedy=remedy) from None

    def split_text(text: str) -> list[str]:
        return [token.text for token in pipeline.make_doc(text) if not token.is_space]

    return Tokeniser(name, version("spacy"), split_text)


def _moses_tokeniser(name: str, language: str) -> Tokeniser:
    sacremoses = import_extra("sacremoses", "tokenise")
    known = sacremoses.corpus.NonbreakingPrefixes().available_langs
    if language not in known:  # the tokeniser would take the abbreviations of all languages
        codes = sorted(code for code in known if len(code) == 2)
        remedy = f"{suggest_name(language, codes)}known: {', '.join(codes)}"
        raise InputError(f"Moses has no rules for the language {language!r}", remedy=remedy)
    moses = sacremoses.MosesTokenizer(lang=language)

    def split_text(text: str) -> list[str]:
        return [str(token) for token in moses.tokenize(text, escape=False)]

    return Tokeniser(name, version("sacremoses"), split_text)


def tokenise_corpus(
    corpus: Corpus, cut: Tokeniser, warn: Callable[..., None] = warn_unless_zero
) -> Corpus:
    """Return a corpus with sources and references cut by a tokeniser.

    M2 edits refer to the tokens of their file. ``characters`` carries them over to characters;
    another tokeniser may join what an edit divides, and is refused. ``warn`` counts edits that
    change nothing then, as edits of spaces or accents.
    """
    if cut.name == AS_IS:
        return corpus
    if any(r.edits is not None for references in corpus.references for r in references):
        _require_character_tokens(cut, "gold edits stand on the tokens of their file")
    references = tuple(
        tuple(
            replace(
                reference,
                text=None if reference.text is None else cut(reference.text),
                edits=reference.edits and _recut_edits(reference.edits, source, cut),
            )
            for reference in references
        )
        for source, references in zip(corpus.sources, corpus.references, strict=True)
    )
    form = cut.name.partition(",")[2]
    what, where = ("accents", form) if cut.keeps_tokens else ("spaces", "characters")
    gone = _number_of_edits(corpus.references) - _number_of_edits(references)
    warn(
        "gone",
        gone,
        lambda n: (
            f"{corpus.name}: {n} {plural('edit', n)} {'changes' if n == 1 else 'change'} "
            f"{what} only, and {'is' if n == 1 else 'are'} none in {where}"
        ),
    )
    sources = tuple(map(cut, corpus.sources))
    return replace(corpus, sources=sources, references=references, tokens=cut.signature, raw=corpus)


def _number_of_edits(references: Sequence[Sequence[Reference]]) -> int:
    return sum(len(reference.edits or ()) for several in references for reference in several)


def tokenise_output(output: Hypotheses, sources: Sequence[str], cut: Tokeniser) -> Hypotheses:
    """The same for the output of a system; ``sources`` are those its edits stand on, uncut."""
    if cut.name == AS_IS:
        return output
    edits = None
    if output.edits is not None:
        _require_character_tokens(cut, "the edits of a system stand on the tokens of their file")
        edits = tuple(
            _recut_edits(several, source, cut)
            for several, source in zip(output.edits, sources, strict=True)
        )
    return Hypotheses(output.system, tuple(map(cut, output.sentences)), edits)


def _require_character_tokens(cut: Tokeniser, why: str) -> None:
    if not cut.keeps_tokens and cut.name.partition(",")[0] != "characters":
        remedy = "give texts (--source and --refs; see errata convert), or --tokens characters"
        raise InputError(f"{why}, and cannot be cut by {cut.name}", remedy=remedy)


def _recut_edits(edits: Iterable[Edit], source: str, cut: Tokeniser) -> tuple[Edit, ...]:
    """Carry edits on tokens over to characters, or a Unicode form.

    Edits that change nothing there (only spaces, or only the composition of accents) are left out.
    """
    if cut.keeps_tokens:
        tokens = source.split()
        normal = [
            (edit, cut(" ".join(tokens[edit.start : edit.end])), [*map(cut, edit.replacements)])
            for edit in edits
        ]
        return tuple(
            replace(edit, replacement=texts[0], alternatives=tuple(texts[1:]))
            for edit, old, texts in normal
            if not old or any(text != old for text in texts)
        )
    starts = (0, *accumulate(len(cut.split(token)) for token in source.split()))
    letters = cut.split(source)
    found = []
    for edit in edits:
        start, end = starts[edit.start], starts[edit.end]
        old = letters[start:end]
        new = [cut.split(text) for text in (edit.replacement, *edit.alternatives)]
        if all(text == old for text in new) and old:
            continue
        lead = _shared_start(old, *new)
        trail = _shared_start(*(text[lead:][::-1] for text in (old, *new)))
        first, *others = (" ".join(text[lead : len(text) - trail]) for text in new)
        edit = replace(edit, start=start + lead, end=end - trail)
        found.append(replace(edit, replacement=first, alternatives=tuple(others)))
    return tuple(found)


def _shared_start(*texts: Sequence[str]) -> int:
    """Return how many tokens all of the texts have in common at their start."""
    shortest = min(map(len, texts))
    return next((k for k in range(shortest) if len({text[k] for text in texts}) > 1), shortest)
